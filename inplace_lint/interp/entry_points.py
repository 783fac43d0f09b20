"""
Entry points: where execution starts, on which arguments, and what was found from there.

An entry point is what nothing else in the file runs: the module's own statements, a function, a module class. The
outermost come first; a function or class that they ran is not run again on its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from msgspec.structs import replace

from inplace_lint.domain import traits
from inplace_lint.domain.state import State
from inplace_lint.domain.values import NONE, Bound, Builtin, ClassValue, Closure, Const, Sym, SymId, Tuple, Value
from inplace_lint.effects import affected, schedule
from inplace_lint.effects.edited import SCRIPT, Ran
from inplace_lint.effects.summary import Definition
from inplace_lint.interp import gradients, losses, prepared, second_step, symbolic_args
from inplace_lint.interp.call import closures, module_registry
from inplace_lint.interp.call.pending_constructors import constructed_paths
from inplace_lint.interp.control import exceptional_flow, module_modes, path_condition, statements
from inplace_lint.interp.expr import environment, registering
from inplace_lint.interp.found import Found, collect, named, of_loss, of_method, of_number, of_stateless, with_callers
from inplace_lint.interp.frame import Arguments, Frame
from inplace_lint.interp.fuel import (
    CALLS_IN_CHOICES,
    PATHS_IN_CONSTRUCTOR,
    PATHS_IN_FUNCTION,
    PATHS_IN_METHOD,
    PATHS_IN_ROOT,
    PATHS_IN_TRAINING,
    STEPS_IN_CALLER,
    STEPS_IN_ROOT,
)
from inplace_lint.interp.interpreter import Interpreter
from inplace_lint.interp.module_scope import module_env
from inplace_lint.interp.options import construction, earlier_calls, method_arguments, plainer_arguments, runs, swapped
from inplace_lint.interp.options.coverage import Choice
from inplace_lint.interp.outcome import Flow, Results
from inplace_lint.workspace import call_graph, trainers

_Made = Sequence[tuple[State, Value]]
_EXIT = Builtin("SystemExit")


def run_all(interp: Interpreter) -> list[Found]:
    """
    Run every entry point of the file, the outermost first, and return what was found; of a part, those in it.

    The context then says what each of them did.
    """
    context = interp.context
    file = context.file_effects()
    order = schedule.schedule(file)
    if context.part is None and context.edited is not None:
        context.part = affected.part_of(context.outline.items, file.uses, context.edited)
    if context.part is not None:
        interp.fuel.returned |= schedule.keys_of(context.outline, context.part.returned)
    noted = partial(_noted, interp, schedule.names(context.outline))
    found = noted(SCRIPT, partial(_run_script if order.script else registering.run_alone, interp))
    cost, unreached = dict[Definition, int](), set[str]()
    counters, call = interp.fuel.counters, context.default().framework.calls
    runs.prepare(context)
    for item in order.items:
        cut, calls = counters["roots_cut_by_steps"], counters["framework_calls"]
        if runs.is_pending(interp, item):
            if order.is_one_of_many(item):
                counters["callers_left_out"] += 1
            else:
                if schedule.is_unreached(item, interp.fuel.returned, call):
                    unreached.add(item.name)
                found.extend(noted(item.name, partial(_run_named, interp, item, order)))
        is_large = counters["roots_cut_by_steps"] > cut
        if item.kind == "class" or not is_large:
            cost[item] = max(counters["framework_calls"] - calls, is_large * (CALLS_IN_CHOICES + 1))
    for name, work in runs.all_further(interp, order, partial(_run, interp, order=order), cost, frozenset(unreached)):
        found.extend(noted(name, work))
    confirmed = ((one, context.observed.confirmed(one.event)) for one in found)
    return [replace(one, event=event) for one, event in confirmed if event is not None]


def _noted(interp: Interpreter, names: Mapping[str, str], name: str, work: Callable[[], list[Found]]) -> list[Found]:
    """
    Run an entry point, unless a part leaves it out; note what it did, and what it found as its own.

    `names` are the qualified names of the definitions of the file by their keys.
    """
    context, fuel = interp.context, interp.fuel
    if context.part is not None and name not in context.part.run:
        return []
    context.writing = context.wrote.setdefault(name, set())
    taken, before = fuel.taken, set(fuel.returned)
    found = work()
    known = context.ran.get(name, Ran())
    returned = {names[key] for key in fuel.returned - before if key in names}
    context.ran[name] = Ran(known.steps + fuel.taken - taken, known.returned | returned)
    return [replace(one, root=name) for one in found]


def _run_named(interp: Interpreter, item: Definition, order: schedule.Schedule) -> list[Found]:
    found = named(interp, item, _run(interp, item, order))
    if any(gradients.is_assumed(one.event) for one in found):
        interp.context.coverage.assuming.add(item.slice)
    return found


def _start(interp: Interpreter, item: Definition) -> tuple[State, Frame]:
    """Start an entry point on module scopes as their own statements left them."""
    interp.fuel.start_root()
    base = interp.context.base = interp.context.base or module_modes.imported(interp)
    # Module variables that earlier entry points read are evaluated once for all later ones.
    read, interp.context.bound = dict.fromkeys(interp.context.bound), []
    for path, name in read:
        environment.find(interp, base, path, name)
    interp.context.bound = []
    # A function that only calls others that write is run for the arguments that it passes to these.
    full = item.kind == "class" or schedule.writes(item)
    paths = PATHS_IN_METHOD if item.kind == "class" else PATHS_IN_TRAINING if trainers.asks(item) else PATHS_IN_FUNCTION
    interp.fuel.start_root(again=True, steps=STEPS_IN_ROOT if full else STEPS_IN_CALLER, paths=paths)
    coverage = interp.context.coverage
    bases = call_graph.bases_of(interp.context.project, interp.context.main, item) if item.bases else ()
    coverage.start(item.slice, schedule.setting(bases, item))
    swapped.start(interp, item)
    state = base.fork()
    interp.context.observed.start_root(state)
    for condition, side in coverage.choice.sides:
        if isinstance(condition, int):
            path_condition.learn(state, Sym(SymId(condition)), side)
        else:
            state.learn(condition, side)
    return state, Frame(module_env(state, interp.context.path), interp.context.path, item.slice)


def _run_script(interp: Interpreter) -> list[Found]:
    """Run the module's own statements in order, as `python file.py` does."""
    interp.fuel.start_root()
    interp.context.coverage.root = None
    states = [State(interp.context.symbols)]
    script = [item for item in interp.context.outline.items if registering.is_part_of_script(interp.context, item)]
    interp.context.under_way.update(item.slice for item in script if item.kind == "statement")
    for item in script:
        with interp.fuel.shared(len(states)):
            outcomes = [one for state in states for one in registering.run_in_turn(interp, state, item)]
        going = [outcome.state for outcome in outcomes if outcome.flow is not Flow.RAISE]
        if outcomes and all(outcome.error is not None and outcome.error.cls == _EXIT for outcome in outcomes):
            states = [outcome.state for outcome in outcomes]
            break
        states = statements.distinct(interp, going) or states[:1]
    interp.context.under_way.clear()
    interp.fuel.end_root(finished=True)
    return collect(interp, [(state, NONE) for state in states], calls=True)


def _run(interp: Interpreter, item: Definition, order: schedule.Schedule) -> list[Found]:
    if item.kind == "function":
        return _run_function(interp, item, order)
    return _set_up_class(interp, item) if item.name in order.set_up else _run_class(interp, item)


def _run_function(interp: Interpreter, item: Definition, order: schedule.Schedule) -> list[Found]:
    state, frame = _start(interp, item)
    function = environment.module_variable(interp, state, interp.context.path, item.name)
    ready = earlier_calls.in_module(interp, state, item, function)
    if not isinstance(function, Closure) or not ready:
        return []
    with interp.fuel.scope(lazy=not schedule.writes(item)):
        defaults = interp.context.defaults_of(function)
        arguments = symbolic_args.of_function(interp, state, function.function, defaults, skip=0)
        if gradients.runs_unrecorded(interp, item.name):
            state.modes = replace(state.modes, grad=False)
        elif gradients.only_sets_up(interp, item.name):
            plainer_arguments.without_history(interp, state, arguments)
        called = [one for state in ready for one in _called_whole(interp, frame, state, function, arguments)]
        results = [end for one in called for end in prepared.built(interp, frame, *one, order.run_alone)]
    found = _finish(interp, results, item.name, calls=True)
    return of_loss(found, interp.context.path) if found and losses.are_numbers(interp, results) else found


def _called_whole(
    interp: Interpreter, frame: Frame, state: State, function: Closure, given: Arguments, receiver: Value | None = None
) -> Results:
    """
    Call a function, or a method of a receiver.

    A context manager runs to its end, and returns nothing: what it yields was used inside of the `with`. Whoever runs
    a generator may use what it yields before the generator goes on, and may keep it.
    """
    whole = replace(function, manages=False) if function.manages else function
    done = interp.call(frame, state, whole if receiver is None else Bound(receiver, whole), given, 0)
    for after, _ in done if function.function.is_generator else ():
        after.assume(f"what `{function.function.qualname.rpartition('.')[2]}` yields is kept while it goes on")
    made = () if function.manages else prepared.with_made(interp, frame, function.function, done)
    return [(after, NONE) for after, _ in done] if function.manages else [*made]


def _run_class(interp: Interpreter, item: Definition) -> list[Found]:
    """Construct the class, run what a call of it runs, then each method that writes and was not run by that."""
    state, frame = _start(interp, item)
    cls = environment.decorated_class(interp, state, frame, item)
    if cls is None:
        return []
    coverage, choice = interp.context.coverage, interp.context.coverage.choice
    unseen = schedule.unseen(item, interp.fuel.returned, interp.context.default().framework.calls)
    if choice.is_default and None in interp.context.constructed.get(id(cls), ()) and not unseen:
        return []  # its arguments exist only on the paths of another entry point, which ran it
    made = construction.constructed(interp, frame, state, cls, PATHS_IN_CONSTRUCTOR if schedule.writes(item) else 1)
    if item.slice in coverage.beyond:
        made = construction.beyond_defaults(interp, frame, state, cls) or made
    if not made:
        return []
    entry = _entry(interp, made[0][0], cls)
    found = _finish(interp, [(constructed.fork(), receiver) for constructed, receiver in made])
    if not entry and interp.context.is_module(cls) is not None:
        found.extend(_run_container(interp, frame, made))
    if entry and not choice.method:
        found.extend(_run_method(interp, frame, made, cls, entry))
        if choice.is_default:
            completes = construction.completes(interp, interp.lookup(state, cls, entry))
            beyond = [] if completes else construction.beyond_defaults(interp, frame, state, cls)
            coverage.beyond.update([item.slice] if beyond else [])
            again = beyond or prepared.called_before(interp, frame, made[0], cls, item, entry, completes=completes)
            found.extend(_run_method(interp, frame, again, cls, entry) if again else [])
        if choice.is_default and construction.is_worth_passing(interp, made[0][0], cls, item, entry):
            found.extend(_run_method(interp, frame, made, cls, entry, passed=True))
    return [*found, *_run_others(interp, frame, made, cls, item, entry)]


def _run_others(
    interp: Interpreter, frame: Frame, made: _Made, cls: ClassValue, item: Definition, entry: str
) -> list[Found]:
    """
    Run each method that writes and was not run so far; where a call runs nothing, inherited ones that run a method of
    the class before them, as a program would, and after them those that run the parts.

    Each is run once more after others of the object that set what it reads. On chosen options only the method of these
    is run; where they are of none and a call runs nothing, all that write.
    """
    found, choice = list[Found](), interp.context.coverage.choice
    if choice.method:
        return _run_method(interp, frame, made, cls, choice.method)
    by_default = choice == Choice()
    for method in prepared.templates(interp, item) if by_default and not entry else ():
        found.extend(_run_method(interp, frame, made, cls, method.member))
    pending = schedule.pending_methods(item, interp.fuel.returned)
    for method in pending if by_default or entry else schedule.writing_methods(item):
        if method.name != entry:
            found.extend(_run_method(interp, frame, made, cls, method.member))
            ready = prepared.prepared(interp, frame, made[0], cls, item, method, entry) if by_default else []
            found.extend(_run_method(interp, frame, ready, cls, method.member) if ready else [])
    bases = call_graph.bases_of(interp.context.project, interp.context.main, item) if item.bases and by_default else ()
    for method in schedule.callers_of_inherited(bases, item, interp.fuel.returned):
        found.extend(_run_method(interp, frame, made, cls, method.member))
    for method in () if entry else schedule.callers_of_parts(item, interp.fuel.returned):
        found.extend(_run_method(interp, frame, made, cls, method.member))
    return found


def _set_up_class(interp: Interpreter, item: Definition) -> list[Found]:
    """
    Construct a class whose calls write nothing, then run each method that writes and was not run by that.

    Its parts are constructed when something reads more of them than their class.
    """
    state, frame = _start(interp, item)
    cls = environment.decorated_class(interp, state, frame, item)
    if cls is None:
        return []
    with interp.fuel.scope(lazy=True, shallow=True):
        made = [
            (after, receiver)
            for constructed, receiver in construction.constructed(interp, frame, state, cls, 1)
            for after in constructed_paths(interp, frame, constructed, receiver)
        ]
    made = made or construction.unmade(interp, state, cls)
    found = _finish(interp, [(constructed.fork(), receiver) for constructed, receiver in made])
    return [*found, *_run_others(interp, frame, made, cls, item, _entry(interp, made[0][0], cls))]


def _run_container(interp: Interpreter, frame: Frame, made: _Made) -> list[Found]:
    """Call instances of a module container that defines no method for it, such as a subclass of a sequence."""
    interp.fuel.start_root(paths=PATHS_IN_METHOD)
    results: list[tuple[State, Value]] = []
    for constructed, receiver in made:
        instance = constructed.instance(receiver)
        if instance is not None and instance.children is not None:
            results.extend(prepared.called(interp, frame, constructed.fork(), receiver))
    return _finish(interp, results[:PATHS_IN_ROOT])


def _entry(interp: Interpreter, state: State, cls: ClassValue) -> str:
    """
    Return the name of the method that a call of an instance runs; empty when the class is no module.

    One that refuses to be called is none: what such a module is for are its other methods.
    """
    framework = interp.context.is_module(cls)
    if framework is None:
        return ""
    for name in ("__call__", framework.calls):
        method = interp.lookup(state, cls, name)
        if isinstance(method, Closure):
            return "" if exceptional_flow.refuses(method.function.body) else name
    return ""


def _paths_in(interp: Interpreter, cls: ClassValue, name: str, entry: str) -> int:
    """Return how many paths through a method are followed: more where it, or what an inherited one runs, trains."""
    methods = [one for item in interp.context.module(cls.slice.path).items(cls.name) for one in item.methods]
    run = [one for one in methods if one.name == name] or ([] if entry else methods)
    return PATHS_IN_TRAINING if any(map(trainers.asks, run)) else PATHS_IN_METHOD


def _run_method(
    interp: Interpreter, frame: Frame, made: _Made, cls: ClassValue, name: str, *, passed: bool = False
) -> list[Found]:
    """Run a method on each instance, on a fork of its state; `passed`: on all that is None by default."""
    entry = _entry(interp, made[0][0], cls)
    interp.fuel.start_root(paths=max(1, _paths_in(interp, cls, name, entry) // max(1, len(made))))
    interp.context.coverage.method = name
    returned = list(_returned(interp, frame, made, cls, name, entry, passed=passed))
    if method_arguments.optimizes(interp, cls):
        returned = [(state, NONE, None) for state, _, _ in returned]
    # A method that runs backward itself leaves in attributes what it logs.
    left = [(state, None if state.trait(traits.LOSS, None) else receiver) for state, _, receiver in returned]
    results = [
        (state, value if receiver is None else Tuple((value, receiver)))
        for (state, receiver), (_, value, _) in zip(left, returned, strict=True)
    ]
    # Training runs what a call of the module runs; that it runs another method too is not certain.
    certain = entry in {"", name} or method_arguments.is_step(interp, cls, name)
    found = _finish(interp, results[:PATHS_IN_ROOT], name, cls, certain=certain)
    ends = [(state, value) for state, value, _ in returned]
    returns = any(value != NONE for _, value in ends)
    found = found if entry == name else of_method(interp, found, name, cls, entry, returns=returns)
    number = bool(found) and losses.are_numbers(interp, ends[:PATHS_IN_ROOT])
    found = of_number(found) if number else found
    if entry == name:
        found.extend(second_step.run(interp, frame, made[0][0], left, cls, name))
    elif not entry:
        found.extend(second_step.keep(interp, frame, made[0][0], left[:1], cls, name))
    if found and entry == name and not number and not module_registry.have(made, param=True):
        found = of_stateless(interp, found, cls.name, buffers=module_registry.have(made, param=False))
    return found


def _returned(
    interp: Interpreter, frame: Frame, made: _Made, cls: ClassValue, name: str, entry: str, *, passed: bool
) -> Iterator[tuple[State, Value, Value | None]]:
    """Yield the state and the result of each path of a method, with the object that keeps results besides."""
    unrecorded = method_arguments.is_unrecorded(interp, cls, name) or (
        not name.startswith("__") and name != entry and gradients.runs_unrecorded(interp, name)
    )
    for constructed, receiver in made:
        state = constructed.fork()
        method = interp.lookup(state, cls, name)
        if (
            name == "__init__"
            or not isinstance(method, Closure)
            or method_arguments.is_replaced(state, receiver, name, method)
            or interp.context.observed.is_only_repeated(closures.name_of(method.function))
        ):
            yield state, NONE, None
            continue
        if unrecorded:
            state.modes = replace(state.modes, grad=False)
        else:
            interp.context.observed.enter(state, closures.name_of(method.function))
            if interp.context.observed.only_infers(closures.name_of(method.function)):
                module_registry.switch(state, receiver, Const(False))
        skip = 0 if method.wrapper == "static" else 1
        arguments = method_arguments.of_method(interp, state, method, cls, passed=passed)
        bound = None if skip == 0 else cls if method.wrapper == "class" else receiver
        for ready in earlier_calls.states(interp, frame, state, method, receiver):
            for after, value in _called_whole(interp, frame, ready, method, arguments, bound):
                yield after, value, None if method.manages else receiver


def _finish(
    interp: Interpreter,
    results: Results,
    name: str = "",
    cls: ClassValue | None = None,
    *,
    certain: bool = True,
    calls: bool = False,
) -> list[Found]:
    """Run backward from all that was returned, as a training program would; it is not certain after another one."""
    asked = f"a gradient is computed for what `{name}` returns"
    for state, value in results:
        interp.listeners.give_back(state, value)
        if name and (not certain or state.trait(traits.LOSS, None) is True):
            state.assume(asked)
    losses.backward(interp, results, cls, name, certain=certain)
    interp.fuel.end_root(finished=bool(results))
    found = collect(interp, results, calls=calls)
    ran = asked if any(state.trait(traits.LOSS, None) is True for state, _ in results) else ""
    return with_callers(interp, found, name, cls, "" if cls is None or certain else asked, ran)
