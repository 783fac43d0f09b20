"""The command line: options, commands, and what is printed."""
