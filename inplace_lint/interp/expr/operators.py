"""
Operators: as methods of tensors, on Python values, and as augmented assignments.

    x + y       # `Tensor.__add__`, by its fact
    2 * 3       # folded to a constant
    x += y      # `Tensor.__iadd__`: writes `x`
"""

from __future__ import annotations

from collections.abc import Hashable
from enum import Flag

from inplace_lint.core.event import Spelling, Touch
from inplace_lint.core.span import Place
from inplace_lint.domain import origins, traits, unknown_history
from inplace_lint.domain.heap import DictObject, ListObject
from inplace_lint.domain.state import State
from inplace_lint.domain.values import Builtin, Const, Ref, Sym, SymId, Tuple, Value
from inplace_lint.interp.control import exceptional_flow
from inplace_lint.interp.expr import postponed
from inplace_lint.interp.frame import Arguments, Frame, text_of
from inplace_lint.interp.interpreter import Interpreter
from inplace_lint.interp.intrinsics import opaque_modules
from inplace_lint.interp.outcome import Raised, Results
from inplace_lint.interp.pylib import constant_folding
from inplace_lint.interp.transfer import materialise
from inplace_lint.ir import nodes as ir
from inplace_lint.knowledge.facts import Facts

_LARGEST = 10**9
_LONGEST = 10_000


def unary(interp: Interpreter, frame: Frame, state: State, op: str, value: Value, expr: ir.Unary) -> Results:
    """Evaluate `-value`, `+value` or `~value`."""
    method = interp.context.default().framework.unary.get(op, "")
    own = interp.special_method(frame, state, value, method, (), expr.at) if type(value) is Ref else None
    if own is not None:
        return own
    facts = materialise.of_operand(interp, state, value)
    if facts is not None:
        method = facts.framework.unary.get(op, "")
        return call_method(interp, frame, state, facts, method, (value,), expr.at, {0: expr.operand})
    if isinstance(value, Const) and isinstance(number := value.value, int | float):
        return [(state, Const(-number if op == "-" else ~int(number) if op == "~" else number))]
    if isinstance(value, Const) and isinstance(value.value, Flag) and op == "~":
        return [(state, Const(~value.value))]
    result = _computed(state, (origins.UNARY, op, value), _kind(value))
    postponed.note(frame, state, (value,), result, expr.at)
    return [(state, result)]


def binary(
    interp: Interpreter, frame: Frame, state: State, op: str, left: Value, right: Value, expr: ir.Binary
) -> Results:
    """Evaluate `left op right`: by a tensor's method if a side is a tensor, else as a folded constant or an unknown."""
    if _is_refused(interp, frame, state, op, (left, right), expr.at):
        return interp.fuel.leave(state, Raised(Builtin("TypeError"), frame.site(expr.at)))
    own = _by_own_class(interp, frame, state, op, left, right, expr.at)
    if own is not None:
        return own
    facts = materialise.of_operand(interp, state, left)
    if facts is not None:
        method = facts.framework.binary[op]
        return call_method(interp, frame, state, facts, method, (left, right), expr.at, {0: expr.left, 1: expr.right})
    facts = materialise.of_operand(interp, state, right)
    if facts is not None and isinstance(left, Sym) and left.kind == "input":
        method = facts.framework.binary[op]  # an input beside a tensor is taken for a tensor
        return call_method(interp, frame, state, facts, method, (left, right), expr.at, {0: expr.left, 1: expr.right})
    if facts is not None and not isinstance(left, Tuple):
        method = facts.framework.reflected[op]
        return call_method(interp, frame, state, facts, method, (right, left), expr.at, {0: expr.right, 1: expr.left})
    if type(right) is Const and right.value == 0 and op in _DIVIDES and type(left) is Const and is_number(state, left):
        return interp.fuel.leave(state, Raised(Builtin("ZeroDivisionError"), frame.site(expr.at)))
    result = python_binary(interp, state, op, left, right, frame.site(expr.at).place)
    postponed.note(frame, state, (left, right), result, expr.at)
    return [(state, result)]


_DIVIDES = frozenset({"/", "//", "%"})


def _by_own_class(
    interp: Interpreter, frame: Frame, state: State, op: str, left: Value, right: Value, at: int
) -> Results | None:
    """Run the operator that the program's class of one side, or a container of modules, defines; None if none does."""
    names = interp.context.default().framework
    for value, other, name in ((left, right, names.binary.get(op)), (right, left, names.reflected.get(op))):
        own = interp.special_method(frame, state, value, name, (other,), at) if name and type(value) is Ref else None
        if own is not None:
            return own
    for value, other, name in ((left, right, names.binary.get(op)), (right, left, names.reflected.get(op))):
        container = state.instance(value) if type(value) is Ref else None
        if container is None or container.children is None or not name:
            continue
        for after, method in interp.get_attribute(frame, state, value, name, at):
            if not isinstance(method, Sym):
                return interp.call(frame, after, method, Arguments((other,)), at)
    return None


def _is_refused(
    interp: Interpreter, frame: Frame, state: State, op: str, operands: tuple[Value, Value], at: int
) -> bool:
    """Return whether an operand is None, which only `int | None`, an annotation, allows."""
    return op != "|" and any(exceptional_flow.refuses_none(interp, frame, state, one, at) for one in operands)


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
        case (Ref(), _) | (Tuple(), Ref()) if op in {"+", "*"} or isinstance(state.object(left), DictObject):
            return _of_containers(interp, state, op, left, right, place)
        case _:
            pass
    known = _known(state, op, left, right)
    if known is not None:
        return known
    kind = kind_of_both(left, right)
    if kind == "number" and any(_may_be_tensor(state, one) for one in (left, right)):
        kind = ""  # a number times what may be a tensor
    return _computed(state, (origins.BINARY, op, left, right), kind)


def _known(state: State, op: str, left: Value, right: Value) -> Value | None:
    if type(left) is not Sym and type(right) is not Sym:
        return constant_folding.binary(state, op, left, right)
    if type(left) is Const or type(right) is Const:
        return constant_folding.beside_unknown(op, _number_of(state, left), _number_of(state, right))
    return None


def _computed(state: State, key: tuple[Hashable, ...], kind: str) -> Sym:
    """
    Return what an operator gives for unknown values: without a gradient, and no other one's value, under no-grad.

        p = 5 * m
        y = w * p       # `p` is a tensor
        p = 5 * m       # another one
    """
    if state.modes.grad is not False or kind == "number" or any(_is_text(part) for part in key[2:]):
        made = state.symbols.sym(key, kind)
        return made if state.ref(made) is None else state.symbols.sym((*key, state.next_id), kind)
    made = state.symbols.sym((*key, origins.UNRECORDED), kind)
    state.set_trait(traits.NO_GRADIENT, made.id, True)
    return made


def _is_text(value: object) -> bool:
    return isinstance(value, Const) and isinstance(value.value, str)


_DERIVED = frozenset({origins.RESULT, origins.ATTRIBUTE, origins.ITEM, origins.BINARY})


def _may_be_tensor(state: State, value: Value) -> bool:
    """Check whether an operand beside a number may be a tensor: what is derived from an unknown, but for a setting."""
    if not isinstance(value, Sym) or value.kind:
        return False
    if unknown_history.nodes_behind(state, value):
        return True
    key = state.symbols.key(value)
    return isinstance(key, tuple) and key[0] in _DERIVED and not _is_setting(state, value)


def _of_containers(interp: Interpreter, state: State, op: str, left: Value, right: Value, place: Place | None) -> Value:
    mine, other = (one if isinstance(one, Tuple) else state.object(one) for one in (left, right))
    # A shape, here a tuple, is a list in one of the frameworks.
    if isinstance(mine, ListObject | Tuple) and isinstance(other, ListObject | Tuple) and op == "+":
        return state.new(ListObject(mine.items + other.items, mine.exact and other.exact))
    if isinstance(mine, DictObject) and isinstance(other, DictObject) and op == "|":
        return state.new(mine.joined(other))
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


def _adds_items(interp: Interpreter, state: State, op: str, old: Ref, value: Value, place: Place) -> bool:
    """Add the items of a value to a list or dict; whether this is what the operator does."""
    thing, other = state.object(old), state.object(value)
    if isinstance(thing, ListObject) and op in {"+", "|"}:
        items = other.items if isinstance(other, ListObject) else value.items if isinstance(value, Tuple) else None
        exact = thing.exact and items is not None and (not isinstance(other, ListObject) or other.exact)
        for item in items or ():
            interp.listeners.store(state, place, item, thing.items)
        state.put(old, ListObject(thing.items + (items or ()), exact, thing.kind))
        return True
    if isinstance(thing, DictObject) and op == "|":
        added = other if isinstance(other, DictObject) else DictObject({}, exact=False)
        for item in added.items.values():
            interp.listeners.store(state, place, item, ())
        state.put(old, thing.joined(added))
        return True
    return False


def augmented(interp: Interpreter, frame: Frame, state: State, node: ir.AugAssign, old: Value, value: Value) -> Results:
    """Evaluate `old op= value`: the old object where its type writes in place, else a new value."""
    if _is_refused(interp, frame, state, node.op, (old, value), node.at):
        return interp.fuel.leave(state, Raised(Builtin("TypeError"), frame.site(node.at)))
    facts = materialise.framework_of(interp, state, old) or _of_parameter(interp, state, old, value)
    if facts is not None and _counts(state, node.op, old, value):
        return [(state, state.symbols.sym((origins.BINARY, node.op, old, value, state.next_id), "number"))]
    if facts is not None:
        return _of_tensor(interp, frame, state, facts, node, old, value)
    if isinstance(old, Sym) and old.kind == "array":
        return [(state, old)]
    if isinstance(old, Ref) and _adds_items(interp, state, node.op, old, value, frame.site(node.at).place):
        return [(state, old)]
    if state.instance(old) is not None:
        return _user_augmented(interp, frame, state, node, old, value)
    facts = materialise.framework_of(interp, state, value)
    if facts is not None and not isinstance(old, Tuple):
        method = facts.framework.reflected[node.op]
        return call_method(interp, frame, state, facts, method, (value, old), node.at, {0: node.value, 1: node.target})
    if isinstance(old, Sym) and old.kind == "input" and _is_no_tensor(state, old, value):
        later = _written_if_tensor(interp, frame, state, node, old, value)
        return [(state, later or python_binary(interp, state, node.op, old, value))]
    return [(state, python_binary(interp, state, node.op, old, value))]


def _of_tensor(
    interp: Interpreter, frame: Frame, state: State, facts: Facts, node: ir.AugAssign, old: Value, value: Value
) -> Results:
    if is_number(state, value):
        materialise.doubt(state, old)
    else:
        old = materialise.other_than_a_number(state, old)
    method = facts.framework.augmented.get(node.op)
    exprs: dict[int | str, ir.Expr] = {0: node.target, 1: node.value}
    if method is not None:
        return call_method(interp, frame, state, facts, method, (old, value), node.at, exprs, Spelling.AUGMENTED)
    return call_method(interp, frame, state, facts, facts.framework.binary[node.op], (old, value), node.at, exprs)


def _is_no_tensor(state: State, old: Sym, value: Value) -> bool:
    """Check whether an operand makes no tensor of what is none: a number, or the result of a method of `old` itself."""
    if isinstance(value, Const):
        return type(value.value) in {int, float}
    match state.symbols.key(value) if isinstance(value, Sym) else None:
        case (origins.RESULT, Sym() as method, *_):
            key = state.symbols.key(method)
            return isinstance(key, tuple) and key[:2] == (origins.ATTRIBUTE, old.id)
        case _:
            return False


def _written_if_tensor(
    interp: Interpreter, frame: Frame, state: State, node: ir.AugAssign, old: Sym, value: Value
) -> Value | None:
    """Return the result of `x -= 1`, which is `x` itself if that turns out to be a tensor; None if it never is."""
    framework = interp.context.default().framework
    method = framework.augmented.get(node.op)
    if method is None:
        return None
    result = state.symbols.sym((origins.BINARY, node.op, old, value, Spelling.AUGMENTED), old.kind)
    name = f"{framework.tensor}.{method}"
    touch = Touch(name, frame.site(node.at), "self", text_of(node.target), Spelling.AUGMENTED)
    materialise.postpone(state, old, result, touch, frame.variables(node.target))
    return result


def _of_parameter(interp: Interpreter, state: State, old: Value, value: Value) -> Facts | None:
    """Return the facts for an unknown module's `weight`, to which a tensor is added or the like."""
    facts = materialise.framework_of(interp, state, value)
    named = interp.context.default().framework.parameters
    return facts if facts is not None and opaque_modules.is_named_as_parameter(state, old, named) else None


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
    own = _by_own_class(interp, frame, state, node.op, old, value, node.at)
    return [(state, old)] if own is None else own


def call_method(
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
    """Call a method of tensors, on values of which one is a tensor."""
    name = f"{facts.framework.tensor}.{method}"
    written = spelled is Spelling.AUGMENTED
    values = tuple(value if written and value is values[0] else _number_of(state, value) for value in values)
    return interp.apply_op(frame, state, name, Arguments(values, (), exprs), at, spelled)


def _number_of(state: State, value: Value) -> Value:
    """Return an operand, taken for a number where it is a setting: a part of what a constructor was given."""
    if not isinstance(value, Sym) or value.kind not in {"", "input"} or state.has_trait(traits.IS_TENSOR, value.id):
        return value
    return Sym(value.id, "number") if _is_setting(state, value) else value


def _is_setting(state: State, value: Sym) -> bool:
    match state.symbols.key(value):
        case (origins.ATTRIBUTE, int() as number, _) | (origins.ITEM, Sym(number), _):
            inner = state.symbols.keys[number]
            return unknown_history.is_given_to_constructor(inner) or _is_setting(state, Sym(SymId(number)))
        case (origins.BINARY, _, left, right, *_):
            parts = [part for part in (left, right) if isinstance(part, Sym) and part.kind != "number"]
            return bool(parts) and all(_is_setting(state, part) for part in parts)
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


def kind_of_both(left: Value, right: Value) -> str:
    """Return the kind of the result of an operator: an array gives an array, an input an input."""
    kinds = (_kind(left), _kind(right))
    return next((kind for kind in ("array", "input", "number") if kind in kinds), "")
