"""
Hooks that look at the gradients of a module: its inputs and outputs then go through a function of the framework.

    layer.register_full_backward_hook(hook)
    h = layer(x)      # a view that a custom function made
    h.relu_()         # refused
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from inplace_lint.domain.heap import Node, Tensor, View
from inplace_lint.domain.state import State
from inplace_lint.domain.tape import nodes_of
from inplace_lint.domain.values import Const, Ref, Tuple, Value
from inplace_lint.event import Touch
from inplace_lint.interp import calls
from inplace_lint.interp.act import Act, Results
from inplace_lint.interp.frame import Arguments, Frame
from inplace_lint.interp.program import Program

Live = Callable[[Program, Frame, State, Ref, Arguments, int], Results]

_FUNCTION = "BackwardHookFunction"


def _register(act: Act) -> Results:
    """Remember that a module has such a hook."""
    receiver = act.receiver()
    if receiver is not None:
        act.state.attach(("hooked", receiver.id), Const(True))
    return [(act.state, act.unknown())]


def _gradient_hook(act: Act) -> Results:
    """Run the hook on a gradient, where the framework's gradients are leaves of their own."""
    facts = act.program.default()
    tensor = act.state.tensor(act.positional(0))
    if not facts.framework.own_gradients or tensor is None:
        return [(act.state, act.unknown())]
    spare = act.state.fork()
    made = Tensor(spare.new_storage(), rg=True, leaf=True, framework=facts.framework.name, dtype=tensor.dtype)
    done = calls.call(act.program, act.frame, spare, act.positional(1), Arguments((spare.new(made),)), act.at)
    for after, _ in done:
        for event in after.events:
            act.state.report(event)
    return [(act.state, act.unknown())]


def run(program: Program, frame: Frame, state: State, ref: Ref, arguments: Arguments, at: int, live: Live) -> Results:
    """Give what a call of a hooked module returns: the module sees wrapped inputs, its caller wrapped outputs."""
    wrapped = tuple(_wrapped(state, frame, value, at) for value in arguments.positional)
    inner = Arguments(wrapped, arguments.keywords, {}, arguments.unknown)
    return [(after, _wrapped(after, frame, value, at)) for after, value in live(program, frame, state, ref, inner, at)]


def _wrapped(state: State, frame: Frame, value: Value, at: int) -> Value:
    """Give what the framework's function makes of a tensor that requires grad: a view of it."""
    if isinstance(value, Tuple):
        return Tuple(tuple(_wrapped(state, frame, item, at) for item in value.items), value.exact, value.fields)
    ref, tensor = state.ref(value), state.tensor(value)
    if tensor is None or ref is None or not tensor.rg:
        return value
    site = frame.site(at)
    node = state.record(Node(_FUNCTION, site, nodes_of(state, tensor), (), frozenset()))
    made = Touch(_FUNCTION, site, "out0")
    base = tensor.base if tensor.base is not None else ref
    return state.new(replace(tensor, leaf=False, nodes=(node,), base=base, view=View.HOOKED, made=made))


ACTS: dict[str, Callable[[Act], Results]] = {"backward_hook": _register, "gradient_hook": _gradient_hook}
