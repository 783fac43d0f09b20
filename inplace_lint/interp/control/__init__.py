"""Statements, loops, conditions, contexts and exceptions."""
