"""
What is wrong with a command line, in words of ours.

Click puts its own messages together from parts in English, and into another language only through catalogues of gettext
that are found by the locale. What it knows of an error is more than its text: these words are made of that, in the
manner of a wrong key of a configuration, and go through our own catalogue as all else does.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import pairwise
from pathlib import Path

import click

from inplace_lint.config.schema import LANGS, nearest


def words_of(error: click.ClickException, command: click.Command) -> str:
    """Say in one line what was wrong with a command line for a command."""
    options = [item for item in command.params if isinstance(item, click.Option)]
    names = [name for item in options for name in item.opts if name.startswith("--")]
    match error:
        case click.NoSuchOption():
            return f"no such option {error.option_name!r}{nearest(error.option_name, names)}"
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
    """Give the language that a command line names, right or wrong as the rest of it may be."""
    named = [after for before, after in pairwise(words) if before == "--lang"]
    named += [word.partition("=")[2] for word in words if word.startswith("--lang=")]
    return next((lang for lang in reversed(named) if lang in LANGS), None)


def check_first(words: Sequence[str], commands: Collection[str]) -> None:
    """
    Accept a command line whose first word is a command, an option, or can be meant as a path.

    Raises: `click.UsageError` for a word that is none of these but resembles a command.
    """
    first = words[0] if words else ""
    if first in commands or not first.isalpha() or Path(first).exists():
        return
    if hint := nearest(first, commands):
        msg = f"no such command or file {first!r}{hint}"
        raise click.UsageError(msg)


def _spelled(parameter: click.Parameter) -> str:
    """Give the long name of an option, or the name of an argument."""
    longest = max(parameter.opts, key=len)
    return longest if isinstance(parameter, click.Option) else parameter.human_readable_name
