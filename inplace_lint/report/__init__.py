"""Turns findings into text: one module a format, `reporters.REPORTERS` names them."""
