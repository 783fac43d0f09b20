"""
Hooks of modules: gradient hooks change what the outputs are, forward hooks run before and after the call.

    layer.register_full_backward_hook(hook)
    h = layer(x)      # inputs and outputs pass through a framework function: they are views made by a custom function
    h.relu_()         # refused

    layer.register_forward_hook(hook)
    h = layer(x)      # `hook(layer, (x,), h)` runs; if it returns something, that is the result

Registering a hook returns a handle: an object of a class that is named after the method, by which the hook is removed.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from inplace_lint.core.event import Touch
from inplace_lint.domain import traits
from inplace_lint.domain.heap import DictObject, Instance, Node, Tensor, View
from inplace_lint.domain.state import State
from inplace_lint.domain.tape import leaves_of, nodes_of
from inplace_lint.domain.values import NONE, Dotted, Ref, RefId, Sym, Tuple, Value
from inplace_lint.interp.control import path_condition
from inplace_lint.interp.frame import Arguments, Frame
from inplace_lint.interp.interpreter import Interpreter
from inplace_lint.interp.intrinsics import given_gradients
from inplace_lint.interp.intrinsics.call import IntrinsicCall
from inplace_lint.interp.outcome import Results

Live = Callable[[Interpreter, Frame, State, Ref, Arguments, int], Results]

_FUNCTION = "BackwardHookFunction"
_BEFORE, _AFTER = traits.HOOKS_BEFORE, traits.HOOKS_AFTER
Hooks = traits.Trait[RefId, tuple[Ref, ...]]
_OWNER, _HOOK, _NAMED = "hooked", "hook", "with_kwargs"  # the attributes of a handle


def _register(act: IntrinsicCall) -> Results:
    """Mark a module as having a backward hook."""
    receiver = act.receiver()
    return [(act.state, act.unknown() if receiver is None else _handle(act, traits.HOOKED, receiver, NONE))]


def _handle(act: IntrinsicCall, when: Hooks, owner: Ref, hook: Value) -> Ref:
    """Register a hook of a module, and return its handle."""
    attrs = {_OWNER: owner, _HOOK: hook, _NAMED: act.arguments.named(_NAMED) or NONE}
    handle = act.state.new(Instance(Dotted(act.form.name), attrs, opaque=True))
    known = _hooks(act.state, when, owner)
    first = path_condition.truth(act.state, act.arguments.named("prepend") or NONE)
    act.state.set_trait(when, owner.id, (handle, *known) if first else (*known, handle))
    return handle


def _remove(act: IntrinsicCall) -> Results:
    """Remove the hook of a handle: of a module, or of a tensor, whose node is then given what it would be without."""
    handle = act.receiver()
    instance = None if handle is None else act.state.instance(handle)
    if handle is None or instance is None:
        return [(act.state, NONE)]
    owner, number = instance.attrs.get(_OWNER), act.state.trait(traits.HOOKED_NODE, handle.id)
    if number is not None:
        act.state.nodes[number] = replace(act.state.nodes[number], alters=None, spoils=())
    for when in (_BEFORE, _AFTER, traits.HOOKED):
        if isinstance(owner, Ref) and handle in (known := _hooks(act.state, when, owner)):
            act.state.set_trait(when, owner.id, tuple(one for one in known if one != handle))
    return [(act.state, NONE)]


def _forward(when: Hooks) -> Callable[[IntrinsicCall], Results]:
    def act_forward(act: IntrinsicCall) -> Results:
        """Register a function that runs before or after each call of a module."""
        receiver = act.receiver()
        how = path_condition.truth(act.state, act.arguments.named(_NAMED) or NONE)
        if receiver is None or act.arguments.unknown or how is None:
            return [(act.state, act.unknown())]
        function = act.arguments.named(_HOOK) or act.positional(1)
        return [(act.state, _handle(act, when, receiver, function))]

    return act_forward


def around(
    interp: Interpreter, frame: Frame, state: State, ref: Ref, arguments: Arguments, at: int, live: Live
) -> Results:
    """Call a module, with its forward hooks run before and after it."""
    going = [(state, arguments)]
    for hook in _hooks(state, _BEFORE, ref):
        going = [
            (after, _replaced(given, changed))
            for path, given in going
            for after, changed in _run(interp, frame, path, hook, (ref, Tuple(given.positional)), given, at)
        ]
    results: Results = []
    for path, given in going:
        outputs = live(interp, frame, path, ref, given, at)
        for hook in _hooks(state, _AFTER, ref):
            outputs = [
                (done, value if changed == NONE or isinstance(changed, Sym) else changed)
                for after, value in outputs
                for done, changed in _run(interp, frame, after, hook, (ref, Tuple(given.positional), value), given, at)
            ]
        results.extend(outputs)
    return results


def _run(
    interp: Interpreter, frame: Frame, state: State, handle: Ref, passed: tuple[Value, ...], given: Arguments, at: int
) -> Results:
    """Call the hook of a handle: what it stores meanwhile is marked as stored by a hook."""
    instance = state.instance(handle)
    assert instance is not None
    if path_condition.truth(state, instance.attrs[_NAMED]):
        keywords: dict[object, Value] = dict(given.keywords)
        passed = (*passed[:2], state.new(DictObject(keywords)), *passed[2:])
    state.set_trait(traits.IN_HOOK, None, True)
    results = interp.call(frame, state, instance.attrs[_HOOK], Arguments(passed), at)
    for after, _ in results:
        after.set_trait(traits.IN_HOOK, None, False)
    return results


def has_forward(state: State, ref: Ref) -> bool:
    """Check whether a module has forward hooks."""
    return bool(_hooks(state, _BEFORE, ref) or _hooks(state, _AFTER, ref))


def has_backward(state: State, ref: Ref) -> bool:
    """Check whether a module has backward hooks."""
    return bool(_hooks(state, traits.HOOKED, ref))


def _hooks(state: State, when: Hooks, ref: Ref) -> tuple[Ref, ...]:
    return state.trait(when, ref.id) or ()


def _replaced(given: Arguments, changed: Value) -> Arguments:
    """Return the arguments after a hook that runs before the call: what it returns, if that is known."""
    if changed == NONE or isinstance(changed, Sym):
        return given
    positional = changed.items if isinstance(changed, Tuple) else (changed,)
    return Arguments(positional, given.keywords, {}, given.unknown)


def _gradient_hook(act: IntrinsicCall) -> Results:
    """Run a hook on a gradient: a leaf of its own for some frameworks, else what other nodes may be given as well."""
    facts = act.interp.context.default()
    tensor, hook = act.state.tensor(act.positional(0)), act.value("hook")
    if tensor is None:
        return [(act.state, act.unknown())]
    if not facts.framework.own_gradients:
        given_gradients.note_hook(act, tensor, hook)
        handle = act.state.new(Instance(Dotted(act.form.name), {}, opaque=True))
        if tensor.nodes:
            act.state.set_trait(traits.HOOKED_NODE, handle.id, tensor.nodes[-1])
        return [(act.state, handle)]
    spare = act.state.fork()
    made = Tensor(spare.new_storage(), rg=True, leaf=True, framework=facts.framework.name, dtype=tensor.dtype)
    done = act.interp.call(act.frame, spare, hook, Arguments((spare.new(made),)), act.at)
    for after, _ in done:
        for event in after.events:
            act.state.report(event)
    return [(act.state, act.unknown())]


def run(
    interp: Interpreter, frame: Frame, state: State, ref: Ref, arguments: Arguments, at: int, live: Live
) -> Results:
    """Call a module with backward hooks: the module gets wrapped inputs, and its caller wrapped outputs."""
    wrapped = tuple(_wrapped(state, frame, value, at) for value in arguments.positional)
    inner = Arguments(wrapped, arguments.keywords, {}, arguments.unknown)
    return [(after, _wrapped(after, frame, value, at)) for after, value in live(interp, frame, state, ref, inner, at)]


def _wrapped(state: State, frame: Frame, value: Value, at: int) -> Value:
    """Return the view that the framework's hook function makes of a tensor that requires grad."""
    if isinstance(value, Tuple):
        return Tuple(tuple(_wrapped(state, frame, item, at) for item in value.items), value.exact, value.fields)
    ref, tensor = state.ref(value), state.tensor(value)
    if tensor is None or ref is None or not tensor.rg:
        return value
    site = frame.site(at)
    leaves = leaves_of([(ref, tensor)])
    node = state.record(Node(_FUNCTION, site, nodes_of(state, tensor), (), frozenset(), leaves=leaves))
    made = Touch(_FUNCTION, site, "out0")
    base = tensor.base if tensor.base is not None else ref
    return state.new(replace(tensor, leaf=False, nodes=(node,), base=base, view=View.HOOKED, made=made))


INTRINSICS: dict[str, Callable[[IntrinsicCall], Results]] = {
    "backward_hook": _register,
    "forward_hook": _forward(_AFTER),
    "forward_pre_hook": _forward(_BEFORE),
    "gradient_hook": _gradient_hook,
    "remove_hook": _remove,
}
