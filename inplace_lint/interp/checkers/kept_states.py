"""
Reports states and gradients of modules that a program keeps by reference, and that training then changes.

    best = net.state_dict()              # no copy
    train(net)
    net.load_state_dict(best)            # loads what the training has left

    old = [p.grad for p in net.parameters()]
    opt.zero_grad(set_to_none=False)     # zeroes what `old` holds
"""

from __future__ import annotations

from collections.abc import Sequence

from inplace_lint.core.event import Keeping, Snapshot, Touch
from inplace_lint.core.span import Place
from inplace_lint.domain import traits
from inplace_lint.domain.state import State
from inplace_lint.domain.values import Ref, Value


def read_state(state: State, place: Place, ref: Ref) -> None:
    """Remember where a tensor of a module's state was read."""
    state.set_trait(traits.STATE_OF, ref.id, traits.Kept(state.clock, place))


def load_state(state: State, framework: str, read: Touch, pairs: Sequence[tuple[Value, Ref]]) -> None:
    """Report a state that is loaded back after the memory that it shares with the module was written."""
    for value, ref in pairs:
        read_at = state.trait(traits.STATE_OF, value.id) if isinstance(value, Ref) else None
        alias, tensor = state.tensor(value), state.tensor(ref)
        if alias is None or tensor is None or alias.storage != tensor.storage or read_at is None:
            continue
        for write in state.storages[tensor.storage].writes:
            if write.clock > read_at.clock and write.tensor != value:  # a write to the state is one on purpose
                assumptions = state.assumptions | write.assumptions | write.doubt
                state.report(Snapshot(framework, Keeping.STATE, write.touch, read_at.place, read, assumptions))
                return


def change_gradients(state: State, framework: str, write: Touch, owners: Sequence[Ref], how: Keeping) -> None:
    """Report gradients that were stored in a container and are now written in place."""
    for ref in owners:
        tensor = state.tensor(ref)
        grad = None if tensor is None else tensor.grad
        kept = None if grad is None else state.trait(traits.KEPT_FOR_LATER, grad.id)
        if kept is not None:
            state.report(Snapshot(framework, how, write, kept.place, None, state.assumptions))
            return
