"""Entry points run again on options that lead to sides of conditions which no path took."""
