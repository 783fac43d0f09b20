"""Turns findings into text: `formats` has one module for each output format, `reporters.REPORTERS` lists them."""
