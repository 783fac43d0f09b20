"""
Backward from the result of an entry point, as a training program would run it.

    return {"logits": y, "hidden": (h,)}     # both: one of them, or a sum of both, leads to a loss

That a gradient passes an unknown call is no matter of course where something else trains the same layers:

    h = self.fc(x).sigmoid()
    if target is not None:
        return ((h - target) ** 2).mean()    # trains `fc`, whatever `decode` is
    h += 1
    return self.decode(h)

Another path does, another method of the class that calls the layer, or code of the file that runs backward and calls
it. A class that is no module may just infer, unless its file runs backward.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from inplace_lint.domain import only_way, tape, traits, unknown_history
from inplace_lint.domain.heap import DictObject, Instance, ListObject, Tensor
from inplace_lint.domain.state import State
from inplace_lint.domain.values import NONE, NOT_TENSORS, ClassValue, Const, Ref, RefId, Sym, Tuple, Value
from inplace_lint.effects.reachability import reachable
from inplace_lint.interp.call import module_registry
from inplace_lint.interp.expr import subscripts
from inplace_lint.interp.interpreter import Interpreter
from inplace_lint.interp.outcome import Results
from inplace_lint.interp.transfer import materialise
from inplace_lint.workspace import trainers

_DEEPEST = 4  # levels of containers, enough for any result
_MEASURES = NOT_TENSORS - {"sequence", "callable"}


def backward(
    interp: Interpreter, results: Results, cls: ClassValue | None = None, method: str = "", *, certain: bool = True
) -> None:
    """
    Run backward on each path from what an entry point returned: a function, or the method of a class.

    `certain`: whoever uses the class runs the method.
    """
    roots = [of_result(interp, state, value) if state.modes.grad is not False else [] for state, value in results]
    unknown = any(node.passes for state, _ in results for node in state.nodes.values())
    names = _called_elsewhere(interp, cls, method) if unknown and cls is not None else frozenset()
    plain = [
        only_way.plain(state, [node for tensor in found for node in tape.nodes_of(state, tensor)]) if unknown else ()
        for (state, _), found in zip(results, roots, strict=True)
    ]
    for number, (state, value) in enumerate(results):
        elsewhere = None
        if names is not None:
            others = (*plain[:number], *plain[number + 1 :], _leaves(state, value, names))
            elsewhere = frozenset(leaf for found in others for leaf in found)
        name = interp.context.default().framework.name
        is_module = cls is not None and interp.context.is_module(cls) is not None
        is_loss = certain and is_module and _is_loss(interp, state, value, roots[number])
        interp.listeners.accumulate(state, name, roots[number], None, False)
        tape.backward(state, name, roots[number], None, retain=False, elsewhere=elsewhere, trained=is_loss)


def _is_loss(interp: Interpreter, state: State, value: Value, tensors: Sequence[Tensor]) -> bool:
    """
    Check whether a result is one number: whoever calls a module that returns such trains something through it.

    `value` is the result, with the module; that keeps a statistic where what it returns is none of its tensors. Beside
    the number there may be what has no gradient: `return {"loss": loss, "lr": 0.1}, loss.item()`.
    """
    returned = value.items[0] if isinstance(value, Tuple) and value.items else value
    if len(tensors) != 1 or tensors[0].rank != 0:
        return False
    tensor = state.tensor(returned)
    if tensor is not None:
        return tensor is tensors[0]
    parts = list(_parts(state, returned, 0))
    return tensors[0] in map(state.tensor, parts) and all(_is_data(state, part, tensors[0]) for part in parts)


def _parts(state: State, value: Value, depth: int) -> Iterator[Value]:
    """Yield what a result is made of: the items of its tuples, lists and dicts."""
    inner = state.object(value) if isinstance(value, Ref) else None
    holds = isinstance(value, Tuple) or (isinstance(inner, DictObject | ListObject) and inner.exact)
    for item in _held(state, value) if holds and depth < _DEEPEST else ():
        yield from _parts(state, item, depth + 1)
    if not holds or depth == _DEEPEST:
        yield value


def _is_data(state: State, value: Value, loss: Tensor) -> bool:
    """Check whether a value is a loss, or certainly nothing that a gradient goes through."""
    tensor = state.tensor(value)
    if isinstance(value, Sym) and tensor is None:
        return value.kind in _MEASURES or unknown_history.is_measured(state, value)
    return isinstance(value, Const) if tensor is None else tensor is loss or tensor.rg is False


def are_numbers(interp: Interpreter, results: Results) -> bool:
    """Check whether all that was returned on some paths and has a history are single numbers, such as losses."""
    found = [tensor for state, value in results for tensor in _tensors_below(interp, state, value, set(), 0, NONE)]
    return bool(found) and all(tensor.rank == 0 for tensor in found)


def _called_elsewhere(interp: Interpreter, cls: ClassValue, name: str) -> frozenset[str] | None:
    """
    Return the attributes that other code of the file than a method, and what that calls, calls and may train.

    None if it may be anything: the class is no module, and nothing in the file runs backward.
    """
    context = interp.context
    infers = context.default().framework.infers
    found: set[str] = set()
    trains = context.is_module(cls) is not None
    for item in context.outline.items:
        own = item.slice == cls.slice
        below = reachable({name}, {part.member: part.attributes for part in item.methods}) if own else set()
        for part in item.methods or (item,):
            asks = trainers.asks(part)
            trains = trains or asks
            if part.member not in {*below, *infers} and not part.name.startswith("__") if own else asks:
                found.update(call.rpartition(".")[2] for call in part.calls)
    return frozenset(found) if trains else None


def _leaves(state: State, value: Value, names: frozenset[str]) -> Iterator[RefId]:
    """Yield the parameters of the layers of these names, of the instance that a method returned besides its result."""
    instance = state.instance(value.items[-1]) if isinstance(value, Tuple) and value.items else None
    attributes = {} if instance is None else instance.attrs
    for name in names:
        layer = attributes.get(name, NONE)
        if state.instance(layer) is not None:
            yield from (ref.id for _, ref in module_registry.leaves(state, layer, param=True))


def of_result(interp: Interpreter, state: State, value: Value) -> list[Tensor]:
    """Return the tensors of a result that lead to a loss: beside others, what a library computed of them may not."""
    keeper = value.items[-1] if isinstance(value, Tuple) and value.items else NONE  # the module that is called
    found = list(_tensors_below(interp, state, value, set(), 0, keeper))
    led = [tensor for tensor in found if not all(state.nodes[node].free for node in tape.nodes_of(state, tensor))]
    return led or found


def _tensors_below(
    interp: Interpreter, state: State, value: Value, seen: set[int], depth: int, keeper: Value
) -> Iterator[Tensor]:
    """
    Return the tensors in a result, in its tuples, lists, dicts and attributes, except parameters.

    A loss from which the function itself ran backward is returned for a log. What an unknown call returned is a result
    in an object that is returned; in an attribute of the `keeper` and of what that has, it may be a statistic.
    """
    if isinstance(value, Sym) and state.symbols.marked:
        if unknown_history.is_measured(state, value):
            return
        if not state.has_trait(traits.HOLDING, value.id) and unknown_history.nodes_behind(state, value):
            materialise.materialise(interp, state, value)
    tensor = state.tensor(value)
    if tensor is not None:
        ref = state.ref(value)
        logged = ref is not None and state.has_trait(traits.DIFFERENTIATED, ref.id)
        if not tensor.param and tensor.nodes and not logged:
            yield tensor
        return
    if depth > _DEEPEST or (isinstance(value, Ref) and value.id in seen):
        return
    if isinstance(value, Ref):
        seen.add(value.id)
    keeps = value == keeper != NONE
    for item in _held(state, value):
        if not (keeps and state.instance(value) is not None and isinstance(item, Sym) and state.ref(item) is None):
            yield from _tensors_below(interp, state, item, seen, depth + 1, item if keeps else keeper)


def _held(state: State, value: Value) -> Sequence[Value]:
    """Return the known values in a result."""
    if isinstance(value, Tuple):
        return value.items
    if isinstance(value, Sym):
        holding = state.trait(traits.HOLDING, value.id)
        known = subscripts.kept_in(state, value) if holding is None or holding.free else holding.values
        return tuple(item for _, item in known)
    inner = state.object(value) if isinstance(value, Ref) else None
    if isinstance(inner, DictObject):
        return tuple(inner.items.values())
    if isinstance(inner, Instance):
        return tuple(inner.attrs.values())
    return tuple(getattr(inner, "items", ()))
