"""
Construction of the class that is an entry point: on what the program passes, on its defaults, on all that it refuses.

    def __init__(self, channels=None):      # as `Net()` raises, whoever uses the class passes `channels`
        if channels is None:
            raise ValueError("channels not specified")
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from functools import partial

from inplace_lint.domain import origins, traits
from inplace_lint.domain.heap import Instance
from inplace_lint.domain.state import State
from inplace_lint.domain.values import NONE, Bound, ClassValue, Closure, Const, Ref, Sym, Value
from inplace_lint.effects import schedule
from inplace_lint.effects.summary import Definition
from inplace_lint.interp import symbolic_args
from inplace_lint.interp.call import closures, module_containers, portable_arguments
from inplace_lint.interp.frame import Arguments, Frame
from inplace_lint.interp.fuel import CONFIGURATIONS
from inplace_lint.interp.interpreter import Interpreter
from inplace_lint.interp.options import plainer_arguments
from inplace_lint.interp.outcome import Results
from inplace_lint.ir import nodes as ir
from inplace_lint.ir.walk import walk


def constructed(
    interp: Interpreter, frame: Frame, state: State, cls: ClassValue, paths: int
) -> list[tuple[State, Value]]:
    """
    Construct a class on its defaults and on unknown values; return an unknown instance if that fails.

    With chosen options: return nothing if it fails, since they are refused. A class that only leads to others that
    write gets one path, since these are constructed on their own as well.
    """
    init = interp.lookup(state, cls, "__init__")
    spare = state.fork()
    entries = interp.context.constructed.get(id(cls), ())
    thaw = partial(portable_arguments.thawed, spare, chosen=interp.context.coverage.chosen)
    candidates = [thaw(entry) for entry in entries if entry is not None]
    candidates = [known for known in candidates if not isinstance(init, Closure) or closures.fits(init, known)]
    if not candidates and isinstance(init, Closure):
        defaults = _defaults_in_use(interp, cls.name, init)
        candidates = [symbolic_args.of_constructor(interp, spare, init.function, defaults)]
    elif isinstance(init, Closure):
        options = id(cls) not in interp.context.coverage.by_program or interp.context.is_in_package()
        candidates = [symbolic_args.completed(interp, spare, init, known, options=options) for known in candidates]
    candidates = [interp.context.coverage.applied(given) for given in candidates] or [Arguments()]
    _suppose(interp, frame, spare, cls, candidates)
    with interp.fuel.scope(paths=paths):
        made = [pair for given in candidates for pair in interp.construct(frame, spare.fork(), cls, given, 0)]
        if isinstance(init, Closure) and not entries and not (made and completes(interp, init)):
            made = _beyond_defaults(interp, frame, spare, cls, init, defaults) or made
    if made:
        return _different(made)[: max(paths, CONFIGURATIONS)]
    known = len(interp.context.coverage.refused)
    if interp.context.coverage.choice.is_default or known:
        _record_refusals(interp, frame, spare, cls, candidates)
    if not interp.context.coverage.choice.is_default:
        return []
    if isinstance(init, Closure):
        made = _on_unknown_objects(interp, frame, spare, cls, init, candidates)
        searched = len(interp.context.coverage.refused) > known
        made = made or ([] if entries or searched else _on_unknown_values(interp, frame, spare, cls, init))
    return made or unmade(interp, spare, cls)


def _suppose(interp: Interpreter, frame: Frame, state: State, cls: ClassValue, candidates: Sequence[Arguments]) -> None:
    """Assume what the chosen options do, and that a metaclass only makes the object, where it does not show that."""
    for text in interp.context.coverage.choice.makes:
        state.assume(text)
    if cls.meta is not None and not all(_is_made_alone(interp, frame, state, cls, given) for given in candidates):
        state.assume(f"`{cls.meta.name}` changes nothing in what it makes")


def _is_made_alone(interp: Interpreter, frame: Frame, state: State, cls: ClassValue, given: Arguments) -> bool:
    """
    Check whether a call of a class makes the objects that its constructor makes, as far as they decide how they run.

    A metaclass may wrap, keep or count them; what it sets on them shows in their form.
    """
    own = None if cls.meta is None else interp.lookup(state, cls.meta, "__call__")
    if cls.meta is None or not isinstance(own, Closure):
        return True
    if not _sets_nothing(interp, cls.meta, own):
        return False
    with interp.fuel.scope(paths=1):
        alone = interp.construct(frame, state.fork(), cls, given, 0)
        called = interp.call(frame, state.fork(), Bound(cls, own), given, 0)
    plain = {_form(after, made) for after, made in alone}
    return bool(called) and all(
        after.instance(made) is not None and (forms := _forms(state, after, cls)) and forms <= plain
        for after, made in called
    )


def _forms(before: State, after: State, cls: ClassValue) -> set[Hashable]:
    """Return the forms of the objects of a class that a path has made."""
    new = (Ref(number) for number in after.heap if number not in before.heap)
    return {_form(after, one) for one in new if (thing := after.instance(one)) is not None and thing.cls == cls}


def _form(state: State, made: Value) -> Hashable:
    """Return what decides how an object runs: its own form, its hooks, and the modes."""
    instance = state.instance(made)
    if instance is None or not isinstance(made, Ref):
        return None
    before, after = state.trait(traits.HOOKS_BEFORE, made.id) or (), state.trait(traits.HOOKS_AFTER, made.id) or ()
    return module_containers.form(state, made), instance.pending, len(before), len(after), str(state.modes)


def _sets_nothing(interp: Interpreter, meta: ClassValue, call: Closure) -> bool:
    """Check whether the call of a metaclass sets no attribute, and hands what it is given on as it is."""
    definitions = interp.context.definitions(meta)
    own = (method for item in definitions for method in item.methods if method.slice == call.function.slice)
    nodes = list(walk(call.function.body))
    stored = [target for node in nodes if isinstance(node, ir.Assign) for target in node.targets]
    if any(method.sets or method.outside for method in own) or any(isinstance(one, ir.Attr) for one in stored):
        return False
    given = {param.name for param in call.function.params if param.kind.startswith("var")}
    used = sum(isinstance(node, ir.Name) and node.id in given for node in nodes)
    handed = (node.value for node in nodes if isinstance(node, ir.Starred | ir.Keyword))
    return used == sum(isinstance(value, ir.Name) and value.id in given for value in handed)


def _on_unknown_objects(
    interp: Interpreter, frame: Frame, spare: State, cls: ClassValue, init: Closure, candidates: Sequence[Arguments]
) -> Results:
    """Construct a class that refuses objects with default fields on unknown ones in their place: one path at most."""
    for given in candidates:
        unknown = plainer_arguments.without_objects(spare, init.function, given)
        if unknown != given:
            with interp.fuel.scope(paths=1):
                made = interp.construct(frame, spare.fork(), cls, unknown, 0)
            if made:
                return made[:1]
    return []


def _on_unknown_values(interp: Interpreter, frame: Frame, spare: State, cls: ClassValue, init: Closure) -> Results:
    """
    Construct a class that refuses its defaults, by no condition, on unknown values in their place: one path at most.

        def __init__(self, size=0, heads=0):        # whoever uses the class passes both
            self.head_size = size // heads
    """
    state = spare.fork()
    given = symbolic_args.of_constructor(interp, state, init.function, {})
    with interp.fuel.scope(paths=1):
        return interp.construct(frame, state, cls, given, 0)[:1]


def _record_refusals(
    interp: Interpreter, frame: Frame, state: State, cls: ClassValue, candidates: Sequence[Arguments]
) -> None:
    """Construct a class that refuses what it is given once more, to find the conditions in other files that do."""
    interp.context.coverage.refusing = True
    with interp.fuel.scope(paths=1):
        for given in candidates:
            interp.construct(frame, state.fork(), cls, given, 0)
    interp.context.coverage.refusing = False


def beyond_defaults(interp: Interpreter, frame: Frame, state: State, cls: ClassValue) -> list[tuple[State, Value]]:
    """
    Construct a class that cannot be called on its defaults on something for parameters that are None by default.

        def forward(self, x):
            return x - self.bounds[0]           # as None has no items, whoever calls the class passes `bounds`

    Return nothing where it has none, or where the program says what it constructs the class on.
    """
    init = interp.lookup(state, cls, "__init__")
    if not isinstance(init, Closure) or interp.context.constructed.get(id(cls)):
        return []
    with interp.fuel.scope(paths=1):
        return _beyond_defaults(interp, frame, state, cls, init, _defaults_in_use(interp, cls.name, init))[:1]


def completes(interp: Interpreter, function: Value | None) -> bool:
    """Check whether some path of a function has completed; true of what is none of the program."""
    return not isinstance(function, Closure) or closures.name_of(function.function) in interp.fuel.returned


def _beyond_defaults(
    interp: Interpreter, frame: Frame, spare: State, cls: ClassValue, init: Closure, defaults: Mapping[str, Value]
) -> Results:
    """
    Construct a class that refuses its defaults on something for parameters that are None by default.

    They may be None, as far as paths go; where none completes, something is passed for each.
    """
    passed = {name: value for name, value in defaults.items() if value != NONE}
    if len(passed) == len(defaults):
        return []
    state = spare.fork()
    given = symbolic_args.of_function(interp, state, init.function, defaults, skip=1)
    made = interp.construct(frame, state, cls, interp.context.coverage.applied(given), 0)
    if made and completes(interp, init):
        return made
    state = spare.fork()
    given = interp.context.coverage.applied(symbolic_args.of_constructor(interp, state, init.function, passed))
    for name, value in given.keywords:
        if isinstance(value, Sym) and name in defaults:
            state.learn((origins.NONE, value.id), False)
    return interp.construct(frame, state, cls, given, 0)


def _defaults_in_use(interp: Interpreter, name: str, init: Closure) -> dict[str, Value]:
    """Return the defaults of a constructor that no path called, without functions and classes that may be replaced.

    The file may hand the class on (`block=Block`), to be constructed where that is not seen: what `act` is otherwise
    says nothing of the program. Options that are constants stay what they are, and are searched.
    """
    users = interp.context.main.users_of(name)
    handed_on = any(name in user.kept - set(user.bases) or name in user.kept_attributes for _, user in users)
    return {
        key: value
        for key, value in interp.context.defaults_of(init).items()
        if isinstance(value, Const) or not handed_on
    }


def unmade(interp: Interpreter, state: State, cls: ClassValue) -> list[tuple[State, Value]]:
    """Return an unknown instance of a class whose constructor completes on no path."""
    interp.fuel.counters["constructors_without_a_path"] += 1
    return [(state, state.new(Instance(cls, {"training": Const(True)}, opaque=True)))]


def _different(made: list[tuple[State, Value]]) -> list[tuple[State, Value]]:
    """Return the instances that differ in more than numbers; those that need no assumptions come first."""
    kept: dict[Hashable, tuple[State, Value]] = {}
    for state, receiver in sorted(made, key=lambda pair: len(pair[0].assumptions)):
        kept.setdefault(module_containers.form(state, receiver), (state, receiver))
    return list(kept.values())


def leaves_rates(interp: Interpreter, item: Definition) -> bool:
    """
    Return whether the program constructs a class, but never with an option of it that is the number 0 by default.

    At another rate, which whoever uses the class elsewhere may pass, its parts may write.
    """
    cls, base = interp.context.classes.get(item.slice), interp.context.base
    entries = interp.context.constructed.get(id(cls), ())
    init = interp.lookup(base, cls, "__init__") if base is not None and cls is not None and entries else None
    if not isinstance(init, Closure) or None in entries:
        return False
    rates = {name for name, value in interp.context.defaults_of(init).items() if _is_zero(value)}
    names = [param.name for param in init.function.params[1:]]
    passed = (portable_arguments.passed(entry, names) for entry in entries if rates and entry is not None)
    return bool(rates.difference(*passed))


def _is_zero(value: Value) -> bool:
    return type(value) is Const and type(value.value) in {int, float} and not value.value


def is_worth_passing(interp: Interpreter, state: State, cls: ClassValue, item: Definition, entry: str) -> bool:
    """
    Return whether a call is run once more on all that is None by default.

    It is where a method that writes was not run without, or where the conditions are those of another file.
    """
    method = interp.lookup(state, cls, entry)
    if not isinstance(method, Closure) or NONE not in interp.context.defaults_of(method).values():
        return False
    inherited = method.function.slice.path != item.slice.path
    return inherited or any(True for _ in schedule.pending_methods(item, interp.fuel.returned))
