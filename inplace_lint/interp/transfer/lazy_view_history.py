"""
Views that were created before their base had a history: autograd takes them for leaves until something reads them.

    left, right = canvas[:2], canvas[2:]
    left.copy_(h)     # the canvas has a history now, `right` not yet
    right.copy_(h)    # refused: "a leaf Variable that requires grad"

A recorded call that reads such a view updates the history of the view; a write checks the view before that. Assigning
to some of its rows reads it, assigning to all of it does not. The history of one of several views that one function
returned cannot be updated, nor that of a view made under no-grad or by a custom function: reading it is refused once
its memory was written.
Source: torch `check_inplace`; `requires_grad` of a view, which is that of the base; `VariableHooks::grad_fn`, which
updates a view; and `is_leaf`, which does not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from inplace_lint.core.event import Failure, Refused
from inplace_lint.domain.heap import Tensor, View
from inplace_lint.domain.values import Ref
from inplace_lint.interp.transfer.index import is_whole
from inplace_lint.knowledge.words import Check

if TYPE_CHECKING:
    from collections.abc import Mapping

    from inplace_lint.domain.state import State
    from inplace_lint.interp.transfer.op_call import Call
    from inplace_lint.knowledge.op import WriteFact

_TRACKED = {View.SINGLE, View.EXPANDED}
_POISONED: dict[View | None, Failure] = {
    View.MULTI: Failure.MULTI_VIEW_BASE,
    View.NO_GRAD: Failure.NO_GRAD_VIEW_BASE,
    View.CUSTOM: Failure.CUSTOM_VIEW_BASE,
}


def lacks_history(state: State, tensor: Tensor) -> bool:
    """Check whether a view certainly has no history although its base has one by now."""
    base = state.tensor(tensor.base) if tensor.base is not None and tensor.view in _TRACKED else None
    return tensor.rg is False and base is not None and base.rg is True and base.leaf is False


def checks_view(call: Call, fact: WriteFact) -> bool:
    """Check whether the framework checks the written view itself, and not a part of it."""
    if not call.facts.framework.rebases or not fact.checks & {Check.LEAF, Check.LEAF_VIEW}:
        return False
    return not fact.moves or is_whole(call.binding.value("index"))


def catch_up(call: Call, found: Mapping[Ref, Tensor]) -> dict[Ref, Tensor]:
    """Return the tensors that a recorded call reads, with the history of views updated from their bases."""
    state = call.state
    if state.modes.grad is False or not call.facts.framework.rebases:
        return dict(found)
    writes = [fact for fact in call.binding.op.writes if checks_view(call, fact)]
    checked = [ref for fact in writes for ref, _ in call.binding.tensors(fact.to)]
    current: dict[Ref, Tensor] = {}
    for ref, tensor in found.items():
        current[ref] = tensor
        if tensor.view in _POISONED and ref not in checked and is_poisoned(state, tensor) and _returns_tensors(call):
            _report_poisoned(call, tensor, _POISONED[tensor.view])
        if ref not in checked and lacks_history(state, tensor):
            current[ref] = replace(tensor, rg=True, leaf=False)
            state.put(ref, current[ref])
    return current


def _returns_tensors(call: Call) -> bool:
    """Check whether a call has a result to record; `size()` and `item()` have none, and read no history."""
    op = call.binding.op
    return bool(op.writes) or not op.returns or any(fact.kind != "value" for fact in op.returns)


def is_poisoned(state: State, tensor: Tensor) -> bool:
    """Check whether autograd refuses to use a view: its memory was written, and its history cannot be updated."""
    if state.modes.grad is False or state.storages[tensor.storage].version == tensor.since:
        return False
    base = state.tensor(tensor.base) if tensor.base is not None else None
    return bool(tensor.rg or (base is not None and base.rg))


def _report_poisoned(call: Call, tensor: Tensor, check: Failure) -> None:
    state = call.state
    write = next(w for w in state.storages[tensor.storage].writes if w.counted and w.version > tensor.since)
    origin = tensor.made.site if tensor.made is not None else None
    touch = replace(write.touch, producer=tensor.made.op if tensor.made is not None else "")
    # A copy is none of several views: the refusal rests on what makes it a view, also where it was written itself.
    assumptions = state.assumptions | write.assumptions | write.doubt | tensor.doubt
    state.report(Refused(call.facts.framework.name, check, touch, origin, assumptions))
