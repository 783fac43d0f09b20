"""Transfer functions of framework calls: what a call does to heap and tape, according to the facts of its op."""
