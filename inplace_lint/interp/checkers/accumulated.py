"""
Reports sums that keep the history of every step, although backward has used it up.

    total = 0
    for x in loader:
        loss = net(x).mean()
        loss.backward()
        total += loss            # the graph of each step stays in memory, and nothing can run through it again
"""

from __future__ import annotations

from inplace_lint.core.event import Accumulated, Spelling, Touch
from inplace_lint.domain import tape, traits
from inplace_lint.domain.state import State
from inplace_lint.domain.values import Value
from inplace_lint.interp.frame import Frame, text_of
from inplace_lint.interp.interpreter import Interpreter
from inplace_lint.ir import nodes as ir


def augment(interp: Interpreter, frame: Frame, state: State, node: ir.AugAssign, old: Value, result: Value) -> None:
    """Report `total += loss` where the history of one of them was used up by a backward."""
    tensor = state.tensor(result)
    if node.op != "+" or tensor is None or tensor.rg is False or isinstance(node.target, ir.Subscript):
        return
    parts = [part for number in tensor.nodes for part in state.nodes[number].inputs if number not in state.freed]
    handed = state.trait(traits.HANDED, None) if isinstance(node.target, ir.Attr) else None
    if handed is not None and handed.resets:  # the call may have set the attribute anew
        parts = [part for part in parts if part >= handed.node]
    if any(tape.is_used_up(state, part) for part in parts):
        framework = (interp.context.facts.get(tensor.framework) or interp.context.default()).framework
        name = f"{framework.tensor}.{node.op}="
        touch = Touch(name, frame.site(node.at), "", text_of(node.target), Spelling.AUGMENTED)
        state.report(Accumulated(framework.name, touch, state.assumptions | tensor.doubt))
