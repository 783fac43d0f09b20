"""
Branch forcing: arguments that make a run take a branch which no entry point took.

    def __init__(self, mode="bilinear"):        # an entry point constructs the class on its defaults
        self.mode = mode

    def forward(self, x):
        if self.mode == "deconv":               # never true on the defaults: forced by mode="deconv"
            x.add_(1)

Only branches that may write are forced. Arguments that the file itself passes are not replaced.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeGuard

from inplace_lint.domain import origins
from inplace_lint.domain.state import State
from inplace_lint.domain.values import Const, Sym, Value
from inplace_lint.effects import schedule
from inplace_lint.effects.summary import Definition
from inplace_lint.effects.write_evidence import lowered_may_write
from inplace_lint.interp import symbolic_args
from inplace_lint.interp.frame import Arguments
from inplace_lint.interp.interpreter import Interpreter
from inplace_lint.ir import nodes as ir

_Guards = tuple[tuple[ir.Expr, bool], ...]
_CONSTRUCTOR = "__init__"
_OPEN = ir.Name(0, "")  # stands for an unknown value, on which both branches are taken
_OPPOSITE = {"<": ">=", ">=": "<", ">": "<=", "<=": ">"}
_MIRRORED = {"==": "==", "<": ">", ">": "<", "<=": ">=", ">=": "<="}


@dataclass(frozen=True, slots=True)
class ForcedArguments:
    """
    Arguments by parameter: of the constructor (`made`), and of the function or method `name` with the branch (`own`).

    `None` stands for an unknown argument.
    """

    name: str
    made: tuple[tuple[str, Const | None], ...]
    own: tuple[tuple[str, Const | None], ...]


def untaken(interp: Interpreter, item: Definition) -> Iterator[ForcedArguments]:
    """Return, for each branch that may write and that no path took, arguments that force it."""
    methods = {method.name: method for method in item.methods}
    constructor = _function(interp, methods[_CONSTRUCTOR]) if _CONSTRUCTOR in methods else None
    kept = {} if constructor is None else _attributes(constructor)
    for part in item.methods or (item,):
        function = _function(interp, part) if part.writes else None
        if function is None or id(function.body) not in interp.context.ran:
            continue
        if item is part and schedule.users_of(interp.context.outline, item.name):
            continue
        for guards in _untaken(interp, function.body):
            needed = _Requirements(constructor, function, kept)
            for test, side in guards:
                needed.require(test, side, in_constructor=part.name == _CONSTRUCTOR)
            if needed.made or needed.own:
                yield ForcedArguments(part.name, tuple(sorted(needed.made.items())), tuple(sorted(needed.own.items())))


def _function(interp: Interpreter, item: Definition) -> ir.Function | None:
    for node in interp.context.code(item.slice).body:
        if isinstance(node, ir.FunctionDef):
            return node.function
    return None


def chosen(
    state: State, function: ir.Function, given: Arguments, forced: Mapping[str, Const | None], skip: int
) -> Arguments:
    """Return the arguments of a call with forced ones in their places."""
    positional, keywords = list(given.positional), dict(given.keywords)
    for position, param in enumerate(function.params[skip:]):
        if param.name in forced:
            constant = forced[param.name]
            kind = symbolic_args.kind_of(param.annotation)
            value: Value = (
                state.symbols.sym((origins.CHOSEN, function.qualname, param.name), "" if kind == "flag" else kind)
                if constant is None
                else constant
            )
            if position < len(positional):
                positional[position] = value
            else:
                keywords[param.name] = value
    return Arguments(tuple(positional), tuple(keywords.items()), unknown=given.unknown)


def left_open(function: ir.Function, given: Arguments, forced: Mapping[str, Const | None]) -> dict[str, Const | None]:
    """Return those of the forced arguments of a constructor for which the program itself passes something unknown."""
    passed = dict(given.keywords)
    for param, value in zip(function.params[1:], given.positional, strict=False):
        passed[param.name] = value
    return {name: value for name, value in forced.items() if isinstance(passed.get(name), Sym)}


def _untaken(interp: Interpreter, body: tuple[ir.Stmt, ...]) -> Iterator[_Guards]:
    """Return the conditions of the branches that may write and were not taken, within the blocks that ran."""
    for node in body:
        match node:
            case ir.If(_, test, then, orelse):
                for block, side in ((then, True), (orelse, False)):
                    if id(block) in interp.context.ran:
                        yield from _untaken(interp, block)
                    elif lowered_may_write(block):
                        yield from _ways(block, ((test, side),))
            case ir.For(body=inner) | ir.While(body=inner) | ir.With(body=inner) | ir.Try(body=inner):
                yield from _untaken(interp, inner)
            case _:
                pass


def _ways(body: tuple[ir.Stmt, ...], guards: _Guards) -> Iterator[_Guards]:
    """Return the conditions of each part of an untaken branch that may write."""
    plain = False
    for node in body:
        if isinstance(node, ir.If):
            for block, side in ((node.body, True), (node.orelse, False)):
                if lowered_may_write(block):
                    yield from _ways(block, (*guards, (node.test, side)))
        else:
            plain = plain or lowered_may_write((node,))
    if plain:
        yield guards


def _attributes(constructor: ir.Function) -> dict[str, ir.Expr]:
    """Return the value of each attribute of the instance that a constructor sets exactly once."""
    found: dict[str, list[ir.Expr]] = {}
    for node in _statements(constructor.body):
        if isinstance(node, ir.Assign):
            for target in node.targets:
                if isinstance(target, ir.Attr) and _is_self(constructor, target.value):
                    found.setdefault(target.name, []).append(node.value)
    return {name: values[0] for name, values in found.items() if len(values) == 1}


def _is_self(function: ir.Function, expr: ir.Expr) -> bool:
    """Check whether an expression in a method is the instance; the `width` of `config.width` is no attribute of it."""
    return bool(function.params) and isinstance(expr, ir.Name) and expr.id == function.params[0].name


def _statements(body: tuple[ir.Stmt, ...]) -> Iterator[ir.Stmt]:
    for node in body:
        yield node
        if isinstance(node, ir.If):
            yield from _statements(node.body)
            yield from _statements(node.orelse)


class _Requirements:
    """What arguments must be for conditions to hold; a parameter that is set keeps its value."""

    def __init__(
        self, constructor: ir.Function | None, function: ir.Function, attributes: Mapping[str, ir.Expr]
    ) -> None:
        self.made: dict[str, Const | None] = {}
        self.own: dict[str, Const | None] = {}
        self._constructor = constructor
        self._function = function
        self._attributes = attributes
        self._under_way: set[str] = set()

    def require(self, test: ir.Expr, side: bool, *, in_constructor: bool) -> None:
        """Set the parameters so that a condition evaluates to this side, as far as they decide it."""
        match test:
            case ir.Unary(_, "not", operand):
                self.require(operand, not side, in_constructor=in_constructor)
            case ir.BoolOp(_, op, values):
                for value in values if (op == "and") == side else values[:1]:
                    self.require(value, side, in_constructor=in_constructor)
            case ir.Compare(_, left, (op,), (right,)):
                if op in {"!=", "is not", "not in"}:
                    op, side = {"!": "==", "i": "is", "n": "in"}[op[0]], not side
                if isinstance(left, ir.Const) and op in _MIRRORED:
                    left, op, right = right, _MIRRORED[op], left
                self._require_value(left, _operand(op, right, side), in_constructor=in_constructor)
            case ir.Name() | ir.Attr():
                self._require_value(test, side, in_constructor=in_constructor)
            case _:
                pass

    def _require_value(self, expr: ir.Expr, value: object, *, in_constructor: bool) -> None:
        """Set the parameter behind an expression: to a truth value, a constant, or an unknown value."""
        match expr:
            case ir.Attr(_, owner, name) if name in self._attributes and self._constructor is not None:
                method = self._constructor if in_constructor else self._function
                if _is_self(method, owner) and name not in self._under_way:
                    self._require_attribute(self._constructor, name, value)
            case ir.Name(_, name) if in_constructor and self._constructor is not None:
                self._set_parameter(self._constructor, self.made, name, value)
            case ir.Name(_, name):
                self._set_parameter(self._function, self.own, name, value)
            case _:
                pass

    def _require_attribute(self, constructor: ir.Function, name: str, value: object) -> None:
        """Set the parameter that an attribute was set to; an attribute that depends on itself decides nothing."""
        kept = self._attributes[name]
        if isinstance(kept, ir.Name):
            self._set_parameter(constructor, self.made, kept.id, value)
        elif isinstance(value, bool):
            self._under_way.add(name)
            self.require(kept, value, in_constructor=True)
            self._under_way.remove(name)

    def _set_parameter(self, function: ir.Function, given: dict[str, Const | None], name: str, value: object) -> None:
        param = next((param for param in function.params if param.name == name), None)
        if param is None or name in given or param.kind.startswith("var-"):
            return
        if isinstance(value, bool):
            found = _of_truth(param, value)
            if found is not None:
                given[name] = found if isinstance(found, Const) else None
        elif isinstance(value, Const):
            given[name] = value
        elif value is _OPEN:
            given[name] = None


def _of_truth(param: ir.Param, side: bool) -> Const | ir.Name | None:
    """Return an argument that is true or false, of the type of the default; None where none is known."""
    default = param.default.value if isinstance(param.default, ir.Const) else param.default
    match default:
        case bool():
            return Const(side)
        case int() | float():
            return Const(1 if side else 0)
        case None if param.default is None and symbolic_args.kind_of(param.annotation) != "flag":
            return None
        case None if param.default is None:
            return Const(side)
        case _:
            return _OPEN if side else Const(None)


def _operand(op: str, right: ir.Expr, side: bool) -> object:
    """Return what the left operand of a comparison with a constant must be for this result."""
    if op == "in":
        items = right.items if isinstance(right, ir.Sequence) else ()
        return Const(items[0].value) if side and items and isinstance(items[0], ir.Const) else None
    if not isinstance(right, ir.Const):
        return None
    value = right.value
    if op in {"==", "is"} and not side:
        return Const(not value) if isinstance(value, bool) else Const(value + 1) if _is_number(value) else _OPEN
    op = op if side else _OPPOSITE[op]
    if op in {">", "<"}:
        return Const(value + (-1 if op == "<" else 1)) if _is_number(value) else None
    return Const(value)


def _is_number(value: object) -> TypeGuard[int | float]:
    return isinstance(value, int | float)
