"""Expressions: variables, attributes, subscripts, operators, and assignments to them."""
