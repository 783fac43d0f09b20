"""Makes fixes: edits of source text for findings. `fixers.make_fixes` is the entry; nothing here reads a file."""
