"""
Facts about torch: what each call saves, writes and returns.

Three sources, in the order of trust: what the installed torch does when it is run (`probe`), what a person wrote down
because no sample can show it (`*.jsonl` in this folder), and the derivative formulas that ship in the wheel (`native`).
"""
