"""IPL903: the schema of an operator that does not parse."""

from __future__ import annotations

from inplace_lint.core.event import Event, Misdeclared
from inplace_lint.rules.draft import Draft
from inplace_lint.rules.rule import Harm, Rule


def judge(event: Event) -> Draft | None:
    """Report the declaration of an operator that the framework refuses."""
    if not isinstance(event, Misdeclared):
        return None
    return Draft(
        message=f"the schema of this operator does not parse: {event.problem}",
        write=event.write,
        label="declared here",
        help="write a schema as `(Tensor(a!) x, float by=1.0) -> Tensor`",
        assumptions=event.assumptions,
    )


RULE = Rule("IPL903", "invalid-schema", Harm.IMPORT, judge, provable=False)
