"""
Reports updates without effect: an augmented assignment that rebinds a variable where a parameter was to be changed.

    with paddle.no_grad():
        for p in model.parameters():
            p -= rate * p.grad        # a new tensor under the name `p`; the layer's parameter is as it was

Code ported from a framework where this writes in place runs without an error, and trains nothing. A new value that is
read as a whole afterwards (`layer.weight.set_value(p)`, `return p`) is not reported.

Likewise a write to a copy that was taken for a view, where nothing reads the copy afterwards:

    h[h > 0].fill_(0)                 # a mask or a list of positions copies the elements; `h[h > 0] = 0` writes them
    q = packed.chunk(3)[0]            # in a framework whose `chunk` copies
    q.scale_(0.5)                     # never read again
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from inplace_lint.core.event import LostUpdate, Site, Spelling, Touch
from inplace_lint.domain import traits
from inplace_lint.domain.state import State
from inplace_lint.domain.values import Value
from inplace_lint.interp.frame import Frame, text_of
from inplace_lint.interp.interpreter import Interpreter
from inplace_lint.ir import nodes as ir
from inplace_lint.ir import only_written
from inplace_lint.ir.walk import walk
from inplace_lint.knowledge.words import Result

if TYPE_CHECKING:
    from inplace_lint.domain.heap import Tensor
    from inplace_lint.domain.values import Ref
    from inplace_lint.interp.transfer.op_call import Call


def augment(interp: Interpreter, frame: Frame, state: State, node: ir.AugAssign, old: Value, result: Value) -> None:
    """Report an augmented assignment, with gradients off, that rebinds a variable instead of its parameter."""
    tensor = state.tensor(old)
    if tensor is None or not tensor.param or state.ref(result) == state.ref(old) or state.modes.grad is not False:
        return
    if not isinstance(node.target, ir.Name) or _is_read_later(interp, frame, node, node.target.id):
        return
    framework = (interp.context.facts.get(tensor.framework) or interp.context.default()).framework
    touch = Touch(
        f"{framework.tensor}.{node.op}=", frame.site(node.at), "", node.target.id, Spelling.AUGMENTED, param=True
    )
    state.report(LostUpdate(framework.name, touch, state.assumptions | tensor.doubt))


def _is_read_later(interp: Interpreter, frame: Frame, node: ir.AugAssign, name: str) -> bool:
    """Check whether a variable is read as a whole after a statement, other than to update it again."""
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


def write(call: Call, part: str, ref: Ref, tensor: Tensor) -> None:
    """Report the first write to a copy of a part of a tensor, where the program has no other use of the copy."""
    expr = call.binding.exprs.get(part)
    if expr is None or not _is_all(call, expr):
        return
    base = ref if tensor.base is None else tensor.base
    copy = call.state.tensor(base)
    if copy is None or copy.made is None or not _is_selection(call, base, copy.made):
        return
    source = _maker(call, expr, copy.made.site)
    if source is None:
        return
    call.state.set_trait(traits.SELECTED, base.id, False)
    written = f"{text_of(source)} {_assigning(call, expr is source)}" if isinstance(source, ir.Subscript) else ""
    doubt = call.state.assumptions | call.doubt | tensor.doubt | copy.doubt
    call.state.report(LostUpdate(call.facts.framework.name, call.touch(part, expr, tensor), doubt, True, written))


def _maker(call: Call, expr: ir.Expr, made: Site) -> ir.Subscript | ir.Call | None:
    """Return what made a copy, if that is a part of the statement that writes to it, or only a variable holds it."""
    if made.caller != call.frame.caller:
        return None
    if not isinstance(expr, ir.Name):
        return only_written.part_made_at(expr, made.place.at) if made.place.slice == call.frame.slice else None
    value = only_written.value_of(_code(call), expr.id)
    bindings = walk(call.interp.context.code(made.place.slice).body)
    is_here = value is not None and any(node is value for node in bindings)
    return only_written.part_made_at(value, made.place.at) if value is not None and is_here else None


def _code(call: Call) -> object:
    """Return all code that may use a variable: that of the function, or of the file."""
    if call.frame.closure is not None:
        return call.frame.closure.function.body
    module = call.interp.context.module(call.frame.slice.path)
    slices = [one for item in module.outline.items for one in (item.slice, *(method.slice for method in item.methods))]
    return tuple(module.code(one).body for one in slices)


def _is_all(call: Call, expr: ir.Expr) -> bool:
    """Check whether writing is all that a statement does with what it writes."""
    match call.spelled:
        case Spelling.CALL:
            return call.frame.dropped[:1] == (call.at,)
        case Spelling.AUGMENTED:  # of a part, the result is assigned once more
            return isinstance(expr, ir.Name)
        case _:
            return True


def _is_selection(call: Call, ref: Ref, made: Touch) -> bool:
    """Check whether a tensor is a copy of elements of another one, or one of several parts that are copies."""
    selected = call.state.trait(traits.SELECTED, ref.id)
    if selected is not None:
        return selected
    results = [fact for form in call.facts.forms(made.op) for fact in form.returns]
    parts = [item for fact in results for item in fact.items if fact.kind == Result.LIST]
    return len(results) == len(parts) > 0 and all(item.kind == Result.FRESH for item in parts)


def _assigning(call: Call, is_direct: bool) -> str:
    """Return how an assignment goes on that does what a call in place does."""
    framework, rows = call.facts.framework, call.facts.rows_of(call.name)
    for token, method in framework.augmented.items() if is_direct else ():
        if any(row in rows for row in call.facts.rows_of(f"{framework.tensor}.{method}")):
            return f"{token}= ..."
    return "= ..."
