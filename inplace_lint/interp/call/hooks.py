"""
Hooks of modules: gradient hooks change what the outputs are, forward hooks run before and after the call.

    layer.register_full_backward_hook(hook)
    h = layer(x)      # inputs and outputs pass through a framework function: they are views made by a custom function
    h.relu_()         # refused

    layer.register_forward_hook(hook)
    h = layer(x)      # `hook(layer, (x,), h)` runs; if it returns something, that is the result
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from inplace_lint.core.event import Touch
from inplace_lint.domain import traits
from inplace_lint.domain.heap import Node, Tensor, View
from inplace_lint.domain.state import State
from inplace_lint.domain.tape import leaves_of, nodes_of
from inplace_lint.domain.values import NONE, Ref, RefId, Sym, Tuple, Value
from inplace_lint.interp.frame import Arguments, Frame
from inplace_lint.interp.interpreter import Interpreter
from inplace_lint.interp.intrinsics import given_gradients
from inplace_lint.interp.intrinsics.call import IntrinsicCall
from inplace_lint.interp.outcome import Results

Live = Callable[[Interpreter, Frame, State, Ref, Arguments, int], Results]

_FUNCTION = "BackwardHookFunction"
_BEFORE, _AFTER = traits.HOOKS_BEFORE, traits.HOOKS_AFTER
Hooks = traits.Trait[RefId, tuple[Value, ...]]


def _register(act: IntrinsicCall) -> Results:
    """Mark a module as having a backward hook."""
    receiver = act.receiver()
    if receiver is not None:
        act.state.set_trait(traits.HOOKED, receiver.id, True)
    return [(act.state, act.unknown())]


def _forward(when: Hooks) -> Callable[[IntrinsicCall], Results]:
    def act_forward(act: IntrinsicCall) -> Results:
        """Register a function that runs before or after each call of a module."""
        receiver = act.receiver()
        given = len(act.arguments.positional) + len(act.arguments.keywords)
        if receiver is not None and given == 2:  # noqa: PLR2004 - the module and the hook; options change how it is called
            function = act.arguments.named("hook") or act.positional(1)
            act.state.set_trait(when, receiver.id, (*_hooks(act.state, when, receiver), function))
        return [(act.state, act.unknown())]

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
            for after, changed in _run(interp, frame, path, hook, Arguments((ref, Tuple(given.positional))), at)
        ]
    results: Results = []
    for path, given in going:
        outputs = live(interp, frame, path, ref, given, at)
        for hook in _hooks(state, _AFTER, ref):
            outputs = [
                (done, value if changed == NONE or isinstance(changed, Sym) else changed)
                for after, value in outputs
                for done, changed in _run(
                    interp, frame, after, hook, Arguments((ref, Tuple(given.positional), value)), at
                )
            ]
        results.extend(outputs)
    return results


def _run(interp: Interpreter, frame: Frame, state: State, hook: Value, arguments: Arguments, at: int) -> Results:
    """Call a hook: what it stores meanwhile is marked as stored by a hook."""
    state.set_trait(traits.IN_HOOK, None, True)
    results = interp.call(frame, state, hook, arguments, at)
    for after, _ in results:
        after.set_trait(traits.IN_HOOK, None, False)
    return results


def has_forward(state: State, ref: Ref) -> bool:
    """Check whether a module has forward hooks."""
    return state.has_trait(_BEFORE, ref.id) or state.has_trait(_AFTER, ref.id)


def _hooks(state: State, when: Hooks, ref: Ref) -> tuple[Value, ...]:
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
        return [(act.state, act.unknown())]
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
}
