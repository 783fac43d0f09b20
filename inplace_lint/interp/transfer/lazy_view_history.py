"""
Views that were taken before their base had a history: to autograd they are leaves until something reads them.

    left, right = canvas[:2], canvas[2:]
    left.copy_(h)     # the canvas has a history now, and `right` does not know
    right.copy_(h)    # refused: "a leaf Variable that requires grad"

A recorded call that reads such a view gives it its part of the history; a write asks before that. Assigning to some of
its rows reads it, assigning to all of it does not. One of several views that one function returned cannot be brought up
to date, nor one that was made without gradients: reading it is refused once anything wrote its memory. Source: torch
`check_inplace`; `requires_grad` of a view, which asks the base; `VariableHooks::grad_fn`, which brings a view up to
date; and `is_leaf`, which does not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from inplace_lint.core.event import Refused
from inplace_lint.core.records import replace
from inplace_lint.domain.heap import Tensor, View
from inplace_lint.domain.values import NONE, Const, Ref, SliceValue, Value

if TYPE_CHECKING:
    from collections.abc import Mapping

    from inplace_lint.domain.state import State
    from inplace_lint.interp.transfer.op_call import Call
    from inplace_lint.knowledge.op import WriteFact

_TRACKED = {View.SINGLE, View.EXPANDED}
_POISONED: dict[View | None, str] = {View.MULTI: "multi_view_base", View.NO_GRAD: "no_grad_view_base"}


def is_early(state: State, tensor: Tensor) -> bool:
    """Say whether a view certainly has no history although its base has one by now."""
    base = state.tensor(tensor.base) if tensor.base is not None and tensor.view in _TRACKED else None
    return tensor.rg is False and base is not None and base.rg is True and base.leaf is False


def is_asked(call: Call, fact: WriteFact) -> bool:
    """Say whether a write asks the written view itself, and no part of it."""
    if not call.facts.framework.rebases or not fact.checks & {"leaf", "leaf_view"}:
        return False
    return not fact.moves or _is_whole(call.binding.value("index"))


def _is_whole(index: Value | None) -> bool:
    if isinstance(index, SliceValue):
        return index.lower == index.upper == index.step == NONE
    return isinstance(index, Const) and index.value is Ellipsis


def catch_up(call: Call, found: Mapping[Ref, Tensor]) -> dict[Ref, Tensor]:
    """Give the tensors that a recorded call reads; the early views among them have their part of the history now."""
    state = call.state
    if state.modes.grad is False or not call.facts.framework.rebases:
        return dict(found)
    asked = [ref for fact in call.binding.op.writes if is_asked(call, fact) for ref, _ in call.binding.tensors(fact.to)]
    current: dict[Ref, Tensor] = {}
    for ref, tensor in found.items():
        current[ref] = tensor
        if tensor.view in _POISONED and ref not in asked and is_poisoned(state, tensor) and _gives_tensors(call):
            _report_poisoned(call, tensor, _POISONED[tensor.view])
        if ref not in asked and is_early(state, tensor):
            current[ref] = replace(tensor, rg=True, leaf=False)
            state.put(ref, current[ref])
    return current


def _gives_tensors(call: Call) -> bool:
    """Say whether a call has a result to record, as `size()` and `item()` have not: these read no history."""
    op = call.binding.op
    return bool(op.writes) or not op.returns or any(fact.kind != "value" for fact in op.returns)


def is_poisoned(state: State, tensor: Tensor) -> bool:
    """Say whether autograd refuses the use of a view that it cannot bring up to date, since its memory was written."""
    if state.modes.grad is False or state.storages[tensor.storage].version == tensor.since:
        return False
    base = state.tensor(tensor.base) if tensor.base is not None else None
    return bool(tensor.rg or (base is not None and base.rg))


def _report_poisoned(call: Call, tensor: Tensor, check: str) -> None:
    state = call.state
    write = next(w for w in state.storages[tensor.storage].writes if w.counted and w.version > tensor.since)
    origin = tensor.made.site if tensor.made is not None else None
    touch = replace(write.touch, producer=tensor.made.op if tensor.made is not None else "")
    assumptions = state.assumptions | write.assumptions | (write.doubt ^ tensor.doubt)
    state.report(Refused(call.facts.framework.name, check, touch, origin, assumptions))
