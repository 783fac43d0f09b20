"""IPL306: an update that was meant for a parameter, and binds a variable to a new tensor."""

from __future__ import annotations

from inplace_lint.core.event import Event, LostUpdate
from inplace_lint.rules.draft import Draft, named
from inplace_lint.rules.rule import Harm, Rule, Variant


def judge(event: Event) -> Draft | None:
    """Report an augmented assignment that leaves a parameter as it was."""
    if not isinstance(event, LostUpdate):
        return None
    write = event.write
    return Draft(
        message=(f"{named(write.symbol)} is rebound to a new tensor here, and the parameter keeps its old value"),
        write=write,
        label="rebinds the name and writes nothing",
        help=f"write into the parameter: `{write.symbol}.set_value(...)`",
        assumptions=event.assumptions,
    )


RULE = Rule("IPL306", "lost-update", Harm.SILENT, judge, variants=(Variant.UPDATE,))
