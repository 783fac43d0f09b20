"""
LibCST to Python's own `ast`: for syntax that the running Python cannot parse, and to find the text of a node.

Each `ast` node that is built here has an attribute `origin`, the LibCST node that it stands for. The IR is built by
`from_ast` alone, so that the ordinals of its nodes are the same whichever parser read the source.
"""
