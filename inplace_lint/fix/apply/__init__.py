"""Applies fixes in rounds, each checked by another analysis, and writes the files that changed."""
