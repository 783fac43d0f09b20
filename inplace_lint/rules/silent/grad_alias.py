"""IPL307: a gradient that was put away is set to zero, or added to, where it lies."""

from __future__ import annotations

from inplace_lint.core.event import Event, Snapshot
from inplace_lint.core.finding import Role, Severity
from inplace_lint.rules.draft import Draft, Mark, primary

_SAYS = {
    "gradient": "gradients that were put away are set to zero here",
    "sum": "gradients that were put away are added to here",
}


def judge(event: Event) -> Draft | None:
    """Speak of a kept gradient that is cleared or added to; nothing raises, so it is never above a warning."""
    if not isinstance(event, Snapshot) or event.how not in _SAYS:
        return None
    kept = () if event.kept is None else (Mark(Role.ALIAS, event.kept, "the gradient is put away here: it is no copy"),)
    return Draft(
        place=primary(event.write),
        message=_SAYS[event.how],
        label="written here",
        related=kept,
        write=event.write,
        help="put a `clone()` of the gradient away",
        worst=Severity.WARNING,
        assumptions=event.assumptions,
    )
