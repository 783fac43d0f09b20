"""Calls of functions, classes and objects of the program."""
