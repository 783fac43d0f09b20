"""
Evaluates conditions: whether one holds on a path, and which sides of an unknown one the path can take.

A condition is remembered by value number: the symbol of `mask is None` is made from the symbol of `mask`, so the same
test later, in whatever words, takes the same side. `not` and `is not` are the same condition on the other side.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from typing import Any

from msgspec.structs import replace

from inplace_lint.core.assumption import Assumption
from inplace_lint.domain import origins, tape, traits, used_gradients
from inplace_lint.domain.heap import DictObject, Instance, ListObject, Tensor
from inplace_lint.domain.state import State
from inplace_lint.domain.values import (
    NONE,
    Bound,
    Builtin,
    ClassValue,
    Closure,
    Const,
    Dotted,
    NodeId,
    Partial,
    Ref,
    Sym,
    SymId,
    Three,
    Tuple,
    Value,
    is_key,
    of_key,
)
from inplace_lint.interp.control import exclusive
from inplace_lint.interp.fuel import Fuel
from inplace_lint.interp.pylib import constant_folding
from inplace_lint.interp.transfer.tensor_types import dtypes


def truth(state: State, value: Value) -> Three:
    """Return whether a value is true; None where that is not known on this path."""
    if type(value) is Const:  # checked first, as it is the most frequent
        return bool(value.value)
    match value:
        case Sym(number):
            return _symbol_truth(state, number)
        case Tuple(items, exact):
            return bool(items) or (False if exact else None)
        case Ref():
            return _object_truth(state, value)
        case Dotted(name):
            return state.truth((origins.DOTTED, name))
        case Closure() | ClassValue() | Bound() | Partial() | Builtin():
            return True
        case _:
            return None


def _symbol_truth(state: State, number: SymId) -> Three:
    key = state.symbols.keys[number]
    if isinstance(key, tuple) and key and key[0] is origins.NOT:
        inner = _symbol_truth(state, SymId(key[1]))
        return None if inner is None else not inner
    known = state.truth(number)
    if known is None and state.truth((origins.NONE, number)):
        return False
    return exclusive.side_left(state, number) if known is None else known


def _object_truth(state: State, ref: Ref) -> Three:
    match state.object(ref):
        case ListObject(kind="queue" | "context"):
            return True
        case ListObject(items, exact):
            return bool(items) or (False if exact else None)
        case DictObject(items, exact):
            return bool(items) or (False if exact else None)
        case Tensor():
            return state.truth((origins.TENSOR, ref.id))
        case Instance(_, _, _, Ref() as children):  # as many as the modules in a container
            return _object_truth(state, children)
        case Instance():
            return True
        case _:
            return None


def split(fuel: Fuel, state: State, value: Value, wanted: Three = None) -> list[tuple[State, bool]]:
    """
    Return the sides that a condition can take, each in a state that remembers it.

    Where one only can be followed, that is the one of a call that leaves parameters None by default, else the one that
    is `wanted`, else that of a command line without options, else the preferred one.
    """
    known = truth(state, value)
    if known is not None:
        return [(state, known)]
    usual = _side_of_defaults(state, value, _absent) if fuel.prefers else None
    default = _side_of_defaults(state, value, _option) if fuel.prefers and usual is None else None
    first: Three = next((side for side in (usual, wanted, default) if side is not None), None)
    if fuel.width <= 1 or not fuel.step():
        fuel.counters["guessed_sides"] += default is not None
        learn(state, value, first := fuel.only_side(first))
        return [(state, first)]
    first = usual is not False and default is not False
    other = state.fork()
    learn(state, value, first)
    learn(other, value, not first)
    return [(state, first), (other, not first)]


def _side_of_defaults(state: State, value: Value, default_of: Callable[[State, SymId], Const | None]) -> Three:
    """Return the side of a condition on values that are what they are by default; None for any other."""
    if not isinstance(value, Sym):
        return None
    default = default_of(state, value.id)
    if default is not None:
        return bool(default.value)
    match state.symbols.keys[value.id]:
        case (origins.NOT, int(inner)):
            side = _side_of_defaults(state, Sym(SymId(inner)), default_of)
            return None if side is None else not side
        case (origins.IS_NONE, int(inner)):
            default = default_of(state, SymId(inner))
            return None if default is None else default == NONE
        case (origins.COMPARE, str(op), Sym() | Const() as left, Sym() | Const() as right):
            first, second = (one if isinstance(one, Const) else default_of(state, one.id) for one in (left, right))
            answer = constant_folding.binary(state, op, first, second) if first and second else None
            return bool(answer.value) if isinstance(answer, Const) else None
        case (origins.CONTAINS, Sym(inner), Tuple(items, True)):
            default = default_of(state, inner)
            return None if default is None or default == NONE else default in items
        case _:
            return None


def _absent(state: State, number: SymId) -> Const | None:
    """Return None for a parameter that is not passed, and is None by default."""
    return Const(None) if state.has_trait(traits.NONE_BY_DEFAULT, number) else None


def _option(state: State, number: SymId) -> Const | None:
    """Return the value of an option of a command line that is not passed."""
    return state.trait(traits.DEFAULT, number)


def learn(state: State, value: Value, side: bool) -> None:
    """Remember the side that a condition takes on this path."""
    match value:
        case Sym(number):
            key = state.symbols.keys[number]
            if isinstance(key, tuple) and key and key[0] is origins.NOT:
                learn(state, Sym(SymId(key[1])), not side)
                return
            state.learn(number, side)
            if isinstance(key, tuple):
                _learn_of_parts(state, key, side)
            if side:
                state.learn((origins.NONE, number), False)
        case Dotted(name):
            state.learn((origins.DOTTED, name), side)
        case Ref(number) if state.tensor(value) is not None:
            state.learn((origins.TENSOR, number), side)
        case _:
            pass


def known(state: State, value: Value) -> Value:
    """Return the constant that an unknown value is on this path, where a condition has said so; else the value."""
    constant = state.trait(traits.EQUALS, value.id) if isinstance(value, Sym) else None
    return value if constant is None else constant


def may_be(state: State, value: Sym, constant: Value) -> bool:
    """Check whether an unknown value may be a constant: no condition of this path lists others or excludes it."""
    for key, side in learned_on(state):
        match key:
            case (origins.CONTAINS, Sym() as asked, Tuple(items, True)) if asked == value and all(map(is_key, items)):
                if side is not None and side is not (constant in items):
                    return False
            case _:
                pass
    return True


def counts_results(state: State) -> bool:
    """
    Check whether a condition of this path compares what a function of a library returned, or how much that is.

        rank = len(tree.leaves(list(x.shape)))      # of one `x` this is one number only, which is not known here
        return x.view(-1) if rank <= 1 else x.view(-1, x.shape[-1])
    """
    return any(
        _is_result(state, side)
        for key, _ in learned_on(state)
        if isinstance(key, tuple) and key[0] is origins.COMPARE
        for side in key[2:]
    )


def _is_result(state: State, value: object) -> bool:
    """Check whether a value is what a function of a library returned, or the length of that."""
    match state.symbols.key(value) if isinstance(value, Sym) else None:
        case (origins.BUILTIN, "len", _, (inner,), *_):
            return _is_result(state, inner)
        case (origins.RESULT, Dotted(), *_) | (origins.CALL, str(), *_):
            return True
        case _:
            return False


def takes_text(state: State) -> bool:
    """Check whether this path holds because an unknown value is a certain text."""
    for key, side in learned_on(state):
        match key:
            case (origins.COMPARE, "==", Sym(), Const(str())) if side:
                return True
            case _:
                pass
    return False


def learned_on(state: State) -> Iterator[tuple[Hashable, Three]]:
    """Yield the conditions of this path, the latest first, with the sides that it took."""
    learned: object = state.learned
    while isinstance(learned, tuple):
        number, learned = learned
        if isinstance(number, int):
            yield state.symbols.keys[number], state.truth(number)


def _learn_of_parts(state: State, key: tuple[Any, ...], side: bool) -> None:
    """Remember what a condition says about what it was made of."""
    if key[0] is origins.IS_NONE and side:
        state.learn((origins.NONE, key[1]), True)
    elif key[0] is origins.IS_NONE:
        used_gradients.note(state, (Sym(key[1]),))
    elif key[0] is origins.COMPARE and key[1] == "==":
        _learn_equality(state, key[2], key[3], side)
    elif key[0] is origins.CONTAINS and isinstance(key[1], Sym):
        choices = key[2] if isinstance(key[2], Tuple) else state.object(key[2])
        if isinstance(choices, Tuple | ListObject):
            _learn_dtype(state, state.symbols.key(key[1]), choices.items, side)
    elif key[0] is origins.ANY and not side:
        for item in key[1:]:
            learn(state, item, False)
    elif key[0] is origins.REQUIRES and not side:
        _has_no_gradient(state, key[1])
    elif key[0] is origins.REQUIRES:
        _has_gradient(state, key[1], key[2])


def _learn_equality(state: State, left: Value, right: Value, side: bool) -> None:
    match left, right:
        case (Const() as known, Sym(number)) | (Sym(number), Const() as known) if side:
            state.set_trait(traits.EQUALS, number, known)
        case (Sym(number), Dotted() as dtype) | (Dotted() as dtype, Sym(number)):
            _learn_dtype(state, state.symbols.keys[number], (dtype,), side)
        case _:
            pass


def _learn_dtype(state: State, key: object, choices: tuple[Value, ...], side: bool) -> None:
    """
    Remember what follows for a tensor from its dtype being one of `choices`, or none of them.

    It has no gradient where its dtype is a whole one, or another than that of most gradients: what is no `float32` may
    be `float16` as well, and what is wrong then is wrong on the other side, too. What certainly requires grad does so
    with any dtype.
    """
    match key:
        case (origins.DTYPE, Ref() | Sym() as asked):
            pass
        case (origins.ATTRIBUTE | origins.DESCRIBES, int(outer), "dtype"):
            asked = Sym(SymId(outer))
        case _:
            return
    kinds = [dtypes.named(choice) for choice in choices]
    found = {None if kind is None else kind.kind for kind in kinds}
    exact = {kind.exact for kind in kinds if kind is not None}
    tensor = state.tensor(asked)
    whole = bool(found) and found <= {"int", "bool"}
    if whole if side else "float32" in exact and (tensor is None or tensor.rg is not True):
        _has_no_gradient(state, asked)
    elif side and found == {"float"} and "float32" not in exact:
        _has_dtype(state, asked, min(exact))


def _has_dtype(state: State, value: Ref | Sym, exact: str) -> None:
    """Remember the floating dtype of a tensor; of several that it may have, one stands for all."""
    ref, tensor = state.ref(value), state.tensor(value)
    if ref is not None and tensor is not None:
        state.put(ref, replace(tensor, dtype="float", exact=exact))
    elif isinstance(value, Sym):
        state.set_trait(traits.FLOATING_DTYPE, value.id, exact)


def _has_no_gradient(state: State, value: Value) -> None:
    """Remember that a tensor does not require grad, and neither does the unknown value that decides that."""
    ref = state.ref(value)
    tensor = state.tensor(value)
    number = SymId(tensor.why.of) if tensor is not None and isinstance(tensor.why, Assumption) else None
    if number is None and isinstance(value, Sym):
        number = value.id
    if number is not None:
        state.set_trait(traits.NO_GRADIENT, number, True)
    if ref is not None and tensor is not None:
        state.put(ref, replace(tensor, rg=False, leaf=True, nodes=(), why=""))


def _has_gradient(state: State, value: Value, nodes: tuple[NodeId, ...]) -> None:
    """
    Remember that a tensor requires grad, and so does the one unknown value that it was computed of.

    An entry point that is run again for this side begins without the `nodes` of the run before.
    """
    tensor = state.tensor(value)
    below = [state.nodes[number] for number in tape.reachable(state, (node for node in nodes if node in state.nodes))]
    doubts = {doubt for node in below for doubt in node.doubts} or {"" if tensor is None else tensor.why}
    only = doubts.pop() if len(doubts) == 1 and not any(node.leaves or node.passes for node in below) else ""
    number = value.id if isinstance(value, Sym) else SymId(only.of) if isinstance(only, Assumption) else None
    if number is not None:
        state.set_trait(traits.REQUIRES_GRAD, number, True)


def requires_grad(state: State, value: Value, negated: bool) -> Value:
    """Return whether a tensor requires grad, or its negation, as a constant or as a condition on the unknown."""
    tensor = state.tensor(value)
    if tensor is not None and tensor.rg is not None:
        return Const(tensor.rg is not negated)
    asked = state.symbols.sym((origins.REQUIRES, value, () if tensor is None else tensor.nodes))
    return negate(state, asked) if negated else asked


def forget(state: State, since: object) -> None:
    """Forget the sides that conditions have taken on this path since a moment, the `learned` of which is given."""
    learned: object = state.learned
    while learned is not since and isinstance(learned, tuple):
        state.facts[learned[0]] = Const(None)
        learned = learned[1]


def source(value: Value) -> Value:
    """Return the unknown value that a constant stands for, if an argument decides it; else the value itself."""
    return Sym(value.source) if type(value) is Const and value.source is not None else value


def contains(state: State, key: Value, holder: Value) -> Sym:
    """Return `key in holder` as a condition; about another container of the same items it is the same."""
    inner = state.object(state.contents(holder))
    known = isinstance(inner, ListObject | DictObject) and inner.exact
    return state.symbols.sym((origins.CONTAINS, key, items_of(state, holder) if known else holder))


def items_of(state: State, value: Value) -> Value:
    """Return a container as a tuple of what it holds, to be part of a condition; else the value itself."""
    inner = state.object(value)
    if isinstance(inner, DictObject):
        return Tuple(tuple(of_key(key) for key in inner.items))
    return Tuple(inner.items) if isinstance(inner, ListObject) else value


def negate(state: State, value: Value) -> Value:
    """Return `not value`."""
    known = truth(state, value)
    if known is not None:
        inner = source(value)
        return Const(not known, source=state.symbols.sym((origins.NOT, inner.id)).id if type(inner) is Sym else None)
    if isinstance(value, Sym):
        key = state.symbols.keys[value.id]
        if isinstance(key, tuple) and key and key[0] is origins.NOT:
            return Sym(SymId(key[1]))
        return state.symbols.sym((origins.NOT, value.id))
    return state.symbols.sym((origins.UNTRUE, value))


def is_surely_none(state: State, value: Value) -> bool:
    """Return whether a value is None on this path: to use it as something else raises."""
    if type(value) is Sym:
        return state.truth((origins.NONE, value.id)) is True
    return type(value) is Const and value.value is None


def is_none(state: State, value: Value) -> Value:
    """Return `value is None`, as a constant or as a condition on the unknown."""
    if isinstance(value, Sym):
        known = state.truth((origins.NONE, value.id))
        if known is None and (state.truth(value.id) or value.kind in {"tensor", "number", "str", "sequence"}):
            known = False
        if known is None and state.has_trait(traits.TENSOR, value.id):
            known = False
        test = state.symbols.sym((origins.IS_NONE, value.id))
        return test if known is None else Const(known, source=test.id)
    inner = source(value)
    asked = state.symbols.sym((origins.IS_NONE, inner.id)).id if type(inner) is Sym else None
    return Const(value == NONE, source=asked)
