"""
Entry points: where execution starts, on which arguments, and what was found from there.

An entry point is what nothing else in the file runs: the module's own statements, a function, a module class. The
outermost come first; a function or class that they ran is not run again on its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence

from inplace_lint.core.records import replace
from inplace_lint.domain import origins, tape
from inplace_lint.domain.heap import DictObject, Instance, ListObject, Tensor
from inplace_lint.domain.state import State
from inplace_lint.domain.values import NONE, Bound, ClassValue, Closure, Const, Dotted, Ref, Sym, Tuple, Value
from inplace_lint.effects import schedule
from inplace_lint.effects.summary import Definition
from inplace_lint.interp import branch_forcing, gradients, symbolic_args
from inplace_lint.interp.branch_forcing import ForcedArguments
from inplace_lint.interp.call import module_containers
from inplace_lint.interp.call.pending_constructors import constructed_paths
from inplace_lint.interp.control import statements
from inplace_lint.interp.expr import environment, subscripts
from inplace_lint.interp.found import Found, named
from inplace_lint.interp.frame import Arguments, Frame
from inplace_lint.interp.fuel import (
    CHOICES,
    CONFIGURATIONS,
    PATHS_IN_CONSTRUCTOR,
    PATHS_IN_FUNCTION,
    PATHS_IN_METHOD,
    PATHS_IN_ROOT,
    STEPS_IN_CALLER,
    STEPS_IN_ROOT,
)
from inplace_lint.interp.interpreter import Interpreter
from inplace_lint.interp.module_scope import module_env
from inplace_lint.interp.outcome import Flow
from inplace_lint.workspace import call_graph


def run_all(interp: Interpreter) -> list[Found]:
    """Run every entry point of the file, the outermost first, and return what was found."""
    context = interp.context
    found: list[Found] = []
    order = schedule.schedule(call_graph.file_effects(context.project, context.main))
    if order.script:
        found.extend(_run_script(interp))
    cut: set[Definition] = set()
    counters = interp.fuel.counters
    for item in order.items:
        before = counters["roots_cut_by_steps"]
        if schedule.pending(context.outline, item, interp.fuel.returned, context.default().framework.calls):
            if item.kind == "function" and order.is_one_of_many(item):
                interp.fuel.counters["callers_left_out"] += 1
            elif item.kind == "function":
                found.extend(named(interp, item, _run_function(interp, item)))
            elif item.name in order.set_up:
                found.extend(named(interp, item, _set_up_class(interp, item)))
            else:
                found.extend(named(interp, item, _run_class(interp, item)))
        if counters["roots_cut_by_steps"] > before:
            cut.add(item)
    for item in order.items:
        if item not in cut:
            found.extend(named(interp, item, _run_forced_branches(interp, item)))
    return found


def _start(interp: Interpreter, item: Definition) -> tuple[State, Frame]:
    """Start an entry point on module scopes as their own statements left them."""
    interp.fuel.start_root()
    base = interp.context.base = interp.context.base or State(interp.context.symbols)
    # Module variables that earlier entry points read are evaluated once for all later ones.
    read, interp.context.bound = dict.fromkeys(interp.context.bound), []
    for path, name in read:
        environment.find(interp, base, path, name)
    interp.context.bound = []
    # A function that only calls others that write is run for the arguments that it passes to these.
    full = item.kind == "class" or schedule.writes(item)
    paths = PATHS_IN_METHOD if item.kind == "class" else PATHS_IN_FUNCTION
    interp.fuel.start_root(again=True, steps=STEPS_IN_ROOT if full else STEPS_IN_CALLER, paths=paths)
    state = base.fork()
    env = module_env(state, interp.context.path)
    return state, Frame(env, interp.context.path, item.slice)


def _run_script(interp: Interpreter) -> list[Found]:
    """Run the module's own statements in order, as `python file.py` does."""
    interp.fuel.start_root()
    states = [State(interp.context.symbols)]
    script = [item for item in interp.context.outline.items if item.kind == "statement"]
    interp.context.under_way.update(item.slice for item in script)
    for item in script:
        after: list[State] = []
        with interp.fuel.shared(len(states)):
            for state in states:
                env = module_env(state, interp.context.path)
                frame = Frame(env, interp.context.path, item.slice)
                outcomes = interp.execute(frame, state, interp.context.code(item.slice).body)
                after.extend(outcome.state for outcome in outcomes if outcome.flow is not Flow.RAISE)
        states = statements.distinct(interp, after) or states[:1]
    interp.context.under_way.clear()
    interp.fuel.end_root(finished=True)
    return _collect([(state, NONE) for state in states])


def _run_forced_branches(interp: Interpreter, item: Definition) -> list[Found]:
    """Run a function or class again, on arguments that force branches that may write and were not taken yet."""
    found: list[Found] = []
    tried: set[ForcedArguments] = set()
    while len(tried) < CHOICES:
        choice = next((choice for choice in branch_forcing.untaken(interp, item) if choice not in tried), None)
        if choice is None:
            break
        tried.add(choice)
        interp.fuel.counters["choices"] += 1
        run = _run_function if item.kind == "function" else _run_class
        found.extend(run(interp, item, choice))
    return found


def _run_function(interp: Interpreter, item: Definition, choice: ForcedArguments | None = None) -> list[Found]:
    state, frame = _start(interp, item)
    function = environment.module_variable(interp, state, interp.context.path, item.name)
    if not isinstance(function, Closure):
        return []
    with interp.fuel.scope(lazy=not schedule.writes(item)):
        arguments = symbolic_args.of_function(interp, state, function.function, dict(function.defaults), skip=0)
        if choice is not None:
            arguments = branch_forcing.chosen(state, function.function, arguments, dict(choice.own), skip=0)
        if gradients.runs_unrecorded(interp, item.name):
            state.modes = replace(state.modes, grad=False)
        elif schedule.only_sets_up(interp.context.outline, item.name):
            symbolic_args.without_history(interp, state, arguments)
        results: list[tuple[State, Value]] = []
        for after, value in interp.call(frame, state, function, arguments, 0):
            results.extend(_called(interp, frame, after, value) if _is_sequence(after, value) else [(after, value)])
    return _finish(interp, results)


def _is_sequence(state: State, value: Value) -> bool:
    """Check whether a function returned a sequence of modules, which it made for its callers to run."""
    instance = state.instance(value)
    if instance is None or not isinstance(instance.cls, Dotted) or instance.children is None:
        return False
    return isinstance(state.object(instance.children), ListObject) and instance.cls.name.endswith(".Sequential")


def _called(interp: Interpreter, frame: Frame, state: State, module: Value) -> list[tuple[State, Value]]:
    """Call a module on an unknown input."""
    given = state.symbols.sym((origins.PARAMETER, module, "input"), "input")
    return interp.call(frame, state, module, Arguments((given,)), 0)


def _run_class(interp: Interpreter, item: Definition, choice: ForcedArguments | None = None) -> list[Found]:
    """
    Construct the class, run what a call of it runs, then each method that writes and was not run by that.

    With forced arguments: construct it on these, and of the methods run only the one that they are for.
    """
    state, frame = _start(interp, item)
    cls = environment.class_of(interp, state, frame, item)
    if cls is None:
        return []
    unseen = schedule.unseen(item, interp.fuel.returned, interp.context.default().framework.calls)
    if choice is None and None in interp.context.constructed.get(id(cls), ()) and not unseen:
        # Its arguments exist only on the paths of another entry point, which ran it: there are none to run it on here.
        return []
    choice = _open(interp, state, cls, choice)
    if choice is not None and not choice.made and not choice.own:
        return []
    paths = PATHS_IN_CONSTRUCTOR if choice is None and schedule.writes(item) else 1
    made = _constructed(interp, frame, state, cls, paths, choice)
    if not made:
        return []
    entry = _entry(interp, made[0][0], cls)
    found = _finish(interp, [(constructed.fork(), receiver) for constructed, receiver in made])
    if not entry and interp.context.is_module(cls) is not None:
        found.extend(_run_container(interp, frame, made))
    if entry:
        found.extend(_run_method(interp, frame, made, cls, entry, choice))
    if choice is None:
        methods: Iterable[Definition] = schedule.pending_methods(item, interp.fuel.returned)
    else:
        methods = [method for method in item.methods if method.name == choice.name and (choice.own or not entry)]
    for method in methods:
        if method.name != entry:
            found.extend(_run_method(interp, frame, made, cls, method.member, choice))
    return found


def _set_up_class(interp: Interpreter, item: Definition) -> list[Found]:
    """
    Construct a class whose calls write nothing, then run each method that writes and was not run by that.

    Its parts are constructed when something reads more of them than their class.
    """
    state, frame = _start(interp, item)
    cls = environment.class_of(interp, state, frame, item)
    if cls is None:
        return []
    with interp.fuel.scope(lazy=True, shallow=True):
        made = [
            (after, receiver)
            for constructed, receiver in _constructed(interp, frame, state, cls, 1, None)
            for after in constructed_paths(interp, frame, constructed, receiver)
        ]
    made = made or _unmade(interp, state, cls)
    found = _finish(interp, [(constructed.fork(), receiver) for constructed, receiver in made])
    for method in schedule.pending_methods(item, interp.fuel.returned):
        found.extend(_run_method(interp, frame, made, cls, method.member, None))
    return found


def _open(interp: Interpreter, state: State, cls: ClassValue, choice: ForcedArguments | None) -> ForcedArguments | None:
    """Return the forced arguments that the program leaves open: those unknown where it constructs the class."""
    known = interp.context.constructed.get(id(cls), ())
    if choice is None or not known:
        return choice
    init = interp.lookup(state, cls, "__init__")
    if known[0] is None or not isinstance(init, Closure):
        return ForcedArguments(choice.name, (), ())
    left = branch_forcing.left_open(init.function, symbolic_args.thawed(state.fork(), known[0]), dict(choice.made))
    return ForcedArguments(choice.name, tuple(left.items()), ())


def _run_container(interp: Interpreter, frame: Frame, made: Sequence[tuple[State, Value]]) -> list[Found]:
    """Call instances of a module container that defines no method for it, such as a subclass of a sequence."""
    interp.fuel.start_root(paths=PATHS_IN_METHOD)
    results: list[tuple[State, Value]] = []
    for constructed, receiver in made:
        instance = constructed.instance(receiver)
        if instance is not None and instance.children is not None:
            results.extend(_called(interp, frame, constructed.fork(), receiver))
    return _finish(interp, results[:PATHS_IN_ROOT])


def _entry(interp: Interpreter, state: State, cls: ClassValue) -> str:
    """Return the name of the method that a call of an instance runs; empty when the class is no module."""
    framework = interp.context.is_module(cls)
    if framework is None:
        return ""
    own = interp.lookup(state, cls, framework.calls)
    return framework.calls if isinstance(own, Closure) else ""


def _run_method(
    interp: Interpreter,
    frame: Frame,
    made: Sequence[tuple[State, Value]],
    cls: ClassValue,
    name: str,
    choice: ForcedArguments | None,
) -> list[Found]:
    """Run a method on each constructed instance, on a fork of its state."""
    interp.fuel.start_root(paths=max(1, PATHS_IN_METHOD // max(1, len(made))))
    results: list[tuple[State, Value]] = []
    unrecorded = gradients.is_custom_function(interp, cls) or (
        not name.startswith("__") and gradients.runs_unrecorded(interp, name)
    )
    for constructed, receiver in made:
        state = constructed.fork()
        if unrecorded:
            state.modes = replace(state.modes, grad=False)
        method = interp.lookup(state, cls, name)
        if name == "__init__" or not isinstance(method, Closure):
            results.append((state, NONE))
            continue
        skip = 0 if method.wrapper == "static" else 1
        arguments = symbolic_args.of_method(interp, state, method, cls)
        if choice is not None and name == choice.name:
            arguments = branch_forcing.chosen(state, method.function, arguments, dict(choice.own), skip)
        target: Value = method if skip == 0 else Bound(cls if method.wrapper == "class" else receiver, method)
        done = interp.call(frame, state, target, arguments, 0)
        results.extend((after, Tuple((value, receiver))) for after, value in done)
    if _entry(interp, made[0][0], cls) not in {"", name}:
        # Training runs what a call of the module runs; that it runs another method too is not certain.
        for state, _ in results:
            state.assume(f"a gradient is asked for what `{name}` returns")
    return _finish(interp, results[:PATHS_IN_ROOT])


def _constructed(
    interp: Interpreter, frame: Frame, state: State, cls: ClassValue, paths: int, choice: ForcedArguments | None
) -> list[tuple[State, Value]]:
    """
    Construct a class on its defaults and on unknown values; return an unknown instance if that fails.

    With forced arguments: return nothing if it fails, since they are refused. A class that only leads to others that
    write gets one path, since these are constructed on their own as well.
    """
    init = interp.lookup(state, cls, "__init__")
    spare = state.fork()
    candidates = [
        symbolic_args.thawed(spare, entry) for entry in interp.context.constructed.get(id(cls), ()) if entry is not None
    ]
    if not candidates and isinstance(init, Closure):
        candidates = [symbolic_args.of_constructor(interp, spare, init.function, dict(init.defaults))]
    elif isinstance(init, Closure):
        candidates = [symbolic_args.completed(interp, spare, init.function, known) for known in candidates]
    candidates = candidates or [symbolic_args.nothing()]
    if choice is not None and isinstance(init, Closure):
        candidates = [branch_forcing.chosen(spare, init.function, candidates[0], dict(choice.made), skip=1)]
    made: list[tuple[State, Value]] = []
    with interp.fuel.scope(paths=paths):
        for arguments in candidates:
            made.extend(interp.construct(frame, spare.fork(), cls, arguments, 0))
    if made:
        return _different(made)[: max(paths, CONFIGURATIONS)]
    if choice is not None:
        return []
    return _unmade(interp, spare, cls)


def _unmade(interp: Interpreter, state: State, cls: ClassValue) -> list[tuple[State, Value]]:
    """Return an unknown instance of a class whose constructor completes on no path."""
    interp.fuel.counters["constructors_without_a_path"] += 1
    return [(state, state.new(Instance(cls, {"training": Const(True)}, opaque=True)))]


def _different(made: list[tuple[State, Value]]) -> list[tuple[State, Value]]:
    """Return the instances that differ in more than numbers; those that need no assumptions come first."""
    kept: dict[Hashable, tuple[State, Value]] = {}
    for state, receiver in sorted(made, key=lambda pair: len(pair[0].assumptions)):
        kept.setdefault(module_containers.form(state, receiver), (state, receiver))
    return list(kept.values())


def _finish(interp: Interpreter, results: Sequence[tuple[State, Value]]) -> list[Found]:
    """Run backward from all that was returned, as a training program would."""
    for state, value in results:
        if state.modes.grad is not False:
            roots = list(_tensors_below(state, value, set(), 0))
            tape.backward(state, interp.context.default().framework.name, roots, None, retain=False)
    interp.fuel.end_root(finished=bool(results))
    return _collect(results)


def _tensors_below(state: State, value: Value, seen: set[int], depth: int) -> Iterator[Tensor]:
    """Return the tensors in a result, in its tuples, lists, dicts and attributes, except parameters."""
    tensor = state.tensor(value)
    if tensor is not None:
        if not tensor.param and tensor.nodes:
            yield tensor
        return
    if depth > 4 or (isinstance(value, Ref) and value.id in seen):  # noqa: PLR2004 - deep enough for any result
        return
    if isinstance(value, Ref):
        seen.add(value.id)
    for item in _held(state, value):
        yield from _tensors_below(state, item, seen, depth + 1)


def _held(state: State, value: Value) -> Sequence[Value]:
    """Return the known values in a result."""
    if isinstance(value, Tuple):
        return value.items
    if isinstance(value, Sym):
        return tuple(item for _, item in subscripts.kept_in(state, value))
    inner = state.object(value) if isinstance(value, Ref) else None
    if isinstance(inner, DictObject):
        return tuple(inner.items.values())
    if isinstance(inner, Instance):
        return tuple(inner.attrs.values())
    return tuple(getattr(inner, "items", ()))


def _collect(results: Sequence[tuple[State, Value]]) -> list[Found]:
    counted = Counter(event for state, _ in results for event in state.events if not gradients.is_refuted(state, event))
    return [Found(event, count, len(results)) for event, count in counted.items()]
