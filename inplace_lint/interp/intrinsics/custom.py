"""
Custom autograd functions: `forward` runs in no-grad mode, then one node saves what was saved on the context.

    y = Softsign.apply(x)      # node "Softsign" with an edge to x; saves the arguments of save_for_backward

A class that defines `setup_context(ctx, inputs, output)` saves there; its `forward` gets the inputs alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from inplace_lint.core.event import Failure, Refused, Site, Touch
from inplace_lint.core.span import Place
from inplace_lint.domain import traits
from inplace_lint.domain.heap import Instance, Node, Save, Tensor, View, Write
from inplace_lint.domain.state import State
from inplace_lint.domain.tape import doubts_of, leaves_of, nodes_of
from inplace_lint.domain.values import (
    NONE,
    Bound,
    ClassValue,
    Closure,
    Const,
    Dotted,
    NodeId,
    Ref,
    Sym,
    Three,
    Tuple,
    Value,
)
from inplace_lint.interp.control import path_condition
from inplace_lint.interp.frame import Arguments, text_of
from inplace_lint.interp.intrinsics import given_gradients
from inplace_lint.interp.intrinsics.call import IntrinsicCall
from inplace_lint.interp.outcome import Results
from inplace_lint.ir import nodes as ir
from inplace_lint.knowledge.framework import Framework

_CONTEXT = "FunctionCtx"


def _apply(act: IntrinsicCall) -> Results:
    """Run `Function.apply` on its arguments."""
    cls = act.positional(0)
    if not isinstance(cls, ClassValue):
        return [(act.state, act.unknown())]
    forward = act.interp.lookup(act.state, cls, "forward")
    if not isinstance(forward, Closure):
        return [(act.state, act.unknown())]
    framework = act.interp.context.default().framework
    inputs = act.arguments.positional[1:]
    needs = Tuple(tuple(_needs_grad(act.state, value) for value in inputs), exact=not act.arguments.unknown)
    context = act.state.new(
        Instance(Dotted(context_class(framework)), {framework.needs: needs} if framework.needs else {})
    )
    set_up = act.interp.lookup(act.state, cls, framework.sets_up) if framework.sets_up else None
    apart = isinstance(set_up, Closure)
    first, left = ((), 1) if apart else ((context,), 0)
    exprs: dict[int | str, ir.Expr] = {
        key - left: expr for key, expr in act.arguments.exprs.items() if isinstance(key, int) and key >= 1
    }
    before = act.state.modes
    act.state.modes = replace(before, grad=False)
    arguments = Arguments((*first, *inputs), (), exprs, act.arguments.unknown)
    function = Bound(cls, forward) if forward.wrapper == "class" else forward
    results: Results = []
    for after, value in act.interp.call(act.frame, act.state, function, arguments, act.at):
        given = Arguments((context, Tuple(inputs), value))
        ready = act.interp.call(act.frame, after, set_up, given, act.at) if set_up is not None and apart else []
        for last, _ in ready or [(after, NONE)]:
            last.modes = before
            results.append((last, _output(act, last, cls, context, inputs, value)))
    return results


def _needs_grad(state: State, value: Value) -> Value:
    """Return whether an input requires grad; what is no tensor does not."""
    if state.tensor(value) is None and not isinstance(value, Sym):
        return Const(False)
    return path_condition.requires_grad(state, value, negated=False)


def context_class(framework: Framework) -> str:
    """Return the class of the object on which a forward saves tensors."""
    return f"{framework.function.rpartition('.')[0]}.function.{_CONTEXT}"


class Recorded(NamedTuple):
    """The node of a call, and what it says of the results."""

    node: NodeId
    rg: Three
    why: str
    made: Touch

    def of(self, tensor: Tensor) -> Tensor:
        """Return a result with the history that it has then."""
        return replace(tensor, rg=self.rg, leaf=False, nodes=(self.node,), why=self.why, made=self.made)


def record(
    state: State, name: str, site: Site, given: Sequence[tuple[Ref, Tensor]], saves: Sequence[Save]
) -> Recorded | None:
    """Record a node with edges to the tensors that are given; None where none of them requires grad."""
    answers = [tensor.rg for _, tensor in given]
    rg = True if True in answers else None if None in answers else False
    if state.modes.grad is False or rg is False:
        return None
    edges = tuple(node for _, tensor in given if tensor.rg is not False for node in nodes_of(state, tensor))
    why = next((tensor.why for _, tensor in given if tensor.rg is None), "")
    assumed = frozenset() if rg else frozenset({why})
    node = Node(name, site, edges, tuple(saves), assumed, leaves=leaves_of(given), doubts=doubts_of(given))
    return Recorded(state.record(node), rg, why, Touch(name, site, "out0"))


def _output(
    act: IntrinsicCall, state: State, cls: ClassValue, context: Ref, inputs: tuple[Value, ...], value: Value
) -> Value:
    """Record the custom node on the tape and set the history of the results."""
    given = [pair for entry in inputs for pair in state.tensors_in(entry)]
    site, checks = act.frame.site(act.at), act.interp.context.default().framework.checks_custom
    kept = saved(state, context, cls.name, site, compared=checks) if _uses_context(act, state, cls, context) else []
    recorded = record(state, cls.name, site, given, kept)
    if recorded is None:
        return value
    _note_backward(act, state, cls, context, recorded.node, value)
    dirty = _dirty(state, context)
    results = value.items if isinstance(value, Tuple) else (value,)
    for written in dirty:
        _check_dirty(act, state, written, results)
        _record_writes(state, written)
    for ref, tensor in [pair for result in results for pair in _tensor(state, result)]:
        changed = replace(recorded.of(tensor), since=state.storages[tensor.storage].version)
        returned = any(ref == other for other, _ in given) and ref not in dirty
        if returned and not checks:
            _write_returned(act, state, cls, ref, tensor)
            state.put(ref, changed)
        elif returned:
            # An input that is returned unchanged becomes a view that may not be written.
            as_is = replace(recorded.made, site=_returned(act, state, cls)[0])
            value = state.new(replace(changed, base=ref, view=View.CUSTOM, made=as_is))
        else:
            # A view of an input may not be written either, where the framework compares what a custom function keeps.
            kind = View.CUSTOM if checks else tensor.view
            state.put(ref, replace(changed, view=kind if tensor.base is not None else None))
    return value


def _note_backward(
    act: IntrinsicCall, state: State, cls: ClassValue, context: Ref, number: NodeId, value: Value
) -> None:
    """Record what the backward of the class will write, if it writes at all."""
    backward = act.interp.lookup(state, cls, "backward")
    known = act.interp.context.definition_at(backward.function.slice) if isinstance(backward, Closure) else None
    if isinstance(backward, Closure) and known is not None and known.writes:
        function = Bound(cls, backward) if backward.wrapper == "class" else backward
        results = [tensor for _, tensor in state.tensors_in(value)]
        saved = state.trait(traits.SAVED, context.id) or ()
        given_gradients.note(act, state, number, given_gradients.Backward(function, results, context, saved))


def _uses_context(act: IntrinsicCall, state: State, cls: ClassValue, context: Ref) -> bool:
    """Check whether the backward of a class may read what its context keeps: it names that where it may come to."""
    backward = act.interp.lookup(state, cls, "backward")
    if not isinstance(backward, Closure):
        return True
    params = backward.function.params[backward.wrapper == "class" :]
    asked = act.interp.context.default().framework.needs
    holder = state.instance(context)
    needs = None if holder is None else holder.attrs.get(asked)
    known = [path_condition.truth(state, item) for item in needs.items] if isinstance(needs, Tuple) else []
    return not params or _names(backward.function.body, params[0].name, asked, known)


def _names(body: tuple[ir.Stmt, ...], context: str, asked: str, known: Sequence[Three]) -> bool:
    """
    Check whether statements name the context, but to ask which inputs require grad.

    A side of a condition on that alone which is not taken counts for nothing: `if ctx.needs_input_grad[1]:`.
    """
    waiting: list[object] = [*body]
    while waiting:
        match waiting.pop():
            case ir.Name(_, name) if name == context:
                return True
            case ir.Attr(_, ir.Name(_, owner), name) if owner == context and name == asked:
                pass
            case ir.If(_, test, then, orelse) | ir.IfExp(_, test, then, orelse) if (
                side := _side(test, context, asked, known)
            ) is not None:
                waiting.append(then if side else orelse)
            case tuple(parts):
                waiting.extend(parts)
            case _:
                pass
    return False


def _side(test: ir.Expr, context: str, asked: str, known: Sequence[Three]) -> Three:
    """Return whether an input that a condition asks for requires grad; None for any other condition."""
    match test:
        case ir.Unary(_, "not", operand):
            side = _side(operand, context, asked, known)
            return None if side is None else not side
        case ir.Subscript(_, ir.Attr(_, ir.Name(_, owner), name), ir.Const(int(place))):
            asks = owner == context and name == asked and -len(known) <= place < len(known)
            return known[place] if asks else None
        case _:
            return None


def _tensor(state: State, value: Value) -> list[tuple[Ref, Tensor]]:
    ref, tensor = state.ref(value), state.tensor(value)
    return [] if ref is None or tensor is None else [(ref, tensor)]


def _write_returned(act: IntrinsicCall, state: State, cls: ClassValue, ref: Ref, tensor: Tensor) -> None:
    """Write an input that is returned unchanged, where the framework takes that for an in-place write."""
    framework = act.interp.context.default().framework.name
    site, symbol = _returned(act, state, cls)
    touch = Touch(act.form.name, site, "out0", symbol)
    if tensor.leaf and tensor.rg and state.modes.grad is not False:
        state.report(Refused(framework, Failure.LEAF, touch, None, state.assumptions))
        return
    state.write(tensor.storage, Write(touch, 0, True, 0, frozenset(), tensor=ref))


def _returned(act: IntrinsicCall, state: State, cls: ClassValue) -> tuple[Site, str]:
    """Return where the forward returns an input, and its name there; otherwise the call and its first input."""
    forward = act.interp.lookup(state, cls, "forward")
    assert isinstance(forward, Closure)
    caller, function = act.frame.site(act.at), forward.function
    names = {param.name for param in function.params}
    for node in reversed(function.body):
        if isinstance(node, ir.Return) and isinstance(node.value, ir.Name) and node.value.id in names:
            return Site(Place(function.slice, node.at), caller), node.value.id
    return caller, text_of(act.arguments.exprs.get(1))


def _dirty(state: State, context: Ref) -> tuple[Value, ...]:
    """Return the inputs that were marked as dirty: tensors as objects, also where they came from an unknown value."""
    return tuple([state.ref(value) or value for value in state.trait(traits.DIRTY, context.id) or ()])


def _check_dirty(act: IntrinsicCall, state: State, written: Value, results: tuple[Value, ...]) -> None:
    """Report an input that may not be marked as dirty: a leaf, or one that is not returned."""
    tensor, framework = state.tensor(written), act.interp.context.default().framework
    if tensor is None:
        return
    check = None if state.ref(written) in map(state.ref, results) else Failure.DIRTY
    if tensor.leaf and tensor.rg and tensor.base is None:
        check = Failure.DIRTY_LEAF
    if check is not None and check in framework.says:
        touch = Touch(act.form.name, act.frame.site(act.at), "input", text_of(act.arguments.exprs.get(1)))
        state.report(Refused(framework.name, check, touch, None, state.assumptions))


def _record_writes(state: State, value: Value) -> None:
    """Mark the writes to a dirty input as recorded: the custom node is their history."""
    tensor = state.tensor(value)
    if tensor is not None:
        storage = state.storages[tensor.storage]
        seen = tuple(replace(write, unseen=False) for write in storage.writes)
        state.put_storage(tensor.storage, replace(storage, writes=seen))


def saved(state: State, context: Ref, name: str, site: Site, *, compared: bool) -> list[Save]:
    """Return what a call saves on its context; `compared`: backward compares versions of what it was told to save."""
    holder = state.instance(context)
    # An attribute of the context is saved too, but backward does not compare its version.
    kept = [(value, compared) for value in state.trait(traits.SAVED, context.id) or ()]
    kept.extend((value, False) for value in (holder.attrs.values() if holder is not None else ()))
    found: list[Save] = []
    for value, checked in kept:
        tensor = state.tensor(value)
        if tensor is not None:
            producer = tensor.made.op if tensor.made is not None else ""
            touch = Touch(name, site, "saved" if checked else "attribute", producer=producer)
            version = state.storages[tensor.storage].version
            save = Save(tensor.storage, version, touch, state.clock, frozenset(), tensor.doubt, checked)
            found.append(_as_told(state, context, value, save))
    return found


def _as_told(state: State, context: Ref, value: Value, save: Save) -> Save:
    """
    Return what backward needs of a tensor that a function saves before it comes to its end.

    The framework keeps what the tensor holds at the end, and does not notice what the function writes in between. Of a
    tensor that the function is said to write, that is what is meant: the result.
    """
    ref = state.ref(value)
    told = None if ref is None else state.trait(traits.TOLD, (context.id, ref.id))
    if told is None or ref in _dirty(state, context):
        return save
    first = next((one for one in state.storages[save.storage].writes if one.counted and one.clock > told.clock), None)
    if first is None:
        return save
    touch = replace(save.touch, site=told.site, part="saved")
    return replace(save, version=first.version - 1, touch=touch, clock=told.clock, checked=False)


def _save_for_backward(act: IntrinsicCall) -> Results:
    """Remember the tensors that the context saves."""
    receiver = act.receiver()
    if receiver is not None:
        items = tuple(value for value in act.arguments.positional[1:] if _is_tensor(act.state, value))
        act.state.set_trait(traits.SAVED, receiver.id, items)
        for ref, tensor in (pair for value in items for pair in _tensor(act.state, value)):
            if not _is_allocated(act, tensor):
                told = traits.Told(act.state.clock, act.frame.site(act.at))
                act.state.set_trait(traits.TOLD, (receiver.id, ref.id), told)
    return [(act.state, NONE)]


def _is_allocated(act: IntrinsicCall, tensor: Tensor) -> bool:
    """Check whether a tensor is memory that the function made by a factory, and no value that it computed or got."""
    base = tensor if tensor.base is None else act.state.tensor(tensor.base)
    made = None if base is None else base.made
    site = None if made is None else made.site
    while site is not None and site.caller != act.frame.caller:
        site = site.caller
    return site is not None and act.interp.context.allocates(made)


def _is_tensor(state: State, value: Value) -> bool:
    thing: Tensor | None = state.tensor(value)
    return thing is not None


def _mark_dirty(act: IntrinsicCall) -> Results:
    """Remember the inputs that the forward marks as dirty."""
    receiver = act.receiver()
    if receiver is not None:
        act.state.set_trait(traits.DIRTY, receiver.id, act.arguments.positional[1:])
    return [(act.state, NONE)]


INTRINSICS: dict[str, Callable[[IntrinsicCall], Results]] = {
    "apply_custom": _apply,
    "save_for_backward": _save_for_backward,
    "mark_dirty": _mark_dirty,
}
