"""
Reports two names of one tensor that are given away together, after a write through one of them.

    labels = input_ids
    labels[labels == pad] = -100
    return {"input_ids": input_ids, "labels": labels}     # the ids are -100 as well

    feat = self.conv(x)
    out = self.relu(feat)       # in place
    return feat, out            # both are the activation

    old = self.state
    self.state += action
    return old, self.state      # both are the new state

What is given away is an item of a tuple, list or dict, or an argument of an unknown call. Who names both means two
values. A name that was bound after the write is the new value; beside it, the old name means the old one only where a
flag hides the write.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from inplace_lint.core.event import Clobbered, Keeping, Snapshot, Spelling, Touch
from inplace_lint.domain import origins, traits
from inplace_lint.domain.heap import DictObject, Names, Write
from inplace_lint.domain.state import State
from inplace_lint.domain.values import NONE, Ref, Sym, Value
from inplace_lint.interp.checkers import escaped
from inplace_lint.interp.frame import text_of
from inplace_lint.ir import nodes as ir
from inplace_lint.ir.scopes import names_of
from inplace_lint.ir.walk import walk

if TYPE_CHECKING:
    from inplace_lint.interp.frame import Frame
    from inplace_lint.interp.transfer.op_call import Call

_SPELLED = frozenset({ir.Name, ir.Attr})


def gather(frame: Frame, state: State, at: int, exprs: Sequence[ir.Expr], values: Sequence[Value]) -> None:
    """Report names of one tensor among expressions whose values are given away together."""
    named: dict[Ref, str] = {}
    attributes: dict[Ref, str] = {}
    for expr, value in zip(exprs, values, strict=False):
        ref = state.ref(value) if type(expr) in _SPELLED and state.tensor(value) is not None else None
        if ref is None:
            continue
        if isinstance(expr, ir.Attr):
            attributes[ref] = text_of(expr)
        elif isinstance(expr, ir.Name):
            first = named.setdefault(ref, expr.id)
            if first != expr.id:
                _check(frame, state, at, ref, first, expr)
    for ref, attribute in attributes.items():
        if ref in named:
            _check_attribute(frame, state, at, ref, named[ref], attribute)


def _check(frame: Frame, state: State, at: int, ref: Ref, first: str, expr: ir.Name) -> None:
    env, tensor = frame.env.id, state.tensor(ref)
    bound = {name: state.bound_at((env, name)) for name in (first, expr.id)}
    if tensor is None or None in bound.values():
        return
    since, last = sorted(clock for clock in bound.values() if clock is not None)
    older = min(bound, key=lambda name: bound[name] or 0)
    for write in state.storages[tensor.storage].writes:
        through = {name for name in bound if (env, name) in write.names}
        if write.tensor != ref or write.clock <= since or not through or not (tensor.sure or _is_item(write)):
            continue
        hidden = write.touch.flag is not None and not write.touch.dropped
        if write.clock > last or (hidden and older in through):
            other = older if write.clock < last else next(iter(sorted(set(bound) - through)), older)
            read = Touch("", frame.site(at), symbol=expr.id)
            why = state.assumptions | write.assumptions
            if not (write.doubt | tensor.doubt or _is_exchange(frame, at)):
                state.report(Clobbered(tensor.framework, write.touch, read, other, why))
            return


def _is_exchange(frame: Frame, at: int) -> bool:
    """Check whether a display only gives the same names to what they name in another order: `a, b = b, a`."""
    statements = walk(frame.closure.function.body) if frame.closure is not None else ()
    displays = (node for node in statements if type(node) is ir.Assign and type(node.value) is ir.Sequence)
    return any(
        set(names_of(node.targets[0])) == {item.id for item in node.value.items if type(item) is ir.Name}
        for node in displays
        if type(node.value) is ir.Sequence and node.value.at == at
    )


def _check_attribute(frame: Frame, state: State, at: int, ref: Ref, name: str, attribute: str) -> None:
    """Report a variable beside the attribute that it was bound to, which the function has written since."""
    tensor, since = state.tensor(ref), state.bound_at((frame.env.id, name))
    for write in state.storages[tensor.storage].writes if tensor is not None and since is not None else ():
        site = write.touch.site
        here = site.caller == frame.caller and site.place.slice == frame.slice and write.touch.symbol == attribute
        if here and tensor is not None and write.tensor == ref and write.clock > (since or 0) and tensor.sure:
            read = Touch("", frame.site(at), symbol=name)
            if not write.doubt | tensor.doubt:
                why = state.assumptions | write.assumptions
                state.report(Clobbered(tensor.framework, write.touch, read, name, why))
            return


def _is_item(write: Write) -> bool:
    """Check whether a write assigns to elements, which no number has."""
    return write.touch.spelled is Spelling.ITEM


def put_again(state: State, receiver: Value, index: Value, value: Value) -> None:
    """Report an item of an unknown container that is put there under another key, after a write."""
    ref, tensor = state.ref(value), state.tensor(value)
    if ref is None or tensor is None or not isinstance(value, Sym):
        return
    match state.symbols.key(value):
        case (origins.ITEM, owner, key) if owner == receiver and key != index:
            pass
        case _:
            return
    for write in state.storages[tensor.storage].writes:
        if write.tensor == ref and (tensor.sure or _is_item(write)) and not write.doubt | tensor.doubt:
            why = state.assumptions | write.assumptions
            state.report(Snapshot(tensor.framework, Keeping.AGAIN, write.touch, None, None, why))
            return


def has_other_key(call: Call, part: str, expr: ir.Subscript, ref: Ref) -> bool:
    """
    Check whether another key of the dict that a written item is read from leads to the same tensor.

    Memory that was made without values has two keys on purpose: each leads to what is put there.
    """
    tensor = call.state.tensor(ref)
    if not isinstance(expr.value, ir.Name) or call.binding.op.history == "cut" or tensor is None:
        return False
    if escaped.is_blank(call, tensor):
        return False
    scope = call.state.heap[call.frame.env.id]
    holder = scope.values.get(expr.value.id, NONE) if isinstance(scope, Names) else NONE
    return sum(same == ref for same in _held(call.state, holder, call.binding.value(part))) > 1


def _held(state: State, holder: Value, value: Value | None) -> Iterator[Ref | None]:
    """Yield what the keys of a dict lead to; of an unknown one those that were stored, and that of `value`."""
    inner = state.object(holder)
    if isinstance(inner, DictObject):
        yield from (state.ref(item) for item in inner.items.values())
    if isinstance(holder, Sym):
        known = state.trait(traits.ITEMS, holder.id)
        stored = dict(known or ())
        yield from (state.ref(item) for item in stored.values())
        match state.symbols.key(value) if isinstance(value, Sym) else None:
            case (origins.ITEM, owner, key) if owner == holder and key not in stored:
                yield state.ref(value) if value is not None else None
            case _:
                pass
