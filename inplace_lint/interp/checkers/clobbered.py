"""
Reports reads of a tensor that an earlier write changed under another name: autograd cannot see these.

    identity = x
    out = self.relu(x)      # in place: `identity` is the same object
    return out + identity   # reads the overwritten values

    x[0], x[1] = x[1], x[0]     # both views are taken first: the second is read after the first write

A write through an attribute counts for the variable that was bound to it before, if that is first read after the write,
or together with the attribute:

    old = self.running_mean
    self.running_mean.mul_(0.9).add_(mean)
    drift = mean - old

Of others, only the same object under two variables counts, a view of a tensor that was overwritten as a whole, or one
whose very part was assigned. Any other write through a view of a buffer is intended. So is one that a loop reads in its
next turn through a view that was made before, one through the variable of a loop (`for p in (w, b): p -= step`), and
one to what a call is given to write to (`out=buffer`). Two that share memory only by assumption are not reported. After
an explicit write (`x += 1`) the written name itself may be read; after a hidden one (`inplace=True`), or one within an
expression (`buried.py`), that is reported too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from inplace_lint.core.event import Clobbered, Spelling
from inplace_lint.domain import traits
from inplace_lint.domain.heap import ListObject, Names, Tensor, View, Write
from inplace_lint.domain.values import Ref, RefId, Tuple, Value
from inplace_lint.interp.checkers import buried, escaped, passed_twice
from inplace_lint.interp.frame import text_of
from inplace_lint.interp.transfer import lazy_view_history
from inplace_lint.interp.transfer.index import is_constant, takes_all
from inplace_lint.ir import nodes as ir
from inplace_lint.ir.scopes import names_of
from inplace_lint.ir.walk import walk
from inplace_lint.knowledge.words import Moves, Result

if TYPE_CHECKING:
    from inplace_lint.domain.state import State
    from inplace_lint.interp.frame import Frame
    from inplace_lint.interp.transfer.op_call import Call


def read(call: Call, part: str, expr: ir.Expr, value: Value) -> None:
    """Report a variable that is read after a write through another name changed its tensor, alone or in a list."""
    state = call.binding.state
    if isinstance(expr, ir.Sequence):
        items = value if isinstance(value, Tuple) else state.object(value)
        for inner, item in zip(expr.items, items.items if isinstance(items, Tuple | ListObject) else (), strict=False):
            read(call, part, inner, item)
    if not isinstance(expr, ir.Name | ir.Subscript):
        return
    ref, tensor = state.ref(value), state.tensor(value)
    if ref is None or tensor is None:
        return
    if isinstance(expr, ir.Name):
        _check(call, part, expr, ref, tensor)
    else:
        _check_spread(call, part, expr, ref, tensor)


def spread(state: State, values: Sequence[Value]) -> None:
    """Remember when the views were taken that an assignment to several targets puts into these, one after the other."""
    for value in values:
        tensor = state.tensor(value)
        if isinstance(value, Ref) and tensor is not None and tensor.base is not None and tensor.part:
            state.set_trait(traits.SPREAD, value.id, state.clock)


def _check_spread(call: Call, part: str, expr: ir.Subscript, ref: Ref, tensor: Tensor) -> None:
    """Report a view that an assignment took before it wrote, with another of its targets, to the same part."""
    since = call.state.trait(traits.SPREAD, ref.id)
    for write in call.state.storages[tensor.storage].writes if since is not None else ():
        if write.clock > (since or 0) and _replaces(write, tensor):
            _report(call, part, expr, tensor, write, text_of(expr), together=True)
            return


def _replaces(write: Write, tensor: Tensor) -> bool:
    """Check whether an item assignment set all that a view covers."""
    if write.touch.spelled is not Spelling.ITEM or write.part is None or not tensor.part:
        return False
    is_known = all(arguments or move != "row" for move, _, arguments in write.part)
    return is_known and tensor.part[: len(write.part)] == write.part


def _report(
    call: Call,
    part: str,
    expr: ir.Expr,
    tensor: Tensor,
    write: Write,
    other: str,
    *,
    together: bool = False,
    within: bool = False,
) -> None:
    if write.doubt | tensor.doubt or _keeps_values(call, write) or _left_out(call, write):
        return  # whether they share memory at all is not known, or the values that are read are as they were
    assumptions = call.state.assumptions | write.assumptions
    read = call.touch(part, expr, tensor)
    call.state.report(Clobbered(call.facts.framework.name, write.touch, read, other, assumptions, together, within))


def _keeps_values(call: Call, write: Write) -> bool:
    """Check whether a write takes axes of size 1 away: what `squeeze_` is named after views all, in its order."""
    forms = call.facts.forms(write.touch.op.removesuffix("_")) if write.touch.op.endswith("_") else ()
    results = [fact for form in forms for fact in form.returns]
    return bool(results) and all(one.kind is Result.VIEW and one.moves is Moves.ALL for one in results)


def _left_out(call: Call, write: Write) -> bool:
    """Check whether a mask said what to write, and its negation what to read: `out[mask] = 0; rest = x[~mask]`."""
    frame, site = call.frame, write.touch.site
    if frame.closure is None or (site.place.slice, site.caller) != (frame.slice, frame.caller):
        return False
    written = read = None
    for node in walk(frame.closure.function.body):
        if isinstance(node, ir.Subscript):
            written = node.key if node.at == site.place.at else written
            read = node.key if node.at == call.at else read
    match written, read:
        case (ir.Name(_, mask), ir.Unary(_, "~", ir.Name(_, other))) | (
            ir.Unary(_, "~", ir.Name(_, mask)),
            ir.Name(_, other),
        ):
            return mask == other and (call.state.bound_at((frame.env.id, mask)) or 0) < write.clock
        case _:
            return False


def _check(call: Call, part: str, expr: ir.Name, ref: Ref, tensor: Tensor) -> None:
    state, frame = call.state, call.frame
    writes = state.storages[tensor.storage].writes
    if not writes:
        return
    bound = state.bound_at((frame.env.id, expr.id))
    if bound is None:
        return
    if tensor.view is View.MULTI and any(w.clock > bound and w.counted and w.tensor == tensor.base for w in writes):
        return  # where this is wrong, autograd refuses it
    if tensor.view in {View.NO_GRAD, View.CUSTOM} and lazy_view_history.is_poisoned(state, tensor):
        return  # likewise
    if writes[0].clock > bound and escaped.is_blank(call, tensor):
        return  # the variable is of memory without values: it shows what is written there
    since = max(bound, _set_anew(call, writes, ref, tensor, (frame.env.id, expr.id)))
    for write in writes:
        if write.clock > since and (
            (
                _hits(write, ref, tensor)
                and not _is_of_earlier_turn(call, write, ref)
                and _surprises(call, write, frame.env.id, expr.id)
            )
            or (write.tensor == ref and _is_of_attribute(frame, write, expr.id))
            or (write.tensor == ref and _meets_itself(call, part, ref, write))
            or _loses(frame, write, ref, tensor)
        ):
            _report(call, part, expr, tensor, write, expr.id)
            return
        if write.clock > bound and (write.tensor == ref or write.through):
            escaped.check_read(call, part, expr, tensor, write)
    passed_twice.read(call, part, expr, tensor)
    found = buried.overwritten(call, writes, ref, expr.id)
    if found is not None:
        _report(call, part, expr, tensor, *found, within=True)


def _set_anew(call: Call, writes: tuple[Write, ...], ref: Ref, tensor: Tensor, name: tuple[RefId, str]) -> int:
    """Return when all of a tensor was last set through the variable that reads it; 0 if it never was."""
    setters = call.facts.framework.setters
    return max(
        (
            write.clock
            for write in writes
            if name in write.names and write.tensor == ref and write.touch.op in setters and _covers(write, tensor)
        ),
        default=0,
    )


def _covers(write: Write, tensor: Tensor) -> bool:
    """Check whether a write changed every element of the tensor that it was made on."""
    if write.part is None or tensor.part is None:
        return False
    *outer, last = write.part or (None,)
    whole = last is not None and tuple(outer) == tensor.part and bool(last[2]) and takes_all(last[2][0])
    return write.part == tensor.part or whole


def _hits(write: Write, ref: Ref, tensor: Tensor) -> bool:
    """Check whether a write changed a tensor as a whole: the tensor itself was written, or all of its base."""
    if write.tensor == ref:
        return True
    return (
        tensor.base is not None
        and write.tensor == tensor.base
        and write.touch.spelled in {Spelling.AUGMENTED, Spelling.CALL}
    )


def _is_of_earlier_turn(call: Call, write: Write, ref: Ref) -> bool:
    """Check whether a loop reads a view above where it writes its base: but for the write it would never change."""
    frame, site = call.frame, write.touch.site
    return (
        write.tensor != ref
        and (site.place.slice, site.caller) == (frame.slice, frame.caller)
        and call.at < site.place.at
    )


def _is_of_attribute(frame: Frame, write: Write, name: str) -> bool:
    """Check whether a write went through the attribute that a variable was bound to, and first read, around it."""
    touch = write.touch
    if frame.closure is None or write.names or touch.flag is not None or "." not in touch.symbol:
        return False
    here = touch.site.place.slice == frame.slice and touch.site.caller == frame.caller
    if not here or touch.spelled not in {Spelling.AUGMENTED, Spelling.CALL}:
        return False
    bindings, reads = list[ir.Assign](), list[int]()
    for part in walk(frame.closure.function.body):
        if isinstance(part, ir.Name) and part.id == name:
            reads.append(part.at)
        elif isinstance(part, ir.Assign) and any(isinstance(one, ir.Name) and one.id == name for one in part.targets):
            bindings.append(part)
    own = {one.at for binding in bindings for one in binding.targets if isinstance(one, ir.Name)}
    from_it = [binding for binding in bindings if text_of(binding.value) == touch.symbol]
    return len(bindings) == len(from_it) == 1 and all(at > touch.site.place.at for at in reads if at not in own)


def _meets_itself(call: Call, part: str, ref: Ref, write: Write) -> bool:
    """Check whether an op takes a tensor twice: by a variable, and by the attribute through which it was written."""
    written, state = write.touch.symbol, call.state
    if write.names or write.touch.flag is not None or "." not in written:
        return False
    others = (name for name, expr in call.binding.exprs.items() if name != part and text_of(expr) == written)
    return any(state.ref(value) == ref for name in others if (value := call.binding.value(name)) is not None)


def _loses(frame: Frame, write: Write, ref: Ref, tensor: Tensor) -> bool:
    """Check whether the function that reads a view has itself assigned its part, by an index that never changes."""
    site, steps = write.touch.site, tensor.part or ()
    where = site.place.slice
    is_here = where == frame.slice if frame.closure is not None else where.path == frame.slice.path
    is_here = is_here and site.caller == frame.caller and write.tensor != ref
    return is_here and _replaces(write, tensor) and all(is_constant(value) for step in steps for value in step[2])


def turn(frame: Frame, state: State, target: ir.Expr) -> None:
    """Remember which tensors the variables of a loop are bound to in this turn."""
    env = frame.env
    scope = state.heap[env.id]
    for name in [target] if isinstance(target, ir.Name) else target.items if isinstance(target, ir.Sequence) else ():
        value = scope.values.get(name.id) if isinstance(name, ir.Name) and isinstance(scope, Names) else None
        ref = None if value is None else state.ref(value)
        if isinstance(name, ir.Name) and ref is not None and state.tensor(ref) is not None:
            state.set_trait(traits.BOUND_BY_LOOP, (env.id, name.id, ref), True)


def _is_turn(state: State, env: RefId, name: str, write: Write) -> bool:
    ref = write.tensor
    return ref is not None and state.trait(traits.BOUND_BY_LOOP, (env, name, ref)) is not None


def _lists(call: Call, variable: str, name: str) -> bool:
    """Check whether a loop of this function binds a variable to what is written down for it: `for p in (w, b)`."""
    function = call.frame.closure.function if call.frame.closure is not None else None
    loops = (node for node in walk(function.body) if type(node) is ir.For) if function is not None else ()
    return any(
        variable in names_of(loop.target) and any(type(item) is ir.Name and item.id == name for item in part.items)
        for loop in loops
        for part in walk(loop.iter)
        if type(part) is ir.Sequence
    )


def _surprises(call: Call, write: Write, env: RefId, name: str) -> bool:
    """Check whether the code that reads `name` does not show this write."""
    if write.touch.part in call.facts.framework.names:
        return False
    hidden = write.touch.flag is not None and not write.touch.dropped
    through = {
        variable
        for owner, variable in write.names
        if owner == env and (hidden or not _is_turn(call.state, env, variable, write))
    }
    if hidden or name in through:
        return hidden and bool(through)
    return not all(_lists(call, variable, name) or _is_for(call, variable, name) for variable in through)


def _is_for(call: Call, variable: str, name: str) -> bool:
    """Check whether one statement bound both, and what is written is only read before: `d = r = q; r += 1`."""
    body = call.frame.closure.function.body if call.frame.closure is not None else ()
    targets, reads = set[int](), list[int]()
    together = False
    for node in walk(body):
        if type(node) is ir.Assign:
            bound = {one.id: one.at for one in node.targets if isinstance(one, ir.Name)}
            together = together or {variable, name} <= bound.keys()
            targets.update(bound.values())
        elif type(node) is ir.Name and node.id == variable:
            reads.append(node.at)
    return together and all(at < call.at for at in reads if at not in targets)
