"""Commands and options for more code than one machine holds."""
