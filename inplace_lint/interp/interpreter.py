"""
The seam between the parts of the interpreter.

The evaluators of expressions, statements, calls and framework operations need one another: a call runs statements, a
statement evaluates expressions, and an expression may be a call. They do not import each other for that: each function
gets an `Interpreter` and calls its methods.

    def _return(interp: Interpreter, frame: Frame, state: State, node: ir.Return) -> Outcomes:
        return [Outcome(after, Flow.RETURN, value) for after, value in interp.evaluate(frame, state, node.value)]

`assembly.py` puts the parts together. A state that is passed to one of these methods must not be used afterwards; the
caller owns the states of the results.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from inplace_lint.core.event import Spelling
from inplace_lint.core.span import Slice
from inplace_lint.domain.state import State
from inplace_lint.domain.values import ClassValue, Ref, Value
from inplace_lint.interp.announcements import Listeners
from inplace_lint.interp.context import Context
from inplace_lint.interp.frame import Arguments, Frame
from inplace_lint.interp.fuel import Fuel
from inplace_lint.interp.outcome import Items, Outcomes, Results
from inplace_lint.ir import nodes as ir


class Interpreter(Protocol):
    """
    Executes IR over the symbolic domain.

    `context` is the program under analysis with its facts, `fuel` what is left of the limits of the exploration.
    `listeners` are called at what they may find fault with.
    """

    context: Context
    fuel: Fuel
    listeners: Listeners

    def evaluate(self, frame: Frame, state: State, expr: ir.Expr, /) -> Results:
        """Return every value that the expression can have on a feasible path, with the state after it."""

    def condition(self, frame: Frame, state: State, expr: ir.Expr, /) -> Results:
        """Evaluate a test: an object of the program is what its own `__bool__` or `__len__` returns."""

    def truth_of(self, frame: Frame, state: State, value: Value, at: int, /) -> Results:
        """Return what decides whether a value is true, which the class of an object may say."""

    def evaluate_all(
        self, frame: Frame, state: State, exprs: Sequence[ir.Expr], /
    ) -> list[tuple[State, tuple[Value, ...]]]:
        """Evaluate expressions from left to right; at most as many combinations are kept as the width allows."""

    def execute(self, frame: Frame, state: State, body: Sequence[ir.Stmt], /) -> Outcomes:
        """Run statements in order; at most as many paths go on as the width allows."""

    def run_in_place(self, frame: Frame, state: State, body: Sequence[ir.Stmt], /) -> None:
        """Run statements in a state that is referenced elsewhere: it becomes the state of the first outcome."""

    def call(
        self,
        frame: Frame,
        state: State,
        function: Value,
        arguments: Arguments,
        at: int,
        receiver: ir.Expr | None = None,
        /,
    ) -> Results:
        """Call a value; `receiver` is the expression before the dot, if there is one."""

    def construct(self, frame: Frame, state: State, cls: ClassValue, arguments: Arguments, at: int, /) -> Results:
        """Construct an instance of a class of the program; the constructor may be left pending."""

    def construct_pending(self, frame: Frame, state: State, ref: Ref, at: int, /) -> list[State]:
        """Run the pending constructor of an instance; attributes that were set on it since then stay set."""

    def apply_op(
        self,
        frame: Frame,
        state: State,
        name: str,
        arguments: Arguments,
        at: int,
        spelled: Spelling = Spelling.CALL,
        instance: Ref | None = None,
    ) -> Results:
        """Apply the facts of a framework call: record its saves, writes and node on the tape, and return its result."""

    def get_attribute(self, frame: Frame, state: State, value: Value, name: str, at: int, /) -> Results:
        """Evaluate `value.name`; a property is run."""

    def set_attribute(
        self, frame: Frame, state: State, receiver: Value, name: str, value: Value, at: int, /
    ) -> list[State]:
        """Run `receiver.name = value`."""

    def lookup(self, state: State, cls: Value, name: str, after: ClassValue | None = None, /) -> Value | None:
        """Find a class attribute in method resolution order, after the class `after` if given; None if unknown."""

    def special_method(
        self, frame: Frame, state: State, value: Value, name: str, arguments: tuple[Value, ...], at: int, /
    ) -> Results | None:
        """Call a special method that the program defines for an object; None if it defines none."""

    def get_item(self, frame: Frame, state: State, value: Value, index: Value, expr: ir.Expr, /) -> Results:
        """Evaluate `value[index]`."""

    def items_of(self, frame: Frame, state: State, value: Value, expr: ir.Expr | None, at: int, /) -> Items:
        """Return the items of an iterable, as far as they are known."""

    def turns(
        self, frame: Frame, state: State, value: Value, expr: ir.Expr | None, at: int, /, *, loops: bool = True
    ) -> Items:
        """
        Return the items that a loop runs with: all of a short iterable, else enough to show what carries over.

        Where nothing `loops`, but the items are collected, those of an unknown iterable are the first of them.
        """

    def assign(
        self, frame: Frame, state: State, target: ir.Expr, value: Value, source: ir.Expr | None = None, /
    ) -> list[State]:
        """Assign a value to an assignment target; several states result when its parts evaluate on several paths."""

    def make_function(
        self, frame: Frame, state: State, node: ir.FunctionDef, owner: ClassValue | None = None, /
    ) -> Results:
        """Return the closure of a definition, after evaluating its defaults and applying its decorators."""

    def make_class(self, frame: Frame, state: State, node: ir.ClassDef, methods: Mapping[str, Slice], /) -> ClassValue:
        """Return the class of a definition; its body runs later, on each path that reads a class attribute."""

    def class_body(self, state: State, cls: ClassValue, /) -> Ref:
        """Return the class scope on this path, after running the body if this path has not yet."""
