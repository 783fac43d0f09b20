"""Rules about writes that the framework refuses at once."""
