"""Switches the modes of a path for a call, a context or a decorator: gradients, inference, autocast, compilers."""

from __future__ import annotations

from msgspec.structs import replace

from inplace_lint.domain import origins, traits
from inplace_lint.domain.heap import Instance
from inplace_lint.domain.state import Modes, State
from inplace_lint.domain.values import Bound, ClassValue, Closure, Const, Dotted, Ref, Sym, Value
from inplace_lint.interp.control import path_condition
from inplace_lint.interp.frame import Arguments
from inplace_lint.interp.fuel import Fuel
from inplace_lint.interp.interpreter import Interpreter

MODE = "mode:"
COMPILED = "compiled"
_BARE = {"compile": COMPILED}  # with options its call returns a mode; without, it is itself one, as a decorator


def enter_stack(interp: Interpreter, state: State, function: Value, arguments: Arguments) -> bool:
    """Enter a mode by `stack.enter_context(mode)`, until the `with` of the stack ends; False for another call."""
    key = state.symbols.key(function) if isinstance(function, Sym) else None
    if not (
        isinstance(key, tuple) and key[0] is origins.ATTRIBUTE and key[-1] == "enter_context" and arguments.positional
    ):
        return False
    mode = mode_of(interp, state, arguments.positional[0])
    if mode is not None:
        state.modes = entered(state, mode)
    return mode is not None


def mode_of(interp: Interpreter, state: State, value: Value) -> tuple[str, Value] | None:
    """Return the mode that a value is as a context or decorator: a class of modes, or an object of one."""
    if isinstance(value, Dotted):
        forms = interp.context.forms(value.name)
        if forms and forms[0].act.startswith(MODE):
            name, _, fixed = forms[0].act[len(MODE) :].partition("=")
            return name, Const(fixed != "False")
        if forms and forms[0].act in _BARE:
            return _BARE[forms[0].act], Const(True)
    switch = state.trait(traits.SWITCH, value.id) if isinstance(value, Ref) else None
    if switch is not None:
        return switch.mode, switch.setting or Const(True)
    instance = state.instance(value)
    if instance is None or isinstance(interp.lookup(state, instance.cls, "__enter__"), Closure):
        return None
    return _inherited(interp, state, instance)


def _inherited(interp: Interpreter, state: State, instance: Instance) -> tuple[str, Value] | None:
    """Return the mode of an object of a class of the program that derives from a class of modes."""
    bases = interp.context.mro(instance.cls) if isinstance(instance.cls, ClassValue) else ()
    return next(filter(None, (mode_of(interp, state, base) for base in bases if isinstance(base, Dotted))), None)


def decorated(interp: Interpreter, state: State, function: Value, arguments: Arguments) -> Value | None:
    """Return the function or method that a call of a mode gives, with that mode around it; None for another call."""
    given = arguments.positional[0] if len(arguments.positional) == 1 else None
    inner = given.function if isinstance(given, Bound) else given
    mode = mode_of(interp, state, function) if isinstance(inner, Closure) else None
    if mode is None or not isinstance(inner, Closure):
        return None
    made = replace(inner, modes=(mode, *inner.modes))
    return replace(given, function=made) if isinstance(given, Bound) else made


def entered(state: State, mode: tuple[str, Value]) -> Modes:
    """Return the modes that hold inside a context."""
    name, setting = mode
    side = path_condition.truth(state, setting)
    modes = state.modes
    if name == "grad":
        return replace(modes, grad=modes.grad if side is None else side)
    if name == "inference":
        return replace(modes, grad=side is False, inference=side is not False)
    if name == "script":
        return replace(modes, script=True)
    if name == COMPILED:
        return replace(modes, compiled=True)
    if name == "packed":
        return replace(modes, packed=True)
    if name == "autocast":
        return replace(modes, autocast=side)
    return modes


def entered_on_paths(fuel: Fuel, state: State, mode: tuple[str, Value]) -> list[State]:
    """Return states inside a context; one of each side where it is open whether it records gradients."""
    name, setting = mode
    sides = path_condition.split(fuel, state, setting, wanted=True) if name == "grad" else [(state, True)]
    for path, _ in sides:
        path.modes = entered(path, mode)
    return [path for path, _ in sides]


def enter_object(interp: Interpreter, state: State, value: Value) -> None:
    """Enter the mode of an object by a call of its `__enter__`; it holds until one of `__exit__`."""
    instance, modes = state.instance(value), state.modes
    mode = mode_of(interp, state, value) or (_inherited(interp, state, instance) if instance is not None else None)
    if mode is not None and isinstance(value, Ref):
        state.set_trait(traits.BEFORE_MODE, value.id, (modes.grad, modes.inference, modes.autocast))
        state.modes = entered(state, mode)


def leave_object(state: State, value: Value) -> None:
    """Leave the mode of an object that was entered by a call of its `__enter__`."""
    before = state.trait(traits.BEFORE_MODE, value.id) if isinstance(value, Ref) else None
    if before is not None:
        grad, inference, autocast = before
        state.modes = replace(state.modes, grad=grad, inference=inference, autocast=autocast)


def is_recording(state: State) -> Const:
    """Return whether gradients are recorded, as a value of the program; they are where nothing turned them off."""
    return Const(state.modes.grad is not False)
