"""What an entry point found, and whose gradient that assumes."""

from __future__ import annotations

from dataclasses import dataclass

from inplace_lint.core.event import Event
from inplace_lint.core.records import replace
from inplace_lint.effects.summary import Definition
from inplace_lint.interp import gradients
from inplace_lint.interp.interpreter import Interpreter


@dataclass(frozen=True, slots=True)
class Found:
    """
    A breach found from one entry point, with the number of its paths that have it and of all its paths.

    `entry` is the file and name of the entry point, where only a caller can ask for the gradient that is assumed; the
    name is empty where nobody does.
    """

    event: Event
    paths: int
    of: int
    entry: tuple[str, str] | None = None


def named(interp: Interpreter, item: Definition, found: list[Found]) -> list[Found]:
    """Return what an entry point found, with its name where only a caller, or nobody, can ask for a gradient."""
    found = [replace(one, event=gradients.supposed(interp, one.event)) for one in found]
    if not any(gradients.is_assumed(one.event) for one in found):
        return found
    entry = (interp.context.path, item.name) if gradients.is_plain(interp, item) else None
    nobody = (interp.context.path, "")
    return [
        replace(one, entry=nobody if gradients.by_nobody(one.event) else entry)
        if gradients.is_assumed(one.event)
        else one
        for one in found
    ]
