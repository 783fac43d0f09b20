"""
Makes the packs of facts for libraries: what a person says of their calls, and what calls of the real library show.

A line of `NAME.jsonl` in this folder becomes an entry of the pack NAME. With `try`, arguments as in a call, the call is
run, and what the line does not say is filled in from that; what it says has to be what was seen. `make` has the
arguments of the constructor of a class whose instance is called. A line without `try` stays as it is.
"""
