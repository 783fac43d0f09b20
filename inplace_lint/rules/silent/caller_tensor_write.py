"""IPL303: a function writes into a tensor that its caller passed."""

from __future__ import annotations

from inplace_lint.core.event import Escaped, Event
from inplace_lint.core.finding import Role, Severity
from inplace_lint.rules.draft import Draft, Mark, named
from inplace_lint.rules.rule import Harm, Rule, Variant


def judge(event: Event) -> Draft | None:
    """Report a write into an argument: a warning where a caller is seen to read it afterwards, otherwise info."""
    if not isinstance(event, Escaped):
        return None
    write, read = event.write, event.read
    if read is None:
        return Draft(
            message=f"`{event.argument}` belongs to the caller, who may not expect it to be overwritten",
            write=write,
            worst=Severity.INFO,
            assumptions=event.assumptions,
        )
    return Draft(
        message=f"{named(write.symbol)} is the caller's `{event.argument}`, which is read again after this write",
        write=write,
        related=(Mark(Role.ALIAS, read.site.place, f"the caller reads `{event.argument}` here: it has changed"),),
        assumptions=event.assumptions,
    )


RULE = Rule(
    "IPL303",
    "caller-tensor-write",
    Harm.SILENT,
    judge,
    opinion=True,
    variants=(Variant.WRITE,),
    traced_as="IPL302",
    yields_to_errors=True,
)
