"""Intrinsics: framework calls that the interpreter implements itself, such as `backward`, modes and `checkpoint`."""
