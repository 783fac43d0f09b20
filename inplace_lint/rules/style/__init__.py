"""Rules of opinion."""
