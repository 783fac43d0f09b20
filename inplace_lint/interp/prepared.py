"""
Objects as a program has them when it uses them.

The methods of an object are called in any order: one is run after the others that set what it reads.

    def __init__(self): self.net = None
    def build(self): self.net = Linear(4, 4)
    def step(self, x): self.net(x)            # is run on None, and on what `build` leaves

What only a constructor sets, to None, and a method calls, is left to a derived class: the method is run without it.

What a function builds of parts is called by those who call the function:

    def block(width): return Residual(nn.Linear(width, width), nn.ReLU(inplace=True))
    def scaled(width): return lambda x: x.mul_(width)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from itertools import islice

from msgspec.structs import replace

from inplace_lint.domain import origins
from inplace_lint.domain.heap import Instance, ListObject
from inplace_lint.domain.state import State
from inplace_lint.domain.values import NONE, Bound, ClassValue, Closure, Const, Dotted, Ref, Tuple, Value
from inplace_lint.effects import schedule
from inplace_lint.effects.summary import Definition
from inplace_lint.interp import symbolic_args
from inplace_lint.interp.call import closures, module_containers, module_registry, portable_arguments
from inplace_lint.interp.call.pending_constructors import constructed_paths
from inplace_lint.interp.frame import Arguments, Frame
from inplace_lint.interp.fuel import CONSTRUCTIONS, PATHS_IN_FUNCTION, SETTERS, TEMPLATES
from inplace_lint.interp.interpreter import Interpreter
from inplace_lint.interp.options import method_arguments
from inplace_lint.interp.outcome import Results
from inplace_lint.ir.nodes import Function
from inplace_lint.workspace import call_graph


def templates(interp: Interpreter, item: Definition) -> Iterator[Definition]:
    """Yield some methods that a class inherits, and that run one of its own: only here do the two meet."""
    context = interp.context
    bases = call_graph.bases_of(context.project, context.main, item) if item.bases and item.methods else ()
    return islice(schedule.templates(bases, item), TEMPLATES)


def prepared(
    interp: Interpreter,
    frame: Frame,
    made: tuple[State, Value],
    cls: ClassValue,
    item: Definition,
    method: Definition,
    entry: str,
    *,
    none: bool = False,
) -> list[tuple[State, Value]]:
    """
    Return an instance on which other methods have set what a method reads, and its constructor left unset.

    With `none` only what the constructor left None counts as such.

    A method that writes tensors or runs backward is left out: when a program calls it is not known. `entry`, the one
    that a call of the object runs, may write; where there is one, an attribute that several others set may be left
    by any of them, as something else.
    """
    state, receiver = made
    ready = False
    setters = list(schedule.setters(item, method))
    times = Counter(name for _, found in setters for name in found)
    for other, found in islice(setters, SETTERS):
        names = found if entry in {"", other.member} else {name for name in found if times[name] == 1}
        function = interp.lookup(state, cls, other.member)
        if not _has_unset(state, receiver, names, none=none) or not isinstance(function, Closure) or function.wrapper:
            continue
        arguments = method_arguments.of_method(interp, state, function, cls)
        with interp.fuel.scope(paths=1):
            for after, _ in interp.call(frame, state.fork(), Bound(receiver, function), arguments, 0)[:1]:
                if after.freed == state.freed and (other.member == entry or after.leaves_tensors_of(state)):
                    state, ready = after, True
    opened = None if none else _opened(state, receiver, schedule.left_to_others(item, method))
    return [(opened or state, receiver)] if ready or opened is not None else []


def _has_unset(state: State, receiver: Value, names: Collection[str], *, none: bool) -> bool:
    """Return whether an object has not, or as a constant, an attribute of these names; with `none` as None alone."""
    instance = state.instance(receiver)
    values = [] if instance is None else [instance.attrs.get(name, NONE) for name in names]
    return any(value == NONE or (isinstance(value, Const) and not none) for value in values)


def called_before(
    interp: Interpreter,
    frame: Frame,
    made: tuple[State, Value],
    cls: ClassValue,
    item: Definition,
    entry: str,
    *,
    completes: bool,
) -> list[tuple[State, Value]]:
    """
    Return an instance on which other methods have set what a call reads, for one that comes to its end on no path.

    def forward(self, x): return x * self.scale(self.style)     # whoever calls it has called `set_style` before

    One that `completes` without is run with what is None at first where the call writes itself, or where the
    constructor of a base that is not known may have called them.
    """
    method = next((one for one in item.methods if one.member == entry), None)
    instance = made[0].instance(made[1])
    is_open = instance is not None and instance.opaque
    if method is None or (completes and not method.writes and not is_open):
        return []
    return prepared(interp, frame, made, cls, item, method, entry, none=completes)


def _opened(state: State, receiver: Value, names: Collection[str]) -> State | None:
    """Return a state in which attributes that are None are not known, as another class sets them; None if none is."""
    instance = state.instance(receiver)
    unset = () if instance is None else [name for name in names if instance.attrs.get(name) == NONE]
    if instance is None or not unset or not isinstance(receiver, Ref):
        return None
    after = state.fork()
    attrs = {name: value for name, value in instance.attrs.items() if name not in unset}
    after.put(receiver, replace(instance, attrs=attrs))
    return after


def built(
    interp: Interpreter, frame: Frame, state: State, value: Value, run_alone: Collection[str]
) -> list[tuple[State, Value]]:
    """
    Return what a call of the module returns that a function built of parts; of any other value, the value itself.

    Classes of the file that are `run_alone` are so on the parts that they were given here, unless one path owns these.
    """
    instance = state.instance(value)
    if instance is None or not isinstance(value, Ref) or _is_run_alone(interp, instance.cls, run_alone):
        return [(state, value)]
    if isinstance(instance.cls, Dotted):
        return _items_called(interp, frame, state, value, instance.cls.name)
    given = _is_given_classes(interp, instance.cls)
    if instance.pending is not None and not given and not _has_given_parts(state, instance, value):
        return [(state, value)]
    framework = interp.context.is_module(instance.cls)
    called = "__call__" if framework is None else framework.calls
    found: list[tuple[State, Value]] = []
    for after in constructed_paths(interp, frame, state, value) if framework is not None else [state]:
        method = interp.lookup(after, instance.cls, called)
        whole = after.instance(value)
        parts = whole is not None and (given or _has_given_parts(after, whole, value))
        if not isinstance(method, Closure) or not parts:
            found.append((after, value))
            continue
        interp.context.observed.enter(after, closures.name_of(method.function))
        arguments = method_arguments.of_method(interp, after, method, instance.cls)
        found.extend(interp.call(frame, after, Bound(value, method), arguments, 0))
    return found or [(state, value)]


def with_made(interp: Interpreter, frame: Frame, maker: Function, results: Results) -> Results:
    """Return what a function returned, or, of functions that it made, what these return for unknown arguments."""
    found: Results = []
    for state, value in results:
        made = value.function if isinstance(value, Closure) and not (value.modes or value.managers) else maker
        if not isinstance(value, Closure) or made is maker or made.slice != maker.slice or made.is_generator:
            found.append((state, value))
            continue
        given = symbolic_args.of_function(interp, state, made, interp.context.defaults_of(value), skip=0)
        found.extend(interp.call(frame, state, value, given, 0) or [(state, value)])
    return found


def _is_run_alone(interp: Interpreter, cls: Value, run_alone: Collection[str]) -> bool:
    if not isinstance(cls, ClassValue) or cls.slice.path != interp.context.path or cls.name not in run_alone:
        return False
    recorded = interp.context.constructed.get(id(cls), ())
    return 0 < len(recorded) < CONSTRUCTIONS and None not in recorded


def _items_called(interp: Interpreter, frame: Frame, state: State, ref: Ref, name: str) -> list[tuple[State, Value]]:
    """Return what a sequence of modules returns, or, for a list of modules, what each of those that differ returns."""
    instance = state.instance(ref)
    parts = None if instance is None else instance.children
    inner = None if parts is None else state.object(parts)
    if not isinstance(inner, ListObject):
        return [(state, ref)]
    if name.endswith(".Sequential"):
        return called(interp, frame, state, ref)
    kinds = {module_containers.form(state, item): item for item in reversed(inner.items)}
    items = [item for item in kinds.values() if state.instance(item) is not None]
    found = [result for item in items[-PATHS_IN_FUNCTION:] for result in built(interp, frame, state.fork(), item, ())]
    return found or [(state, ref)]


def called(interp: Interpreter, frame: Frame, state: State, module: Value) -> list[tuple[State, Value]]:
    """Call a module on an unknown input."""
    given = state.symbols.sym((origins.PARAMETER, module, "input"), "input")
    return interp.call(frame, state, module, Arguments((given,)), 0)


def _has_given_parts(state: State, instance: Instance, ref: Ref) -> bool:
    """
    Check whether an object has modules that are older than itself: whoever constructed it made them.

    A constructor that has not been run was given them if they are among its arguments.
    """
    waiting = instance.pending
    held = instance.attrs.values() if waiting is None else (*waiting.args, *(value for _, value in waiting.keywords))
    items = (ref, *(item for value in held for item in _items(state, value)))
    inner = (part for item in items for _, part in module_registry.parts(state, item))
    return any(part.id < ref.id and module_registry.is_module(state, part) for part in inner)


def _is_given_classes(interp: Interpreter, cls: Value) -> bool:
    """Return whether the program passes module classes of its own to the constructor of a class."""
    recorded = (entry for entry in interp.context.constructed.get(id(cls), ()) if entry is not None)
    given = (value for entry in recorded for value in portable_arguments.classes(entry))
    return any(interp.context.is_module(value) is not None for value in given)


def _items(state: State, value: Value) -> tuple[Value, ...]:
    """Return the items of a list or tuple; for another value itself."""
    inner = state.object(value)
    return value.items if isinstance(value, Tuple) else inner.items if isinstance(inner, ListObject) else (value,)
