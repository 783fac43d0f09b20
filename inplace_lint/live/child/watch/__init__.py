"""Watches a framework while a program runs: every save and every write."""
