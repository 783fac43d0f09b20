"""Checks many repositories: each is one task, with one folder of results."""
