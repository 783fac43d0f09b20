"""The command line: options, commands, and what is printed."""

CLEAN, FOUND, FAILED, INTERRUPTED = 0, 1, 2, 130  # the exit statuses; `main` says what each means
