"""Framework calls for which the interpreter itself has something to do."""
