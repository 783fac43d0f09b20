"""
Backward functions and hooks that the program defines: what they write when backward runs them.

    h.register_hook(lambda grad: grad.mul_(0.1))      # the gradient, whoever else is given the same tensor
    h.register_hook(lambda grad: grad * 0.1)          # nothing

    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return x.mul_(grad)                           # what it saved, which others may have saved, too
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from inplace_lint.core.event import Refused
from inplace_lint.domain.heap import Altering, Broken, Tensor, View, Write, alike
from inplace_lint.domain.state import State
from inplace_lint.domain.values import NONE, Bound, Closure, NodeId, Ref, StorageId, Tuple, Value
from inplace_lint.interp.frame import Arguments
from inplace_lint.interp.intrinsics.call import IntrinsicCall
from inplace_lint.interp.outcome import Results


class Backward(Struct, frozen=True):
    """A function that backward runs, for some results: with a `context`, on which `saved` values are, and gradients."""

    function: Value
    results: Sequence[Tensor]
    context: Ref | None = None
    saved: tuple[Value, ...] = ()


def note(act: IntrinsicCall, state: State, number: NodeId, backward: Backward) -> None:
    """Record on the tape what a function will write when backward runs it for a node."""
    gradients, done = _run(act, state, backward, expanded=False)
    altered = (
        Altering(write.touch, value != NONE)
        for after, value in done
        for gradient in gradients
        for write in after.storages[gradient.storage].writes[:1]
    )
    alters = next(altered, None)
    if alters is not None:
        known = frozenset(state.events)
        refused = [event for after, _ in _run(act, state, backward, expanded=True)[1] for event in after.events]
        events = (one for one in refused if isinstance(one, Refused) and one not in known and not one.assumptions)
        alters = next((replace(alters, refused=Broken(one.check, one.write)) for one in events), alters)
    spoils = _spoiled([after for after, _ in done], list(state.storages), state.clock)
    if alters is not None or spoils:
        state.nodes[number] = replace(state.nodes[number], alters=alters, spoils=spoils)


def _run(act: IntrinsicCall, state: State, backward: Backward, *, expanded: bool) -> tuple[list[Tensor], Results]:
    """Run a function on a fork of a state, as backward will: return the gradients that it is given, and its results."""
    spare = state.fork()
    spare.modes = replace(spare.modes, grad=False)
    context = backward.context
    instance = None if context is None else spare.instance(context)
    if context is not None and instance is not None:
        spare.put(context, replace(instance, attrs={**instance.attrs, "saved_tensors": Tuple(backward.saved)}))
    gradients = [
        Tensor(spare.new_storage(), rg=False, leaf=False, framework=tensor.framework, **alike(tensor))
        for tensor in backward.results
    ]
    if expanded:
        bases = [spare.new(replace(gradient, sizes=())) for gradient in gradients]
        gradients = [
            replace(gradient, view=View.EXPANDED, base=base, part=None)
            for gradient, base in zip(gradients, bases, strict=True)
        ]
    given = Arguments((*(() if context is None else (context,)), *(spare.new(gradient) for gradient in gradients)))
    return gradients, act.interp.call(act.frame, spare, backward.function, given, act.at)


def _spoiled(states: Sequence[State], kept: Sequence[StorageId], since: int) -> tuple[tuple[StorageId, Write], ...]:
    """Return the first write to each storage, where all paths write it."""
    found: list[tuple[StorageId, Write]] = []
    for storage in dict.fromkeys(kept):
        writes = [next((one for one in state.storages[storage].writes if one.clock > since), None) for state in states]
        if writes and writes[0] is not None and None not in writes:
            found.append((storage, replace(writes[0], names=frozenset(), through=frozenset(), tensor=None)))
    return tuple(found)


def note_hook(act: IntrinsicCall, tensor: Tensor, hook: Value) -> None:
    """Record what a hook on a tensor writes, where that is one result of an operation."""
    if isinstance(hook, (Closure, Bound)) and tensor.nodes and act.state.modes.grad is not False:
        note(act, act.state, tensor.nodes[-1], Backward(hook, (tensor,)))
