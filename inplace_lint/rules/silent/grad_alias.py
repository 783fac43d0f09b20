"""IPL307: a gradient that is kept for later is set to zero, or added to, in place."""

from __future__ import annotations

from inplace_lint.core.event import Event, Keeping, Snapshot
from inplace_lint.core.finding import Role
from inplace_lint.rules.draft import Draft, Mark, Repair
from inplace_lint.rules.rule import Harm, Rule, Variant

_SAYS = {
    Keeping.GRADIENT: "stored gradients are set to zero here",
    Keeping.SUM: "gradients are accumulated into the stored ones here",
}


def judge(event: Event) -> Draft | None:
    """Report a kept gradient that is cleared or added to."""
    if not isinstance(event, Snapshot) or event.how not in _SAYS:
        return None
    kept = () if event.kept is None else (Mark(Role.ALIAS, event.kept, "the gradient is stored here without a copy"),)
    return Draft(
        message=_SAYS[event.how],
        write=event.write,
        related=kept,
        help="store a `clone()` of the gradient",
        assumptions=event.assumptions,
        repair=Repair.COPY_WHERE_KEPT,
    )


RULE = Rule("IPL307", "grad-alias", Harm.SILENT, judge, variants=(Variant.ALIAS, Variant.BOUND))
