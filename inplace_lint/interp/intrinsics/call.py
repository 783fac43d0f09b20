"""The call of an intrinsic: its arguments, and what all intrinsics do with them."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from inplace_lint.core.event import Touch
from inplace_lint.domain import origins
from inplace_lint.domain.heap import Write
from inplace_lint.domain.state import State
from inplace_lint.domain.values import NONE, Ref, Value
from inplace_lint.interp.frame import Arguments, Frame, text_of
from inplace_lint.interp.interpreter import Interpreter
from inplace_lint.knowledge.op import Op


class IntrinsicCall(Struct):
    """The call of an intrinsic, with its arguments by name."""

    interp: Interpreter
    frame: Frame
    state: State
    form: Op
    arguments: Arguments
    at: int
    values: dict[str, Value]

    def value(self, name: str) -> Value:
        """Return an argument; Python's None if it was not passed."""
        return self.values.get(name, NONE)

    def positional(self, index: int) -> Value:
        """Return an argument by position, also one that is passed by its name; Python's None if it was not passed."""
        if index < len(self.arguments.positional):
            return self.arguments.positional[index]
        named = self.arguments.named(self.form.args[index].name) if index < len(self.form.args) else None
        return NONE if named is None else named

    def receiver(self) -> Ref | None:
        """Return the object that the method was called on."""
        first = self.positional(0)
        return first if isinstance(first, Ref) else None

    def write(self, state: State, refs: Iterable[Ref], *, counted: bool, assumed: frozenset[str] = frozenset()) -> None:
        """Write parameters of the object that the method was called on, without the framework's checks."""
        symbol = text_of(self.arguments.exprs.get(0))
        touch = Touch(self.form.name, self.frame.site(self.at), symbol=symbol, param=True, dropped=True)
        for ref in refs:
            tensor = state.tensor(ref)
            if tensor is not None:
                state.write(tensor.storage, Write(touch, 0, counted, 0, assumed, tensor.doubt, tensor=ref))

    def unknown(self, kind: str = "") -> Value:
        """Return an unknown result."""
        return self.state.symbols.sym(
            (origins.INTRINSIC, self.form.name, self.frame.site(self.at), self.state.next_id), kind
        )
