"""The errors that end a run: user mistakes, each reported in one line."""

from __future__ import annotations


class InplaceLintError(Exception):
    """A run cannot go on; the message is one line for the user and names the file and key at fault."""


class ConfigError(InplaceLintError):
    """An option or a configuration key has a wrong name or value."""


class UnreadableError(InplaceLintError):
    """A file could not be read or decoded; the others are still checked."""


class PluginError(InplaceLintError):
    """A rule plugin is missing, does not load, or does what a rule must not."""


class FactError(InplaceLintError):
    """An entry of an op table does not follow the format of `rules/ops/README.md`."""
