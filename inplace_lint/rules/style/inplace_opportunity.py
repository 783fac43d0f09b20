"""IPL601: a call that would spare memory in place, where that is certainly safe."""

from __future__ import annotations

from inplace_lint.core.event import Event, Spared
from inplace_lint.core.finding import Role
from inplace_lint.rules.draft import Draft, Mark, Repair, short
from inplace_lint.rules.rule import Harm, Rule, Variant


def judge(event: Event) -> Draft | None:
    """Report a call that keeps its input for backward, and would not in place."""
    if not isinstance(event, Spared):
        return None
    write = event.write
    op, spared = short(write.op), short(write.producer)
    if event.recorded:
        message = f"in place, `{op}` uses less memory: the result of `{spared}` is no longer kept for backward"
    else:
        message = f"in place, `{op}` frees the result of `{spared}` at once: only the peak falls"
    site = write.site.caller if write.built and write.site.caller is not None else write.site
    return Draft(
        message=message,
        write=write,
        label=f"it has {event.result} floats" if event.result else "set `inplace=True`",
        related=() if site.place == event.place else (Mark(Role.WRITE, site.place, "this call would write in place"),),
        help="set `inplace=True`",
        assumptions=event.assumptions,
        repair=Repair.SET_FLAG,
        at=event.place,
        gain=event.elements,
    )


RULE = Rule(
    "IPL601",
    "inplace-opportunity",
    Harm.STYLE,
    judge,
    default=False,
    opinion=True,
    variants=(Variant.INPLACE,),
    unanimous=True,
)
