"""
What a fix may know of a finding: the event, the syntax around it, and who holds what is written.

A `Mender` makes edits of it. It stands above the rules; a check without one does no work for fixes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import TYPE_CHECKING

from inplace_lint.core.event import Event, Touch
from inplace_lint.core.finding import Fix
from inplace_lint.core.span import Place, Slice, Span
from inplace_lint.driver.runtime_limits import call_deep
from inplace_lint.interp import entry_points
from inplace_lint.interp.context import Context
from inplace_lint.interp.holders import Holding
from inplace_lint.knowledge.facts import Facts
from inplace_lint.knowledge.op import Op
from inplace_lint.rules.draft import Draft

if TYPE_CHECKING:
    from inplace_lint.frontend.positions import Located


@dataclass(frozen=True, slots=True)
class Case:
    """
    One finding as a mender sees it.

    `saves` is all that was saved of what is written. `holdings` tells for a place, or
    for the flag that makes a call write, what each run of the write met; it is without the places that no run reached.
    """

    event: Event
    draft: Draft
    span: Span
    saves: frozenset[Touch]
    holdings: Mapping[Place, AbstractSet[Holding]]
    context: Context
    locate: Callable[[Slice], Located]

    @property
    def facts(self) -> Facts:
        """The facts of the framework that the file is about."""
        return self.context.default()

    def met(self) -> frozenset[Holding]:
        """Give what the runs of the write met; for a write by a flag, the runs of all that the flag makes write."""
        write = self.draft.write
        return frozenset(self.holdings.get(write.flag or write.site.place, frozenset()))

    def partner(self, op: str) -> str:
        """Give the op that does the same and writes nothing; empty if there is none."""
        return partner(self.facts, op)

    def is_fresh(self, op: str) -> bool:
        """Say whether the result of an op is a tensor of its own, and not one that was written."""
        forms = self.facts.forms(op)
        return not forms or any(_writes_nothing(form) for form in forms)

    def is_optional(self, op: str, argument: str) -> bool:
        """Say whether an op can be called without an argument of this name."""
        return any(given.name == argument and given.optional for form in self.facts.forms(op) for given in form.args)


def partner(facts: Facts, op: str) -> str:
    """Give the op that does the same and writes nothing: that without the underscore, if there are facts of it."""
    owner, dot, name = op.rpartition(".")
    if not name.endswith("_") or name.endswith("__"):
        return ""
    other = f"{owner}{dot}{name[:-1]}"
    forms = facts.forms(other)
    # What can be left out here, but has a meaning of its own there, is another op without it.
    spare = {argument.name for form in facts.forms(op) for argument in form.args if argument.optional}
    asked = {argument.name for form in forms for argument in form.args if not argument.optional}
    return other if any(_writes_nothing(form) for form in forms) and not spare & asked else ""


def _writes_nothing(form: Op) -> bool:
    """Say whether a call writes nothing, unless it is given an argument for it that it can do without."""
    optional = {argument.name for argument in form.args if argument.optional}
    return all(write.to in optional for write in form.writes)


Mender = Callable[[Case], "Fix | None"]


def watched(context: Context, drafts: Sequence[Draft]) -> Mapping[Place, AbstractSet[Holding]]:
    """Run a program again, and give who held what was written where findings are."""
    places: set[Place] = set()
    for draft in drafts:
        write = draft.write
        places.update(place for place in (draft.place, write.site.place, write.flag) if place is not None)
    context.watched = frozenset(places)
    call_deep(lambda: entry_points.run_all(context))
    return context.holdings
