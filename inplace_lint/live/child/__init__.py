"""
What runs inside the user's own process, beside the user's own framework.

These files need the standard library, Python 3.8 and a framework that the program itself imports; the rest of
inplace-lint may be missing there. They import one another by relative names, since the package has another name where
`start.py` loads it from its folder.
"""
