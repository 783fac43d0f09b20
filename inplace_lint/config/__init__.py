"""Configuration: the keys of a configuration file, the settings that apply to a file, and the rules they select."""
