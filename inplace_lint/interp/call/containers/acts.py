"""
The methods of module containers.

    layers.append(nn.ReLU())        # adds one
    heads.pop("aux")                # takes one out, as of the dict or list behind the container
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from inplace_lint.domain.heap import DictObject, ListObject
from inplace_lint.domain.values import NONE, Builtin, Const, Tuple
from inplace_lint.interp.call import module_containers
from inplace_lint.interp.frame import Arguments
from inplace_lint.interp.intrinsics.call import IntrinsicCall
from inplace_lint.interp.outcome import Results

_MOST_MODULES = 64  # of a container that an operator repeats


def _add(act: IntrinsicCall) -> Results:
    """Add one module, or those of an iterable, to a container; an insertion at an unknown position appends."""
    receiver = act.receiver()
    instance = act.state.instance(receiver) if receiver is not None else None
    if receiver is not None and instance is not None:
        if act.form.act == "container_append":
            module_containers.extend(act.state, receiver, (act.positional(1),))
        elif act.form.act == "container_extend":
            found = act.interp.turns(act.frame, act.state, act.positional(1), None, act.at)
            module_containers.extend(act.state, receiver, found.items, exact=found.exact)
        else:
            module_containers.insert(act.state, receiver, act.positional(1), act.positional(2))
    return [(act.state, act.positional(0))]


def _pairs(act: IntrinsicCall) -> Results:
    """List the names, the modules, or both, of a container."""
    instance = act.state.instance(act.positional(0))
    if instance is None or instance.children is None:
        return [(act.state, act.unknown())]
    found = module_containers.children(act.state, instance)
    part = {"container_keys": 0, "container_values": 1}.get(act.form.act)
    pairs = list(zip(module_containers.keys(act.state, instance), (value for _, value in found.pairs), strict=True))
    items = tuple(Tuple(pair) if part is None else pair[part] for pair in pairs)
    return [(act.state, Tuple(items, found.exact))]


def _update(act: IntrinsicCall) -> Results:
    """Add named modules to a container: those of a dict, or of pairs."""
    receiver, given = act.receiver(), act.positional(1)
    more = act.state.object(given)
    if receiver is not None and isinstance(more, DictObject):
        for name, value in more.items.items():
            module_containers.put(act.state, receiver, name, value)
    elif receiver is not None:
        for pair in act.interp.turns(act.frame, act.state, given, None, act.at).items:
            match pair:
                case Tuple((Const(str(name)), value)):
                    module_containers.put(act.state, receiver, name, value)
                case _:
                    pass
    return [(act.state, NONE)]


def _joined(act: IntrinsicCall) -> Results:
    """Return a new container with the modules of one, and those of an iterable behind them."""
    receiver = act.receiver()
    instance = act.state.instance(receiver) if receiver is not None else None
    if instance is None or instance.children is None:
        return [(act.state, act.unknown())]
    known = module_containers.children(act.state, instance)
    more = act.interp.turns(act.frame, act.state, act.positional(1), None, act.at)
    items = ListObject((*(value for _, value in known.pairs), *more.items), known.exact and more.exact)
    return [(act.state, act.state.new(replace(instance, children=act.state.new(items))))]


def _repeated(act: IntrinsicCall) -> Results:
    """Return a new container with the modules of one, as often as a number says: all turns call the same ones."""
    receiver, times = act.receiver(), act.positional(1)
    instance = act.state.instance(receiver) if receiver is not None else None
    if instance is None or instance.children is None:
        return [(act.state, act.unknown())]
    known = module_containers.children(act.state, instance)
    number = times.value if isinstance(times, Const) and isinstance(times.value, int) else None
    items = tuple(value for _, value in known.pairs) * (2 if number is None else number)
    listed = ListObject(items[:_MOST_MODULES], known.exact and number is not None and len(items) <= _MOST_MODULES)
    return [(act.state, act.state.new(replace(instance, children=act.state.new(listed))))]


def _method(act: IntrinsicCall) -> Results:
    """Run a method of the dict or list behind a container."""
    instance = act.state.instance(act.positional(0))
    if instance is None or instance.children is None:
        return [(act.state, act.unknown())]
    given = act.arguments.positional[1:]
    if given and not module_containers.maps(act.interp, act.state, instance):
        given = (module_containers.key_at(act.state.object(instance.children), given[0]), *given[1:])
    method = Builtin(act.form.name.rpartition(".")[2], instance.children)
    return act.interp.call(act.frame, act.state, method, Arguments(given, act.arguments.keywords), act.at)


INTRINSICS: dict[str, Callable[[IntrinsicCall], Results]] = {
    "container_append": _add,
    "container_extend": _add,
    "container_insert": _add,
    "container_items": _pairs,
    "container_joined": _joined,
    "container_keys": _pairs,
    "container_method": _method,
    "container_repeated": _repeated,
    "container_update": _update,
    "container_values": _pairs,
}
