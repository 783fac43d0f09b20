"""IPL101: a write to a tensor that backward needs."""

from __future__ import annotations

from inplace_lint.core.event import Event, Stale
from inplace_lint.core.finding import Role
from inplace_lint.rules.draft import Draft, Mark, kept, named, primary, ran, short


def judge(event: Event) -> Draft | None:
    """Speak of a stale save that no `inplace=` flag caused; parameters have a rule of their own."""
    if not isinstance(event, Stale) or event.write.flag is not None or event.write.param:
        return None
    write, save = event.write, event.save
    return Draft(
        place=primary(write),
        message=f"{named(write.symbol)} is overwritten, but backward of `{short(save.op)}` needs its old value",
        label="written here",
        related=(Mark(Role.SAVE, save.site.place, f"saved here: {kept(save)}"), *ran(write)),
        write=write,
        help="",
        says="stale",
        producer=save.op if save.part.startswith("out") else save.producer,
        assumptions=event.assumptions,
    )
