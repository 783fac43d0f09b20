"""IPL301: a tensor is read under one name after it was overwritten through another."""

from __future__ import annotations

from inplace_lint.core.event import Clobbered, Event
from inplace_lint.core.finding import Role, Severity
from inplace_lint.rules.draft import Draft, Mark, primary, ran, short


def judge(event: Event) -> Draft | None:
    """Speak of a read that sees another name's write; nothing raises, so it is never above a warning."""
    if not isinstance(event, Clobbered):
        return None
    write, read = event.write, event.read
    verb = f"in-place `{short(write.op)}`" if write.flag is not None else "this in-place write"
    return Draft(
        place=primary(write),
        message=f"`{event.other}` is overwritten by {verb}, but it is read afterwards as if it still had its old value",
        label="this makes it write in place" if write.flag is not None and write.module else "written here",
        related=(
            *ran(write),
            Mark(Role.ALIAS, read.site.place, f"`{event.other}` is read here: it is the same tensor"),
        ),
        write=write,
        help="set `inplace=False`" if write.flag is not None else "",
        worst=Severity.WARNING,
        assumptions=event.assumptions,
    )
