"""IPL302: a write that changes what backward needs, and that autograd does not notice."""

from __future__ import annotations

from inplace_lint.core.event import Event, Untracked
from inplace_lint.core.finding import Role, Severity
from inplace_lint.rules.draft import Draft, Mark, kept, named, primary, ran, short


def judge(event: Event) -> Draft | None:
    """Speak of a changed save that nothing raises for; parameters have a rule of their own."""
    if not isinstance(event, Untracked) or (event.write.param and event.write.flag is None):
        return None
    write, op = event.write, short(event.save.op)
    save = event.save
    return Draft(
        place=primary(write),
        message=f"{named(write.symbol)} is overwritten unnoticed, and backward of `{op}` uses the new value",
        label="written here",
        related=(Mark(Role.SAVE, save.site.place, f"saved here: {_kept(save.part, kept(save))}"), *ran(write)),
        write=write,
        help="write into a `clone()`, or change it after backward",
        worst=Severity.WARNING,
        assumptions=event.assumptions,
    )


def _kept(part: str, sentence: str) -> str:
    return "an attribute of the context is kept, and never checked" if part == "attribute" else sentence
