"""
Reports states and gradients of modules that a program keeps by reference, and that training then changes.

    best = net.state_dict()              # no copy
    train(net)
    net.load_state_dict(best)            # loads what the training has left

    old = [p.grad for p in net.parameters()]
    opt.zero_grad(set_to_none=False)     # zeroes what `old` holds
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from inplace_lint.core.event import Keeping, Snapshot, Touch
from inplace_lint.core.span import Place
from inplace_lint.domain import traits
from inplace_lint.domain.heap import DictObject, ListObject, Names, Tensor
from inplace_lint.domain.state import State
from inplace_lint.domain.values import Ref, Tuple, Value
from inplace_lint.ir import next_use
from inplace_lint.ir import nodes as ir

if TYPE_CHECKING:
    from inplace_lint.interp.frame import Frame
    from inplace_lint.interp.interpreter import Interpreter
    from inplace_lint.interp.transfer.op_call import Call


def read_state(state: State, place: Place, ref: Ref) -> None:
    """Remember where a tensor of a module's state was read."""
    state.set_trait(traits.STATE_OF, ref.id, traits.Kept(state.clock, place))


def load_state(state: State, framework: str, read: Touch, pairs: Sequence[tuple[Value, Ref]]) -> None:
    """Report a state, or what was stored of it, that is loaded back after the memory that both share was written."""
    for value, ref in pairs:
        of_state = state.trait(traits.STATE_OF, value.id) if isinstance(value, Ref) else None
        how = Keeping.BESIDE if of_state is None else Keeping.STATE
        stored = state.trait(traits.KEPT, value.id) if isinstance(value, Ref) and value != ref else None
        read_at = of_state or stored
        alias, tensor = state.tensor(value), state.tensor(ref)
        if alias is None or tensor is None or alias.storage != tensor.storage or read_at is None:
            continue
        for write in state.storages[tensor.storage].writes:
            if write.clock > read_at.clock and write.tensor != value:  # a write to the state is one on purpose
                assumptions = state.assumptions | write.assumptions | write.doubt
                state.report(Snapshot(framework, how, write.touch, read_at.place, read, assumptions))
                return


def change_gradients(
    interp: Interpreter, frame: Frame, state: State, write: Touch, owners: Sequence[Ref], how: Keeping
) -> None:
    """Report gradients that were stored in a container and are now written in place."""
    framework = interp.context.default().framework.name
    for ref in owners:
        tensor = state.tensor(ref)
        for grad in () if tensor is None or tensor.grad is None else _with_aliases(state, tensor.grad):
            if how is Keeping.SUM:
                state.set_trait(traits.ADDED_TO, grad.id, traits.Added(state.clock, write))
            kept = _kept(interp, frame, state, write, grad)
            if kept is not None or (how is Keeping.GRADIENT and _is_read(interp, frame, state, write, grad)):
                state.report(Snapshot(framework, how, write, kept, None, state.assumptions))
                return


def _with_aliases(state: State, grad: Ref) -> tuple[Ref, ...]:
    """Return a gradient and what was stored of it by `data` or `detach`."""
    tensor = state.tensor(grad)
    return (grad, *((state.trait(traits.KEPT_ALIASES, tensor.storage) or ()) if tensor is not None else ()))


def write(call: Call, part: str, ref: Ref, tensor: Tensor) -> None:
    """Report the same for a gradient that is itself set anew: `p.grad.zero_()`."""
    expr = call.binding.exprs.get(part)
    if not isinstance(expr, ir.Attr) or expr.name != "grad" or call.name not in call.facts.framework.zeroes:
        return
    touch = call.touch(part, expr, tensor)
    kept = _kept(call.interp, call.frame, call.state, touch, ref)
    if kept is not None:
        assumptions = call.state.assumptions | call.doubt | tensor.doubt
        call.state.report(Snapshot(call.facts.framework.name, Keeping.GRADIENT, touch, kept, None, assumptions))


def _kept(interp: Interpreter, frame: Frame, state: State, write: Touch, grad: Ref) -> Place | None:
    """Return where a gradient was stored, or put into a list that this function reads after the write."""
    lasting, kept = state.trait(traits.KEPT_FOR_LATER, grad.id), state.trait(traits.KEPT, grad.id)
    tensor = state.tensor(grad)
    if lasting is not None or kept is None or tensor is None:
        return None if lasting is None else lasting.place
    if any(before.clock > kept.clock for before in state.storages[tensor.storage].writes):
        return None  # it was reported, or written for the list
    held = _read_later(interp, frame, state, write, lambda value: _holds(state, value, grad))
    return kept.place if held else None


def _is_read(interp: Interpreter, frame: Frame, state: State, write: Touch, grad: Ref) -> bool:
    """Check whether a variable is a gradient, and this function reads it after the write."""
    return _read_later(interp, frame, state, write, lambda value: value == grad)


def _read_later(interp: Interpreter, frame: Frame, state: State, write: Touch, asked: Callable[[Value], bool]) -> bool:
    """Check whether this function reads a variable with such a value after the write."""
    scope, at = state.heap[frame.env.id], write.site.place.at
    if write.site.place.slice != frame.slice or not isinstance(scope, Names):
        return False
    body = interp.context.body(frame)
    return any(
        asked(value) and next_use.after(body, at, name) is next_use.Use.READ for name, value in scope.values.items()
    )


def _holds(state: State, value: Value, grad: Ref) -> bool:
    """Check whether a value is a list, a dict or a tuple with this item."""
    inner = value if isinstance(value, Tuple) else state.object(value)
    match inner:
        case Tuple(items) | ListObject(items):
            return grad in items
        case DictObject(mapping):
            return grad in mapping.values()
        case _:
            return False
