"""IPL102: an activation or dropout with `inplace=True` that overwrites what an op before it saved."""

from __future__ import annotations

from inplace_lint.core.event import Event, Stale
from inplace_lint.core.finding import Role
from inplace_lint.rules.draft import Draft, Mark, kept, named, primary, ran, short


def judge(event: Event) -> Draft | None:
    """Speak of a stale save that an `inplace=` flag caused."""
    if not isinstance(event, Stale) or event.write.flag is None:
        return None
    write, save = event.write, event.save
    subject = named(write.symbol) if write.symbol else "its input"
    return Draft(
        place=primary(write),
        message=(
            f"{subject} is overwritten by in-place `{short(write.op)}`, "
            f"but backward of `{short(save.op)}` needs its old value"
        ),
        label="this makes it write in place" if write.module else "written here",
        related=(Mark(Role.SAVE, save.site.place, f"saved here: {kept(save)}"), *ran(write)),
        write=write,
        help="set `inplace=False`",
        says="stale",
        producer=save.op if save.part.startswith("out") else save.producer,
        assumptions=event.assumptions,
    )
