"""Rules about writes that the framework refuses: a table from its checks to what is said of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from inplace_lint.core.event import Event, Refused
from inplace_lint.rules.draft import Draft, Repair, made, named
from inplace_lint.rules.rule import Judge


@dataclass(frozen=True, slots=True)
class Refusal:
    """
    What is said where a check fails: `fact` follows the name of the tensor, `cure` may name it as `{tensor}`.

    `says` is the key of the framework's own words; that of the check, if it is empty.
    """

    fact: str
    cure: str = ""
    repair: Repair | None = None
    label: str = "written here"
    says: str = ""


def refused(checks: Mapping[str, Refusal]) -> Judge:
    """Make the judge of a rule about these checks."""

    def judge(event: Event) -> Draft | None:
        if not isinstance(event, Refused) or (refusal := checks.get(event.check)) is None:
            return None
        tensor = named(event.write.symbol)
        return Draft(
            message=f"{tensor} {refusal.fact}",
            write=event.write,
            label=refusal.label,
            related=made(event.origin, event.write),
            help=refusal.cure.replace("{tensor}", tensor),
            says=refusal.says or event.check,
            producer=event.write.producer,
            assumptions=event.assumptions,
            repair=refusal.repair,
        )

    return judge
