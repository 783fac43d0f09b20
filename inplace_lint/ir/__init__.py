"""The intermediate representation: what a program does, without how it was spelled."""
