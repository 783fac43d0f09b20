"""What every other part speaks of: places in source text, events, findings, errors."""
