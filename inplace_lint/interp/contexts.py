"""`with`: contexts that set a mode of the framework, those of the program, and all others, which have no effect."""

from __future__ import annotations

from collections.abc import Sequence

from inplace_lint.domain.state import Modes, State
from inplace_lint.domain.values import Const, Dotted, Ref, Sym, Value
from inplace_lint.interp import conditions, expressions, managers, raising, statements, targets
from inplace_lint.interp.frame import Arguments, Frame
from inplace_lint.interp.program import Program
from inplace_lint.ir import nodes as ir
from inplace_lint.records import replace

MODE = "mode:"
COMPILED = "compiled"
_BARE = {"compile": COMPILED}  # what a call with options gives is a mode, and so it is itself as a decorator


def run_with(program: Program, frame: Frame, state: State, node: ir.With) -> statements.Outcomes:
    """Run a `with` statement; the modes of before hold again after it, however it was left."""
    before = state.modes
    outcomes = _run(program, frame, state, node.items, node.body)
    for outcome in outcomes:
        outcome.state.modes = before
    return statements.limited(program, outcomes)


def _run(
    program: Program, frame: Frame, state: State, items: Sequence[ir.WithItem], body: Sequence[ir.Stmt]
) -> statements.Outcomes:
    """Enter the contexts from left to right, run what stands inside, and leave them."""
    if not items:
        return statements.execute(program, frame, state, body)
    item = items[0]
    at = item.context.at if isinstance(item.context, ir.Call) else 0

    def inside(live: State, value: Value) -> statements.Outcomes:
        states = [live] if item.target is None else targets.assign(program, frame, live, item.target, value)
        return [outcome for path in states for outcome in _run(program, frame, path, items[1:], body)]

    outcomes: statements.Outcomes = []
    expects = raising.expects(item.context, program.default().framework.errors)
    for after, value in expressions.evaluate(program, frame, state, item.context):
        if expects:
            after.modes = replace(after.modes, expects="all")
        mode = mode_of(program, after, value)
        if mode is not None:
            after.modes = entered(after, mode)
        managed = managers.run(program, frame, after, value, at, inside) if mode is None else None
        outcomes.extend(inside(after, value) if managed is None else managed)
    return outcomes


def enter_stack(program: Program, state: State, function: Value, arguments: Arguments) -> bool:
    """Enter a mode by `stack.enter_context(mode)`, until the `with` of the stack ends; False for another call."""
    key = state.symbols.key(function) if isinstance(function, Sym) else None
    if not (isinstance(key, tuple) and key[0] == "attr" and key[-1] == "enter_context" and arguments.positional):
        return False
    mode = mode_of(program, state, arguments.positional[0])
    if mode is not None:
        state.modes = entered(state, mode)
    return mode is not None


def mode_of(program: Program, state: State, value: Value) -> tuple[str, Value] | None:
    """Give the mode that a value stands for as a context or decorator: the class itself or an object of it."""
    if isinstance(value, Dotted):
        forms = program.forms(value.name)
        if forms and forms[0].act.startswith(MODE):
            name, _, fixed = forms[0].act[len(MODE) :].partition("=")
            return name, Const(fixed != "False")
        if forms and forms[0].act in _BARE:
            return _BARE[forms[0].act], Const(True)
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
    if name == COMPILED:
        return replace(modes, compiled=True)
    if name == "packed":
        return replace(modes, packed=True)
    if name == "autocast":
        return replace(modes, autocast=side is not False)
    return modes


def is_recording(state: State) -> Const | None:
    """Say whether gradients are recorded, as a value of the program; None if that is not known."""
    return None if state.modes.grad is None else Const(state.modes.grad)
