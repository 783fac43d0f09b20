"""IPL102: an activation or dropout with `inplace=True` that overwrites what an op before it saved."""

from __future__ import annotations

from inplace_lint.core.event import Event, Stale
from inplace_lint.core.finding import Role
from inplace_lint.rules.draft import Draft, Mark, Repair, flag_cure, flag_label, kept, named, ran, short
from inplace_lint.rules.rule import Harm, Rule


def judge(event: Event) -> Draft | None:
    """Report a stale save that an `inplace=` flag caused."""
    if not isinstance(event, Stale) or event.write.flag is None:
        return None
    write, save = event.write, event.save
    subject = named(write.symbol) if write.symbol else "the input"
    return Draft(
        message=(
            f"{subject} is overwritten by in-place `{short(write.op)}`, "
            f"but backward of `{short(save.op)}` needs its old value"
        ),
        write=write,
        label=flag_label(write),
        related=(Mark(Role.SAVE, save.site.place, f"saved here: {kept(save)}"), *ran(write)),
        help=flag_cure(write),
        says="stale",
        assumptions=event.assumptions,
        repair=Repair.FLAG,
    )


RULE = Rule("IPL102", "inplace-activation-after-save", Harm.BACKWARD, judge)
