"""
Builds the IR from `ast`: the only place that knows how Python's syntax maps to IR.

What the running Python cannot parse comes from LibCST (`from_cst`), converted to the same `ast`.
"""
