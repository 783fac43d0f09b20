"""Which functions write, and which classes and calls lead there: on stdlib `ast`, without LibCST."""
