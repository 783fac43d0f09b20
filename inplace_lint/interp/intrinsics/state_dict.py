"""
Saved states of modules: `state_dict` shares the memory of the module, `load_state_dict` writes it.

    best = model.state_dict()        # no copy: the next step changes it too
    opt.step()
    model.load_state_dict(best)      # copies the parameters onto themselves
    save(best, path)                 # saves what the step has left

    target.load_state_dict(online.state_dict())   # a counted write of all parameters of `target`
"""

from __future__ import annotations

from collections.abc import Callable

from inplace_lint.core.event import Keeping, Site, Snapshot, Touch
from inplace_lint.domain import origins, traits
from inplace_lint.domain.heap import DictObject, Tensor, View
from inplace_lint.domain.state import State
from inplace_lint.domain.values import NONE, Ref, Sym, SymId, Value
from inplace_lint.interp.call import module_registry
from inplace_lint.interp.control import path_condition
from inplace_lint.interp.frame import Arguments, Frame
from inplace_lint.interp.interpreter import Interpreter
from inplace_lint.interp.intrinsics import opaque_modules, optimizers
from inplace_lint.interp.intrinsics.call import IntrinsicCall
from inplace_lint.interp.outcome import Results

_DEEPEST_SAVED = 3  # dicts in dicts
_FOLLOWED = frozenset({"zero_grad", "step", "load_state_dict"})


def _state_dict(act: IntrinsicCall) -> Results:
    """Return a dict of detached views of all parameters and buffers; an unknown value for an opaque module."""
    module, state = act.positional(0), act.state
    if state.instance(module) is None:
        return [(state, act.unknown("sequence"))]
    place = act.frame.site(act.at).place
    items: dict[object, Value] = {}
    for name, ref in module_registry.state_of(state, module):
        tensor = state.tensor(ref)
        assert tensor is not None
        items[name] = alias = state.new(_alias(tensor, ref))
        act.interp.listeners.read_state(state, place, alias)
    return [(state, state.new(DictObject(items, exact=bool(items))))]


def _alias(tensor: Tensor, ref: Ref) -> Tensor:
    return Tensor(
        tensor.storage,
        rg=False,
        leaf=True,
        base=ref,
        view=View.DETACH,
        dtype=tensor.dtype,
        exact=tensor.exact,
        sizes=tensor.sizes,
        framework=tensor.framework,
        doubt=tensor.doubt,
    )


def _load_state_dict(act: IntrinsicCall) -> Results:
    """Write all parameters and buffers of a module; with `assign=True` they are rebound instead."""
    module, state = act.positional(0), act.state
    given = state.object(act.positional(1))
    state.set_trait(traits.LOADED, None, True)
    if path_condition.truth(state, act.arguments.named("assign") or NONE) is not False:
        return [(state, act.unknown())]
    owned = module_registry.state_of(state, module)
    counted = act.interp.context.default().framework.counts_loads
    if isinstance(given, DictObject):
        read, framework = Touch(act.form.name, act.frame.site(act.at)), act.interp.context.default().framework.name
        pairs = [(given.items[name], ref) for name, ref in owned if name in given.items]
        act.interp.listeners.load_state(state, framework, read, pairs)
    act.write(state, (ref for _, ref in owned), counted=counted)
    return [(state, act.unknown())]


def _save(act: IntrinsicCall) -> Results:
    """Check the states in what is saved: a later write has changed them."""
    state, site, waiting = act.state, act.frame.site(act.at), [act.positional(0)]
    framework, found = act.interp.context.default().framework.name, list[tuple[Value, Ref]]()
    for _ in range(_DEEPEST_SAVED):
        inner = [state.object(value) for value in waiting]
        for value in waiting:
            found.extend((value, ref) for ref, _ in state.tensors_in(value))
            _check_opaque_module(act.interp, state, None, value, site, act.form.name)
        waiting = [item for one in inner if isinstance(one, DictObject) for item in one.items.values()]
    act.interp.listeners.load_state(state, framework, Touch(act.form.name, site), found)
    return [(state, NONE)]


def track_opaque_module(
    interp: Interpreter, frame: Frame, state: State, function: Sym, arguments: Arguments, site: Site
) -> None:
    """
    Track the saved state of an opaque module, of which only method calls are seen, through steps of an optimizer.

    An object whose `zero_grad` and `step` are called is an optimizer; no other `step` is taken to write parameters.
    """
    key = state.symbols.key(function)
    if not isinstance(key, tuple) or key[0] is not origins.ATTRIBUTE or key[2] not in _FOLLOWED:
        return
    match key:
        case (origins.ATTRIBUTE, int(owner), "zero_grad"):
            state.set_trait(traits.ZEROED, SymId(owner), True)
        case (origins.ATTRIBUTE, int(owner), "step") if state.has_trait(traits.ZEROED, SymId(owner)):
            name = opaque_modules.name_of(state, SymId(owner))
            interp.listeners.step(frame, state, Sym(SymId(owner)), site)
            state.set_trait(traits.STEPPED, None, traits.Step(state.clock, site, name))
        case (origins.ATTRIBUTE, int(owner), "load_state_dict") if arguments.positional:
            _check_opaque_module(interp, state, SymId(owner), arguments.positional[0], site, "load_state_dict")
        case _:
            return


def _check_opaque_module(
    interp: Interpreter, state: State, target: SymId | None, given: Value, site: Site, reads: str
) -> None:
    """Report a `state_dict` that is loaded into its own opaque module, or saved, after its parameters were written."""
    match state.symbols.key(given) if isinstance(given, Sym) else None:
        case (origins.RESULT, Sym() as function, Site() as kept, int(clock)):
            pass
        case _:
            return
    match state.symbols.key(function):
        case (origins.ATTRIBUTE, int(number), "state_dict") if target in {None, number}:
            owner = SymId(number)
        case _:
            return
    weight = state.trait(traits.WEIGHT, owner)
    tensor = state.tensor(weight) if weight is not None else None
    write: Touch | None = None
    if tensor is not None:
        write = next((entry.touch for entry in state.storages[tensor.storage].writes if entry.clock > clock), None)
    write = write or optimizers.unknown_step(state, owner, clock)
    if write is not None:
        assumed = state.assumptions | {f"`{opaque_modules.name_of(state, owner)}` is a module"}
        framework = interp.context.default().framework.name
        state.report(Snapshot(framework, Keeping.STATE, write, kept.place, Touch(reads, site), assumed))


def _reset_parameters(act: IntrinsicCall) -> Results:
    """Write all parameters and buffers of a module; `reset_running_stats` writes the running statistics only."""
    module, state = act.positional(0), act.state
    instance = state.instance(module)
    attributes = {} if instance is None else instance.attrs
    only = "running_" if act.form.name.endswith("reset_running_stats") else ""
    kept = (value for name, value in attributes.items() if isinstance(value, Ref) and name.startswith(only))
    act.write(state, kept, counted=True)
    return [(state, NONE)]


INTRINSICS: dict[str, Callable[[IntrinsicCall], Results]] = {
    "state_dict": _state_dict,
    "load_state_dict": _load_state_dict,
    "save_state": _save,
    "reset_parameters": _reset_parameters,
}
