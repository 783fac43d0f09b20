"""IPL501: any write in the call of a module; for those who want none."""

from __future__ import annotations

from inplace_lint.core.event import Event, Performed
from inplace_lint.rules.draft import Draft, flag_cure, flag_label, ran, short
from inplace_lint.rules.rule import Harm, Rule


def judge(event: Event) -> Draft | None:
    """Report every write in a forward, right or wrong."""
    if not isinstance(event, Performed):
        return None
    return Draft(
        message=f"in-place `{short(event.write.op)}` in a forward",
        write=event.write,
        label=flag_label(event.write),
        related=ran(event.write),
        help=flag_cure(event.write),
        assumptions=event.assumptions,
    )


RULE = Rule("IPL501", "inplace-in-forward", Harm.STYLE, judge, default=False, opinion=True, provable=False)
