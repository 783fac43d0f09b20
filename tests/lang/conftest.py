"""Runs of the command line, as in tests/cli."""

from tests.cli.conftest import buggy, clean, folder, lint

__all__ = ["buggy", "clean", "folder", "lint"]
