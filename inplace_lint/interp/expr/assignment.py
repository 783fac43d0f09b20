"""
Assignments, and the three meanings of an augmented assignment.

    x += 1            # read `x`, then write it in place or bind `x` anew
    self.w += 1       # read the attribute, write it, then set the attribute
    x[i] += 1         # get the item, write it, then set the item: two writes of `x` for a basic index
"""

from __future__ import annotations

from inplace_lint.core.event import Failure, Refused, Spelling, Touch
from inplace_lint.core.span import Place
from inplace_lint.domain import traits
from inplace_lint.domain.heap import Instance, ListObject, Names
from inplace_lint.domain.state import State
from inplace_lint.domain.values import Builtin, Const, Dotted, Ref, Sym, Tuple, Value
from inplace_lint.interp.call import closures
from inplace_lint.interp.control import iteration, path_condition
from inplace_lint.interp.expr import (
    attribute_targets,
    environment,
    item_stores,
    operators,
    own_names,
    private_names,
    subscripts,
)
from inplace_lint.interp.frame import Arguments, Frame, text_of
from inplace_lint.interp.interpreter import Interpreter
from inplace_lint.interp.module_scope import module_env
from inplace_lint.interp.outcome import Raised, Results, taken
from inplace_lint.ir import nodes as ir


def assign(
    interp: Interpreter, frame: Frame, state: State, target: ir.Expr, value: Value, source: ir.Expr | None = None
) -> list[State]:
    """Assign a value to an assignment target; several states result when its parts evaluate on several paths."""
    match target:
        case ir.Name(_, name):
            bind(interp, frame, state, name, value)
            interp.listeners.bind(frame, state, name, value, source)
            return [state]
        case ir.Attr(at, inner, name):
            states: list[State] = []
            for before, receiver in interp.evaluate(frame, state, inner):
                interp.listeners.set_attribute(before, Place(frame.slice, at), receiver, value, source)
                own = private_names.attribute(interp, frame, before, receiver, name)
                # Findings show where a flag that decides on a write was set.
                flag = closures.written(value, frame, at)
                states.extend(interp.set_attribute(frame, before, receiver, own, flag, at))
            return states
        case ir.Subscript(_, inner, index):
            return [
                after
                for before, (receiver, key) in interp.evaluate_all(frame, state, (inner, index))
                for after in subscripts.set_(interp, frame, before, receiver, key, value, target, source)
            ]
        case ir.Sequence(at, _, items):
            return _unpack(interp, frame, state, items, value, at, source)
        case ir.Starred(inner):
            return assign(interp, frame, state, inner, value)
        case _:
            return [state]


def bind(interp: Interpreter, frame: Frame, state: State, name: str, value: Value) -> None:
    """Bind a variable in the scope that owns it: the frame's own one, or that of a global or nonlocal variable."""
    closure = frame.closure
    if closure is None or name in closure.function.local or _is_inner(state, frame):
        state.bind(frame.env, name, value, local=closure is not None)
        return
    scope = state.heap[frame.env.id]
    env = scope.parent if isinstance(scope, Names) else None
    while env is not None:
        scope = state.heap[env.id]
        assert isinstance(scope, Names)
        if name in scope.values:
            state.bind(env, name, value)
            return
        env = scope.parent
    environment.module_variable(interp, state, frame.module, name)
    state.bind(module_env(state, frame.module), name, value)


def _is_inner(state: State, frame: Frame) -> bool:
    """Check whether the frame is that of a comprehension, whose variables are its own."""
    return state.has_trait(traits.COMPREHENSION, frame.env.id)


def _unpack(
    interp: Interpreter,
    frame: Frame,
    state: State,
    items: tuple[ir.Expr, ...],
    value: Value,
    at: int,
    source: ir.Expr | None,
) -> list[State]:
    if isinstance(source, ir.Sequence) and len(source.items) != len(items):
        source = None
    star = next((position for position, item in enumerate(items) if isinstance(item, ir.Starred)), None)
    if type(value) is Tuple and value.exact and not _fits(len(value.items), len(items), starred=star is not None):
        interp.fuel.leave(state, Raised(Builtin("ValueError"), frame.site(at)))
        return []
    spread = iteration.unpack(
        interp, frame, state, value, source, at, len(items) - (star is not None), star is not None
    )
    values = list(spread)
    if star is not None:
        tail = len(items) - star - 1
        middle = values[star : len(values) - tail]
        given = value if isinstance(value, Tuple) else state.object(value)
        exact = isinstance(given, Tuple | ListObject) and given.exact
        rest: Value = state.new(ListObject(tuple(middle), exact))
        values = [*values[:star], rest, *values[len(values) - tail :]]
    states = [state]
    interp.listeners.spread(state, values)
    sources = source.items if isinstance(source, ir.Sequence) and star is None else (None,) * len(items)
    for item, each, read in zip(items, values, sources, strict=False):
        named = read if isinstance(item, ir.Subscript | ir.Attr) else None
        states = [after for path in states for after in assign(interp, frame, path, item, each, named)]
    return states


def _fits(given: int, targets: int, *, starred: bool) -> bool:
    """Check whether as many items can be unpacked to these targets."""
    return given >= targets - 1 if starred else given == targets


def augment(interp: Interpreter, frame: Frame, state: State, node: ir.AugAssign) -> list[State]:
    """Run an augmented assignment: read the old value, operate (in place where its type does), assign the result."""
    match node.target:
        case ir.Name():
            return [
                _bound(interp, frame, done, node.target.id, result)
                for after, (old, value) in interp.evaluate_all(frame, state, (node.target, node.value))
                for done, result in _announced(interp, frame, after, node, old, value)
            ]
        case ir.Attr(at, inner, written):
            return [
                final
                for before, receiver in interp.evaluate(frame, state, inner)
                for name in (private_names.attribute(interp, frame, before, receiver, written),)
                for got, old in interp.get_attribute(frame, before, receiver, name, at)
                for after, value in interp.evaluate(frame, got, node.value)
                for done, result in _announced(interp, frame, after, node, old, value)
                for final in (
                    [done]
                    if _is_refused(interp, frame, done, node, old, result)
                    else interp.set_attribute(frame, done, receiver, name, result, at)
                )
            ]
        case ir.Subscript(_, inner, index):
            return [
                final
                for before, (receiver, key) in interp.evaluate_all(frame, state, (inner, index))
                for got, old in interp.get_item(frame, before, receiver, key, node.target)
                for after, value in interp.evaluate(frame, got, node.value)
                for done, result in operators.augmented(interp, frame, after, node, old, value)
                for final in (
                    [done]
                    if _was_refused(done, old)
                    else subscripts.set_(interp, frame, done, receiver, key, result, node.target, None, again=True)
                )
            ]
        case _:
            return [after for after, _ in interp.evaluate(frame, state, node.value)]


def _is_refused(interp: Interpreter, frame: Frame, state: State, node: ir.AugAssign, old: Value, result: Value) -> bool:
    """Report a refused assignment of a plain tensor to a parameter; the path goes on with the parameter unchanged."""
    tensor = state.tensor(old)
    if tensor is None or not tensor.param or result == old:
        return False
    framework = (interp.context.facts.get(tensor.framework) or interp.context.default()).framework
    if framework.keeps_parameters:
        touch = Touch(
            f"{framework.tensor}.{node.op}=", frame.site(node.at), "", text_of(node.target), Spelling.AUGMENTED
        )
        state.report(Refused(framework.name, Failure.PARAMETER, touch, None, state.assumptions))
    return framework.keeps_parameters


def _was_refused(state: State, value: Value) -> bool:
    """Check whether a write to a value was refused, so that nothing assigns the result."""
    return isinstance(value, Ref) and any(state.has_trait(traits.REFUSED, (value.id, check)) for check in Failure)


def _bound(interp: Interpreter, frame: Frame, state: State, name: str, value: Value) -> State:
    bind(interp, frame, state, name, value)
    return state


def _announced(
    interp: Interpreter, frame: Frame, state: State, node: ir.AugAssign, old: Value, value: Value
) -> Results:
    results = operators.augmented(interp, frame, state, node, old, value)
    for after, result in results:
        interp.listeners.augment(interp, frame, after, node, old, result)
    return results


def delete(interp: Interpreter, frame: Frame, state: State, target: ir.Expr) -> None:
    """Unbind a variable or an attribute, or take items out of a list, a dict or a module container."""
    match target:
        case ir.Name(_, name):
            state.unbind(frame.env, name)
        case ir.Subscript(_, inner, index):
            receiver = taken(state, interp.evaluate(frame, state, inner))
            place = taken(state, interp.evaluate(frame, state, index))
            if receiver is not None and place is not None:
                _delete_item(interp, frame, state, receiver, place, target.at)
        case ir.Attr(_, inner, name):
            for after, receiver in interp.evaluate(frame, state, inner)[:1]:
                attribute_targets.unset(after, receiver, private_names.attribute(interp, frame, after, receiver, name))
        case ir.Sequence(_, _, items):
            for item in items:
                delete(interp, frame, state, item)
        case _:
            pass


def _delete_item(interp: Interpreter, frame: Frame, state: State, receiver: Value, index: Value, at: int) -> None:
    thing = state.object(receiver)
    if isinstance(thing, Instance) and thing.children is None:
        method = taken(state, interp.get_attribute(frame, state, receiver, "__delitem__", at))
        if method is not None and not isinstance(method, Sym | Dotted):
            taken(state, interp.call(frame, state, method, Arguments((index,)), at))
        return
    if (owner := own_names.object_of(state, receiver)) is not None and isinstance(index, Const):
        attribute_targets.unset(state, owner, str(index.value))
    item_stores.remove(state, receiver, path_condition.known(state, index))
