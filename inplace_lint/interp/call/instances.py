"""
Instances: construction by running `__init__`, and calls by running the method that a call of a module runs.

    self.act = nn.ReLU(inplace=True)    # a library module: its arguments become attributes, its parameters tensors
    y = self.act(x)                     # applies the facts of the module, with these attributes
"""

from __future__ import annotations

from msgspec.structs import replace

from inplace_lint.domain import origins
from inplace_lint.domain.heap import Instance
from inplace_lint.domain.state import State
from inplace_lint.domain.values import (
    NEW_TUPLE,
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
)
from inplace_lint.effects.write_evidence import SWITCH
from inplace_lint.interp import symbolic_args
from inplace_lint.interp.call import closures, construction_summary, hooks, module_registry
from inplace_lint.interp.call.library_bases import fill, library_base, library_init, prepare_container, prepare_contents
from inplace_lint.interp.call.module_containers import run_in_order
from inplace_lint.interp.call.unknown_calls import unknown_call
from inplace_lint.interp.control import modes
from inplace_lint.interp.frame import Arguments, Frame
from inplace_lint.interp.interpreter import Interpreter
from inplace_lint.interp.options import swapped
from inplace_lint.interp.outcome import Results, taken
from inplace_lint.interp.pylib import dataclass_fields
from inplace_lint.interp.transfer import op_call


def construct(
    interp: Interpreter, frame: Frame, state: State, cls: ClassValue, arguments: Arguments, at: int
) -> Results:
    """Construct an instance of a class of the program; the constructor may be left pending."""
    known = module_registry.construct_special(interp, state, cls, arguments)
    if known is not None:
        return known
    made = _made(interp, frame, state, cls, arguments, at)
    if made is not None:
        return made
    # A class that derives from what `namedtuple("Pair", "left right")` returns.
    row = next((base for base in cls.bases if isinstance(base, Partial) and base.function == NEW_TUPLE), None)
    if row is not None and interp.lookup(state, cls, "__new__") is None:
        rows = interp.call(frame, state, row, arguments, at)
        return [(after, replace(value, cls=cls) if isinstance(value, Tuple) else value) for after, value in rows]
    if interp.fuel.lazy or interp.context.is_module(cls) is None:
        return _construct(interp, frame, state, cls, arguments, at)
    return construction_summary.construct(
        interp, state, cls, arguments, lambda live: _construct(interp, frame, live, cls, arguments, at)
    )


def _made(
    interp: Interpreter, frame: Frame, state: State, cls: ClassValue, arguments: Arguments, at: int
) -> Results | None:
    """
    Construct what the `__new__` of a class returns: an object of it is initialised.

    Return None where that is no object of the program: unknown, or a tensor, whose operations the class may change.
    """
    for base in interp.context.mro(cls):
        if type(base) is ClassValue and "__new__" in base.methods:
            break
    else:
        return None
    maker = interp.lookup(state, cls, "__new__")
    if not isinstance(maker, Closure):
        return None
    spare = state.fork()
    made = interp.call(frame, spare, maker, arguments.first(cls), at)
    results: Results = []
    for after, ref in made:
        instance = after.instance(ref)
        if instance is None:
            return None
        own = instance.cls if cls in interp.context.mro(instance.cls) else None
        if isinstance(own, ClassValue) and isinstance(ref, Ref):
            results.extend(_initialise(interp, frame, after, own, ref, arguments, at))
        else:
            results.append((after, ref))
    return results


def bare(interp: Interpreter, state: State, cls: ClassValue, *, is_module: bool) -> Ref:
    """Return a new object of a class, on which no constructor has been run."""
    ref = state.new(Instance(cls, {"training": Const(True)} if is_module else {}, _opaque(interp, cls)))
    prepare_container(interp, state, cls, ref)
    return ref


def _construct(
    interp: Interpreter, frame: Frame, state: State, cls: ClassValue, arguments: Arguments, at: int
) -> Results:
    is_module = interp.context.is_module(cls) is not None
    init = dataclass_fields.constructor(interp, state, cls)
    if interp.context.coverage.offers and not is_module:
        arguments = symbolic_args.with_options(interp, state, cls, arguments)
    if arguments.spread and isinstance(init, Closure) and not closures.fits(init, arguments):
        arguments = replace(arguments, unknown=True)
    ref = bare(interp, state, cls, is_module=is_module)
    mapping = prepare_contents(interp, state, cls, ref)
    if mapping is not None and init is None:
        return [(after, ref) for after, _ in interp.call(frame, state, Builtin("__init__", mapping), arguments, at)]
    instance = state.instance(ref)
    if interp.fuel.lazy and is_module and instance is not None and not instance.children and not arguments.unknown:
        state.put(ref, replace(instance, pending=Partial(cls, arguments.positional, arguments.keywords)))
        return [(state, ref)]
    return _initialise(interp, frame, state, cls, ref, arguments, at)


def construct_pending(interp: Interpreter, frame: Frame, state: State, ref: Ref, at: int) -> list[State]:
    """Run the pending constructor of an instance; attributes that were set on it since then stay set."""
    instance = state.instance(ref)
    assert instance is not None
    assert instance.pending is not None
    assert isinstance(instance.cls, ClassValue)
    state.put(ref, replace(instance, pending=None))
    arguments = Arguments(instance.pending.args, instance.pending.keywords)
    # IMPRECISE: findings show the call at the first use of the instance, not at its construction.
    states = [after for after, _ in _initialise(interp, frame, state, instance.cls, ref, arguments, at)]
    for after in states:
        for name, value in instance.attrs.items():
            if name != "training" or value != Const(True):
                after.set_attribute(ref, name, value)
    return states


def _initialise(
    interp: Interpreter, frame: Frame, state: State, cls: ClassValue, ref: Ref, arguments: Arguments, at: int
) -> Results:
    init = dataclass_fields.constructor(interp, state, cls)
    if isinstance(init, ClassValue):
        return _construct_data(interp, frame, state, cls, ref, arguments)
    if isinstance(init, Closure):
        done = interp.call(frame, state, Bound(ref, init), arguments, at)
        return [(after, ref) for after, _ in done]
    base = next((entry for entry in interp.context.mro(cls) if isinstance(entry, Dotted)), None)
    if base is not None and interp.context.facts_of(base.name) is not None:
        library_init(interp, frame, state, ref, base.name, arguments, at)
    return [(state, ref)]


def _opaque(interp: Interpreter, cls: ClassValue) -> bool:
    """Check whether a class has bases of which nothing is known."""
    return any(
        isinstance(entry, Sym) or (isinstance(entry, Dotted) and not interp.context.knows_base(entry))
        for entry in interp.context.mro(cls)
    )


def _construct_data(
    interp: Interpreter, frame: Frame, state: State, cls: ClassValue, ref: Ref, arguments: Arguments
) -> Results:
    """Set the fields of a dataclass from the arguments in order, then from their defaults."""
    fields = dataclass_fields.declared(interp, cls)
    in_order = [name for name, field in fields.items() if field.init and not field.by_name]
    given = {**dict(zip(in_order, arguments.positional, strict=False)), **dict(arguments.keywords)}
    passed: list[Value] = []
    for name, field in fields.items():
        value = given.get(name) or interp.lookup(state, cls, name)
        if type(value) is Partial and value.function == dataclass_fields.MADE:
            value = taken(state, interp.call(frame, state, value.args[0], Arguments(), 0))
        if value is None:
            value = state.symbols.sym((origins.FIELD, name, state.next_id))
        if field.passed:
            passed.append(value)
        else:
            state.set_attribute(ref, name, value)
    post = interp.lookup(state, cls, "__post_init__")
    if isinstance(post, Closure):
        arguments = Arguments(tuple(passed))
        return [(after, ref) for after, _ in interp.call(frame, state, Bound(ref, post), arguments, 0)]
    return [(state, ref)]


def construct_library(
    interp: Interpreter, frame: Frame, state: State, name: str, arguments: Arguments, at: int
) -> Results:
    """Construct a library module: its arguments become attributes, its parameters and buffers tensors."""
    interp.fuel.counters["framework_calls"] += 1
    interp.fuel.counters["framework_calls_with_fact"] += 1
    ref = state.new(Instance(Dotted(name), {"training": Const(True)}, made=frame.site(at).place))
    op_call.check_flag(interp, frame, state, name, interp.context.forms(name)[0].init or (), arguments, at)
    fill(interp, state, ref, name, arguments)
    return [(state, ref)]


def call_instance(interp: Interpreter, frame: Frame, state: State, ref: Ref, arguments: Arguments, at: int) -> Results:
    """Call an instance."""
    instance = state.instance(ref)
    assert instance is not None
    if instance.pending is not None:
        return [
            result
            for after in construct_pending(interp, frame, state, ref, at)
            for result in call_instance(interp, frame, after, ref, arguments, at)
        ]
    if interp.context.swapped and _is_rerouted(interp, instance.cls):
        return unknown_call(interp, frame, state, ref, arguments, at)
    decorated = modes.decorated(interp, state, ref, arguments)
    if decorated is not None:
        return [(state, decorated)]
    if hooks.has_forward(state, ref):
        return hooks.around(interp, frame, state, ref, arguments, at, _recorded)
    return _recorded(interp, frame, state, ref, arguments, at)


def _is_rerouted(interp: Interpreter, cls: Value) -> bool:
    """Check whether the program sets the method that runs a module, or that calls any, in a class of the framework."""
    framework = interp.context.is_module(cls)
    calls = "" if framework is None else framework.calls
    bases = [] if framework is None else interp.context.mro(cls)
    own = any(isinstance(base, ClassValue) and calls in base.methods for base in bases)
    names = ("__call__",) if own else ("__call__", calls)
    known = [interp.context.canonical(base.name) for base in bases if isinstance(base, Dotted)]
    classes = known if framework is None else [*known, framework.module]
    return any(f"{name}.{method}" in interp.context.swapped for name in classes for method in names)


def _recorded(interp: Interpreter, frame: Frame, state: State, ref: Ref, arguments: Arguments, at: int) -> Results:
    if state.modes.grad is not False and hooks.has_backward(state, ref):
        return hooks.run(interp, frame, state, ref, arguments, at, _call)
    return _call(interp, frame, state, ref, arguments, at)


def _call(interp: Interpreter, frame: Frame, state: State, ref: Ref, arguments: Arguments, at: int) -> Results:
    instance = state.instance(ref)
    assert instance is not None
    if isinstance(instance.cls, Dotted):
        override = _override(interp, ref, instance)
        if override is not None:
            return interp.call(frame, state, override, arguments, at)
        if instance.children is not None:
            return run_in_order(interp, frame, state, instance, arguments, at)
        if SWITCH in interp.context.replaceable and SWITCH in instance.attrs:
            swapped.read(interp, state, instance, SWITCH, instance.attrs[SWITCH])
        return _apply(interp, frame, state, ref, instance.cls.name, arguments, at)
    own = _own_call(interp, state, instance.cls)
    if own is not None:
        return interp.call(frame, state, Bound(ref, own), arguments, at)
    framework = interp.context.is_module(instance.cls)
    method = interp.lookup(state, instance.cls, framework.calls) if framework is not None else None
    override = _override(interp, ref, instance) if framework is not None else None
    called = override or (Bound(ref, method) if isinstance(method, Closure) else None)
    if called is not None:
        return interp.call(frame, state, called, arguments, at)
    if instance.children is not None:
        return run_in_order(interp, frame, state, instance, arguments, at)
    base = library_base(interp, instance.cls)
    if base is not None:
        return _apply(interp, frame, state, ref, base, arguments, at)
    return unknown_call(interp, frame, state, ref, arguments, at)


def _apply(
    interp: Interpreter, frame: Frame, state: State, ref: Ref, layer: str, arguments: Arguments, at: int
) -> Results:
    """Apply a layer of the framework; parameters that modules of the program compute are computed first."""
    instance = state.instance(ref)
    names = () if instance is None else op_call.computed_names(instance)
    if not names:
        return interp.apply_op(frame, state, layer, arguments, at, instance=ref)
    states = [state]
    for name in names:
        read = [result for one in states for result in interp.get_attribute(frame, one, ref, name, at)]
        for one, value in read:
            one.set_attribute(ref, name, value)
        states = [one for one, _ in read]
    results = [result for one in states for result in interp.apply_op(frame, one, layer, arguments, at, instance=ref)]
    for one, _ in results:
        now = one.instance(ref)
        if now is not None:
            one.put(ref, replace(now, attrs={key: value for key, value in now.attrs.items() if key not in names}))
    return results


def _override(interp: Interpreter, ref: Ref, instance: Instance) -> Value | None:
    """
    Return the forward that was set on an instance itself, which takes precedence over that of its class.

    `net.forward = torch.compile(net)` calls what was there before.
    """
    override = instance.attrs.get(interp.context.default().framework.calls)
    return None if override == ref else override


def _own_call(interp: Interpreter, state: State, cls: ClassValue) -> Closure | None:
    found = interp.lookup(state, cls, "__call__")
    return found if isinstance(found, Closure) else None
