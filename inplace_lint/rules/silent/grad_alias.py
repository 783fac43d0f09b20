"""IPL307: a gradient that is kept for later is set to zero, or added to, in place."""

from __future__ import annotations

from inplace_lint.core.event import Event, Snapshot
from inplace_lint.core.finding import Role
from inplace_lint.rules.draft import Draft, Mark, Repair
from inplace_lint.rules.rule import Harm, Rule, Variant

_SAYS = {
    "gradient": "gradients that were put away are set to zero here",
    "sum": "gradients that were put away are added to here",
}


def judge(event: Event) -> Draft | None:
    """Report a kept gradient that is cleared or added to."""
    if not isinstance(event, Snapshot) or event.how not in _SAYS:
        return None
    kept = () if event.kept is None else (Mark(Role.ALIAS, event.kept, "the gradient is put away here: it is no copy"),)
    return Draft(
        message=_SAYS[event.how],
        write=event.write,
        related=kept,
        help="put a `clone()` of the gradient away",
        assumptions=event.assumptions,
        repair=Repair.COPY_WHERE_KEPT,
    )


RULE = Rule("IPL307", "grad-alias", Harm.SILENT, judge, variants=(Variant.ALIAS,))
