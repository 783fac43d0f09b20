"""IPL103: parameters change between the forward that saved them and the backward that needs them."""

from __future__ import annotations

from inplace_lint.core.event import Event, Stale, Untracked
from inplace_lint.core.finding import Role, Severity
from inplace_lint.core.span import Place
from inplace_lint.rules.draft import Draft, Mark, Repair, is_step, kept, named, ran, short
from inplace_lint.rules.rule import Harm, Rule, Variant


def judge(event: Event) -> Draft | None:
    """Report a stale parameter; where the framework does not count the write, nothing raises: a warning."""
    if not isinstance(event, Stale | Untracked) or not event.write.param or event.write.flag is not None:
        return None
    write, save = event.write, event.save
    steps, raises = is_step(write), isinstance(event, Stale)
    what = (
        f"`{write.symbol or 'optimizer'}.step()` updates parameters" if steps else f"{named(write.symbol)} is changed"
    )
    marks = [Mark(Role.SAVE, save.site.place, f"saved here: {kept(save)}"), *ran(write)]
    if event.backward is not None:
        marks.append(Mark(Role.BACKWARD, event.backward.place, _needs(event.backward.place, write.site.place)))
    return Draft(
        message=f"{what}, but backward of `{short(save.op)}` needs {'their' if steps else 'its'} old value",
        write=write,
        related=tuple(marks),
        help="run the forward again after this, for the backward that comes then",
        says="stale" if raises else "",
        worst=None if raises else Severity.WARNING,
        assumptions=event.assumptions,
        repair=Repair.PARAMETER if raises else Repair.ORDER,
    )


def _needs(backward: Place, write: Place) -> str:
    if backward.slice == write.slice and backward.at < write.at:  # a loop comes back to it
        return "this backward needs the old value when it runs again"
    return "this backward needs the old value"


RULE = Rule("IPL103", "parameter-write-before-backward", Harm.BACKWARD, judge, variants=(Variant.UNDONE,))
