"""Forms of a program in which a fault is not there."""
