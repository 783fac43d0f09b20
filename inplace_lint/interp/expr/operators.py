"""
Operators: as methods of tensors, on Python values, and as augmented assignments.

    x + y       # `Tensor.__add__`, by its fact
    2 * 3       # folded to a constant
    x += y      # `Tensor.__iadd__`: writes `x`
"""

from __future__ import annotations

from typing import Any

from inplace_lint.core.event import Spelling
from inplace_lint.core.span import Place
from inplace_lint.domain import origins, traits, unknown_history
from inplace_lint.domain.heap import DictObject, ListObject
from inplace_lint.domain.state import State
from inplace_lint.domain.values import (
    Builtin,
    ClassValue,
    Closure,
    Const,
    Dotted,
    Ref,
    Sym,
    SymId,
    Tuple,
    Value,
    is_key,
    key_of,
    of_key,
)
from inplace_lint.interp.control import path_condition
from inplace_lint.interp.frame import Arguments, Frame
from inplace_lint.interp.interpreter import Interpreter
from inplace_lint.interp.outcome import Results
from inplace_lint.interp.pylib import constant_folding
from inplace_lint.interp.transfer import materialise
from inplace_lint.ir import nodes as ir
from inplace_lint.knowledge.facts import Facts

_COMPARE = frozenset({"==", "!=", "<", "<=", ">", ">="})
_LARGEST = 10**9
_LONGEST = 10_000


def unary(interp: Interpreter, frame: Frame, state: State, op: str, value: Value, expr: ir.Unary) -> Results:
    """Evaluate `-value`, `+value` or `~value`."""
    facts = materialise.of_operand(interp, state, value)
    if facts is not None:
        method = facts.framework.unary.get(op, "")
        return _method(interp, frame, state, facts, method, (value,), expr.at, {0: expr.operand})
    if isinstance(value, Const) and isinstance(value.value, int | float):
        number = value.value
        return [(state, Const(-number if op == "-" else ~int(number) if op == "~" else number))]
    return [(state, state.symbols.sym((origins.UNARY, op, value), _kind(value)))]


def binary(
    interp: Interpreter, frame: Frame, state: State, op: str, left: Value, right: Value, expr: ir.Binary
) -> Results:
    """Evaluate `left op right`: by a tensor's method if a side is a tensor, else as a folded constant or an unknown."""
    facts = materialise.of_operand(interp, state, left)
    if facts is not None:
        method = facts.framework.binary[op]
        return _method(interp, frame, state, facts, method, (left, right), expr.at, {0: expr.left, 1: expr.right})
    facts = materialise.of_operand(interp, state, right)
    if facts is not None and isinstance(left, Sym) and left.kind == "input":
        method = facts.framework.binary[op]  # an input beside a tensor is taken for a tensor
        return _method(interp, frame, state, facts, method, (left, right), expr.at, {0: expr.left, 1: expr.right})
    if facts is not None and not isinstance(left, Tuple):
        method = facts.framework.reflected[op]
        return _method(interp, frame, state, facts, method, (right, left), expr.at, {0: expr.right, 1: expr.left})
    return [(state, python_binary(interp, state, op, left, right, frame.site(expr.at).place))]


def python_binary(
    interp: Interpreter, state: State, op: str, left: Value, right: Value, place: Place | None = None
) -> Value:
    """Evaluate `left op right` on Python values; `place` is the expression's."""
    match left, right:
        case Const(a), Const(b):
            folded = _fold(op, a, b)
            if folded is not None:
                return folded
        case Tuple(a, exact), Tuple(b, also) if op == "+":
            return Tuple(a + b, exact and also)
        case Tuple(a, exact), Const(int() as times) if op == "*" and 0 <= times * len(a) <= _LONGEST:
            return Tuple(a * times, exact)
        case Ref(), _ if op in {"+", "*"}:
            return _list_binary(interp, state, op, left, right, place)
        case _:
            pass
    if type(left) is not Sym and type(right) is not Sym:
        known = constant_folding.binary(state, op, left, right)
        if known is not None:
            return known
    kind = _kind_of_both(left, right)
    if kind == "number" and (unknown_history.nodes_behind(state, left) or unknown_history.nodes_behind(state, right)):
        kind = ""  # a number times what may be a tensor
    return state.symbols.sym((origins.BINARY, op, left, right), kind)


def _list_binary(interp: Interpreter, state: State, op: str, left: Value, right: Value, place: Place | None) -> Value:
    mine, other = state.object(left), state.object(right)
    if isinstance(mine, ListObject) and isinstance(other, ListObject) and op == "+":
        return state.new(ListObject(mine.items + other.items, mine.exact and other.exact))
    if isinstance(mine, ListObject) and op == "*":
        times = right.value if isinstance(right, Const) and isinstance(right.value, int) else None
        if times != 1:
            interp.listeners.repeat(state, mine.items, place)
        if times is not None and 0 <= times * len(mine.items) <= _LONGEST:
            return state.new(ListObject(mine.items * times, mine.exact))
        return state.new(ListObject(mine.items * 2, exact=False))
    return state.symbols.sym((origins.BINARY, op, left, right, state.next_id))


def _fold(op: str, left: object, right: object) -> Const | None:
    if isinstance(left, int | float) and isinstance(right, int | float):
        if op in {"**", "<<"} and (abs(left) > _LARGEST or abs(right) > 64):  # noqa: PLR2004 - results stay small
            return None
    else:
        return None
    try:
        return Const(constant_folding.OPERATORS[op](left, right))
    except (ArithmeticError, TypeError, ValueError, KeyError):
        return None


def compare(interp: Interpreter, frame: Frame, state: State, expr: ir.Compare, values: tuple[Value, ...]) -> Results:
    """Evaluate a chain of comparisons."""
    if len(expr.ops) == 1:
        return _compare_two(interp, frame, state, expr.ops[0], values[0], values[1], expr, expr.left, expr.rights[0])
    answer: Value = Const(True)
    for op, left, right in zip(expr.ops, values, values[1:], strict=False):
        one = _python_compare(interp, state, op, left, right)
        if path_condition.truth(state, one) is False:
            return [(state, Const(False))]
        if path_condition.truth(state, one) is None:
            answer = state.symbols.sym((origins.COMPARE, tuple(expr.ops), values))
    return [(state, answer)]


def _compare_two(
    interp: Interpreter,
    frame: Frame,
    state: State,
    op: str,
    left: Value,
    right: Value,
    expr: ir.Compare,
    left_expr: ir.Expr,
    right_expr: ir.Expr,
) -> Results:
    if op in _COMPARE:
        facts = materialise.framework_of(interp, state, left)
        if facts is None:
            facts = materialise.framework_of(interp, state, right)
            left, right, left_expr, right_expr = (
                (right, left, right_expr, left_expr) if facts is not None else (left, right, left_expr, right_expr)
            )
        if facts is not None:
            method = facts.framework.compare[op]
            exprs: dict[int | str, ir.Expr] = {0: left_expr, 1: right_expr}
            return _method(interp, frame, state, facts, method, (left, right), expr.at, exprs)
    if op in {"in", "not in"}:
        own = interp.special_method(frame, state, right, "__contains__", (left,), expr.at)
        if own is not None:
            return [(after, one if op == "in" else path_condition.negate(after, one)) for after, one in own]
    return [(state, _python_compare(interp, state, op, left, right))]


def _python_compare(interp: Interpreter, state: State, op: str, left: Value, right: Value) -> Value:
    if op in {"is not", "not in", "!="}:
        positive = {"is not": "is", "not in": "in", "!=": "=="}[op]
        return path_condition.negate(state, _python_compare(interp, state, positive, left, right))
    found = _python_comparison(interp, state, op, left, right)
    sides = path_condition.source(left), path_condition.source(right)
    if type(found) is not Const or found.source is not None or sides == (left, right):
        return found
    key = (origins.COMPARE, op, sides[0], _as_tuple(state, sides[1]))
    return Const(found.value, source=state.symbols.sym(key).id)


def _python_comparison(interp: Interpreter, state: State, op: str, left: Value, right: Value) -> Value:
    left = _canonical(interp, left)
    if op == "is":
        return _equal(state, op, left, _canonical(interp, right))
    left, right = _without_neutral(state, left), _without_neutral(state, right)
    if op == "==":
        return _equal(state, op, left, _canonical(interp, right))
    if op == "in":
        return _contains(interp, state, left, right)
    known = None if type(left) is Sym or type(right) is Sym else constant_folding.binary(state, op, left, right)
    if known is None:
        left, right = path_condition.source(left), path_condition.source(right)
        kind = "array" if _kind_of_both(left, right) == "array" else ""
        return state.symbols.sym((origins.COMPARE, op, left, right), kind)
    return known


def _without_neutral(state: State, value: Any) -> Any:  # noqa: ANN401 - what a key holds
    """Return what an unknown number was computed from by `* 1`, `+ 0` and the like, as it equals that."""
    match state.symbols.key(value) if isinstance(value, Sym) else None:
        case (origins.BINARY, "*" | "/" | "//" | "**", inner, Const(1)) | (origins.BINARY, "*", Const(1), inner):
            return _without_neutral(state, inner)
        case (origins.BINARY, "+" | "-", inner, Const(0)) | (origins.BINARY, "+", Const(0), inner):
            return _without_neutral(state, inner)
        case _:
            return value


def _as_tuple(state: State, value: Value) -> Value:
    """Return a container as a tuple of what it holds, to be part of a condition; else the value itself."""
    inner = state.object(value)
    if isinstance(inner, DictObject):
        return Tuple(tuple(of_key(key) for key in inner.items))
    return Tuple(inner.items) if isinstance(inner, ListObject) else value


def _canonical(interp: Interpreter, value: Value) -> Value:
    """Return a framework object under its canonical name, as it may have several names."""
    if type(value) is Dotted:
        facts = interp.context.facts_of(value.name)
        return value if facts is None else Dotted(facts.canonical(value.name))
    return value


def _equal(state: State, op: str, left: Value, right: Value) -> Value:
    if right == Const(None):
        return path_condition.is_none(state, left)
    if left == Const(None):
        return path_condition.is_none(state, right)
    if isinstance(left, Const) and isinstance(right, Const):
        return Const(left.value == right.value)
    if isinstance(left, Sym) or isinstance(right, Sym):
        learned = _learned(state, left), _learned(state, right)
        if learned != (left, right):
            return _equal(state, op, *learned)
        return Const(True) if left == right else state.symbols.sym((origins.COMPARE, "==", left, right))
    alike = isinstance(left, Tuple) and isinstance(right, Tuple)
    if left != right and op == "==" and (alike or (isinstance(left, Ref) and isinstance(right, Ref))):
        known = constant_folding.binary(state, op, left, right)
        return state.symbols.sym((origins.COMPARE, "==", left, right)) if known is None else known
    return Const(left == right)


def _learned(state: State, value: Value) -> Value:
    """Return the constant that an unknown value equals on this path, if an earlier condition said so; else itself."""
    known = state.trait(traits.EQUALS, value.id) if isinstance(value, Sym) else None
    return value if known is None else known


_Known = Const | Dotted | ClassValue | Closure | Builtin  # whether two of these are equal is certain


def _contains(interp: Interpreter, state: State, left: Value, right: Value) -> Value:
    inner = state.object(state.contents(right))
    if isinstance(inner, DictObject) and is_key(left):
        if key_of(left) in inner.items:
            return Const(True)
        if inner.exact:
            return Const(False)
    items = right.items if isinstance(right, Tuple) and right.exact else None
    if isinstance(inner, ListObject) and inner.exact:
        items = inner.items
    if items is not None and isinstance(left, _Known):
        if any(left == _canonical(interp, item) for item in items):
            return Const(True)
        if all(isinstance(item, _Known) for item in items):
            return Const(False)
    if (
        isinstance(left, Const)
        and isinstance(right, Const)
        and isinstance(left.value, str)
        and isinstance(right.value, str)
    ):
        return Const(left.value in right.value)
    return state.symbols.sym((origins.CONTAINS, left, right))


def augmented(interp: Interpreter, frame: Frame, state: State, node: ir.AugAssign, old: Value, value: Value) -> Results:
    """Evaluate `old op= value`: the old object where its type writes in place, else a new value."""
    facts = materialise.framework_of(interp, state, old)
    if facts is not None and _counts(state, node.op, old, value):
        return [(state, state.symbols.sym((origins.BINARY, node.op, old, value, state.next_id), "number"))]
    if facts is not None:
        method = facts.framework.augmented.get(node.op)
        exprs: dict[int | str, ir.Expr] = {0: node.target, 1: node.value}
        if method is not None:
            return _method(interp, frame, state, facts, method, (old, value), node.at, exprs, Spelling.AUGMENTED)
        return _method(interp, frame, state, facts, facts.framework.binary[node.op], (old, value), node.at, exprs)
    if isinstance(old, Sym) and old.kind == "array":
        return [(state, old)]
    thing = state.object(old)
    if isinstance(old, Ref) and isinstance(thing, ListObject) and node.op in {"+", "|"}:
        other = state.object(value)
        items = other.items if isinstance(other, ListObject) else value.items if isinstance(value, Tuple) else None
        exact = thing.exact and items is not None and (not isinstance(other, ListObject) or other.exact)
        state.put(old, ListObject(thing.items + (items or ()), exact, thing.kind))
        return [(state, old)]
    if state.instance(old) is not None:
        return _user_augmented(interp, frame, state, node, old, value)
    facts = materialise.framework_of(interp, state, value)
    if facts is not None and not isinstance(old, Tuple):
        method = facts.framework.reflected[node.op]
        return _method(interp, frame, state, facts, method, (value, old), node.at, {0: node.value, 1: node.target})
    return [(state, python_binary(interp, state, node.op, old, value))]


def _counts(state: State, op: str, old: Value, value: Value) -> bool:
    """Check whether a size is added to, or taken from, what nothing shows to be a tensor: `rest -= batch.shape[0]`."""
    tensor = state.tensor(old)
    if op not in {"+", "-"} or not is_number(state, value) or isinstance(value, Const):
        return False
    unknown = tensor is not None and tensor.rg is None and tensor.dtype == "unknown" and tensor.sizes is None
    return unknown and not (isinstance(old, Sym) and old.kind == "tensor")


_USER_METHODS = {
    "+": "__iadd__",
    "-": "__isub__",
    "*": "__imul__",
    "/": "__itruediv__",
    "|": "__ior__",
    "&": "__iand__",
}


def _user_augmented(
    interp: Interpreter, frame: Frame, state: State, node: ir.AugAssign, old: Value, value: Value
) -> Results:
    method = _USER_METHODS.get(node.op, "")
    for after, function in interp.get_attribute(frame, state, old, method, node.at) if method else []:
        if not isinstance(function, Sym):
            return interp.call(frame, after, function, Arguments((value,)), node.at)
    return [(state, old)]


def _method(
    interp: Interpreter,
    frame: Frame,
    state: State,
    facts: Facts,
    method: str,
    values: tuple[Value, ...],
    at: int,
    exprs: dict[int | str, ir.Expr],
    spelled: Spelling = Spelling.CALL,
) -> Results:
    name = f"{facts.framework.tensor}.{method}"
    values = tuple(_number_of(state, value) for value in values)
    return interp.apply_op(frame, state, name, Arguments(values, (), exprs), at, spelled)


def _number_of(state: State, value: Value) -> Value:
    """Return an operand, taken for a number where it is a setting: a part of what a constructor was given."""
    return Sym(value.id, "number") if isinstance(value, Sym) and not value.kind and _is_setting(state, value) else value


def _is_setting(state: State, value: Sym) -> bool:
    match state.symbols.key(value):
        case (origins.ATTRIBUTE, int() as number, _) | (origins.ITEM, Sym(number), _):
            inner = state.symbols.keys[number]
            return _is_given(inner) or _is_setting(state, Sym(SymId(number)))
        case _:
            return False


def _is_given(key: object) -> bool:
    match key:
        case (origins.PARAMETER, str() as function, *_):
            return function.rpartition(".")[2] == "__init__"
        case _:
            return False


def is_number(state: State, value: object) -> bool:
    """Check whether a value certainly is a Python number: a constant, a size, or computed from such values only."""
    if isinstance(value, Const):
        return isinstance(value.value, int | float)
    key = state.symbols.key(value) if isinstance(value, Sym) and value.kind == "number" else None
    match key:
        case (origins.ITEM, Sym() as inner, _):
            of = state.symbols.key(inner)
            return isinstance(of, tuple) and of[0] is origins.SHAPE
        case (origins.SHAPE, _, _, _) | (origins.ARITHMETIC, _, _):
            return True
        case (origins.BINARY, _, left, right):
            return is_number(state, left) and is_number(state, right)
        case (origins.UNARY, _, operand):
            return is_number(state, operand)
        case _:
            return False


def _kind(value: Value) -> str:
    match value:
        case Sym(_, kind) if kind in {"array", "number", "input"}:
            return kind
        case Const(int() | float()):
            return "number"
        case _:
            return ""


def _kind_of_both(left: Value, right: Value) -> str:
    """Return the kind of the result of an operator: one with an array gives an array."""
    kinds = (_kind(left), _kind(right))
    return "array" if "array" in kinds else kinds[0] or kinds[1]
