"""IPL306: an update that was meant for a parameter, and binds a variable anew."""

from __future__ import annotations

from inplace_lint.core.event import Event, LostUpdate
from inplace_lint.core.finding import Severity
from inplace_lint.rules.draft import Draft, named, primary


def judge(event: Event) -> Draft | None:
    """Speak of an augmented assignment that leaves a parameter as it was; nothing raises: a warning."""
    if not isinstance(event, LostUpdate):
        return None
    write = event.write
    what = named(write.symbol)
    return Draft(
        place=primary(write),
        message=f"{what} is bound to a new tensor here, and the parameter behind it keeps its old value",
        label="binds the name, and writes nothing",
        related=(),
        write=write,
        help=f"write into the parameter: `{write.symbol}.set_value(...)`",
        worst=Severity.WARNING,
        assumptions=event.assumptions,
    )
