"""Reads `rules/`: rule pages and op facts."""
