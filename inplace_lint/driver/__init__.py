"""Runs the analysis: over files and processes, with the cache, and from one file's source to its findings."""
