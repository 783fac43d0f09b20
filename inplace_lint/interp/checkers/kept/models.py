"""
Reports a loop that keeps the best of a model by an assignment, which does not copy, and goes on with the training.

    for epoch in range(10):
        train(model)
        if score(model) > best:
            best, best_model = score(model), model      # the same object
    return best_model                                   # the last model, not the best one

What is kept is a module, a parameter, or a list or dict of parameters or of views of them. It is kept under a
condition, so that a later turn writes it and does not keep it again. A model that a turn makes, or that it is given, is
another one in each turn, and so is an object that a turn makes and that has the model as a part.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from inplace_lint.core.event import Keeping, Snapshot, Touch
from inplace_lint.core.span import Place
from inplace_lint.domain import origins, traits
from inplace_lint.domain.heap import BESIDE, DictObject, Names
from inplace_lint.domain.state import State
from inplace_lint.domain.values import Ref, Sym, Tuple, Value
from inplace_lint.interp.call import module_registry
from inplace_lint.interp.frame import text_of
from inplace_lint.interp.intrinsics import opaque_modules, optimizers
from inplace_lint.ir import next_use
from inplace_lint.ir import nodes as ir
from inplace_lint.ir.scopes import names_of
from inplace_lint.ir.walk import walk

if TYPE_CHECKING:
    from inplace_lint.interp.context import Context
    from inplace_lint.interp.frame import Frame
    from inplace_lint.interp.interpreter import Interpreter

_NAMED = (ir.Name, ir.Attr)
Loop = ir.For | ir.While
Kept = tuple[str, int]  # a variable, and the ordinal of what it is bound to


def set_attribute(state: State, place: Place, owner: Value, value: Value, source: ir.Expr | None) -> None:
    """Remember that an attribute is another name of a model."""
    if isinstance(source, _NAMED) and _is_model(state, value):
        known = state.trait(traits.MODELS_KEPT, None) or ()
        others = tuple(one for one in known if one.place != place)
        state.set_trait(traits.MODELS_KEPT, None, (*others, traits.ModelKept(state.clock, place, owner, value)))


def leave(interp: Interpreter, frame: Frame, state: State, node: Loop, since: int, made: int) -> None:
    """Report what a loop kept of a model and then changed; it began at a clock, when the next id was `made`."""
    for name, at in _kept_by(interp.context, frame, node):
        scope = state.heap[frame.env.id]
        bound = state.bound_at((frame.env.id, name))
        if bound is not None and bound > since and isinstance(scope, Names) and name in scope.values:  # not deleted
            _check(interp, state, Place(frame.slice, at), bound, scope.values[name], made)
    for kept in state.trait(traits.MODELS_KEPT, None) or ():
        is_older = not isinstance(kept.owner, Ref) or kept.owner.id < made
        if is_older and kept.clock > since and _is_conditional(interp.context, node, kept.place):
            _check(interp, state, kept.place, kept.clock, kept.value, made)


def _is_model(state: State, value: Value) -> bool:
    instance = state.instance(value)
    if instance is not None:
        return "training" in instance.attrs
    return isinstance(value, Sym) and state.has_trait(traits.PARAMETERS, value.id)


def _check(interp: Interpreter, state: State, place: Place, clock: int, value: Value, made: int) -> None:
    changed = _changed(state, value, clock, made)
    if changed is not None:
        framework = interp.context.default().framework.name
        state.report(Snapshot(framework, _how(state, value), changed[0], place, None, changed[1]))


def _how(state: State, value: Value) -> Keeping:
    """Return whether a model is kept, its `state_dict`, or weights in a container of their own."""
    if isinstance(value, Sym) or _is_model(state, value):
        return Keeping.MODEL
    is_state = any(state.has_trait(traits.STATE_OF, ref.id) for ref in _parameters(state, value))
    return Keeping.STATE if is_state else Keeping.WEIGHTS


def _changed(state: State, value: Value, clock: int, made: int) -> tuple[Touch, frozenset[str]] | None:
    """Return the first write to a parameter in a value after it was kept."""
    for ref in _parameters(state, value):
        tensor = state.tensor(ref)
        for write in state.storages[tensor.storage].writes if tensor is not None and tensor.storage < made else ():
            if write.clock > clock:
                return write.touch, state.assumptions | write.assumptions | write.doubt
    step = optimizers.unknown_step(state, value.id, clock) if isinstance(value, Sym) else None
    if step is None or not isinstance(value, Sym) or not _is_called(state, value):
        return None
    return step, state.assumptions | {f"`{opaque_modules.name_of(state, value.id)}` is a module"}


def _is_called(state: State, value: Sym) -> bool:
    """Check whether the program has called an unknown value."""
    return any(isinstance(key, tuple) and key[:2] == (origins.RESULT, value) for key in state.symbols.keys)


def _parameters(state: State, value: Value) -> Iterator[Ref]:
    """Yield the parameters of a model, or those and the views of such in a container."""
    if _is_model(state, value):
        yield from (ref for _, ref in module_registry.leaves(state, value, param=True))
        return
    inner = state.object(value)
    if isinstance(inner, DictObject):
        value = Tuple(tuple(inner.items.values()))
    for ref, tensor in state.tensors_in(value):
        if tensor.param or tensor.view in BESIDE or (ref == value and tensor.sure):
            yield ref


def _kept_by(context: Context, frame: Frame, node: Loop) -> tuple[Kept, ...]:
    """Return the variables that a loop binds under a condition, where the function may read them after the loop."""
    key = (frame.slice, "" if frame.closure is None else frame.closure.function.qualname, node.at)
    known = context.kept_by_loops.get(key)
    if known is None:
        body = context.body(frame)
        known = tuple(
            (target.id, source.at)
            for target, source in _conditional(node)
            if next_use.after(body, node.at, target.id) is next_use.Use.READ
        )
        context.kept_by_loops[key] = known
    return known


def _conditional(node: Loop) -> Iterator[tuple[ir.Name, ir.Name | ir.Attr | ir.Call | ir.Comprehension]]:
    """Yield what the body of a loop binds under a condition, and not in each turn, to what no turn binds."""
    own: set[str] | None = None
    each = {*(names_of(node.target) if isinstance(node, ir.For) else ()), *_always(node.body)}
    for branch in _branches(node.body):
        for part in walk((*branch.body, *branch.orelse)):
            for target, source in _pairs(part) if type(part) is ir.Assign else ():
                if isinstance(target, ir.Name) and isinstance(source, ir.Name | ir.Attr | ir.Call | ir.Comprehension):
                    own = _bound(node) if own is None else own
                    if target.id not in each and not _names(source) & own and not _is_about(branch.test, target):
                        yield target, source


def _always(body: tuple[ir.Stmt, ...]) -> set[str]:
    """Return the variables that statements bind whichever way they take."""
    found = {name for part in body for name in _binds(part)}
    return found.union(*(_always(part.body) & _always(part.orelse) for part in body if isinstance(part, ir.If)))


def _branches(body: tuple[ir.Stmt, ...]) -> Iterator[ir.If]:
    """Yield the outermost conditions among statements, also in what these contain."""
    for statement in body:
        if type(statement) is ir.If:
            yield statement
        elif isinstance(statement, ir.For | ir.While | ir.With | ir.Try):
            yield from _branches(statement.body)


def _bound(node: Loop) -> set[str]:
    """Return the variables that a loop binds."""
    turn = names_of(node.target) if isinstance(node, ir.For) else ()
    return {*turn, *(name for part in walk(node.body) for name in _binds(part))}


def _names(expr: ir.Expr) -> set[str]:
    return {name.id for name in walk((expr,)) if isinstance(name, ir.Name)}


def _pairs(node: ir.Assign) -> Iterator[tuple[ir.Expr, ir.Expr]]:
    """Yield each target of an assignment with what it is bound to."""
    for target in node.targets:
        if isinstance(target, ir.Sequence) and isinstance(node.value, ir.Sequence):
            yield from zip(target.items, node.value.items, strict=False)
        else:
            yield target, node.value


def _binds(node: object) -> Iterator[str]:
    """Yield the variables that a statement binds itself."""
    match node:
        case ir.Assign():
            for target in node.targets:
                yield from names_of(target)
        case ir.For():
            yield from names_of(node.target)
        case _:
            return


def _is_about(test: ir.Expr, target: ir.Expr) -> bool:
    """Check whether a condition only asks whether a target has a value yet, or which turn or setting this is."""
    match test:
        case ir.Unary(_, "not", inner) if inner[1:] == target[1:]:
            return True
        case ir.Compare(_, left, ("is",), _) if left[1:] == target[1:]:
            return True
        case ir.Compare(_, ir.Name() | ir.Attr(), ("==",), _):
            return True
        case _:
            return False


def _is_conditional(context: Context, node: Loop, place: Place) -> bool:
    """Check whether a condition in a loop, or in what it calls, decides on an assignment to an attribute."""
    body: tuple[ir.Stmt, ...] = context.code(place.slice).body
    is_here = any(part == node for part in walk(body))
    branches = (part for part in walk(node.body if is_here else body) if isinstance(part, ir.If))
    for branch in branches:
        for part in walk((*branch.body, *branch.orelse)):
            for target, source in _pairs(part) if isinstance(part, ir.Assign) else ():
                if getattr(target, "at", None) == place.at and not _is_about(branch.test, target):
                    return not (_names(source) & _bound(node) if is_here else _is_put_back(body, target, source))
    return False


def _is_put_back(body: tuple[ir.Stmt, ...], target: ir.Expr, source: ir.Expr) -> bool:
    """Check whether an attribute is set to a variable that was read from it: `net = job.net; ...; job.net = net`."""
    assigned = (part for part in walk(body) if isinstance(part, ir.Assign))
    pairs = (pair for part in assigned for pair in _pairs(part))
    return any(text_of(name) == text_of(source) and text_of(taken) == text_of(target) for name, taken in pairs)
