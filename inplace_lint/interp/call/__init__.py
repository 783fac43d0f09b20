"""Calls: of functions and classes of the user's program, of instances, and of what is not known."""
