"""Types of option values. An error completes "OPTION …" in the same words as for a key of a configuration."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from inplace_lint.config.schema import choice_of, count_of

if TYPE_CHECKING:
    _Words = click.Choice[str]
else:
    _Words = click.Choice  # click 8.1 has no generic one


class OneOf(_Words):
    """A choice whose error suggests the nearest allowed word; the help shows it as `auto|always|never`."""

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:  # noqa: ARG002 - as click calls it
        """Return the words as the help shows them."""
        return "|".join(map(str, self.choices))

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the word, or fail with the nearest allowed one."""
        try:
            return choice_of(value, tuple(map(str, self.choices)))
        except ValueError as error:
            self.fail(str(error), param, ctx)


class Count(click.IntRange):
    """A whole number from 1."""

    name = "count"

    def __init__(self) -> None:
        super().__init__(min=1)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the number, or fail."""
        try:
            return count_of(int(value) if isinstance(value, str) and value.strip().isdecimal() else value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


class Positive(click.FloatRange):
    """A number above 0."""

    name = "number"

    def __init__(self) -> None:
        super().__init__(min=0, min_open=True)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the number, or fail."""
        try:
            number = float(value)
        except ValueError:
            number = 0.0
        if not 0 < number < float("inf"):
            self.fail(f"must be a number above 0, not {value!r}", param, ctx)
        return number


class Output(click.Path):
    """A file to write; `-` is standard output."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path, or fail where it is a folder."""
        if Path(value).is_dir():
            self.fail(f"must be a file, and {str(value)!r} is a directory", param, ctx)
        return super().convert(value, param, ctx)
