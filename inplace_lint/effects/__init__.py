"""Which code may write a tensor in place, and in which order it is run: decided on `ast`, before anything runs."""
