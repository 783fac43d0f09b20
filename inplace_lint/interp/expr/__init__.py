"""Expressions, names, attributes, subscripts, operators and assignments."""
