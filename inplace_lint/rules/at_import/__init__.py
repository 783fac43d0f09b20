"""Rules about what raises where a file is imported."""
