"""
Frames: what the evaluation of a call needs besides the state, and the arguments of a call.

    def outer(x):
        inner(x, 1)     # runs in a frame whose caller is this site, and whose `x` is known as `x` of `outer` too
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec import Struct, field
from msgspec.structs import replace

from inplace_lint.core.event import Site
from inplace_lint.core.span import Place, Slice
from inplace_lint.domain.state import State
from inplace_lint.domain.values import Closure, Ref, RefId, Value
from inplace_lint.interp.outcome import Raised
from inplace_lint.ir import nodes as ir

Variable = tuple[RefId, str]


class Frame(Struct, frozen=True):
    """
    One call: its variables, the slice whose code it runs, and the site that called it.

    `passed` says under which variables of callers the object of each parameter is known, for aliases. `stack` are the
    active functions, outermost first. `built` is set while a module of a container runs: its site is where that module
    was constructed. `dropped` are the call whose result a statement drops and those that are its receiver. `inside`
    runs the body of a `with` statement for which a generator is a context manager: once, at its `yield`. `handles` is
    the exception that the running handler caught. `outer` are the variables of the calls that are under way outside of
    this one. `turns` are those of the loops of this function around what runs, multiplied. `modelled`:
    it runs the model of a library.
    """

    env: Ref
    module: str
    slice: Slice
    caller: Site | None = None
    closure: Closure | None = None
    receiver: Value | None = None
    passed: Mapping[str, frozenset[Variable]] = field(default_factory=dict)
    stack: tuple[str, ...] = ()
    built: bool = False
    dropped: tuple[int, ...] = ()
    inside: Callable[[State, Value], list[State]] | None = None
    handles: Raised | None = None
    outer: tuple[Ref, ...] = ()
    turns: int = 1
    modelled: bool = False

    def looping(self, turns: int) -> Frame:
        """Return this frame for the body of a loop."""
        return self if turns <= 1 else replace(self, turns=self.turns * turns)

    def dropping(self, calls: tuple[int, ...]) -> Frame:
        """Return this frame for a statement that drops the results of these calls."""
        return replace(self, dropped=calls)

    def site(self, at: int) -> Site:
        """Return the site of a node that this frame executes; what a model executes is done where that was called."""
        if self.modelled and self.caller is not None:
            return self.caller
        return Site(Place(self.slice, at), self.caller)

    def variables(self, expr: ir.Expr | None) -> frozenset[Variable]:
        """Return the variables, here and in callers, through which this expression reached its object."""
        if isinstance(expr, ir.Name):
            return frozenset({(self.env.id, expr.id)}) | self.passed.get(expr.id, frozenset())
        return frozenset()


class Arguments(Struct, frozen=True):
    """
    The evaluated arguments of a call; `exprs` are their expressions by position or keyword, where they have one.

    `unknown` is set when a starred argument of unknown length is among them. `spread` is set when keywords come from a
    mapping: that of an entry point with `**kwargs` is empty, but a caller passes what the callee asks for. `forwarded`:
    that is the mapping, so that parameters which are not passed are options of the entry point.
    """

    positional: tuple[Value, ...] = ()
    keywords: tuple[tuple[str, Value], ...] = ()
    exprs: Mapping[int | str, ir.Expr] = field(default_factory=dict)
    unknown: bool = False
    spread: bool = False
    forwarded: bool = False

    def first(self, value: Value, expr: ir.Expr | None = None) -> Arguments:
        """Return the arguments with a receiver put before them."""
        shifted: dict[int | str, ir.Expr] = {
            (key + 1 if isinstance(key, int) else key): found for key, found in self.exprs.items()
        }
        if expr is not None:
            shifted[0] = expr
        return Arguments((value, *self.positional), self.keywords, shifted, self.unknown, self.spread, self.forwarded)

    def rest(self) -> Arguments:
        """Return the arguments without the first positional one."""
        given = (self.positional[1:], self.keywords, self.shifted(-1))
        return Arguments(*given, self.unknown, self.spread, self.forwarded)

    def shifted(self, by: int) -> dict[int | str, ir.Expr]:
        """Return the expressions where the arguments are so many positions further on; those before 0 are left out."""
        moved = ((key + by if isinstance(key, int) else key, expr) for key, expr in self.exprs.items())
        return {key: expr for key, expr in moved if isinstance(key, str) or key >= 0}

    @property
    def values(self) -> tuple[Value, ...]:
        """The values of all arguments, those with a keyword last."""
        return (*self.positional, *(value for _, value in self.keywords))

    def named(self, name: str) -> Value | None:
        """Return a keyword argument, if it is passed."""
        return next((value for key, value in self.keywords if key == name), None)


def text_of(expr: ir.Expr | None) -> str:
    """Return a short form of an expression that a user recognises: `self.w`, `x[...]`."""
    match expr:
        case ir.Name(_, name):
            return name
        case ir.Attr(_, value, name):
            inner = text_of(value)
            return f"{inner}.{name}" if inner else ""
        case ir.Subscript(_, value, _):
            inner = text_of(value)
            return f"{inner}[...]" if inner else ""
        case ir.Call(_, func, _, _):
            inner = text_of(func)
            return f"{inner}(...)" if inner else ""
        case _:
            return ""
