"""`with`: contexts that set a mode of the framework, those of the program, and all others, which have no effect."""

from __future__ import annotations

from collections.abc import Sequence

from inplace_lint.core.records import replace
from inplace_lint.domain.state import State
from inplace_lint.domain.values import Value
from inplace_lint.interp.context import Program
from inplace_lint.interp.control import context_managers, exceptional_flow, modes, statements
from inplace_lint.interp.control.outcome import Outcomes, limited
from inplace_lint.interp.expr import assignment, expressions
from inplace_lint.interp.frame import Frame
from inplace_lint.ir import nodes as ir


def run_with(program: Program, frame: Frame, state: State, node: ir.With) -> Outcomes:
    """Run a `with` statement; the modes of before hold again after it, however it was left."""
    before = state.modes
    outcomes = _run(program, frame, state, node.items, node.body)
    for outcome in outcomes:
        outcome.state.modes = before
    return limited(program, outcomes)


def _run(
    program: Program, frame: Frame, state: State, items: Sequence[ir.WithItem], body: Sequence[ir.Stmt]
) -> Outcomes:
    """Enter the contexts from left to right, run what stands inside, and leave them."""
    if not items:
        return statements.execute(program, frame, state, body)
    item = items[0]
    at = item.context.at if isinstance(item.context, ir.Call) else 0

    def inside(live: State, value: Value) -> Outcomes:
        states = [live] if item.target is None else assignment.assign(program, frame, live, item.target, value)
        return [outcome for path in states for outcome in _run(program, frame, path, items[1:], body)]

    outcomes: Outcomes = []
    expects = exceptional_flow.expects(item.context, program.default().framework.errors)
    for after, value in expressions.evaluate(program, frame, state, item.context):
        if expects:
            after.modes = replace(after.modes, expects="all")
        mode = modes.mode_of(program, after, value)
        if mode is not None:
            after.modes = modes.entered(after, mode)
        managed = context_managers.run(program, frame, after, value, at, inside) if mode is None else None
        outcomes.extend(inside(after, value) if managed is None else managed)
    return outcomes
