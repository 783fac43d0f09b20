"""
The checkers: what a program does wrong with memory beside what autograd itself refuses.

Each listens to some of the announcements of the evaluators (`interp/announcements.py`): a function or method that
listens is named after its announcement, and is subscribed in `interp/assembly.py`.
"""
