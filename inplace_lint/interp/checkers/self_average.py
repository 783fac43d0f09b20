"""
Detects averages of a tensor with itself: what was stored as the average shares the memory that it is to follow.

    shadow = dict(model.named_parameters())          # no copies
    for name, p in model.named_parameters():
        shadow[name] += (p - shadow[name]) / n       # the difference is always zero
        average = shadow[name]
        average.mul_(0.9).add_(p, alpha=0.1)         # likewise

    for slow, p in zip(average.parameters(), model.parameters()):
        slow.mul_(0.9).add_(p, alpha=0.1)            # with `average = model`
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from inplace_lint.core.event import Keeping, Snapshot
from inplace_lint.domain import traits
from inplace_lint.domain.heap import BESIDE, Names, Tensor
from inplace_lint.domain.values import Ref
from inplace_lint.interp.frame import text_of
from inplace_lint.interp.intrinsics import opaque_modules
from inplace_lint.ir import nodes as ir
from inplace_lint.ir.scopes import names_of
from inplace_lint.ir.walk import walk

if TYPE_CHECKING:
    from inplace_lint.interp.transfer.op_call import Call

_SAME = {None, *BESIDE}
_KEEPS_VALUES = frozenset({"clone", "cpu", "detach", "float", "numpy", "to"})


def with_itself(call: Call, part: str, expr: ir.Expr | None, tensor: Tensor) -> frozenset[str] | None:
    """
    Return the assumptions under which a model's tensor is written with values of that same tensor; None if it is not.

    What is written is an item, or the variable of a loop.
    """
    if tensor.view not in _SAME:
        return None
    target = _root(expr)
    own, is_item = target.id if isinstance(target, ir.Name) else "", _is_item(call, target)
    if not is_item and not (own and _is_turn(call, own)):
        return None
    for other, source in call.binding.exprs.items():
        for name in _read(source) if other != part else ():
            same = _tensor(call, name)
            if (
                same is not None
                and (same.param or tensor.param)
                and same.view in _SAME
                and name != own
                and (is_item or _is_turn(call, name))
                and not _is_item_of(call, target, name)
            ):
                assumed = opaque_modules.same_if(call.state, tensor, same)
                if assumed is None:
                    _note_apart(call)
                elif not call.state.has_trait(traits.APART, call.frame.site(call.at).place):
                    return assumed
    return None


def _note_apart(call: Call) -> None:
    """Take back what was found of a statement that averages tensors with others, too: two networks share a part."""
    state, place = call.state, call.frame.site(call.at).place
    state.set_trait(traits.APART, place, True)
    for event in state.events:
        if isinstance(event, Snapshot) and event.how is Keeping.AVERAGE and event.write.site.place == place:
            state.refute(event)


def _is_item(call: Call, target: ir.Expr | None) -> bool:
    """Check whether an expression is an item of a container, or a variable that was bound to one."""
    if isinstance(target, ir.Name):
        return call.state.trait(traits.FETCHED, (call.frame.env.id, target.id)) is True
    return isinstance(target, ir.Subscript)


def _tensor(call: Call, name: str) -> Tensor | None:
    scope = call.state.heap[call.frame.env.id]
    value = scope.values.get(name) if isinstance(scope, Names) else None
    return None if value is None else call.state.tensor(value)


def _is_turn(call: Call, name: str) -> bool:
    """Check whether a variable still has the value that a loop bound it to in this turn."""
    scope = call.state.heap[call.frame.env.id]
    value = scope.values.get(name) if isinstance(scope, Names) else None
    return isinstance(value, Ref) and call.state.has_trait(traits.BOUND_BY_LOOP, (call.frame.env.id, name, value))


def _is_item_of(call: Call, target: ir.Expr | None, name: str) -> bool:
    """Check whether a variable is that of a loop over what an item is read of: `for name, p in params.items()`."""
    function = call.frame.closure.function if call.frame.closure is not None else None
    if function is None or not isinstance(target, ir.Subscript):
        return False
    held = text_of(target.value)
    return any(
        name in names_of(loop.target) and text_of(loop.iter.func.value) == held
        for loop in walk(function.body)
        if type(loop) is ir.For and type(loop.iter) is ir.Call and type(loop.iter.func) is ir.Attr
    )


def _root(expr: ir.Expr | None) -> ir.Expr | None:
    """Return the expression that a chain of methods and of `.data` starts with."""
    while True:
        if isinstance(expr, ir.Call) and isinstance(expr.func, ir.Attr):
            expr = expr.func.value
        elif isinstance(expr, ir.Attr) and expr.name == "data":
            expr = expr.value
        else:
            return expr


def _read(expr: ir.Expr) -> Iterator[str]:
    """Yield the variables whose values an arithmetic expression reads."""
    match expr:
        case ir.Name(_, name):
            yield name
        case ir.Attr(_, inner, "data"):
            yield from _read(inner)
        case ir.Binary(_, _, left, right):
            yield from _read(left)
            yield from _read(right)
        case ir.Unary():
            yield from _read(expr.operand)
        case ir.Call(_, ir.Attr(_, inner, name)) if name in _KEEPS_VALUES:
            yield from _read(inner)
        case _:
            pass
