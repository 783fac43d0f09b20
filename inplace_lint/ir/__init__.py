"""The intermediate representation: what a program does, whatever its spelling."""
