"""The types that every other part uses: places in source text, events, findings, errors."""
