"""IPL501: any write in the call of a module; for those who want none."""

from __future__ import annotations

from inplace_lint.core.event import Event, Performed
from inplace_lint.core.finding import Severity
from inplace_lint.rules.draft import Draft, primary, ran, short


def judge(event: Event) -> Draft | None:
    """Speak of every write in a forward, right or wrong: info."""
    if not isinstance(event, Performed):
        return None
    write = event.write
    return Draft(
        place=primary(write),
        message=f"in-place `{short(write.op)}` in a forward",
        label="this makes it write in place" if write.flag is not None and write.module else "written here",
        related=ran(write),
        write=write,
        help="set `inplace=False`" if write.flag is not None else "",
        worst=Severity.INFO,
        assumptions=event.assumptions,
    )
