"""Variants of a program without a silent fault, which `--confirm` compares with the program."""
