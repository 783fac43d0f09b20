"""The call of a builtin function of Python."""

from __future__ import annotations

from inplace_lint.domain import origins
from inplace_lint.domain.state import State
from inplace_lint.domain.values import Builtin, Value
from inplace_lint.interp.frame import Arguments, Frame
from inplace_lint.interp.interpreter import Interpreter
from inplace_lint.interp.outcome import Items, Results


class Request:
    """The call of a builtin."""

    __slots__ = ("arguments", "at", "frame", "function", "interp", "state")

    def __init__(
        self, interp: Interpreter, frame: Frame, state: State, function: Builtin, arguments: Arguments, at: int
    ) -> None:
        self.interp, self.frame, self.state = interp, frame, state
        self.function, self.arguments, self.at = function, arguments, at

    def argument(self, position: int) -> Value | None:
        """Return a positional argument; None if it was not passed."""
        values = self.arguments.positional
        return values[position] if position < len(values) else None

    def unknown(self, kind: str = "") -> Results:
        """Return an unknown result, the same for equal arguments."""
        key = (origins.BUILTIN, self.function.name, self.function.receiver, self.arguments.positional)
        return [(self.state, self.state.symbols.sym(key, kind))]

    def items(self, value: Value | None) -> Items:
        """Return the items of an iterable."""
        if value is None:
            return Items((), exact=True)
        return self.interp.items_of(self.frame, self.state, value, None, self.at)
