"""IPL301: a tensor is read under one name after it was overwritten through another."""

from __future__ import annotations

from inplace_lint.core.event import Clobbered, Event
from inplace_lint.core.finding import Role
from inplace_lint.rules.draft import Draft, Mark, Repair, flag_cure, flag_label, ran, short
from inplace_lint.rules.rule import Harm, Rule, Variant


def judge(event: Event) -> Draft | None:
    """Report a read that sees the write through another name."""
    if not isinstance(event, Clobbered):
        return None
    write, read = event.write, event.read
    verb = f"in-place `{short(write.op)}`" if write.flag is not None else "this in-place write"
    return Draft(
        message=f"`{event.other}` is overwritten by {verb}, but it is read afterwards as if it still had its old value",
        write=write,
        label=flag_label(write),
        related=(
            *ran(write),
            Mark(Role.ALIAS, read.site.place, f"`{event.other}` is read here: it is the same tensor"),
        ),
        help=flag_cure(write, "assign a `clone()` of each item" if event.together else ""),
        assumptions=event.assumptions,
        repair=None if event.together else Repair.RESULT if event.within else Repair.NEW_TENSOR,
    )


_VARIANTS = (Variant.WRITE, Variant.APART, Variant.ALIAS, Variant.BOUND, Variant.OPERAND)

RULE = Rule("IPL301", "clobbered-alias", Harm.SILENT, judge, variants=_VARIANTS)
