"""IPL303: a function writes into a tensor that its caller passed."""

from __future__ import annotations

from inplace_lint.core.event import Escaped, Event
from inplace_lint.core.finding import Role, Severity
from inplace_lint.rules.draft import Draft, Mark, named, primary


def judge(event: Event) -> Draft | None:
    """Speak of a write into an argument: a warning where a caller is seen to read it afterwards, else info."""
    if not isinstance(event, Escaped):
        return None
    write, read = event.write, event.read
    if read is None:
        return Draft(
            place=primary(write),
            message=f"`{event.argument}` belongs to the caller, who may not expect it to be overwritten",
            label="written here",
            related=(),
            write=write,
            help="",
            worst=Severity.INFO,
            assumptions=event.assumptions,
        )
    return Draft(
        place=primary(write),
        message=f"{named(write.symbol)} is the caller's `{event.argument}`, which is read again after this write",
        label="written here",
        related=(Mark(Role.ALIAS, read.site.place, f"the caller reads `{event.argument}` here: it has changed"),),
        write=write,
        help="",
        worst=Severity.INFO if event.announced else Severity.WARNING,
        assumptions=event.assumptions,
    )
