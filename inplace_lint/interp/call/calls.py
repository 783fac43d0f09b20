"""
Evaluation of calls: the arguments first, then whatever is called.

    self.block(x)       # an instance: runs the method that a call of a module runs
    helper(x, k=2)      # a function of the program: its body is run in place, down to a maximal depth
    F.relu(x)           # a framework call: evaluated by its facts
    whatever(x)         # unknown: saves, writes and aliases no tensor, but may change any container passed to it
"""

from __future__ import annotations

from msgspec.structs import replace

from inplace_lint.core.event import Site
from inplace_lint.core.span import Place
from inplace_lint.domain import traits
from inplace_lint.domain.heap import DictObject
from inplace_lint.domain.state import State
from inplace_lint.domain.traits import Operator
from inplace_lint.domain.values import (
    NONE,
    Bound,
    Builtin,
    ClassValue,
    Closure,
    Const,
    Dotted,
    Partial,
    Ref,
    Sym,
    Tuple,
    Value,
    is_key,
    of_key,
)
from inplace_lint.interp.call import closures, data_loaders, instances, portable_arguments
from inplace_lint.interp.call.closures import Passed
from inplace_lint.interp.call.library_bases import library_init
from inplace_lint.interp.call.unknown_calls import unknown_call
from inplace_lint.interp.control import (
    context_managers,
    exceptional_flow,
    generators,
    iteration,
    modes,
    path_condition,
    unknown_contexts,
)
from inplace_lint.interp.expr import registering
from inplace_lint.interp.frame import Arguments, Frame
from inplace_lint.interp.interpreter import Interpreter
from inplace_lint.interp.intrinsics import (
    module_methods,
    opaque_modules,
    operators,
    optimizers,
    state_dict,
    stubs,
    table,
)
from inplace_lint.interp.outcome import Flow, Outcome, Outcomes, Raised, Results, returned
from inplace_lint.interp.pylib import builtins, models, stdlib
from inplace_lint.ir import nodes as ir
from inplace_lint.knowledge.facts import Facts
from inplace_lint.knowledge.layers import is_layer

_OPERATOR_WORDS = 2  # the namespace and the name


def evaluate_call(interp: Interpreter, frame: Frame, state: State, expr: ir.Call) -> Results:
    """Evaluate a call expression."""
    functions = interp.evaluate(frame, state, expr.func)
    if len(functions) == 1:
        results = _call_each(interp, frame, *functions[0], expr)
    else:
        with interp.fuel.shared(len(functions)):
            results = [result for each in functions for result in _call_each(interp, frame, *each, expr)]
    return results if len(results) == 1 else interp.fuel.first(results)


def _call_each(interp: Interpreter, frame: Frame, state: State, function: Value, expr: ir.Call) -> Results:
    """Evaluate the arguments of a call from left to right, and call a function on them."""
    receiver = expr.func.value if type(expr.func) is ir.Attr else None
    exprs = [*expr.args, *[keyword.value for keyword in expr.keywords]] if expr.keywords else expr.args
    evaluated = interp.evaluate_all(frame, state, exprs)
    if len(evaluated) == 1:
        after, values = evaluated[0]
        arguments = _arguments(interp, frame, after, function, expr, values)
        return call(interp, frame, after, function, arguments, expr.at, receiver)
    given = [(after, _arguments(interp, frame, after, function, expr, values)) for after, values in evaluated]
    return [
        result
        for after, arguments in given
        for result in call(interp, frame, after, function, arguments, expr.at, receiver)
    ]


def _arguments(
    interp: Interpreter, frame: Frame, state: State, function: Value, expr: ir.Call, values: tuple[Value, ...]
) -> Arguments:
    """Return the arguments of a call of a function, whose expressions have these values."""
    positional: list[Value] = []
    places: dict[int | str, ir.Expr] = {}
    unknown = False
    for argument, value in zip(expr.args, values, strict=False):
        if type(argument) is ir.Starred:
            items = interp.items_of(frame, state, value, argument.value, expr.at)
            positional.extend(items.items)
            if not items.exact and not items.items and not unknown:
                count = _left_to_star(function, expr)
                positional.extend(iteration.unpack(interp, frame, state, value, None, expr.at, count, starred=False))
            unknown = unknown or not items.exact
        else:
            if not unknown:
                places[len(positional)] = argument
            # A builtin hands on what was written elsewhere.
            is_written = type(value) is Const and (type(function) is not Builtin or type(argument) is ir.Const)
            positional.append(closures.written(value, frame, expr.at) if is_written else value)
    keywords: list[tuple[str, Value]] = []
    spread = forwarded = False
    for keyword, value in zip(expr.keywords, values[len(expr.args) :], strict=True):
        if keyword.name is not None:
            keywords.append((keyword.name, closures.written(value, frame, keyword.at)))
            places[keyword.name] = keyword.value
        else:
            spread = True
            forwarded = forwarded or (type(value) is Ref and state.has_trait(traits.FORWARDED, value.id))
            inner = state.object(state.contents(value))
            known = inner if isinstance(inner, DictObject) else None
            named = () if known is None else known.items.items()
            keywords.extend((str(key), item) for key, item in named if is_key(of_key(key)))
            unknown = unknown or known is None or not known.exact
    return Arguments(tuple(positional), tuple(keywords), places, unknown, spread, forwarded)


def _left_to_star(function: Value, expr: ir.Call) -> int:
    """
    Return how many arguments a starred one has to be for the parameters without a default of a function.

        def match(logits, boxes, targets): ...
        match(*outputs, targets)            # `outputs` has two items
    """
    inner = function.function if isinstance(function, Bound) else function
    if not isinstance(inner, Closure) or sum(type(one) is ir.Starred for one in expr.args) > 1:
        return 0
    if any(param.kind == "var-positional" for param in inner.function.params):
        return 0
    named = inner.optional.union(keyword.name for keyword in expr.keywords if keyword.name is not None)
    kinds = {"plain", "positional-only"}
    asked = sum(param.kind in kinds and param.name not in named for param in inner.function.params)
    return max(0, asked - isinstance(function, Bound) - len(expr.args) + 1)


def call(
    interp: Interpreter,
    frame: Frame,
    state: State,
    function: Value,
    arguments: Arguments,
    at: int,
    receiver: ir.Expr | None = None,
) -> Results:
    """Call a value; `receiver` is the expression before the dot, if there is one."""
    if type(function) is Bound:  # checked first, as it is the most frequent
        first = arguments.first(function.receiver, receiver)
        return call(interp, frame, state, function.function, first, at)
    match function:
        case Closure():
            if function.manages:
                return [(state, closures.waiting(function, arguments))]
            return call_closure(interp, frame, state, function, arguments, at)
        case Partial(inner, args, keywords):
            given = {name for name, _ in arguments.keywords}
            shifted = arguments.shifted(len(args))
            kept = tuple(pair for pair in keywords if pair[0] not in given)
            merged = Arguments((*args, *arguments.positional), (*kept, *arguments.keywords), shifted, arguments.unknown)
            return call(interp, frame, state, inner, merged, at)
        case ClassValue():
            return _construct(interp, frame, state, function, arguments, at)
        case Dotted(name):
            return _call_library(interp, frame, state, name, arguments, at)
        case Builtin():
            return builtins.call(interp, frame, state, function, arguments, at)
        case Ref() if state.instance(function) is not None:
            return instances.call_instance(interp, frame, state, function, arguments, at)
        case _ if modes.enter_stack(interp, state, function, arguments):
            return [(state, arguments.positional[0])]
        case _:
            module = opaque_modules.behind(state, function)
            called = function if module is None else module
            return _call_unknown(interp, frame, state, called, arguments, at, receiver)


def _construct(
    interp: Interpreter, frame: Frame, state: State, cls: ClassValue, arguments: Arguments, at: int
) -> Results:
    """Call a class of the program: what its metaclass does for a call, else construct an object."""
    interp.context.record_construction(cls, lambda: portable_arguments.frozen(state, arguments))
    own = None if cls.meta is None else interp.lookup(state, cls.meta, "__call__")
    if isinstance(own, Closure):
        return call(interp, frame, state, Bound(cls, own), arguments, at)
    return interp.construct(frame, state, cls, arguments, at)


def _call_unknown(
    interp: Interpreter,
    frame: Frame,
    state: State,
    function: Value,
    arguments: Arguments,
    at: int,
    receiver: ir.Expr | None,
) -> Results:
    """Call an unknown value, which may be a method of an unknown module, or of what was made of parameters."""
    if exceptional_flow.refuses_none(interp, frame, state, function, at):
        return interp.fuel.leave(state, Raised(Builtin("TypeError"), frame.site(at)))
    method = module_methods.behind(interp, state, function) or optimizers.behind(interp, state, function)
    if method is None:
        return unknown_call(interp, frame, state, module_methods.called(interp, state, function), arguments, at)
    form, owner = method
    if isinstance(function, Sym):
        state_dict.track_opaque_module(interp, frame, state, function, arguments, frame.site(at))
    return table.run(interp, frame, state, form, arguments.first(owner, receiver), at)


def _call_library(interp: Interpreter, frame: Frame, state: State, name: str, arguments: Arguments, at: int) -> Results:
    facts = interp.context.facts_of(name)
    if facts is None or (is_layer(facts.framework.name, name) and not facts.forms(facts.canonical(name))):
        known = stdlib.call(interp, frame, state, name, arguments, at)
        return known if known is not None else unknown_call(interp, frame, state, Dotted(name), arguments, at)
    name = facts.canonical(name)
    if name.endswith(".__init__") and arguments.positional:
        return _library_constructor(interp, frame, state, name, arguments, at)
    forms = facts.forms(name)
    if not forms:
        results = _call_operator(interp, frame, state, facts, name, arguments, at)
        results = results or models.call(interp, frame, state, name, arguments, at)
        if results is not None:
            return results
    if forms and forms[0].act and forms[0].init is None:
        interp.fuel.counters["framework_calls"] += 1
        interp.fuel.counters["framework_calls_with_fact"] += 1
        return table.run(interp, frame, state, forms[0], arguments, at)
    if forms and forms[0].init is not None:
        return instances.construct_library(interp, frame, state, name, arguments, at)
    results = interp.apply_op(frame, state, name, arguments, at)
    if (stack := facts.framework.loaders.get(name)) is not None:
        data_loaders.note(results, stack, arguments)
    return results


def _call_operator(
    interp: Interpreter, frame: Frame, state: State, facts: Facts, name: str, arguments: Arguments, at: int
) -> Results | None:
    """Call an operator that the program registered, or a method of one; None for another call."""
    space = next((space for space in facts.framework.operators if name.startswith(f"{space}.")), "")
    words = name.removeprefix(f"{space}.").split(".")
    if not space or len(words) < _OPERATOR_WORDS:
        return None
    called = ".".join((space, *words[:_OPERATOR_WORDS]))
    forms = facts.forms(f"{facts.framework.operators[space]}.{words[-1]}") if len(words) > _OPERATOR_WORDS else ()
    if forms:
        return table.run(interp, frame, state, forms[0], arguments.first(Dotted(called)), at)
    key = "::".join(words[:_OPERATOR_WORDS])
    registering.run(interp, state)
    operator = state.trait(traits.OPERATOR, key) or Operator()
    if operator.schema is None:
        operator = replace(operator, schema=facts.schemas.get(called))
    if not (operator.body or operator.schema):
        return None
    return operators.run(interp, frame, state, called, operator, arguments, at)


def _library_constructor(
    interp: Interpreter, frame: Frame, state: State, name: str, arguments: Arguments, at: int
) -> Results:
    """Run the constructor of a library base on an instance of a derived class."""
    receiver = arguments.positional[0]
    rest = Arguments(arguments.positional[1:], arguments.keywords, {}, arguments.unknown)
    if isinstance(receiver, Ref) and state.instance(receiver) is not None:
        library_init(interp, frame, state, receiver, name.removesuffix(".__init__"), rest, at)
    return [(state, Const(None))]


def call_closure(
    interp: Interpreter, frame: Frame, state: State, closure: Closure, arguments: Arguments, at: int
) -> Results:
    """Run a function of the program; without steps or beyond the depth it is unknown, and so is an abstract method."""
    if stubs.is_stub(closure):
        return stubs.call(interp, frame, state, closure, arguments, at)
    if closure.function.is_generator and generators.is_unused(interp, frame, at):
        return [(state, Tuple(()))]
    misfits = interp.fuel.counters["calls_that_do_not_fit"]
    skipped = interp.fuel.is_used_up or (closure.owner is not None and exceptional_flow.is_left_open(interp, closure))
    bound = None if skipped else closures.bind_arguments(interp, frame, state, closure, arguments)
    if interp.fuel.listens and interp.fuel.counters["calls_that_do_not_fit"] > misfits and not arguments.unknown:
        return interp.fuel.leave(state, Raised(Builtin("TypeError"), frame.site(at)))
    if bound is None:
        return unknown_call(interp, frame, state, closure, arguments, at)
    values, passed, key = bound
    if not closure.caches:
        results = _inline(interp, frame, state, closure, values, passed, frame.site(at), key)
        return generators.cut(interp, frame, at, results) if closure.function.is_generator else results
    entry = (closure.env, closure.function.qualname, tuple(values.values()))
    kept = state.trait(traits.RESULT, entry)
    if kept is not None:
        return [(state, kept)]
    results = _inline(interp, frame, state, closure, values, passed, frame.site(at), key)
    for after, value in results:
        after.set_trait(traits.RESULT, entry, value)
        _remember_cached(interp, after, closure, value)
    return results


def _remember_cached(interp: Interpreter, state: State, closure: Closure, value: Value) -> None:
    """Remember that a function has the tensors that it returned in its cache."""
    for ref, tensor in state.tensors_in(value):
        bare = interp.context.allocates(tensor.made)
        state.set_trait(traits.CACHED, ref.id, traits.Cached(Place(closure.function.slice, 0), bare))


def _inline(
    interp: Interpreter,
    frame: Frame,
    state: State,
    closure: Closure,
    values: dict[str, Value],
    passed: Passed,
    site: Site,
    key: str,
) -> Results:
    function = closure.function
    inner = closures.frame_of(interp, frame, state, closure, (values, passed), site, key)
    before, name = state.modes, closures.name_of(function)
    if site.place.at:
        interp.context.observed.call(name, before, None if inner.receiver is None else state.instance(inner.receiver))
    results: Results = []
    raised: Outcomes = []
    learned, sides = state.learned, interp.fuel.counters["dropped_sides"]
    with interp.fuel.preferring(interp.fuel.enters):
        outcomes = _body(interp, frame, inner, state, closure, closure.managers)
    for outcome in outcomes:
        if closure.modes or closure.managers:
            outcome.state.modes = before
        if outcome.flow is Flow.RAISE:
            raised.append(outcome)
            continue
        if outcome.flow is Flow.RETURN or interp.fuel.steps >= 0:
            interp.fuel.returned.add(name)
        results.append((outcome.state, _result(outcome, function, inner.env)))
    if not results and raised and interp.fuel.counters["dropped_sides"] > sides:
        # Every side that was followed raises, but not every side was followed: the call may return as well.
        surest = min(raised, key=lambda outcome: len(outcome.state.assumptions))
        other = surest.state.fork()
        if not interp.fuel.listens:
            raised.remove(surest)
        other.modes = before
        path_condition.forget(other, learned)
        results = unknown_call(interp, frame, other, closure, Arguments(tuple(values.values())), site.place.at)
    interp.fuel.raised.extend(raised)
    return results if len(results) < 2 else _joined(results)  # noqa: PLR2004 - a pair


def _body(
    interp: Interpreter, caller: Frame, inner: Frame, state: State, closure: Closure, managers: tuple[Value, ...]
) -> Outcomes:
    """Run the body of a function in the modes and context managers that decorate it, the outermost first."""
    if not managers:
        for mode in closure.modes:
            state.modes = modes.entered(state, mode)
        supposed = [unknown_contexts.suppose(state, decorator) for decorator in closure.unread]
        outcomes = interp.execute(inner, state, closure.function.body)
        for outcome in outcomes if supposed else ():
            for sentence in filter(None, supposed):
                unknown_contexts.leave(outcome.state, sentence)
        return outcomes

    def inside(live: State, _: Value) -> Outcomes:
        return _body(interp, caller, inner, live, closure, managers[1:])

    ran = context_managers.run(interp, caller, state, managers[0], 0, inside)
    return inside(state, NONE) if ran is None else ran


def _joined(results: Results) -> Results:
    """Merge the paths that differ only in variables of the function that has returned and in path conditions."""
    kept: Results = []
    for state, value in results:
        if isinstance(value, Closure) or not any(
            value == known and other.merge(state, returned=True) for other, known in kept
        ):
            kept.append((state, value))
    return kept


def _result(outcome: Outcome, function: ir.Function, env: Ref) -> Value:
    if function.is_generator:
        yielded = outcome.state.trait(traits.YIELDED, env.id)
        return yielded if yielded is not None else Tuple(())
    return returned(outcome)
