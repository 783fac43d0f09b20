"""Checks beside the tape: aliases, kept values, lost updates."""
