"""Runs `with`: contexts that set a mode of the framework or handle exceptions, those of the program, and all others."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from msgspec.structs import replace

from inplace_lint.domain.state import State
from inplace_lint.domain.values import Value
from inplace_lint.interp.control import context_managers, exceptional_flow, modes, unknown_contexts
from inplace_lint.interp.frame import Frame
from inplace_lint.interp.interpreter import Interpreter
from inplace_lint.interp.outcome import Outcomes
from inplace_lint.ir import nodes as ir


def run_with(interp: Interpreter, frame: Frame, state: State, node: ir.With) -> Outcomes:
    """Run a `with` statement; the modes of before hold again after it, however it was left."""
    before = state.modes
    outcomes = _run(interp, frame, state, node.items, node.body)
    for outcome in outcomes:
        outcome.state.modes = before
    return interp.fuel.limited(outcomes)


def _run(
    interp: Interpreter, frame: Frame, state: State, items: Sequence[ir.WithItem], body: Sequence[ir.Stmt]
) -> Outcomes:
    """Enter the contexts from left to right, run the body, and leave them."""
    if not items:
        return interp.execute(frame, state, body)
    item = items[0]
    at = item.context.at if isinstance(item.context, ir.Call) else 0

    def inside(handled: tuple[ir.Expr, ...], live: State, value: Value, *, known: bool = True) -> Outcomes:
        assumed = unknown_contexts.enter(interp, live, item.context, value, known=known)
        states = [live] if item.target is None else interp.assign(frame, live, item.target, value)
        with interp.fuel.listening(bool(handled)):
            left = [outcome for path in states for outcome in _run(interp, frame, path, items[1:], body)]
        for outcome in left if assumed else ():
            unknown_contexts.leave(outcome.state, assumed)
        return exceptional_flow.suppress(interp, frame, handled, left) if handled else left

    outcomes: Outcomes = []
    errors = interp.context.default().framework.errors
    for after, value in interp.evaluate(frame, state, item.context):
        handled = exceptional_flow.waits_for(interp, frame, after, item.context, value)
        if exceptional_flow.expects(handled, errors):
            after.modes = replace(after.modes, expects="all")
        inner = partial(inside, handled)
        mode = modes.mode_of(interp, after, value)
        if mode is not None:
            for path in modes.entered_on_paths(interp.fuel, after, mode):
                outcomes.extend(inner(path, value))
            continue
        managed = context_managers.run(interp, frame, after, value, at, inner)
        outcomes.extend(inner(after, value, known=bool(handled)) if managed is None else managed)
    return outcomes
