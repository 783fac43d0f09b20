"""
Reports a function that writes its argument, where a caller passes the same variable to it again.

    def penalty(mask):
        mask -= 1.0                     # the second call subtracts once more
        return mask * 1e4

    a = scores + penalty(mask)
    b = other + penalty(mask)

A function may be there to count up what it is passed, or to update a state from its other arguments. It is not if the
write depends on nothing else: a number that is taken off at two places, or what the written tensor itself holds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from inplace_lint.core.event import Escaped, Spelling
from inplace_lint.domain.heap import Tensor, Write
from inplace_lint.domain.values import Ref
from inplace_lint.interp.checkers import escaped
from inplace_lint.ir import nodes as ir
from inplace_lint.ir.walk import walk

if TYPE_CHECKING:
    from inplace_lint.interp.transfer.op_call import Call


def read(call: Call, part: str, expr: ir.Name, tensor: Tensor) -> None:
    """Report an argument that is read as it was passed, after an earlier call has scaled it by what it holds itself."""
    before = _earlier(call, expr.id, tensor)
    operands = None if before is None else _operands(call, before)
    if before is not None and operands and operands <= {expr.id, *(name for _, name in before.names)}:
        _report(call, part, expr, tensor, before)


def write(call: Call, part: str, _: Ref, tensor: Tensor) -> None:
    """Report a number that is added to an argument once more, by a call that stands elsewhere in the caller."""
    expr = call.binding.exprs.get(part)
    if not isinstance(expr, ir.Name) or call.spelled is not Spelling.AUGMENTED or tensor.dtype == "int":
        return
    before = _earlier(call, expr.id, tensor)
    caller = call.frame.caller
    if before is None or caller is None or before.touch.site.place != call.frame.site(call.at).place:
        return
    if before.touch.site.caller != caller and _operands(call, before) == frozenset():
        _report(call, part, expr, tensor, before)


def _earlier(call: Call, name: str, tensor: Tensor) -> Write | None:
    """Return the write of an argument by an earlier call of the function that runs, from the same caller's variable."""
    frame, state = call.frame, call.state
    writes = state.storages[tensor.storage].writes
    if not writes or frame.closure is None or frame.caller is None or not escaped.is_argument(call, name):
        return None
    since = state.bound_at((frame.env.id, name)) or 0
    for known in writes:
        site = known.touch.site
        same = known.clock < since and site.place.slice == frame.slice and (frame.env.id, name) not in known.names
        if not same or site.caller is None or site.caller.caller != frame.caller.caller or known.touch.flag is not None:
            continue
        held = [one for one in known.names & frame.passed[name] if (state.bound_at(one) or since) < known.clock]
        if held and site.caller.place.slice == frame.caller.place.slice and not _is_told(call, known, max(held)[1]):
            return known
    return None


def _is_told(call: Call, known: Write, name: str) -> bool:
    """Check whether the caller is told of the write: by the name or documentation of the function, or by its result."""
    site = known.touch.site.caller
    if site is None:
        return True
    body = call.interp.context.module(site.place.slice.path).code(site.place.slice).body
    return escaped.is_told(call, body, known.touch.site, site, name)


def _operands(call: Call, known: Write) -> frozenset[str] | None:
    """Return the variables of a function that a write in it depends on; None if its code is not found."""
    closure = call.frame.closure
    function = None if closure is None else closure.function
    for node in walk(function.body) if function is not None else ():
        if getattr(node, "at", None) == known.touch.site.place.at and isinstance(node, ir.AugAssign | ir.Call):
            words = () if isinstance(node, ir.AugAssign) else (word.value for word in node.keywords)
            value = (node.value,) if isinstance(node, ir.AugAssign) else (*node.args, *words)
            read = frozenset(part.id for part in walk(value) if isinstance(part, ir.Name))
            own = {parameter.name for parameter in function.params} | function.local if function is not None else set()
            return read & own
    return None


def _report(call: Call, part: str, expr: ir.Name, tensor: Tensor, before: Write) -> None:
    frame, state = call.frame, call.state
    assert frame.caller is not None
    _, name = max(before.names & frame.passed[expr.id])
    again = replace(call.touch(part, expr, tensor), site=frame.caller)
    why = state.assumptions | before.assumptions | before.doubt
    state.report(Escaped(call.facts.framework.name, before.touch, name, again, why))
