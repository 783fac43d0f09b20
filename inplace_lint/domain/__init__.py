"""Symbolic values, storages, the tape and the state of one path. Pure: no syntax, no op names."""
