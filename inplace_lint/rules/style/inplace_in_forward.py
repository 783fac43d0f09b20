"""IPL501: any write in the call of a module; for those who want none."""

from __future__ import annotations

from inplace_lint.core.event import Event, Performed, Spelling
from inplace_lint.rules.draft import NEW_TENSOR, Draft, flag_cure, flag_label, ran, short
from inplace_lint.rules.rule import Harm, Rule


def judge(event: Event) -> Draft | None:
    """Report every write in a forward, right or wrong."""
    if not isinstance(event, Performed):
        return None
    write = event.write
    item = write.spelled in {Spelling.ITEM, Spelling.AGAIN} or "[" in write.symbol
    return Draft(
        message=f"in-place `{short(write.op)}` in a forward",
        write=write,
        label=flag_label(write),
        related=ran(write),
        help=flag_cure(write, NEW_TENSOR if item else ""),
        assumptions=event.assumptions,
    )


RULE = Rule("IPL501", "inplace-in-forward", Harm.STYLE, judge, default=False, opinion=True, provable=False)
