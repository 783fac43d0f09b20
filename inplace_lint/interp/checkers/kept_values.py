"""
Reports writes that change values which the program keeps: in containers, in defaults, in the recorded history.

    skips.append(x)
    x = self.act(x)              # in place: what is in the list changes as well
    y = y + skips.pop()          # reads the new values

    log["mse"] = loss.detach()   # the same memory
    loss += aux                  # and so the log changes

    with torch.no_grad():
        h *= keep                # the values change, the recorded history of `h` does not
    return h
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from inplace_lint.core.event import Keeping, Lost, Snapshot, Spelling, Touch
from inplace_lint.core.span import Place
from inplace_lint.domain import tape, traits
from inplace_lint.domain.heap import BESIDE, DictObject, ListObject, Names, Tensor, View, Write
from inplace_lint.domain.state import State
from inplace_lint.domain.values import Const, Ref, RefId, Tuple, Value
from inplace_lint.interp.checkers import escaped, liveness, self_average
from inplace_lint.interp.checkers.kept import beside, hooks, items, together
from inplace_lint.interp.transfer import overlap
from inplace_lint.ir import next_use
from inplace_lint.ir import nodes as ir

if TYPE_CHECKING:
    from collections.abc import Iterator

    from inplace_lint.interp.frame import Frame
    from inplace_lint.interp.transfer.op_call import Call

_FETCHES = frozenset({"pop", "popleft", "popitem", "get"})
_DEEPEST = 3
_ROWS = frozenset({"row", "rows"})  # the moves that leave elements out
KeptTrait = traits.Trait[RefId, traits.Kept]


def bind(frame: Frame, state: State, name: str, value: Value, source: ir.Expr | None) -> None:
    """Remember whether a variable is bound to an item of a container, and the items of a variable of the module."""
    if isinstance(value, Ref) and state.trait(traits.KEPT, value.id) is not None:
        state.set_trait(traits.FETCHED, (frame.env.id, name), source is None or _fetches(source))
    if frame.closure is not None:
        if name not in frame.closure.function.local:
            hooks.keep(state, Place(frame.slice, getattr(source, "at", 0)), value)
    elif isinstance(source, ir.Sequence):  # a variable of the module outlives calls
        _keep(state, Place(frame.slice, source.at), value, lasting=True)


def collect(state: State, place: Place, value: Value, held: tuple[Value, ...] = ()) -> None:
    """Remember that a value is an item of a list that is made at this place; report memory that is in it already."""
    _check_again(state, value, held)
    _keep(state, place, value, lasting=False)


def yielded(state: State, place: Place, value: Value) -> None:
    """Remember when a generator yielded a tensor, which it may yield again after a write."""
    for ref, _ in _tensors(state, value):
        if not state.has_trait(traits.YIELDED_FIRST, ref.id):
            state.set_trait(traits.YIELDED_FIRST, ref.id, traits.Kept(state.clock, place))


def set_attribute(state: State, place: Place, _owner: Value, value: Value, _source: ir.Expr | None) -> None:
    """Remember that a detached tensor was put into an attribute."""
    tensor = state.tensor(value)
    if tensor is not None:
        hooks.keep(state, place, value)
        if tensor.view is View.DETACH:
            _keep(state, place, value, lasting=True)


def store(state: State, place: Place, value: Value, held: tuple[Value, ...]) -> None:
    """Report memory that is put into a container again after a write, and remember that the value is in it."""
    _check_again(state, value, held)
    _keep(state, place, value, lasting=True)
    hooks.keep(state, place, value)


def _check_again(state: State, value: Value, held: tuple[Value, ...]) -> None:
    stored = list(_tensors(state, value)) if held else []
    for ref, tensor in stored:
        writes = state.storages[tensor.storage].writes
        if not writes or not tensor.sure or (tensor.param and tensor.view not in BESIDE):
            continue
        for other, before in (pair for item in held for pair in _tensors(state, item)):
            if before.storage == tensor.storage and (other == ref or overlap.alike(before.part, tensor.part)):
                twice = sum(same == ref for same, _ in stored) > 1
                _report_lost(state, other, tensor, writes, Keeping.TWICE if twice else Keeping.AGAIN)
                break


def _keep(state: State, place: Place, value: Value, *, lasting: bool, depth: int = 0) -> None:
    """Remember that a tensor was put into a container; a `lasting` one was made before and may be read later."""
    if depth > _DEEPEST:
        return
    tensor, ref = (None, None) if type(value) is Const else (state.tensor(value), state.ref(value))
    if tensor is None or ref is None:
        for item in _items(state, value):
            _keep(state, place, item, lasting=lasting, depth=depth + 1)
        return
    if not tensor.param:
        known = None if lasting else state.trait(traits.KEPT, ref.id)
        before = None if known is None else known.before or (known.clock, known.place)
        state.set_trait(traits.KEPT, ref.id, traits.Kept(state.clock, place, before))
        if lasting:
            state.set_trait(traits.KEPT_FOR_LATER, ref.id, traits.Kept(state.clock, place))
            aliases = state.trait(traits.KEPT_ALIASES, tensor.storage) or ()
            if tensor.view in BESIDE and ref not in aliases:
                state.set_trait(traits.KEPT_ALIASES, tensor.storage, (*aliases, ref))


def _report_lost(state: State, before: Ref, tensor: Tensor, writes: tuple[Write, ...], how: Keeping) -> None:
    kept = state.trait(traits.KEPT, before.id)
    if kept is None or _is_empty(tensor):
        return
    # `log += [x]` makes a list of `x` before it is put there, and a generator runs to its end before what it yields is.
    kept = state.trait(traits.YIELDED_FIRST, before.id) or kept
    clock, place = kept.before or (kept.clock, kept.place)
    for write in writes:
        written = None if write.tensor is None else state.tensor(write.tensor)
        if write.clock > clock and written is not None and (not written.part or written.part == tensor.part):
            assumptions = state.assumptions | write.assumptions | write.doubt | tensor.doubt
            array = tensor.view is View.UNTRACKED
            state.report(Snapshot(tensor.framework, how, write.touch, place, None, assumptions, array))
            return


def _tensors(state: State, value: Value, depth: int = 0) -> Iterator[tuple[Ref, Tensor]]:
    """Yield the tensors in a value and in its items."""
    ref, tensor = state.ref(value), state.tensor(value)
    if tensor is not None and ref is not None:
        yield ref, tensor
    elif depth < _DEEPEST:
        for item in _items(state, value):
            yield from _tensors(state, item, depth + 1)


def _items(state: State, value: Value) -> tuple[Value, ...]:
    """Return the items of a container."""
    if isinstance(value, Tuple):
        return value.items
    match state.object(value):
        case ListObject(items):
            return items
        case DictObject(mapping):
            return tuple(mapping.values())
        case _:
            return ()


def give_back(state: State, value: Value) -> None:
    """Report an item of a container that is returned, if a flag of a call or module has overwritten it."""
    for ref, tensor in _tensors(state, value) if state.tensor(value) is None else ():
        kept = state.trait(traits.KEPT_FOR_LATER, ref.id)
        for write in state.storages[tensor.storage].writes if kept is not None else ():
            hidden = write.touch.flag is not None and not write.touch.dropped
            if kept is not None and write.clock > kept.clock and write.tensor == ref and hidden:
                assumptions = state.assumptions | write.assumptions | write.doubt | tensor.doubt
                state.report(Snapshot(tensor.framework, Keeping.RETURNED, write.touch, kept.place, None, assumptions))
                break


def repeat(state: State, items: tuple[Value, ...], place: Place | None) -> None:
    """Remember that a list has the same tensors several times, and where it is made."""
    for item in items:
        if state.tensor(item) is not None and isinstance(item, Ref):
            state.set_trait(traits.REPEATED, item.id, place)


def _fetches(expr: ir.Expr) -> bool:
    """Check whether an expression reads an item of a container."""
    if isinstance(expr, ir.Call):
        return isinstance(expr.func, ir.Attr) and expr.func.name in _FETCHES
    return isinstance(expr, ir.Subscript)


def read(call: Call, part: str, expr: ir.Expr, value: Value) -> None:
    """Report an item of a container that is read after a write through another name has changed it."""
    state = call.state
    items = _items(state, value)
    if isinstance(expr, ir.Sequence):
        for inner, item in zip(expr.items, items, strict=False) if len(items) == len(expr.items) else ():
            read(call, part, inner, item)
        return
    if state.tensor(value) is None:
        for item in items:
            _check_kept(call, part, expr, item)
    elif _fetches(expr) or (isinstance(expr, ir.Name) and _was_fetched(state, call.frame.env.id, expr.id)):
        _check_kept(call, part, expr, value)


def _was_fetched(state: State, env: RefId, name: str) -> bool:
    return state.trait(traits.FETCHED, (env, name)) is True


def compare(call: Call) -> None:
    """Report an item of a module's state that is only compared with another tensor, after that has changed as well."""
    if len(call.binding.exprs) < 2:  # noqa: PLR2004 - an op on one tensor need not read its values
        return
    for part, expr in call.binding.exprs.items():
        value = call.binding.value(part)
        if value is not None and _fetches(expr):
            _check_kept(call, part, expr, value, (traits.STATE_OF,))


def _check_kept(
    call: Call, part: str, expr: ir.Expr, value: Value, hows: tuple[KeptTrait, ...] = (traits.KEPT, traits.STATE_OF)
) -> None:
    state = call.state
    ref, tensor = state.ref(value), state.tensor(value)
    if tensor is None or ref is None:
        return
    writes = state.storages[tensor.storage].writes
    for how in hows if writes else ():
        kept = state.trait(how, ref.id)
        if kept is None:
            continue
        for write in writes:
            # An item of a state is a view of its own, so that a write to the module is one of another tensor.
            if write.clock > kept.clock and (
                write.tensor != ref and not write.moved
                if how is traits.STATE_OF
                else write.tensor == ref
                and _through_a_variable(state, write)
                and not (_is_for_container(call, write, tensor) or escaped.was_blank(call, tensor, kept.clock))
            ):
                assumptions = state.assumptions | write.assumptions | write.doubt
                read = call.touch(part, expr, tensor)
                said = Keeping.STATE if how is traits.STATE_OF else Keeping.CONTAINER
                state.report(Snapshot(call.facts.framework.name, said, write.touch, kept.place, read, assumptions))
                return


def _through_a_variable(state: State, write: Write) -> bool:
    """Check whether a write went through a module, or a variable that is not bound to an item of a container."""
    if write.touch.flag is not None and not write.names:
        return True
    return bool(write.names) and not any(_was_fetched(state, env, name) for env, name in write.names)


def _is_for_container(call: Call, write: Write, tensor: Tensor) -> bool:
    """Check whether a write is meant for what holds the tensor: it is of this call, and nothing else reads it again."""
    frame, touch = call.frame, write.touch
    if frame.closure is None or touch.site.place.slice != frame.slice or touch.site.caller != frame.caller:
        return False
    scope = call.state.heap[frame.env.id]
    values = scope.values if isinstance(scope, Names) else {}
    held = {(frame.env.id, name) for name, value in values.items() if _is_of(call.state, value, tensor)}
    shows = touch.dropped or touch.spelled in {Spelling.ITEM, Spelling.AUGMENTED}
    if not shows or len(write.names) != 1 or held - write.names or tensor.storage < frame.env.id:
        return False
    ((_, name),) = write.names
    return next_use.after(frame.closure.function.body, touch.site.place.at, name) is not next_use.Use.READ


def _is_of(state: State, value: Value, tensor: Tensor) -> bool:
    other = state.tensor(value)
    return other is not None and other.storage == tensor.storage


def write(call: Call, part: str, ref: Ref, tensor: Tensor) -> None:
    """Report a write that changes what the program keeps elsewhere."""
    expr, cut = call.binding.exprs.get(part), call.binding.op.history == "cut"  # `cut`: it sets all values anew
    touch = call.touch(part, expr, tensor)
    beside.write(call, touch, ref, tensor)
    hooks.write(call, touch, ref, tensor)
    closure = call.frame.closure
    default = next((name for name, value in closure.defaults if value == ref), None) if closure is not None else None
    if closure is not None and default is not None and not cut:
        param = next(param for param in closure.function.params if param.name == default)
        _report(call, Keeping.DEFAULT, touch, Place(closure.function.slice, param.at), tensor)
    elif (cached := _cached(call, ref, tensor)) is not None and not cut:
        _report(call, Keeping.CACHED, touch, cached, tensor)
    elif isinstance(expr, ir.Subscript) and (several := _several(call, part, expr, ref)) is not None:
        _report(call, several, touch, call.state.trait(traits.REPEATED, ref.id), tensor)
    elif tensor.param or tensor.view in BESIDE:
        same = self_average.with_itself(call, part, expr, tensor)
        if same is not None:
            _report(call, Keeping.AVERAGE, touch, None, tensor, assumed=same)
        elif tensor.view in BESIDE:
            _check_average(call, part, touch, ref, tensor)
    elif touch.flag is not None or call.frame.variables(expr):
        _check_detached(call, touch, ref, tensor)
        assumed = items.belongs_if(call, part, expr, ref, tensor)
        if assumed is not None:
            _report(call, Keeping.ITEM, touch, None, tensor, assumed=assumed)


def _several(call: Call, part: str, expr: ir.Subscript, ref: Ref) -> Keeping | None:
    """Return how a written item is in its container several times; None if it is in there once."""
    if call.state.has_trait(traits.REPEATED, ref.id):
        return Keeping.REPEATED
    return Keeping.KEYS if together.has_other_key(call, part, expr, ref) else None


def _cached(call: Call, ref: Ref, tensor: Tensor) -> Place | None:
    """Return where the function is whose later calls return a tensor; None for memory that is there to be filled."""
    known = call.state.trait(traits.CACHED, ref.id if tensor.base is None else tensor.base.id)
    return None if known is None or (known.bare and call.spelled is not Spelling.AUGMENTED) else known.place


def _check_detached(call: Call, touch: Touch, ref: Ref, tensor: Tensor) -> None:
    """Report the write of a tensor of which a detached alias was stored."""
    for alias in call.state.trait(traits.KEPT_ALIASES, tensor.storage) or ():
        other = call.state.tensor(alias)
        kept = call.state.trait(traits.KEPT, alias.id)
        known = alias != ref and other is not None and other.base in {ref, tensor.base} and kept is not None
        if known and other is not None and kept is not None and not liveness.is_dropped(call.frame, call.state, alias):
            _report(call, Keeping.DETACHED, touch, kept.place, tensor, array=other.view is View.UNTRACKED)
            return


def _check_average(call: Call, part: str, touch: Touch, ref: Ref, tensor: Tensor) -> None:
    """Report the average of a stored alias with the memory that it shares, in another argument."""
    kept = call.state.trait(traits.KEPT, ref.id)
    if kept is None:
        return
    for name in call.binding.given - {part}:
        for other, source in call.binding.tensors(name):
            if other != ref and source.storage == tensor.storage and (source.view in BESIDE or source.param):
                _report(call, Keeping.AVERAGE, touch, kept.place, tensor)
                return


def _report(
    call: Call,
    how: Keeping,
    touch: Touch,
    kept: Place | None,
    tensor: Tensor,
    *,
    array: bool = False,
    assumed: frozenset[str] = frozenset(),
) -> None:
    if _is_empty(tensor):
        return
    assumptions = call.state.assumptions | call.doubt | tensor.doubt | assumed
    call.state.report(Snapshot(call.facts.framework.name, how, touch, kept, None, assumptions, array))


def _is_empty(tensor: Tensor) -> bool:
    """Check whether a tensor certainly has no values, so that a write changes none."""
    return 0 in (tensor.sizes or ())


def record(call: Call) -> None:
    """
    Remember a recorded use of a tensor that was written while gradients were off, or through a detached view.

    It is reported when a backward runs the node of the use.
    """
    for name in call.binding.given:
        for ref, tensor in call.binding.tensors(name):
            if tensor.rg and tensor.nodes:
                read = call.touch(name, call.binding.exprs.get(name), tensor)
                if tensor.view is not View.SINGLE or _is_of_old_history(call.state, tensor):
                    _remember(call, tape.lost(call.state, call.facts.framework.name, tensor, read))
                _remember(call, beside.missed(call, ref if tensor.base is None else tensor.base, read))


def _is_of_old_history(state: State, view: Tensor) -> bool:
    """Check whether a view has what an unrecorded write changed, and the history of its base, which lacks the write."""
    base = None if view.base is None else state.tensor(view.base)
    write = next((write for write in state.storages[view.storage].writes if write.unseen), None)
    if base is None or write is None or view.part is None or view.nodes != base.nodes:
        return False
    steps = tuple(step for step in view.part if step[0] in _ROWS)
    return not steps or (write.part is not None and write.part[: len(view.part)] == view.part)


def _remember(call: Call, event: Lost | None) -> None:
    if event is not None:
        site = call.frame.site(call.at)
        call.state.set_trait(traits.LOST, site, (*(call.state.trait(traits.LOST, site) or ()), event))
