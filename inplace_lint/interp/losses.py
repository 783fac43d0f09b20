"""
The tensors in the result of an entry point from which a training program would run backward.

    return {"logits": y, "hidden": (h,)}     # both: one of them, or a sum of both, leads to a loss
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from inplace_lint.domain import tape, unknown_history
from inplace_lint.domain.heap import DictObject, Instance, Tensor
from inplace_lint.domain.state import State
from inplace_lint.domain.values import Ref, Sym, Tuple, Value
from inplace_lint.interp.expr import subscripts
from inplace_lint.interp.interpreter import Interpreter
from inplace_lint.interp.transfer import materialise


def of_result(interp: Interpreter, state: State, value: Value) -> list[Tensor]:
    """Return the tensors of a result that lead to a loss: beside others, what a library computed of them may not."""
    found = list(_tensors_below(interp, state, value, set(), 0))
    led = [tensor for tensor in found if not all(state.nodes[node].free for node in tape.nodes_of(state, tensor))]
    return led or found


def _tensors_below(interp: Interpreter, state: State, value: Value, seen: set[int], depth: int) -> Iterator[Tensor]:
    """Return the tensors in a result, in its tuples, lists, dicts and attributes, except parameters."""
    if unknown_history.nodes_behind(state, value):
        materialise.materialise(interp, state, value)
    tensor = state.tensor(value)
    if tensor is not None:
        if not tensor.param and tensor.nodes:
            yield tensor
        return
    if depth > 4 or (isinstance(value, Ref) and value.id in seen):  # noqa: PLR2004 - deep enough for any result
        return
    if isinstance(value, Ref):
        seen.add(value.id)
    for item in _held(state, value):
        yield from _tensors_below(interp, state, item, seen, depth + 1)


def _held(state: State, value: Value) -> Sequence[Value]:
    """Return the known values in a result."""
    if isinstance(value, Tuple):
        return value.items
    if isinstance(value, Sym):
        return tuple(item for _, item in subscripts.kept_in(state, value))
    inner = state.object(value) if isinstance(value, Ref) else None
    if isinstance(inner, DictObject):
        return tuple(inner.items.values())
    if isinstance(inner, Instance):
        # What an unknown call returned is a result if it is returned; kept in an object, it may be a statistic.
        kept = inner.attrs.values()
        return tuple(part for part in kept if not isinstance(part, Sym) or state.ref(part) is not None)
    return tuple(getattr(inner, "items", ()))
