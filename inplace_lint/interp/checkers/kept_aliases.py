"""
Reports a tensor that meets itself in one call: what was kept of it before a write is no copy.

    old = [p.data for p in net.parameters()]
    opt.step()
    moved = sum((p - q).norm() for p, q in zip(net.parameters(), old))     # always zero

    before = net.weight.detach()
    opt.step()
    torch.equal(net.weight, before)                                        # always true

    first = net.weight.grad
    other_loss.backward()                                                  # adds to that gradient
    cosine_similarity(first, net.weight.grad, 0)                           # always one
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from inplace_lint.core.event import Keeping, Snapshot, Touch
from inplace_lint.domain import traits
from inplace_lint.domain.heap import BESIDE, Tensor
from inplace_lint.domain.values import Ref, Value
from inplace_lint.interp.checkers.kept import lists
from inplace_lint.interp.intrinsics import optimizers
from inplace_lint.ir import nodes as ir

if TYPE_CHECKING:
    from inplace_lint.core.span import Place
    from inplace_lint.interp.transfer.op_call import Call


def read(call: Call, part: str, expr: ir.Expr, value: Value) -> None:
    """Report an argument that was kept before a write to its memory, where another argument is that memory as well."""
    state = call.state
    ref, tensor = state.ref(value), state.tensor(value)
    if ref is None or tensor is None:
        return
    if not (tensor.view in BESIDE or tensor.param):
        _check_gradient(call, part, expr, ref)
        return
    if tensor.part is None:
        return
    lists.read(call, part, expr, tensor)
    if tensor.param and tensor.view not in BESIDE and not isinstance(expr, ir.Name):
        return
    kept = state.trait(traits.KEPT, ref.id)
    since = _bound(call, expr) if kept is None else kept.clock
    write = optimizers.written(state, tensor, since, None if tensor.param else ref) if since else None
    if write is not None and _meets_itself(call, part, expr, ref, tensor, kept):
        _report(call, part, expr, tensor, write, kept)


def _check_gradient(call: Call, part: str, expr: ir.Expr, ref: Ref) -> None:
    """Report a gradient beside itself, where a backward added to it after a variable was bound to it."""
    added, since = call.state.trait(traits.ADDED_TO, ref.id), _bound(call, expr)
    if added is None or since is None or since > added.clock:
        return
    others = (name for name, other in call.binding.exprs.items() if name != part and other[1:] != expr[1:])
    if any(call.state.ref(other) == ref for name in others if (other := call.binding.value(name)) is not None):
        name, where = call.facts.framework.name, _place(call, expr)
        call.state.report(Snapshot(name, Keeping.SUM, added.write, where, None, call.state.assumptions | call.doubt))


def compare(call: Call) -> None:
    """Report the same for a call that computes a Python value from its arguments."""
    for part, expr in call.binding.exprs.items():
        value = call.binding.value(part)
        if value is not None:
            read(call, part, expr, value)


def _bound(call: Call, expr: ir.Expr) -> int | None:
    """Return when the variable was bound that an expression is."""
    return call.state.bound_at((call.frame.env.id, expr.id)) if isinstance(expr, ir.Name) else None


def _place(call: Call, expr: ir.Expr) -> Place | None:
    """Return the place of what the variable was bound to that an expression is, or reads an item of."""
    name = expr.id if isinstance(expr, ir.Name) else lists.variable(call, expr)
    return None if name is None else lists.made(call, name)


def _meets_itself(call: Call, part: str, expr: ir.Expr, ref: Ref, tensor: Tensor, kept: traits.Kept | None) -> bool:
    """Check whether another argument is the same memory; one that is written only where it is set to what was kept."""
    restores = kept is not None and call.name in call.facts.framework.setters
    written = set() if restores else {fact.to for fact in call.binding.op.writes}
    for name in call.binding.given - {part}:
        again = call.binding.exprs.get(name)
        if name in written or (again is not None and again[1:] == expr[1:]):
            continue
        for other, same in call.binding.tensors(name):
            if same.storage == tensor.storage and same.part == tensor.part and (other != ref or tensor.param):
                return True
    return False


def _report(
    call: Call,
    part: str,
    expr: ir.Expr,
    tensor: Tensor,
    write: tuple[Touch, frozenset[str]],
    kept: traits.Kept | None,
) -> None:
    made = tensor.made.site.place if tensor.made is not None and tensor.view in BESIDE else None
    read = call.touch(part, expr, tensor)
    assumptions = call.state.assumptions | call.doubt | tensor.doubt | write[1]
    where = made or _place(call, expr) if kept is None else kept.place
    call.state.report(Snapshot(call.facts.framework.name, Keeping.BESIDE, write[0], where, read, assumptions))
