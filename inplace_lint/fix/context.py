"""
What a fix may know of a finding: the event, the syntax around it, and what else refers to the written tensor.

The last is not known from the first run of the analysis: it is run again, and the places of findings are watched. A
check that wants no fixes does not import this package.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING

from msgspec import Struct

from inplace_lint.core.event import Event, Touch
from inplace_lint.core.span import Place, Slice, Span
from inplace_lint.interp.checkers.alias_query import AliasQuery, WrittenTensor
from inplace_lint.interp.context import Context
from inplace_lint.knowledge.facts import Facts
from inplace_lint.rules.draft import Draft
from inplace_lint.rules.help import partner, writes_nothing

if TYPE_CHECKING:
    from inplace_lint.core.finding import Fix
    from inplace_lint.frontend.positions import Located

Locate = Callable[[Slice], "Located"]
Rerun = Callable[[AliasQuery], object]
Fixes = Callable[[Event, Draft, frozenset[Touch], Span, bool], "Fix | None"]


class Case(Struct, frozen=True):
    """
    One finding, as a fixer sees it.

    `saves` is all that was saved of the written tensor. `written` has, for a place or for the flag that makes a call
    write, what each execution of the write met; a place that was not executed is not in it. `hides`: another fault of
    the same write would be found if only this one were gone.
    """

    event: Event
    draft: Draft
    span: Span
    saves: frozenset[Touch]
    written: Mapping[Place, AbstractSet[WrittenTensor]]
    context: Context
    locate: Locate
    hides: bool = False

    @property
    def facts(self) -> Facts:
        """The facts of the framework that the file is about."""
        return self.context.default()

    def met(self) -> frozenset[WrittenTensor]:
        """Return what the executions of the write met; for a flag, those of all calls that it makes write."""
        write = self.draft.write
        return frozenset(self.written.get(write.flag or write.site.place, frozenset()))

    def partner(self, op: str) -> str:
        """Return the op that does the same and writes nothing; empty if there is none."""
        return partner(self.facts, op)

    def is_fresh(self, op: str) -> bool:
        """Check whether the result of an op is a tensor of its own, and not one that was written."""
        forms = self.facts.forms(op)
        return not forms or any(writes_nothing(form) for form in forms)

    def is_optional(self, op: str, argument: str) -> bool:
        """Check whether an op can be called without an argument of this name."""
        return any(given.name == argument and given.optional for form in self.facts.forms(op) for given in form.args)


def watched(rerun: Rerun, drafts: Sequence[Draft]) -> Mapping[Place, AbstractSet[WrittenTensor]]:
    """Run a program again, and return what referred to the written tensors at the places of findings."""
    places: set[Place] = set()
    for draft in drafts:
        write = draft.write
        places.update(place for place in (draft.place, write.site.place, write.flag) if place is not None)
    query = AliasQuery(places)
    rerun(query)
    return query.written
