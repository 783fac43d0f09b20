"""
Evaluation of expressions: each yields its possible values, every one with the state on whose path it has that value.

    y = x if flag else x.clone()      # `flag` unknown: two results, two states

A state that is passed in must not be used afterwards; the caller owns the states of the results.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from inplace_lint.core.span import Place
from inplace_lint.domain import origins, traits
from inplace_lint.domain.heap import DictObject, ListObject, Names, dict_of, set_of
from inplace_lint.domain.state import State
from inplace_lint.domain.values import NONE, Closure, Const, Ref, SliceValue, Sym, Three, Tuple, Value
from inplace_lint.interp.call import calls, closures
from inplace_lint.interp.control import generators, iteration, path_condition
from inplace_lint.interp.expr import comparisons, environment, operators, private_names
from inplace_lint.interp.frame import Frame
from inplace_lint.interp.interpreter import Interpreter
from inplace_lint.interp.options import solver
from inplace_lint.interp.outcome import Results, taken
from inplace_lint.ir import nodes as ir


def evaluate(interp: Interpreter, frame: Frame, state: State, expr: ir.Expr) -> Results:
    """Return every value that the expression can have on a feasible path, with the state after it."""
    if type(expr) is ir.Const:
        return [(state, Const(expr.value))]
    if type(expr) is ir.Name:
        return [(state, environment.read(interp, frame, state, expr.id))]
    return _EVALUATORS[type(expr)](interp, frame, state, expr)


def evaluate_all(
    interp: Interpreter, frame: Frame, state: State, exprs: Sequence[ir.Expr]
) -> list[tuple[State, tuple[Value, ...]]]:
    """Evaluate expressions from left to right; at most as many combinations are kept as the width allows."""
    values: list[Value] = []
    for position, expr in enumerate(exprs):
        kind = type(expr)
        if kind is ir.Name:
            values.append(environment.read(interp, frame, state, expr.id))  # type: ignore[union-attr]
            continue
        if kind is ir.Const:
            values.append(Const(expr.value))  # type: ignore[union-attr]
            continue
        results = _EVALUATORS[kind](interp, frame, state, expr)
        if len(results) != 1:
            done = tuple(values)
            forked = [(after, (*done, value)) for after, value in results]
            return _evaluate_rest(interp, frame, forked, exprs[position + 1 :])
        state, value = results[0]
        values.append(value)
    return [(state, tuple(values))]


def _evaluate_rest(
    interp: Interpreter, frame: Frame, partial: list[tuple[State, tuple[Value, ...]]], exprs: Sequence[ir.Expr]
) -> list[tuple[State, tuple[Value, ...]]]:
    """Evaluate the remaining expressions on several paths."""
    for expr in exprs:
        with interp.fuel.shared(len(partial)):
            partial = [
                (after, (*values, value))
                for before, values in partial
                for after, value in evaluate(interp, frame, before, expr)
            ]
        partial = interp.fuel.first(partial)
    return partial


def _attr(interp: Interpreter, frame: Frame, state: State, expr: ir.Attr) -> Results:
    if type(expr.value) is ir.Name:
        value = environment.read(interp, frame, state, expr.value.id)
        name = private_names.attribute(interp, frame, state, value, expr.name) if expr.name[:2] == "__" else expr.name
        return interp.get_attribute(frame, state, value, name, expr.at)
    return [
        result
        for after, value in evaluate(interp, frame, state, expr.value)
        for result in interp.get_attribute(frame, after, value, expr.name, expr.at)
    ]


def _subscript(interp: Interpreter, frame: Frame, state: State, expr: ir.Subscript) -> Results:
    evaluated = evaluate_all(interp, frame, state, (expr.value, expr.key))
    if len(evaluated) == 1:
        after, (value, index) = evaluated[0]
        return interp.get_item(frame, after, value, index, expr)
    return [
        result for after, (value, index) in evaluated for result in interp.get_item(frame, after, value, index, expr)
    ]


def _slice(interp: Interpreter, frame: Frame, state: State, expr: ir.SliceExpr) -> Results:
    parts = [part if part is not None else ir.Const(None) for part in (expr.lower, expr.upper, expr.step)]
    return [(after, SliceValue(*values)) for after, values in evaluate_all(interp, frame, state, parts)]


def _starred(interp: Interpreter, frame: Frame, state: State, expr: ir.Starred) -> Results:
    return evaluate(interp, frame, state, expr.value)


def _unary(interp: Interpreter, frame: Frame, state: State, expr: ir.Unary) -> Results:
    if expr.op == "not":
        with interp.fuel.preferring(not interp.fuel.prefers):
            results = interp.condition(frame, state, expr.operand)
        return [(after, path_condition.negate(after, value)) for after, value in results]
    results = evaluate(interp, frame, state, expr.operand)
    return [
        result for after, value in results for result in operators.unary(interp, frame, after, expr.op, value, expr)
    ]


def _binary(interp: Interpreter, frame: Frame, state: State, expr: ir.Binary) -> Results:
    evaluated = evaluate_all(interp, frame, state, (expr.left, expr.right))
    if len(evaluated) == 1:
        after, (left, right) = evaluated[0]
        return operators.binary(interp, frame, after, expr.op, left, right, expr)
    return [
        result
        for after, (left, right) in evaluated
        for result in operators.binary(interp, frame, after, expr.op, left, right, expr)
    ]


def _compare(interp: Interpreter, frame: Frame, state: State, expr: ir.Compare) -> Results:
    evaluated = evaluate_all(interp, frame, state, (expr.left, *expr.rights))
    if len(evaluated) == 1:
        return comparisons.compare(interp, frame, evaluated[0][0], expr, evaluated[0][1])
    return [result for after, values in evaluated for result in comparisons.compare(interp, frame, after, expr, values)]


def _bool_op(interp: Interpreter, frame: Frame, state: State, expr: ir.BoolOp) -> Results:
    stops_on = expr.op == "or"
    done: Results = []
    open_: Results = evaluate(interp, frame, state, expr.values[0])
    for operand in expr.values[1:]:
        going: Results = []
        for after, value in open_:
            test = taken(after, interp.truth_of(frame, after, value, expr.at)) or value
            sides = path_condition.split(interp.fuel, after, test)
            if stops_on and type(value) is Const and value.source is not None:
                interp.context.coverage.split(frame, expr, value, sides)
            for side_state, side in sides:
                if side is stops_on:
                    done.append((side_state, value))
                else:
                    going.extend(evaluate(interp, frame, side_state, operand))
        open_ = going
    return (done + open_)[: interp.fuel.width]


def _if_exp(interp: Interpreter, frame: Frame, state: State, expr: ir.IfExp) -> Results:
    return [
        (result, solver.picked(result, value, test, side))
        for after, test in interp.condition(frame, state, expr.test)
        for side_state, side in _sides(interp, frame, after, expr, test)
        for result, value in evaluate(interp, frame, side_state, expr.then if side else expr.orelse)
    ]


def _sides(interp: Interpreter, frame: Frame, state: State, expr: ir.IfExp, test: Value) -> list[tuple[State, bool]]:
    """Return the sides of a conditional expression that a path takes."""
    sides = path_condition.split(interp.fuel, state, test)
    interp.context.coverage.split(frame, expr, test, sides)
    return sides


def _sequence(interp: Interpreter, frame: Frame, state: State, expr: ir.Sequence) -> Results:
    results: Results = []
    for after, values in evaluate_all(interp, frame, state, expr.items):
        items: list[Value] = []
        exact = True
        for item, value in zip(expr.items, values, strict=True):
            if isinstance(item, ir.Starred):
                spread = interp.items_of(frame, after, value, item.value, expr.at)
                items.extend(spread.items)
                exact = exact and spread.exact
            else:
                items.append(value)
        interp.listeners.gather(frame, after, expr.at, expr.items, values)
        if expr.kind == "list":
            for item_value in items:
                interp.listeners.collect(after, Place(frame.slice, expr.at), item_value, ())
        results.append((after, _display(after, expr.kind, tuple(items), exact)))
    return results


def _display(state: State, kind: str, items: tuple[Value, ...], exact: bool) -> Value:
    if kind == "tuple":
        return Tuple(items, exact)
    return state.new(set_of(items, exact=exact) if kind == "set" else ListObject(items, exact, kind))


def _dict(interp: Interpreter, frame: Frame, state: State, expr: ir.DictDisplay) -> Results:
    parts = [part if part is not None else ir.Const(None) for item in expr.items for part in item]
    results: Results = []
    for after, values in evaluate_all(interp, frame, state, parts):
        pairs: list[tuple[Value, Value]] = []
        made = DictObject({})
        for (key_expr, _), key, value in zip(expr.items, values[::2], values[1::2], strict=True):
            inner = after.object(value)
            if key_expr is not None:
                pairs.append((key, value))
                continue
            made, pairs = made.joined(dict_of(pairs, exact=True)), []
            made = made.joined(inner if isinstance(inner, DictObject) else DictObject({}, exact=False))
        made = made.joined(dict_of(pairs, exact=True))
        interp.listeners.gather(frame, after, expr.at, [item for _, item in expr.items], values[1::2])
        for item_value in made.items.values():
            interp.listeners.collect(after, Place(frame.slice, expr.at), item_value, ())
        results.append((after, after.new(made)))
    return results


def _comprehension(interp: Interpreter, frame: Frame, state: State, expr: ir.Comprehension) -> Results:
    if expr.kind == "generator" and generators.is_unused(interp, frame, expr.at):
        return [(state, Tuple(()))]
    env = state.new(Names({}, {}, frame.env))
    state.set_trait(traits.COMPREHENSION, env.id, True)
    around = (frame.caller, frame.closure, frame.receiver, frame.passed, frame.stack, False, frame.dropped)
    inner = Frame(env, frame.module, frame.slice, *around, outer=(*frame.outer, frame.env), turns=frame.turns)
    done = _clauses(interp, inner, [(state, (), True)], expr, 0)
    results = [(after, _collected(after, env, expr.kind, pairs, exact)) for after, pairs, exact in done]
    for after, value in results if expr.kind == "generator" else ():
        generators.hand_on(after, env.id, value)
    return results


# The last: whether these are all values. None: on a feasible path they are, as in a loop, where all are tensors.
Collected = list[tuple[State, tuple[tuple[Value, Value], ...], Three]]


def _clauses(interp: Interpreter, frame: Frame, partial: Collected, expr: ir.Comprehension, depth: int) -> Collected:
    """Run the clauses from `depth` on, and add the values of the element."""
    if depth == len(expr.clauses):
        parts = (expr.key if expr.key is not None else ir.Const(None), expr.element)
        made = [
            (after, (*pairs, (key, value)), exact)
            for before, pairs, exact in partial
            for after, (key, value) in evaluate_all(interp, frame, before, parts)
        ][: interp.fuel.width]
        for after, pairs, _ in made:
            several = len(pairs) > 1 and expr.kind != "generator" and after.tensors_in(pairs[-1][1])
            kept = pairs[:-1] if several and not generators.is_unused(interp, frame, expr.at) else ()
            held = tuple(value for _, value in kept)
            interp.listeners.collect(after, Place(frame.slice, expr.at), pairs[-1][1], held)
            if expr.kind == "generator":
                generators.note_yield(after, frame.env.id)
        return made
    clause = expr.clauses[depth]
    done: Collected = []
    for before, pairs, exact in partial:
        for after, iterable in evaluate(interp, frame, before, clause.iter):
            turns = interp.turns(frame, after, iterable, clause.iter, expr.at)
            # Two axes of a shape may be no feasible path: what is made of them needs as many as the tensor has.
            whole = turns.exact and not turns.left_out and not _is_shape(after, iterable)
            first = None if exact is not False and iteration.are_first(iterable, turns) else False
            going: Collected = [(after, pairs, exact if whole else first)]
            within = frame.looping(len(turns.items))
            for item in turns.items:
                going = _turn(interp, within, going, expr, depth, item)
            done.extend(going)
    return done[: interp.fuel.width]


def _is_shape(state: State, iterable: Value) -> bool:
    key = state.symbols.key(iterable) if isinstance(iterable, Sym) else None
    return isinstance(key, tuple) and key[0] is origins.SHAPE


def _turn(
    interp: Interpreter, frame: Frame, going: Collected, expr: ir.Comprehension, depth: int, item: Value
) -> Collected:
    clause = expr.clauses[depth]
    kept: Collected = []
    for state, pairs, exact in going:
        for bound in interp.assign(frame, state, clause.target, item):
            sides: list[tuple[State, bool]] = [(bound, True)]
            for test in clause.conditions:
                sides = [
                    (done, side and chosen)
                    for before, side in sides
                    for after, value in (interp.condition(frame, before, test) if side else [(before, NONE)])
                    for done, chosen in (path_condition.split(interp.fuel, after, value) if side else [(after, False)])
                ]
            for after, side in sides:
                if side:
                    kept.extend(_clauses(interp, frame, [(after, pairs, exact)], expr, depth + 1))
                else:
                    kept.append((after, pairs, exact))
    return kept[: interp.fuel.width]


def _collected(state: State, env: Ref, kind: str, pairs: tuple[tuple[Value, Value], ...], exact: Three) -> Value:
    exact = all(state.tensor(value) is not None for _, value in pairs) if exact is None else exact
    if kind == "dict":
        return state.new(dict_of(pairs, exact=exact and len(dict(pairs)) == len(pairs)))
    made = _display(state, "set" if kind == "set" else "list", tuple(value for _, value in pairs), exact)
    return iteration.placed(state, env, made)


def _lambda(interp: Interpreter, frame: Frame, state: State, expr: ir.Lambda) -> Results:
    return [
        (after, Closure(expr.function, frame.module, frame.env, defaults))
        for after, defaults in closures.evaluate_defaults(interp, frame, state, expr.function)
    ]


def _named(interp: Interpreter, frame: Frame, state: State, expr: ir.NamedExpr) -> Results:
    return [
        (bound, value)
        for after, value in evaluate(interp, frame, state, expr.value)
        for bound in interp.assign(frame, after, expr.target, value)
    ]


def _yield(interp: Interpreter, frame: Frame, state: State, expr: ir.Yield) -> Results:
    if expr.value is None:
        return [(state, NONE)] if frame.inside is None else [(after, NONE) for after in frame.inside(state, NONE)]
    results: Results = []
    for after, value in evaluate(interp, frame, state, expr.value):
        if frame.inside is not None:
            results.extend((done, NONE) for done in frame.inside(after, value))
            continue
        interp.listeners.yielded(after, frame.site(expr.at).place, value)
        _collect_yield(after, frame.env, value)
        results.append((after, after.symbols.sym((origins.SENT, frame.env.id, expr.at))))
    return results


def _collect_yield(state: State, env: Ref, value: Value) -> None:
    """Add to the values that a generator has yielded; generators are run eagerly. What follows is later."""
    known = state.trait(traits.YIELDED, env.id) or state.new(ListObject(()))
    inner = state.object(known)
    assert isinstance(inner, ListObject)
    state.set_trait(traits.YIELDED, env.id, known)
    state.put(known, ListObject((*inner.items, value), inner.exact))
    generators.note_yield(state, known.id)


def _filled(template: str, values: tuple[Value, ...]) -> str | None:
    """Fill a template with constants; None when a part is not constant or does not fit."""
    plain = [value.value for value in values if isinstance(value, Const)]
    if not template or len(plain) != len(values) or not all(isinstance(one, str | int | float) for one in plain):
        return None
    try:
        return template.format(*plain)
    except (ValueError, IndexError, KeyError):
        return None


def _format(interp: Interpreter, frame: Frame, state: State, expr: ir.Format) -> Results:
    results: Results = []
    for after, values in evaluate_all(interp, frame, state, expr.parts):
        text = _filled(expr.template, values)
        if text is not None:
            results.append((after, Const(text)))
        else:
            # The same text wherever it is put together of the same values.
            same = bool(expr.template) and all(isinstance(value, Const | Sym) for value in values)
            place = None if same else Place(frame.slice, expr.at)
            key = (origins.FORMAT, place, expr.template, tuple(values) if same else after.next_id)
            results.append((after, after.symbols.sym(key, "str")))
    return results


def _unknown(_interp: Interpreter, frame: Frame, state: State, expr: ir.Unknown) -> Results:
    for name in expr.writes:
        state.bind(
            frame.env, name, state.symbols.sym((origins.UNKNOWN, Place(frame.slice, expr.at), name, state.next_id))
        )
    return [(state, state.symbols.sym((origins.UNKNOWN, Place(frame.slice, expr.at), state.next_id)))]


_EVALUATORS: dict[type, Callable[[Interpreter, Frame, State, Any], Results]] = {
    ir.Attr: _attr,
    ir.Subscript: _subscript,
    ir.SliceExpr: _slice,
    ir.Call: calls.evaluate_call,
    ir.Starred: _starred,
    ir.Unary: _unary,
    ir.Binary: _binary,
    ir.Compare: _compare,
    ir.BoolOp: _bool_op,
    ir.IfExp: _if_exp,
    ir.Sequence: _sequence,
    ir.DictDisplay: _dict,
    ir.Comprehension: _comprehension,
    ir.Lambda: _lambda,
    ir.NamedExpr: _named,
    ir.Yield: _yield,
    ir.Format: _format,
    ir.Unknown: _unknown,
}
