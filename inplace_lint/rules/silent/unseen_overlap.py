"""IPL309: a write to memory that overlaps, which the framework does not notice."""

from __future__ import annotations

from inplace_lint.core.event import Accepted, Event, Failure
from inplace_lint.rules.draft import Draft, Repair, made, named
from inplace_lint.rules.rule import Harm, Rule, Variant

_SAYS = {
    Failure.OVERLAP: "{what} was expanded: its rows share one memory, so writing one of them changes all of them",
    Failure.WINDOWS_OVERLAP: "{what} is made of windows that share elements, so this write changes those several times",
    Failure.OPERANDS_OVERLAP: "{what} is overwritten while an operand is still read from the same memory",
}


def judge(event: Event) -> Draft | None:
    """Report a write whose values are other ones than it spells, because the memory overlaps."""
    if not isinstance(event, Accepted) or event.compiled:
        return None
    write = event.write
    return Draft(
        message=_SAYS[event.check].format(what=named(write.symbol)),
        write=write,
        related=made(event.origin, write),
        assumptions=event.assumptions,
        repair=Repair.COPY_OPERAND if event.check is Failure.OPERANDS_OVERLAP else Repair.NEW_TENSOR,
    )


RULE = Rule("IPL309", "unseen-overlap", Harm.SILENT, judge, variants=(Variant.OPERAND, Variant.WRITE))
