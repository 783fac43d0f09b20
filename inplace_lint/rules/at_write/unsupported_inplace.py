"""IPL212: a form of writing in place that the framework does not have."""

from __future__ import annotations

from inplace_lint.core.event import Event, Refused
from inplace_lint.rules.draft import Draft
from inplace_lint.rules.refused import refused


def judge(event: Event) -> Draft | None:
    """Speak of an augmented assignment that would bind a parameter anew, and of numbers where a tensor is asked for."""
    if not isinstance(event, Refused):
        return None
    if event.check == "operand":
        return refused(
            event,
            "is written by a method that takes a tensor, and no plain number, as its operand",
            "write it with `scale_`, or make a tensor of the number",
        )
    if event.check == "keyword":
        return refused(event, "is no argument that this call takes, and the framework refuses it", "leave it out")
    if event.check != "parameter":
        return None
    return refused(
        event,
        "is a parameter, and this statement would replace it by a new tensor, which the layer refuses",
        "write it with `set_value`, or with a method in place under `no_grad`",
    )
