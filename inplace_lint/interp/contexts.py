"""`with`: contexts that set a mode of the framework, and all others, which are entered without effect."""

from __future__ import annotations

from dataclasses import replace

from inplace_lint.domain.state import Modes, State
from inplace_lint.domain.values import Const, Dotted, Ref, Value
from inplace_lint.interp import attributes, calls, conditions, expressions, statements, targets
from inplace_lint.interp.frame import Arguments, Frame
from inplace_lint.interp.program import Program
from inplace_lint.ir import nodes as ir

MODE = "mode:"


def run_with(program: Program, frame: Frame, state: State, node: ir.With) -> statements.Outcomes:
    """Run a `with` statement; the modes of before hold again after it, however it was left."""
    before = state.modes
    going = [state]
    for item in node.items:
        going = [
            bound
            for path in going
            for after, value in expressions.evaluate(program, frame, path, item.context)
            for bound in _enter(program, frame, after, value, item)
        ]
    outcomes = [outcome for path in going for outcome in statements.execute(program, frame, path, node.body)]
    for outcome in outcomes:
        outcome.state.modes = before
    return statements.limited(program, outcomes)


def _enter(program: Program, frame: Frame, state: State, value: Value, item: ir.WithItem) -> list[State]:
    mode = mode_of(program, state, value)
    if mode is not None:
        state.modes = entered(state, mode)
    if item.target is None:
        return [state]
    entered_value = value
    if state.instance(value) is not None:
        found = attributes.get(program, frame, state, value, "__enter__", 0)[:1]
        if found and not isinstance(found[0][1], Dotted) and mode is None:
            results = calls.call(program, frame, found[0][0], found[0][1], Arguments(), 0)
            if results:
                state, entered_value = results[0]
    return targets.assign(program, frame, state, item.target, entered_value)


def mode_of(program: Program, state: State, value: Value) -> tuple[str, Value] | None:
    """Give the mode that a value stands for as a context or decorator: the class itself or an object of it."""
    if isinstance(value, Dotted):
        forms = program.forms(value.name)
        if forms and forms[0].act.startswith(MODE):
            name, _, fixed = forms[0].act[len(MODE) :].partition("=")
            return name, Const(fixed != "False")
    known = state.bindings.get(("mode", value.id)) if isinstance(value, Ref) else None
    if isinstance(known, Const) and isinstance(known.value, str):
        setting = state.bindings.get(("mode setting", value.id)) if isinstance(value, Ref) else None
        return known.value, setting if setting is not None else Const(True)
    return None


def entered(state: State, mode: tuple[str, Value]) -> Modes:
    """Give the modes that hold inside a context."""
    name, setting = mode
    side = conditions.truth(state, setting)
    modes = state.modes
    if name == "grad":
        return replace(modes, grad=modes.grad if side is None else side)
    if name == "inference" and side is not False:
        return replace(modes, grad=False, inference=True)
    if name == "script":
        return replace(modes, script=True)
    if name == "packed":
        return replace(modes, packed=True)
    if name == "autocast":
        return replace(modes, autocast=side is not False)
    return modes
