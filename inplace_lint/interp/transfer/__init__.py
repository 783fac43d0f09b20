"""What a call of a framework does to the tape, by its facts."""
