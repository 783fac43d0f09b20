"""Applies fixes: in rounds, each looked at again by the analyzer, and writes the files that changed."""
