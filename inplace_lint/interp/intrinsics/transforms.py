"""
Transforms of functions: over a batch (`vmap`), and to their gradients (`grad`, `vjp`, `jacrev`).

    def row_sum(row):
        total = torch.zeros(())
        total += row.sum()          # `row` is batched, `total` is not: refused
        return total
    vmap(row_sum)(matrix)

Inside the function an argument is a tensor record of its own: for `vmap` one that represents all examples, for a
gradient a leaf. Tensors that are older than the call of a gradient's function are captured, and writes to them refused.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec.structs import replace

from inplace_lint.core.event import Failure
from inplace_lint.domain import tape
from inplace_lint.domain.heap import DictObject, ListObject, Tensor, View
from inplace_lint.domain.state import Modes, State
from inplace_lint.domain.values import NONE, Dotted, Partial, Ref, Tuple, Value
from inplace_lint.interp.frame import Arguments
from inplace_lint.interp.intrinsics.call import IntrinsicCall
from inplace_lint.interp.outcome import Results
from inplace_lint.interp.transfer import materialise
from inplace_lint.knowledge.words import Check

if TYPE_CHECKING:
    from inplace_lint.interp.transfer.op_call import Call
    from inplace_lint.knowledge.op import WriteFact

_CALLED = ".__call__"


def _transform(act: IntrinsicCall) -> Results:
    """Return the transformed function, which runs when it is called."""
    keywords = tuple((name, value) for name, value in act.values.items() if name not in {"func", "args", "kwargs"})
    return [(act.state, Partial(Dotted(act.form.name + _CALLED), (act.value("func"),), keywords))]


def _map(act: IntrinsicCall) -> Results:
    """Run a function once for all examples of a batch; outside of it, its results are ordinary tensors."""
    state, axes = act.state, act.value("in_dims")
    given = act.arguments.positional[1:]
    chosen = axes.items if isinstance(axes, Tuple) and len(axes.items) == len(given) else (axes,) * len(given)
    values = tuple(
        value if axis == NONE else _each(act, value, lambda pair: _batched(act.state, pair))
        for value, axis in zip(given, chosen, strict=True)
    )
    before = state.modes
    state.modes = replace(before, mapped=True)
    results = act.interp.call(act.frame, state, act.positional(0), Arguments(values), act.at)
    done: Results = []
    for after, value in results:
        after.modes = before
        done.append((after, _whole(after, value)))
    return done


def _batched(state: State, pair: tuple[Ref, Tensor]) -> Ref:
    ref, tensor = pair
    sizes = None if tensor.sizes is None else (None,) * (len(tensor.sizes) - 1)
    view = View.SINGLE if tensor.view is None else tensor.view
    base = tensor.base if tensor.base is not None else ref
    return state.new(replace(tensor, batched=True, sizes=sizes, strides=None, base=base, view=view, part=None))


def _whole(state: State, value: Value) -> Value:
    """Return a result with each batched tensor replaced by one with an axis more."""
    tensor = state.tensor(value)
    if tensor is not None and tensor.batched:
        sizes = None if tensor.sizes is None else (None,) * (len(tensor.sizes) + 1)
        return state.new(
            replace(tensor, batched=False, sizes=sizes, strides=None, storage=state.new_storage(), base=None, view=None)
        )
    if isinstance(value, Tuple):
        return Tuple(tuple(_whole(state, item) for item in value.items), value.exact)
    return value


def _gradient(act: IntrinsicCall) -> Results:
    """Run a function on fresh leaves and backward from its result; return gradients that are unknown tensors."""
    done: Results = []
    for after, value in _run(act, act.arguments.positional[1:]):
        roots = [tensor for _, tensor in after.tensors_in(value)][:1]
        tape.backward(after, _name(act), roots, act.frame.site(act.at), retain=False)
        done.append((after, act.unknown("tensor")))
    return done


def _with_gradient(act: IntrinsicCall) -> Results:
    """Run a function on fresh leaves, as `vjp` does; return its result and a function that runs backward."""
    given = act.arguments.positional[1:]
    back = Dotted(f"{act.interp.context.default().framework.tensor}.backward")
    return [(after, Tuple((value, Partial(back, (value,), ())))) for after, value in _run(act, given)]


def _with_tangent(act: IntrinsicCall) -> Results:
    """Run a function on what it is given, as `jvp` does: slopes go forward, beside the values; nothing is saved."""
    first, captured = act.positional(1), act.state.next_id
    values = _each(act, first, lambda pair: act.state.new(replace(pair[1], storage=act.state.new_storage())))
    given = values.items if isinstance(values, Tuple) else (values,)
    return [
        (after, Tuple((value, act.unknown())))
        for after, value in _called(act, given, replace(act.state.modes, captured=captured))
    ]


def _run(act: IntrinsicCall, given: tuple[Value, ...]) -> Results:
    values = tuple(_each(act, value, lambda pair: _leaf(act.state, pair[1])) for value in given)
    return _called(act, values, replace(act.state.modes, grad=True, captured=act.state.next_id))


def _called(act: IntrinsicCall, values: tuple[Value, ...], modes: Modes) -> Results:
    state = act.state
    before = state.modes
    state.modes = modes
    results = act.interp.call(act.frame, state, act.positional(0), Arguments(values), act.at)
    for after, _ in results:
        after.modes = before
    return results


def _leaf(state: State, tensor: Tensor) -> Ref:
    leaf = replace(tensor, rg=tensor.dtype not in {"int", "bool"}, leaf=True, nodes=(), base=None, view=None, part=None)
    return state.new(replace(leaf, storage=state.new_storage(), why="", param=False))


def _each(act: IntrinsicCall, value: Value, make: Callable[[tuple[Ref, Tensor]], Ref]) -> Value:
    """Return an argument with each tensor in it replaced."""
    state = act.state
    materialise.materialise_all(act.interp, state, value, _name(act))
    tensor, ref = state.tensor(value), state.ref(value)
    if tensor is not None and ref is not None:
        return make((ref, tensor))
    if isinstance(value, Tuple):
        return Tuple(tuple(_each(act, item, make) for item in value.items), value.exact)
    inner = state.object(value)
    if isinstance(inner, DictObject):
        return state.new(replace(inner, items={key: _each(act, item, make) for key, item in inner.items.items()}))
    if isinstance(inner, ListObject):
        return state.new(replace(inner, items=tuple(_each(act, item, make) for item in inner.items)))
    return value


def _name(act: IntrinsicCall) -> str:
    return act.interp.context.default().framework.name


def refuses(call: Call, fact: WriteFact, tensor: Tensor) -> Failure | None:
    """Return the check of a transform that refuses a write; empty if there is none."""
    modes = call.state.modes
    if modes.mapped and tensor.batched is False:
        names = call.binding.given - {fact.to}
        if any(operand.batched for name in names for _, operand in call.binding.tensors(name)):
            return Failure.BATCHED
    # IMPRECISE: older tensors are recognised by the ids of their storages.
    is_old = 0 < tensor.storage <= modes.captured
    return Failure.CAPTURED if is_old and Check.LEAF in fact.checks else None


INTRINSICS: dict[str, Callable[[IntrinsicCall], Results]] = {
    "transform": _transform,
    "map_function": _map,
    "gradient": _gradient,
    "with_gradient": _with_gradient,
    "with_tangent": _with_tangent,
}
