"""IPL101: a write to a tensor that backward needs."""

from __future__ import annotations

from inplace_lint.core.event import Event, Stale
from inplace_lint.core.finding import Role
from inplace_lint.rules.draft import WRITE_PARAMETER, Draft, Mark, Repair, kept, named, ran, short, write_label
from inplace_lint.rules.rule import Harm, Rule


def judge(event: Event) -> Draft | None:
    """Report a stale save that no `inplace=` flag caused; parameters have a rule of their own."""
    if not isinstance(event, Stale) or event.write.flag is not None or event.write.param:
        return None
    write, save = event.write, event.save
    return Draft(
        message=f"{named(write.symbol)} is overwritten, but backward of `{short(save.op)}` needs its old value",
        write=write,
        label=write_label(write, save),
        related=(Mark(Role.SAVE, save.site.place, f"saved here: {kept(save)}"), *ran(write)),
        help=WRITE_PARAMETER if save.param else "",
        says="stale",
        assumptions=event.assumptions,
        repair=Repair.NEW_TENSOR_OR_COPY,
    )


RULE = Rule("IPL101", "modified-after-save", Harm.BACKWARD, judge)
