"""
Compiled code: a compiler that turns writes into values does not make all checks of the framework.

    @torch.compile
    def step(x):
        x[1:] += x[:-1]    # refused in eager mode, carried out in compiled code

A compiled function, or the forward of a compiled module, runs under a mode. A compiler that only traces sets none.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from inplace_lint.domain import traits
from inplace_lint.domain.heap import Instance
from inplace_lint.domain.values import NONE, Bound, ClassValue, Closure, Const, Dotted, Ref, Value
from inplace_lint.interp.control import path_condition
from inplace_lint.interp.control.modes import COMPILED
from inplace_lint.interp.intrinsics.call import IntrinsicCall
from inplace_lint.interp.outcome import Results


def _compile(act: IntrinsicCall) -> Results:
    """Return the compiled function or module; if called with options only, the decorator."""
    function, state = act.value("model"), act.state
    if not _rewrites(act):
        return [(state, function if function != NONE else act.unknown("callable"))]
    if function == NONE:
        ref = state.new(Instance(Dotted(act.form.name), {}))
        state.set_trait(traits.SWITCH, ref.id, traits.Switch(COMPILED))
        return [(state, ref)]
    return [(state, _compiled(act, function))]


def _compile_module(act: IntrinsicCall) -> Results:
    """Compile a module in place."""
    if _rewrites(act):
        _compiled(act, act.positional(0))
    return [(act.state, NONE)]


def _rewrites(act: IntrinsicCall) -> bool:
    """Check whether the compiler certainly turns writes into values; one that only traces does not."""
    backend = act.value("backend")
    known = isinstance(backend, Const) and backend.value not in act.interp.context.default().framework.tracers
    return known and path_condition.truth(act.state, act.value("disable")) is False


def _compiled(act: IntrinsicCall, function: Value) -> Value:
    mode = (COMPILED, Const(True))
    if isinstance(function, Closure):
        return replace(function, modes=(mode, *function.modes))
    instance = act.state.instance(function)
    if isinstance(function, Ref) and instance is not None and isinstance(instance.cls, ClassValue):
        name = act.interp.context.default().framework.calls
        forward = act.interp.lookup(act.state, instance.cls, name)
        if isinstance(forward, Closure):
            own = replace(forward, modes=(mode, *forward.modes))
            act.state.set_attribute(function, name, Bound(function, own))
    return function


INTRINSICS: dict[str, Callable[[IntrinsicCall], Results]] = {"compile": _compile, "compile_module": _compile_module}
