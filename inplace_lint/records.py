"""
Records that only the type checker guards.

`dataclasses.dataclass(frozen=True)` sets each field through `object.__setattr__`, so that to make an object takes three
times as long as without. The analysis makes millions: modules of its hot path import `dataclass` from here at run time
and from `dataclasses` for the type checker, which then refuses what would change a record.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import TypeVar

Made = TypeVar("Made")


def dataclass(
    *, frozen: bool = False, eq: bool = True, order: bool = False, slots: bool = False
) -> Callable[[type[Made]], type[Made]]:
    """Make a class a dataclass; a frozen one is hashed like that, but not guarded against changes."""

    def decorate(cls: type[Made]) -> type[Made]:
        hashed = frozen and eq and cls.__dict__.get("__hash__") is None
        return dataclasses.dataclass(eq=eq, order=order, unsafe_hash=hashed, slots=slots)(cls)

    return decorate
