"""One module for each output format."""
