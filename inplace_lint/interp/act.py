"""One call that the interpreter itself has something to do for."""

from __future__ import annotations

from dataclasses import dataclass

from inplace_lint.domain.state import State
from inplace_lint.domain.values import NONE, Ref, Value
from inplace_lint.interp.frame import Arguments, Frame
from inplace_lint.interp.program import Program
from inplace_lint.knowledge.op import Op

Results = list[tuple[State, Value]]


@dataclass(slots=True)
class Act:
    """One call with an act, its arguments by name."""

    program: Program
    frame: Frame
    state: State
    form: Op
    arguments: Arguments
    at: int
    values: dict[str, Value]

    def value(self, name: str) -> Value:
        """Give an argument; None where it was not passed."""
        return self.values.get(name, NONE)

    def positional(self, index: int) -> Value:
        """Give an argument by position; None where it was not passed."""
        return self.arguments.positional[index] if index < len(self.arguments.positional) else NONE

    def receiver(self) -> Ref | None:
        """Give the object that the method was called on."""
        first = self.positional(0)
        return first if isinstance(first, Ref) else None

    def unknown(self, kind: str = "") -> Value:
        """Give a result of which nothing is known."""
        return self.state.symbols.sym(("act", self.form.name, self.frame.site(self.at), self.state.next_id), kind)
