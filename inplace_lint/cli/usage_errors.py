"""
Messages for wrong command lines.

Click builds its messages from English parts, and translates them only through catalogues of gettext that are found by
the locale. Its errors carry more than their text: these messages are built from that, in the same form as for a wrong
key of a configuration, and are translated by our own catalogue as everything else is.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import pairwise
from pathlib import Path

import click

from inplace_lint.config.schema import LANGS, did_you_mean


def message_of(error: click.ClickException, command: click.Command) -> str:
    """Return, in one line, what is wrong with a command line."""
    options = [item for item in command.params if isinstance(item, click.Option)]
    names = [name for item in options for name in item.opts if name.startswith("--")]
    match error:
        case click.NoSuchOption():
            return f"no such option {error.option_name!r}{did_you_mean(error.option_name, names)}"
        case click.MissingParameter() if error.param is not None:
            return f"missing argument {error.param.human_readable_name}"
        case click.BadParameter() if error.param is not None:
            return f"{_spelled(error.param)} {error.message}"
        case click.BadOptionUsage():
            flags = {name for item in options if item.is_flag for name in (*item.opts, *item.secondary_opts)}
            return f"{error.option_name} {'takes no value' if error.option_name in flags else 'needs a value'}"
        case _:
            return error.format_message()


def chosen_language(words: Sequence[str]) -> str | None:
    """Return the language that a command line names, even if the rest of it is wrong."""
    named = [after for before, after in pairwise(words) if before == "--lang"]
    named += [word.partition("=")[2] for word in words if word.startswith("--lang=")]
    return next((lang for lang in reversed(named) if lang in LANGS), None)


def check_first_word(words: Sequence[str], commands: Collection[str]) -> None:
    """
    Check that the first word of a command line is a command, an option, or can be a path.

    Raises: `click.UsageError` for a word that is none of these but resembles a command.
    """
    first = words[0] if words else ""
    if first in commands or not first.isalpha() or Path(first).exists():
        return
    if hint := did_you_mean(first, commands):
        msg = f"no such command or file {first!r}{hint}"
        raise click.UsageError(msg)


def _spelled(parameter: click.Parameter) -> str:
    """Return the long name of an option, or the name of an argument, unless that lists its values."""
    if isinstance(parameter, click.Option):
        return max(parameter.opts, key=len)
    name = parameter.human_readable_name
    return "the argument" if "|" in name else name
