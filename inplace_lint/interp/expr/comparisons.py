"""Comparisons: of tensors by their facts, of Python values, and as conditions on unknown ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from inplace_lint.domain import origins, traits
from inplace_lint.domain.heap import DictObject, Instance, ListObject, View
from inplace_lint.domain.state import State
from inplace_lint.domain.values import (
    Builtin,
    Certain,
    ClassValue,
    Const,
    Dotted,
    Ref,
    Sym,
    Three,
    Tuple,
    Value,
    is_absent,
    is_key,
    key_of,
)
from inplace_lint.interp.call import enums, module_containers
from inplace_lint.interp.control import path_condition
from inplace_lint.interp.expr import operators, own_names, registries, tensor_attributes
from inplace_lint.interp.frame import Frame
from inplace_lint.interp.interpreter import Interpreter
from inplace_lint.interp.outcome import Results
from inplace_lint.interp.pylib import constant_folding, dataclass_fields
from inplace_lint.interp.transfer import materialise
from inplace_lint.interp.transfer.tensor_types import devices, dtypes
from inplace_lint.ir import nodes as ir

_REFLECTED = {"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_OPPOSITES = {"!=": "==", "<": ">=", "<=": ">", ">": "<=", ">=": "<"}
_METHODS = {"==": "__eq__", "!=": "__ne__", "<": "__lt__", "<=": "__le__", ">": "__gt__", ">=": "__ge__"}


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
    if op in _METHODS:
        facts = materialise.framework_of(interp, state, left)
        if facts is None:
            facts = materialise.framework_of(interp, state, right)
            left, right, left_expr, right_expr = (
                (right, left, right_expr, left_expr) if facts is not None else (left, right, left_expr, right_expr)
            )
        if facts is not None:
            method = facts.framework.compare[op]
            exprs: dict[int | str, ir.Expr] = {0: left_expr, 1: right_expr}
            return operators.call_method(interp, frame, state, facts, method, (left, right), expr.at, exprs)
        own = _own_comparison(interp, frame, state, op, left, right, expr.at)
        if own is not None:
            return own
    if op in {"in", "not in"}:
        own = interp.special_method(frame, state, right, "__contains__", (left,), expr.at)
        if own is not None:
            return [(after, one if op == "in" else path_condition.negate(after, one)) for after, one in own]
        among = _is_among_objects(interp, frame, state, left, right, expr.at)
        if among is not None:
            return [(state, Const(among is (op == "in")))]
    return [(state, _python_compare(interp, state, op, left, right))]


def _asked(op: str) -> tuple[tuple[str, bool], ...]:
    """Return a comparison, and the one whose negation it is, as `total_ordering` and Python's `!=` have it."""
    return ((op, False),) if op == "==" else ((op, False), (_OPPOSITES[op], True))


def _own_comparison(
    interp: Interpreter, frame: Frame, state: State, op: str, left: Value, right: Value, at: int
) -> Results | None:
    """Compare an object by a method of its class; two of one dataclass by their fields."""
    instance, other = state.instance(left), state.instance(right)
    if instance is None and other is None:
        return None
    for asked, negated in _asked(op):
        for first, second, name in ((left, right, asked), (right, left, _REFLECTED[asked])):
            own = interp.special_method(frame, state, first, _METHODS[name], (second,), at)
            if own is not None and all(one != Builtin("NotImplemented") for _, one in own):
                return [(after, path_condition.negate(after, one) if negated else one) for after, one in own]
    if instance is None or other is None or not isinstance(instance.cls, ClassValue):
        return None
    equality = op in {"==", "!="}
    fields = dataclass_fields.compared(interp, instance.cls, in_order=not equality)
    if not equality:
        known = _in_order(state, op, instance, other, fields or [])
        return None if known is None else [(state, known)]
    if left == right or fields is None:
        certain = left == right or all(isinstance(base, ClassValue) for base in interp.context.mro(instance.cls))
        return [(state, Const((left == right) is (op == "==")))] if certain else None
    same = instance.cls is other.cls and {*fields} <= instance.attrs.keys() & other.attrs.keys()
    found = [_equal(state, "==", instance.attrs[name], other.attrs[name]) for name in fields] if same else []
    sides = {path_condition.truth(state, one) for one in found} if same else {False}
    if False in sides or None not in sides:
        return [(state, Const((False not in sides) is (op == "==")))]
    return None


def _is_among_objects(interp: Interpreter, frame: Frame, state: State, left: Value, right: Value, at: int) -> Three:
    """Return whether an object equals one of these by its fields; None where that is not certain."""
    items = right if isinstance(right, Tuple) else state.object(right)
    if state.instance(left) is None or not isinstance(items, Tuple | ListObject) or not items.exact:
        return None
    sides: list[Three] = []
    for item in items.items:
        if state.instance(item) is None:
            return None
        found = _own_comparison(interp, frame, state, "==", left, item, at)
        if found is None or len(found) > 1 or found[0][0] is not state:
            return None
        sides.append(path_condition.truth(state, found[0][1]))
    return True if True in sides else None if None in sides else False


def _in_order(state: State, op: str, left: Instance, right: Instance, fields: Sequence[str]) -> Value | None:
    """Return whether an object is less than another one of its class, by fields that are constants; None if unknown."""
    pairs = [(left.attrs.get(name), right.attrs.get(name)) for name in fields]
    firsts = tuple(first for first, _ in pairs if isinstance(first, Const))
    seconds = tuple(second for _, second in pairs if isinstance(second, Const))
    if not pairs or left.cls is not right.cls or not len(firsts) == len(seconds) == len(pairs):
        return None
    return constant_folding.binary(state, op, Tuple(firsts), Tuple(seconds))


def _python_compare(interp: Interpreter, state: State, op: str, left: Value, right: Value) -> Value:
    if op in {"is not", "not in", "!="}:
        positive = {"is not": "is", "not in": "in", "!=": "=="}[op]
        return path_condition.negate(state, _python_compare(interp, state, positive, left, right))
    found = _python_comparison(interp, state, op, left, right)
    if type(found) is Sym and op == "==" and Const not in {type(left), type(right)}:
        _note_places(state, found, (left, right))
    sides = path_condition.source(left), path_condition.source(right)
    if type(found) is not Const or found.source is not None or sides == (left, right):
        return found
    key = (origins.COMPARE, op, sides[0], path_condition.items_of(state, sides[1]))
    return Const(found.value, source=state.symbols.sym(key).id)


def _note_places(state: State, asked: Sym, sides: tuple[Value, ...]) -> None:
    """
    Remember that where a tensor lies is, by default, the other place that it is compared with: a run may have one only.

        y = y.to(self.device) if y.device.type != self.device.type else y
    """
    if any(devices.is_place(state, side) for side in sides):
        state.set_trait(traits.DEFAULT, asked.id, Const(True))


def _python_comparison(interp: Interpreter, state: State, op: str, left: Value, right: Value) -> Value:
    left, right = _canonical(interp, left), right if op == "in" else _canonical(interp, right)
    left, right = or_unknown(interp, state, left, right), or_unknown(interp, state, right, left)
    if op == "is" or (op == "==" and enums.are_members(interp, state, left, right)):
        return _equal(state, "is", left, right)
    left, right = _without_neutral(state, left), _without_neutral(state, right)
    if op == "==":
        left, right = (state.contents(side) if own_names.is_mapping(side) else side for side in (left, right))
        left, right = _as_sizes(interp, state, left, right), _as_sizes(interp, state, right, left)
    if type(left) is Sym and type(right) is Const and (above := _is_above(state, op, left, right)) is not None:
        return Const(above)
    if op == "==":
        return _equal(state, op, left, right)
    if op == "in":
        return _contains(interp, state, left, right)
    known = None if type(left) is Sym or type(right) is Sym else constant_folding.binary(state, op, left, right)
    if known is None:
        left, right = path_condition.source(left), path_condition.source(right)
        kind = "array" if operators.kind_of_both(left, right) == "array" else ""
        return state.symbols.sym((origins.COMPARE, op, left, right), kind)
    return known


def _as_sizes(interp: Interpreter, state: State, value: Value, other: Value) -> Value:
    """Return a list that is compared with the sizes of a tensor as these, in a framework where they are a list."""
    inner = state.object(value)
    if not isinstance(other, Tuple) or not isinstance(inner, ListObject) or inner.kind != "list":
        return value
    return Tuple(inner.items, inner.exact) if interp.context.default().framework.listed_sizes else value


def _is_above(state: State, op: str, number: Sym, other: Const) -> bool | None:
    """Compare an unknown number with a constant that it is certainly above; None where it may not be."""
    least = state.trait(traits.LEAST, number.id)
    if least is None or not isinstance(other.value, int) or op not in _METHODS:
        return None
    if least > other.value:
        return op in {">", ">="}
    return {"<": False, ">=": True}.get(op) if least == other.value else None


def _without_neutral(state: State, value: Any) -> Any:  # noqa: ANN401 - what a key holds
    """Return what an unknown number was computed from by `* 1`, `+ 0` and the like, as it equals that."""
    match state.symbols.key(value) if isinstance(value, Sym) else None:
        case (origins.BINARY, "*" | "/" | "//" | "**", inner, Const(1)) | (origins.BINARY, "*", Const(1), inner):
            return _without_neutral(state, inner)
        case (origins.BINARY, "+" | "-", inner, Const(0)) | (origins.BINARY, "+", Const(0), inner):
            return _without_neutral(state, inner)
        case _:
            return value


def or_unknown(interp: Interpreter, state: State, value: Value, other: Value) -> Value:
    """
    Return an unknown value for a name of a library of which nothing is known, if it is compared with a constant.

    `other` is what it is compared with, or a container whose constants it may be.

    from settings import args
    if args.loss == "binary": ...           # it may be any constant
    """
    if type(value) is not Dotted or interp.context.facts_of(value.name) is not None:
        return tensor_attributes.no_method(interp, state, value)
    held = path_condition.items_of(state, other)
    items = held.items if isinstance(held, Tuple) else (held,)
    is_open = any(type(one) is Const and one.value is not None for one in items)
    return state.symbols.sym((origins.DOTTED, value.name)) if is_open else value


def _canonical(interp: Interpreter, value: Value) -> Value:
    """Return a framework object under its canonical name, as it may have several names."""
    facts = interp.context.facts_of(value.name) if type(value) is Dotted else None
    if facts is None or not isinstance(value, Dotted):
        return value
    package, _, name = value.name.rpartition(".")
    dtype = dtypes.named(value) if package in facts.framework.packages else None
    return Dotted(facts.canonical(value.name) if dtype is None else f"{package}.{dtype.exact or name}")


_OF_TENSORS = (dtypes.equals, devices.equals)


def _equal(state: State, op: str, left: Value, right: Value) -> Value:
    if right == Const(None):
        return path_condition.is_none(state, left)
    if left == Const(None):
        return path_condition.is_none(state, right)
    if isinstance(left, Const) and isinstance(right, Const):
        return Const(left.value == right.value)
    if _is_shorter(state, left, right) or _is_shorter(state, right, left):
        return Const(False)
    if isinstance(left, Sym) or isinstance(right, Sym):
        learned = path_condition.known(state, left), path_condition.known(state, right)
        if learned != (left, right):
            answer = _equal(state, op, *learned)
            # The path knows the answer; what it would take to get the other one is still asked for.
            asked = state.symbols.sym((origins.COMPARE, "==", left, right)).id
            return Const(answer.value, source=asked) if isinstance(answer, Const) else answer
        same = {equals(state, *pair) for equals in _OF_TENSORS for pair in ((left, right), (right, left))} - {None}
        if same:
            return Const(same.pop())
        return Const(True) if left == right else state.symbols.sym((origins.COMPARE, "==", left, right))
    alike = isinstance(left, Tuple) and isinstance(right, Tuple)
    if left != right and op == "==" and (alike or (isinstance(left, Ref) and isinstance(right, Ref))):
        known = constant_folding.binary(state, op, left, right)
        return state.symbols.sym((origins.COMPARE, "==", left, right)) if known is None else known
    if (_may_be_one if op == "is" else _may_be_equal)(state, left, right):
        pair = path_condition.items_of(state, left), path_condition.items_of(state, right)
        return state.symbols.sym((origins.COMPARE, op, *pair))
    return Const(left == right)


def _may_be_one(state: State, left: Value, right: Value) -> bool:
    """Check whether an operation may have returned its own operand: `x.cpu() is x`."""
    one, other = state.tensor(left), state.tensor(right)
    if one is None or other is None or one.storage != other.storage:
        return False
    return one.view is View.MAYBE or other.view is View.MAYBE


def _is_shorter(state: State, one: Value, other: Value) -> bool:
    """Check whether a tuple has fewer items than another has for certain: `(3,)` and `shape[:1] + (n, 3)`."""
    return isinstance(one, Tuple) and one.exact and len(one.items) < _fewest(state, other)


def _fewest(state: State, value: Value) -> int:
    """Return how many items a tuple, or a sum of tuples, has at least."""
    match state.symbols.key(value) if isinstance(value, Sym) else None:
        case (origins.BINARY, "+", Tuple() | Sym() as left, Tuple() | Sym() as right):
            return _fewest(state, left) + _fewest(state, right)
        case _:
            return len(value.items) if isinstance(value, Tuple) else 0


def _may_be_equal(state: State, left: Value, right: Value) -> bool:
    """
    Check whether a tuple and a list may have the same items: a shape is equal to a list in one framework, not in all.

    if y.shape != [batch, width]: raise ValueError
    """
    whole, other = (left, right) if isinstance(left, Tuple) else (right, left)
    inner = state.object(other)
    if not isinstance(whole, Tuple) or not isinstance(inner, ListObject) or inner.kind != "list":
        return False
    pairs = zip(whole.items, inner.items, strict=False)
    known = [one.value == item.value for one, item in pairs if isinstance(one, Const) and isinstance(item, Const)]
    return all(known) and (len(whole.items) == len(inner.items) or not (whole.exact and inner.exact))


def _contains(interp: Interpreter, state: State, left: Value, right: Value) -> Value:
    if own_names.is_mapping(right) and own_names.object_of(state, right) is None and isinstance(left, Const):
        return Const(own_names.item(interp, state, right, left) is not None)
    inner = state.object(state.contents(right))
    if isinstance(inner, Instance) and inner.children is not None and module_containers.maps(interp, state, inner):
        inner = state.object(inner.children)
    if isinstance(inner, DictObject) and is_key(left):
        inner = registries.filled(interp, state, right, inner, left)
        if key_of(left) in inner.items:
            return Const(True)
        if inner.exact and is_absent(inner.items, left):
            return Const(False)
    items = right.items if isinstance(right, Tuple) and right.exact else None
    if isinstance(inner, ListObject) and inner.exact:
        items = inner.items
    known = None if items is None else _is_among(interp, state, left, items)
    if known is not None:
        return Const(known)
    if isinstance(left, Const) and isinstance(right, Const):
        folded = constant_folding.function(state, "operator.contains", (right, left), ())
        if folded is not None:
            return folded
    return path_condition.contains(state, left, right)


def _is_among(interp: Interpreter, state: State, left: Value, items: Sequence[Value]) -> Three:
    """Return whether a value is one of these, where that is certain."""
    if isinstance(left, Certain):
        if any(left == _canonical(interp, item) for item in items):
            return True
        return False if all(isinstance(item, Certain) for item in items) else None
    return False if items and all(dtypes.equals(state, left, item) is False for item in items) else None
