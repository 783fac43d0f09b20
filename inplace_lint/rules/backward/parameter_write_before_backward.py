"""IPL103: parameters change between the forward that saved them and the backward that needs them."""

from __future__ import annotations

from inplace_lint.core.event import Event, Stale, Untracked
from inplace_lint.core.finding import Role, Severity
from inplace_lint.rules.draft import Draft, Mark, kept, named, primary, ran, short


def judge(event: Event) -> Draft | None:
    """Speak of a stale parameter; where the framework does not count the write, nothing raises: a warning."""
    if not isinstance(event, Stale | Untracked) or not event.write.param or event.write.flag is not None:
        return None
    write, save = event.write, event.save
    steps = write.op.endswith(".step")
    what = (
        f"`{write.symbol or 'optimizer'}.step()` updates parameters" if steps else f"{named(write.symbol)} is changed"
    )
    cure = "run every backward through these parameters first" if steps else "change it after backward"
    marks = [Mark(Role.SAVE, save.site.place, f"saved here: {kept(save)}"), *ran(write)]
    if event.backward is not None:
        marks.append(Mark(Role.BACKWARD, event.backward.place, "this backward needs the old value"))
    return Draft(
        place=primary(write),
        message=f"{what}, but backward of `{short(save.op)}` needs {'their' if steps else 'its'} old value",
        label="written here",
        related=tuple(marks),
        write=write,
        help=cure,
        says="stale" if isinstance(event, Stale) else "",
        producer=save.op if save.part.startswith("out") else save.producer,
        worst=Severity.ERROR if isinstance(event, Stale) else Severity.WARNING,
        assumptions=event.assumptions,
    )
