"""Settings: files of configuration, options, and what they select."""
