"""Rules about writes that the framework refuses: a table of its checks and of what is said where they fail."""

from __future__ import annotations

from msgspec import Struct

from inplace_lint.core.event import Event, Failure, Refused, Spelling
from inplace_lint.rules.draft import Draft, Repair, flag_cure, made, named
from inplace_lint.rules.rule import Harm, Rule, Variant


class Refusal(Struct, frozen=True):
    """
    What is said where a check fails: `fact` follows the name of the tensor, `cure` may name it as `{tensor}`.

    `by_flag`: where a flag makes the call write, the cure is to clear it. `of_item`: of `x[i] = v` it is said of the
    item. `says` is the key of what the framework prints; if it is empty, the check is the key, and nothing is quoted
    if it is None.
    """

    check: str
    fact: str
    cure: str = ""
    repair: Repair | None = None
    label: str = "written here"
    says: str | None = ""
    by_flag: bool = False
    of_item: bool = False


def refused(code: str, name: str, *refusals: Refusal, traced_as: str = "") -> Rule:
    """Make a rule about the checks that fail."""
    by_check = {refusal.check: refusal for refusal in refusals}

    def judge(event: Event) -> Draft | None:
        if not isinstance(event, Refused) or (refusal := by_check.get(event.check)) is None:
            return None
        symbol, is_item = event.write.symbol, event.write.spelled in {Spelling.ITEM, Spelling.AGAIN}
        tensor = named(f"{symbol}[...]" if symbol and is_item and refusal.of_item else symbol)
        return Draft(
            message=f"{tensor} {refusal.fact}",
            write=event.write,
            label=refusal.label,
            related=made(event.origin, event.write),
            help=flag_cure(event.write) if refusal.by_flag else refusal.cure.replace("{tensor}", tensor),
            says="" if refusal.says is None else refusal.says or event.check,
            assumptions=event.assumptions,
            repair=refusal.repair,
        )

    checks = tuple(Failure(check) for check in by_check)
    return Rule(code, name, Harm.AT_WRITE, judge, checks=checks, variants=(Variant.ALLOWED,), traced_as=traced_as)
