"""Turns findings into edits of source text; `fixers.mend` is the door. It reads syntax and the tape, and no files."""
