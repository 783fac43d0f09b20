"""
Reports a parameter that meets itself in one call: what a list or dict has kept of the parameters is no copy.

    start = list(model.parameters())
    opt.step()
    for p, q in zip(model.parameters(), start):
        drift += (p - q).pow(2).sum()               # always zero

    old = dict(model.named_parameters())
    opt.step()
    for name, p in model.named_parameters():
        penalty += (p - old[name]).pow(2).sum()     # likewise

One of them is read out of a variable that was bound before a write to the parameter, the other one elsewhere: all pairs
of one list meet themselves too.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from inplace_lint.core.event import Keeping, Snapshot
from inplace_lint.core.span import Place
from inplace_lint.domain.heap import DictObject, Names, Tensor
from inplace_lint.domain.values import Tuple
from inplace_lint.interp.frame import text_of
from inplace_lint.interp.intrinsics import optimizers
from inplace_lint.ir import nodes as ir
from inplace_lint.ir.walk import walk

if TYPE_CHECKING:
    from inplace_lint.interp.transfer.op_call import Call

_ZIP = "zip"


def read(call: Call, part: str, expr: ir.Expr, tensor: Tensor) -> None:
    """Report a parameter out of a list that another argument is as well, where that is not read out of the list."""
    beside = list(_beside(call, part, tensor))
    kept = variable(call, expr) if beside else None
    since = None if kept is None else _bound(call, kept, tensor)
    if kept is None or since is None or all(variable(call, source) == kept for source in beside):
        return
    write = optimizers.written(call.state, tensor, since)
    if write is not None:
        assumptions = call.state.assumptions | call.doubt | tensor.doubt | write[1]
        touch, name = call.touch(part, expr, tensor), call.facts.framework.name
        call.state.report(Snapshot(name, Keeping.BESIDE, write[0], made(call, kept), touch, assumptions))


def _beside(call: Call, part: str, tensor: Tensor) -> Iterator[ir.Expr]:
    """Yield the other arguments that are the same memory; one that is written only where it is set to this one."""
    sets = call.name in call.facts.framework.setters
    written = set[str]() if sets else {fact.to for fact in call.binding.op.writes}
    for name, source in call.binding.exprs.items():
        same = call.binding.value(name)
        other = None if same is None or name == part or name in written else call.state.tensor(same)
        if other is not None and other.storage == tensor.storage and other.part == tensor.part is not None:
            yield source


def variable(call: Call, expr: ir.Expr) -> str | None:
    """Return the variable with the list or dict that an expression reads an item of."""
    while True:
        match expr:
            case ir.Attr(_, inner, _):
                expr = inner
            case ir.Call(_, ir.Attr(_, inner, _), (), ()):
                expr = inner
            case ir.Subscript(_, ir.Name(_, name), _):
                return name
            case ir.Name(_, name):
                source = next(_sources(call, name), None)
                return source.id if isinstance(source, ir.Name) else None
            case _:
                return None


def _sources(call: Call, name: str) -> Iterator[ir.Expr]:
    """Yield what the loops of a function run over to bind a variable."""
    for node in walk(call.interp.context.body(call.frame)):
        if isinstance(node, ir.For | ir.Clause):
            yield from _source(node.target, node.iter, name)


def _source(target: ir.Expr, iterated: ir.Expr, name: str) -> Iterator[ir.Expr]:
    if isinstance(target, ir.Name):
        if target.id == name:
            yield iterated
    elif isinstance(target, ir.Sequence) and isinstance(iterated, ir.Call) and text_of(iterated.func) == _ZIP:
        for item, given in zip(target.items, iterated.args, strict=False):
            yield from _source(item, given, name)


def _bound(call: Call, variable: str, tensor: Tensor) -> int | None:
    """Return when a variable was bound to a list or dict that holds a parameter; None if it is not."""
    state, env = call.state, call.frame.env
    while True:
        scope = state.heap[env.id]
        if not isinstance(scope, Names):
            return None
        if variable in scope.values:
            value = scope.values[variable]
            inner = state.object(value)
            if isinstance(inner, DictObject):
                value = Tuple(tuple(inner.items.values()))
            held = (one for _, one in state.tensors_in(value) if one.param and one.part == tensor.part)
            return scope.bound[variable] if any(one.storage == tensor.storage for one in held) else None
        if scope.parent is None:
            return None
        env = scope.parent


def made(call: Call, name: str) -> Place | None:
    """Return the place of what a variable is bound to, in the function or above in the module; None of several."""
    context, here = call.interp.context, call.frame.slice
    slices = [here]
    if call.frame.closure is None:
        items = context.module(here.path).outline.items
        slices = [item.slice for item in items if name in item.binds and item.slice.first <= here.first]
    places = []
    for slice_ in slices:
        for node in walk(context.body(call.frame) if slice_ == here else context.code(slice_).body):
            if isinstance(node, ir.Assign) and any(isinstance(one, ir.Name) and one.id == name for one in node.targets):
                at = getattr(node.value, "at", None)
                places += [] if at is None else [Place(slice_, at)]
    return places[0] if len(places) == 1 else None
