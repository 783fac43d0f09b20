"""
Updates that reach nobody: an augmented assignment that binds a variable anew, where a parameter was to be changed.

    with paddle.no_grad():
        for p in model.parameters():
            p -= rate * p.grad        # a new tensor under the name `p`; the layer's parameter is as it was

Code that was moved from a framework where this writes in place runs on, and trains nothing. A new value that goes
somewhere (`layer.weight.set_value(p)`, `return p`) is none of this.
"""

from __future__ import annotations

from collections.abc import Iterator

from inplace_lint.core.event import LostUpdate, Touch
from inplace_lint.domain.state import State
from inplace_lint.domain.values import Value
from inplace_lint.interp.frame import Frame
from inplace_lint.interp.interpreter import Interpreter
from inplace_lint.ir import nodes as ir


def augment(interp: Interpreter, frame: Frame, state: State, node: ir.AugAssign, old: Value, result: Value) -> None:
    """Report an augmented assignment, with nothing recorded, that leaves the parameter behind a variable as it was."""
    tensor = state.tensor(old)
    if tensor is None or not tensor.param or state.ref(result) == state.ref(old) or state.modes.grad is not False:
        return
    if not isinstance(node.target, ir.Name) or _goes_somewhere(interp, frame, node, node.target.id):
        return
    framework = (interp.context.facts.get(tensor.framework) or interp.context.default()).framework
    touch = Touch(f"{framework.tensor}.{node.op}=", frame.site(node.at), "", node.target.id, "augmented", param=True)
    state.report(LostUpdate(framework.name, touch, state.assumptions | tensor.doubt))


def _goes_somewhere(interp: Interpreter, frame: Frame, node: ir.AugAssign, name: str) -> bool:
    """Say whether a variable is read as a whole after a statement: for a part of it, or to be updated again, is not."""
    body = frame.closure.function.body if frame.closure is not None else interp.context.code(frame.slice).body
    return any(at > node.at for at in _reads(body, name, node))


def _reads(node: object, name: str, but: ir.AugAssign) -> Iterator[int]:
    if node is but:
        return
    if isinstance(node, ir.Name):
        if node.id == name:
            yield node.at
    elif isinstance(node, ir.Attr) and isinstance(node.value, ir.Name):
        return
    elif isinstance(node, ir.AugAssign) and isinstance(node.target, ir.Name):
        yield from _reads(node.value, name, but)
    elif isinstance(node, ir.For) and isinstance(node.target, ir.Name):
        yield from _reads(node[2:], name, but)
    elif isinstance(node, tuple):
        for part in node:
            yield from _reads(part, name, but)
