"""
Python's own `ast` to IR: the same IR, node for node, as from LibCST, nine times as fast.

What the running Python cannot parse, syntax newer than its own, is left to LibCST; so are positions and fixes, which
ask for the text that `ast` drops. `tests/frontend/test_front_ends.py` compares the two on the whole standard library.
"""
