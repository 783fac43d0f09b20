"""Runs flagged code on the real framework and compares."""
