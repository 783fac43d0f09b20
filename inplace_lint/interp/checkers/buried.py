"""
Finds variables that are read after an expression overwrote them and used the result as another value.

    var = out.pow_(2).mean(0)   # `out` holds the squares from here on
    return out / var            # reads the squares

A statement of its own (`out.mul_(2)`) is meant to change the variable, and so is `out = out.mul_(2)`. What attributes
and containers hold, as the state of an optimizer, is updated on purpose: `step = buf.mul_(0.9).add_(grad)`. So is what
the expression goes on to write: `mask.masked_fill_(mask != 0, -100.0).masked_fill_(mask == 0, 0.0)`, what a loop adds
up, and what is given a result of its own: `torch.max(peak.mul_(0.9), x, out=peak)`, or `peak.copy_(...)`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from inplace_lint.core.event import Site, Spelling
from inplace_lint.core.span import Slice
from inplace_lint.domain import origins, traits
from inplace_lint.domain.heap import Names, Write
from inplace_lint.domain.id_renaming import links_of
from inplace_lint.domain.values import Const, Ref, Sym
from inplace_lint.effects.write_evidence import is_writing
from inplace_lint.interp.checkers import escaped
from inplace_lint.interp.frame import Frame, Variable
from inplace_lint.ir import nodes as ir
from inplace_lint.ir.walk import walk

if TYPE_CHECKING:
    from inplace_lint.domain.state import State
    from inplace_lint.interp.transfer.op_call import Call


def overwritten(call: Call, writes: Sequence[Write], ref: Ref, name: str) -> tuple[Write, str] | None:
    """Return the write that changed what `name`, or a variable that was passed as it, meant, and that variable."""
    frame, state = call.frame, call.state
    own = (frame.env.id, name)
    since = state.bound_at(own) or 0
    spans = [(own, since, state.clock)]
    given = [write.clock for write in writes if write.tensor == ref and _is_given(call, write)]
    writes = [write for write in writes if write.clock > max(given, default=0)]
    if escaped.is_argument(call, name):
        spans += [(variable, state.bound_at(variable) or 0, since) for variable in sorted(frame.passed[name])]
    for variable, first, last in spans:
        for write in writes:
            if first < write.clock <= last and write.tensor == ref and _is_buried(call, write, ref, variable):
                return write, variable[1]
    return None


def _is_given(call: Call, write: Write) -> bool:
    """Check whether a call sets elements on purpose: `out=peak`, or `peak.copy_(found)`."""
    framework, touch = call.facts.framework, write.touch
    return touch.part in framework.names or (touch.op in framework.setters and touch.spelled is Spelling.CALL)


def _is_buried(call: Call, write: Write, ref: Ref, variable: Variable) -> bool:
    """Check whether a running function has overwritten its variable within an expression that uses the result."""
    frame, touch = call.frame, write.touch
    is_plain = touch.spelled is Spelling.CALL and touch.flag is None and not touch.dropped
    if not is_plain or touch.op in call.facts.framework.setters:
        return False
    if not any(form.returns and form.returns[0].kind == touch.part for form in call.facts.forms(touch.op)):
        return False  # what is used is not the tensor: `work = all_reduce(x, async_op=True)`
    if variable not in write.names or variable[0] != max(env for env, _ in write.names):
        return False  # written by a function that was called with it: its variables are the newest
    if (touch.site.place.slice, touch.site.caller) not in _running(frame):
        return False
    if _is_continued(call, touch.site.place.at) or _accumulates(call, touch.site.place.at, variable):
        return False
    is_computed = bool(touch.producer) or (call.state.modes.grad is not False and _is_parameter(frame, variable))
    return is_computed and not _is_stored(call.state, ref) and not _is_of_unknown(call.state, variable)


def _is_continued(call: Call, written: int) -> bool:
    """Check whether the read is part of a further write to the result of a call: `x.sub_(m).div_(x.std())`."""
    closure = call.frame.closure
    for node in walk(closure.function.body) if closure is not None else ():
        if type(node) is ir.Call and type(node.func) is ir.Attr and is_writing(node.func.name):
            receiver = node.func.value
            while type(receiver) is ir.Call and receiver.at != written:
                receiver = receiver.func.value if type(receiver.func) is ir.Attr else receiver.func
            if type(receiver) is ir.Call and any(getattr(one, "at", None) == call.at for one in walk(node.args)):
                return True
    return False


def _accumulates(call: Call, written: int, variable: Variable) -> bool:
    """Check whether a loop writes a variable of this call again and again, without binding it: a running mean."""
    env, name = variable
    if env != call.frame.env.id:
        return False
    closure = call.frame.closure
    if closure is None:
        return True  # a script keeps its variables
    for loop in walk(closure.function.body):
        if type(loop) is ir.For or type(loop) is ir.While:
            inner = list(walk(loop.body))
            binds = any(
                type(part) is ir.Name and part.id == name
                for node in inner
                if type(node) is ir.Assign
                for part in walk(node.targets)
            )
            if not binds and any(getattr(node, "at", None) == written for node in inner):
                return True
    return False


def _running(frame: Frame) -> Iterator[tuple[Slice, Site | None]]:
    """Yield the code and the caller of this call, and of those that it is a part of."""
    yield frame.slice, frame.caller
    site = frame.caller
    while site is not None:
        yield site.place.slice, site.caller
        site = site.caller


def _is_parameter(frame: Frame, variable: Variable) -> bool:
    env, name = variable
    closure = frame.closure if env == frame.env.id else None
    return closure is not None and any(parameter.name == name for parameter in closure.function.params)


def _is_stored(state: State, ref: Ref) -> bool:
    """Check whether anything but variables holds an object: an attribute, a container, also an unknown one."""
    held = any(ref in links_of(thing) for thing in state.heap.values() if not isinstance(thing, Names))
    return held or any(value == ref for _, items in state.all_traits(traits.ITEMS) for _, value in items)


def _is_of_unknown(state: State, variable: Variable) -> bool:
    """Check whether a variable is bound to what an unknown object has under a name: `state["exp_avg"]`."""
    env, name = variable
    scope = state.heap.get(env)
    value = scope.values.get(name) if isinstance(scope, Names) else None
    match state.symbols.key(value) if isinstance(value, Sym) else None:
        case (origins.ATTRIBUTE, *_) | (origins.ITEM, _, Const(str())):
            return True
        case _:
            return False
