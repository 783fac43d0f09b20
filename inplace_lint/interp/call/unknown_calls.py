"""
Calls of unknown functions.

    whatever(x, names)      # returns an unknown value; `names`, a list, may have any content from here on
    net = wrap(Net())       # a call of this unknown value is taken to be a call of the module, too
"""

from __future__ import annotations

from msgspec.structs import replace

from inplace_lint.core.event import Site
from inplace_lint.domain import origins, traits, unknown_history
from inplace_lint.domain.heap import DictObject, ListObject
from inplace_lint.domain.state import State
from inplace_lint.domain.values import NONE, NOT_TENSORS, Bound, Closure, Const, Dotted, NodeId, Ref, Sym, SymId, Value
from inplace_lint.interp.call import module_registry
from inplace_lint.interp.control import path_condition
from inplace_lint.interp.expr import subscripts
from inplace_lint.interp.frame import Arguments, Frame
from inplace_lint.interp.interpreter import Interpreter
from inplace_lint.interp.intrinsics import module_methods, opaque_modules, optimizers, state_dict
from inplace_lint.interp.outcome import Results
from inplace_lint.interp.pylib import command_line, constant_folding
from inplace_lint.interp.transfer import index, materialise
from inplace_lint.ir import nodes as ir
from inplace_lint.knowledge.layers import is_layer
from inplace_lint.knowledge.words import ValueKind

_LEAVES = "an unknown call leaves what a module keeps as it is"


def unknown_call(
    interp: Interpreter, frame: Frame, state: State, function: Value, arguments: Arguments, at: int
) -> Results:
    """Return an unknown result; containers passed to the call may have any content from here on."""
    stores = _hand_over(interp, state, function, arguments)
    state, made = _call_wrapped(interp, frame, state, function, arguments, at)
    if len(arguments.exprs) > 1:
        interp.listeners.gather(frame, state, at, *_named(arguments))
    marked = state.symbols.marked
    if isinstance(function, Sym) and module_methods.is_listed_around(interp, frame, state, function):
        opaque_modules.parameters(state, function)
    module_methods.note_part(interp, state, function)
    known = isinstance(function, Ref) or (
        isinstance(function, Sym) and function.id in marked and state.has_trait(traits.PARAMETERS, function.id)
    )
    state.clock += 1
    site = frame.site(at)
    kind = "input" if known else _kind(interp, state, function, arguments)
    result = _text(state, function, arguments) or state.symbols.sym((origins.RESULT, function, site, state.clock), kind)
    optimizers.note_given(state, result, arguments)
    materialise.remember_history(state, result, function, arguments, site, made)
    _note_given(interp, state, function, arguments, result)
    interp.listeners.called(frame, state, function, arguments, result, site)
    if _has_no_gradient(state, function, arguments, known=known):
        state.set_trait(traits.NO_GRADIENT, result.id, True)
    if isinstance(function, Sym):
        if not stores:
            _hand_owner(state, function, result, drops=at in frame.dropped[:1], free=not made)
        _freeze(interp, state, function, arguments)
        state_dict.track_opaque_module(interp, frame, state, function, arguments, site)
        command_line.note(state, function, arguments, result)
    return [(state, result)]


def _hand_over(interp: Interpreter, state: State, function: Value, arguments: Arguments) -> bool:
    """Give an unknown call its arguments; return whether it is a mapping's, which does no more than store them."""
    stores = isinstance(function, Sym) and _update(interp, state, function, arguments)
    for value in arguments.values:
        inner = state.object(value)
        if isinstance(value, Ref) and isinstance(inner, ListObject | DictObject):
            if not command_line.only_reads(state, function):
                state.put(value, replace(inner, exact=False))
        elif module_registry.is_module(state, value):
            _hand_module(interp, state, function, value)
        elif isinstance(value, Sym):
            _hand_unknown(state, value)
        interp.listeners.hand_over(state, value)
    return stores


def _freeze(interp: Interpreter, state: State, function: Sym, arguments: Arguments) -> None:
    """Record of an unknown value that it was told whether its parameters require grad: `net.requires_grad_(False)`."""
    match state.symbols.keys[function.id]:
        case (origins.ATTRIBUTE, int(owner), str(name)) if arguments.values and name.endswith("_"):
            facts = interp.context.default()
            forms = facts.forms(f"{facts.framework.module}.{name}")
            if forms and forms[0].act == "module_requires_grad_":
                opaque_modules.set_trained(state, Sym(SymId(owner)), path_condition.truth(state, arguments.values[0]))
        case _:
            pass


def _has_no_gradient(state: State, function: Value, arguments: Arguments, *, known: bool) -> bool:
    """Check whether no gradient comes out of a call: none is recorded, or a frozen module is given data."""
    if state.modes.grad is False:
        return known or any(_is_tensor(state, value) for value in arguments.positional) or _is_held(state, function)
    owner = arguments.values[0] if isinstance(function, Closure) and arguments.values else function
    if not _is_frozen(state, owner) or not arguments.values:
        return False
    # An unknown model that is frozen is there to make features of data, such as the numbers of words.
    given = [value for value in arguments.values if not (isinstance(owner, Sym) and _is_from_outside(state, value))]
    return not any(_may_have_gradient(state, value) for value in given)


def _is_held(state: State, function: Value) -> bool:
    """Check whether what is called is one of several, or was given to a constructor: nothing that makes modules."""
    key = state.symbols.key(function) if isinstance(function, Sym) else None
    is_item = isinstance(key, tuple) and key[0] in {origins.ITEM, origins.TURN}
    return is_item or unknown_history.is_given_to_constructor(key)


def _is_from_outside(state: State, value: Value) -> bool:
    return isinstance(value, Sym) and state.tensor(value) is None and not unknown_history.nodes_behind(state, value)


def _is_frozen(state: State, function: Value) -> bool:
    """Check whether a value, or all parameters of it, were told to require no grad, or it is a method of such."""
    if isinstance(function, Ref):
        return state.trait(traits.FROZEN, function.id) is True
    if not isinstance(function, Sym):
        return False
    tensor = state.tensor(function)
    if tensor is not None:
        return tensor.rg is False and tensor.leaf is True
    listed = [state.tensor(ref) for ref in state.trait(traits.PARAMETERS, function.id) or ()]
    if state.trait(traits.TOLD_FROZEN, function.id) or (listed and all(one and one.rg is False for one in listed)):
        return True
    match state.symbols.keys[function.id]:
        case (origins.ATTRIBUTE, int(owner), _):
            return _is_frozen(state, Sym(SymId(owner)))
        case _:
            return False


def _may_have_gradient(state: State, value: Value) -> bool:
    tensor = state.tensor(value)
    if tensor is not None:
        return tensor.rg is not False
    if isinstance(value, Sym):
        return value.kind not in NOT_TENSORS and not unknown_history.has_no_gradient(state, value)
    return not (isinstance(value, Const) or _is_frozen(state, value))


def _text(state: State, function: Value, arguments: Arguments) -> Sym | None:
    """Return what `text.lower()` and the like return, which is the same text at every call; None for other calls."""
    given = bool(arguments.values) or arguments.unknown
    match state.symbols.key(function) if isinstance(function, Sym) and not given else None:
        case (origins.ATTRIBUTE, _, str(name)) if name in constant_folding.IDEMPOTENT:
            return state.symbols.sym((origins.RESULT, function))
        case _:
            return None


def _note_given(interp: Interpreter, state: State, function: Value, arguments: Arguments, result: Sym) -> None:
    """
    Record the one module that an unknown call was given, the tensors that its result may have, and its axes.

    A class of layers that is given their sizes first applies an activation to what these return.
    """
    says = interp.context.default().framework.axes.get(function.name) if isinstance(function, Dotted) else None
    if says is not None:
        index.note_axes(state, says, arguments, result)
    named = tuple([(name, value) for name, value in arguments.keywords if state.tensor(value) is not None])
    if named:
        state.set_trait(traits.NAMED, result.id, named)
    if type(function) is Dotted:
        _note_made(interp, state, function, arguments, result)
    elif isinstance(function, Sym) and function.id in interp.context.coverage.options:
        interp.context.coverage.called.setdefault((interp.context.coverage.root, function.id), arguments)
    modules = [
        value for value in arguments.values if isinstance(value, Ref) and module_registry.is_module(state, value)
    ]
    if len(modules) == 1 and modules[0] == arguments.values[0]:
        state.set_trait(traits.WRAPS, result.id, modules[0])


def _note_made(interp: Interpreter, state: State, function: Dotted, arguments: Arguments, result: Sym) -> None:
    """Record that a call made a layer of a library; or an object that has as attributes what it is given by name."""
    if function.name.rpartition(".")[2][:1].isupper():
        for name, value in arguments.keywords:
            materialise.hold(state, result, name, value)
    if is_layer(interp.context.default().framework.name, function.name):
        opaque_modules.note_layer(state, result)


def _call_wrapped(
    interp: Interpreter, frame: Frame, state: State, function: Value, arguments: Arguments, at: int
) -> tuple[State, tuple[Value, ...]]:
    """
    Call the module that an unknown call wrapped on what its result is called on; return what that gives.

    It is assumed to get the same tensors: what it keeps of these, or writes to them, is certain of no program.
    """
    wrapped = state.trait(traits.WRAPS, function.id) if isinstance(function, Sym) else None
    if wrapped is None:
        return _call_given(interp, frame, state, function, arguments, at)
    if state.modes.grad is False or not any(map(state.tensor, arguments.positional)):
        return state, ()
    name = opaque_modules.name_of_call(state, function)
    passes = (
        f"`{name}` passes its input on to the module that it is given"
        if name
        else "an unknown call passes its input on to the module that it is given"
    )
    inner = state.fork()
    given = tuple(materialise.supposed(inner, value, passes) for value in arguments.positional)
    called = _called_before(interp, state, wrapped, function)
    with interp.fuel.scope(paths=1):
        made = interp.call(frame, inner, called, replace(arguments, positional=given, exprs={}), at)
    return (made[0][0], (made[0][1],)) if made else (state, ())


def _call_given(
    interp: Interpreter, frame: Frame, state: State, function: Value, arguments: Arguments, at: int
) -> tuple[State, tuple[Value, ...]]:
    """
    Call the function or module that an unknown call is given, on what may be computed of the tensors beside it.

        h = odeint(self.velocity, x, times)
        graph.update_all(self.message, self.reduce)     # of what the program stored in `graph`

    One that writes what is older, or runs backward, is left out: whether it is called, and when, is not known.
    """
    site = frame.site(at)
    if state.modes.grad is False or type(function) is Closure or state.trait(traits.IN_HOOK, None) or _recurs(site):
        return state, ()
    given = [(value, many) for value in arguments.positional if (many := _parameters(interp, state, value)) is not None]
    beside = [value for value in arguments.values if not any(value is one for one, _ in given)]
    if not given or not (unknown_history.holding(state, function) or any(_is_tensor(state, one) for one in beside)):
        return state, ()
    made: list[Value] = []
    returned = set(interp.fuel.returned)
    for called, many in given[:_MOST_CALLED]:
        state.clock += 1
        values = [state.symbols.sym((origins.RESULT, function, site, state.clock, place)) for place in range(many)]
        for value in values:
            materialise.remember_history(state, value, function, Arguments((*beside, *made)), site)
        with interp.fuel.scope(paths=1):
            results = interp.call(frame, state.fork(), called, Arguments(tuple(values)), at)
        if not results or results[0][0].freed != state.freed or not results[0][0].leaves_tensors_of(state):
            interp.fuel.returned = returned
            break
        state = results[0][0]
        made.append(results[0][1])
    return state, tuple(made)


def _recurs(site: Site) -> bool:
    """Check whether a call is made inside of another one from the same place."""
    outer = site.caller
    while outer is not None and outer.place != site.place:
        outer = outer.caller
    return outer is not None


def _parameters(interp: Interpreter, state: State, value: Value) -> int | None:
    """Return how many arguments a function of the program needs, or the forward of a module; None for another value."""
    bound = 0
    instance = state.instance(value)
    if instance is not None and (framework := interp.context.is_module(instance.cls)) is not None:
        forward = interp.lookup(state, instance.cls, framework.calls)
        if type(forward) is not Closure:
            return 1
        value, bound = forward, 1
    if type(value) is Bound:
        value, bound = value.function, 1
    if type(value) is not Closure or value.wrapper:
        return None
    plain = [param for param in value.function.params if param.kind in {"plain", "positional-only"}]
    return len([param for param in plain if param.name not in value.optional]) - bound


def _called_before(interp: Interpreter, state: State, module: Ref, function: Value) -> Value:
    """Return what a call of a module ran before the function took the place of its forward; else the module."""
    instance = state.instance(module)
    framework = None if instance is None else interp.context.is_module(instance.cls)
    if instance is None or framework is None or instance.attrs.get(framework.calls) != function:
        return module
    method = interp.lookup(state, instance.cls, framework.calls)
    return Bound(module, method) if isinstance(method, Closure) else NONE


def _hand_unknown(state: State, value: Sym) -> None:
    if value.id in state.symbols.marked:
        state.set_trait(traits.PASSED_ON, value.id, True)
    if value.kind in {"", "input"} and unknown_history.is_parameter(state, value):
        state.set_trait(traits.FED, value.id, True)


def _update(interp: Interpreter, state: State, function: Sym, arguments: Arguments) -> bool:
    """
    Store what an unknown mapping is updated with; return whether a call does that.

        x = batch["x"]
        batch.update({"hidden": self.encode(x)})     # a mapping, since it has items under texts
    """
    match state.symbols.keys[function.id]:
        case (origins.ATTRIBUTE, int(number), str(name)) if name == _STORES:
            container = Sym(SymId(number))
            given = [inner for value in arguments.positional if isinstance(inner := state.object(value), DictObject)]
        case _:
            return False
    is_whole = not arguments.unknown and len(given) == len(arguments.positional) and all(one.exact for one in given)
    if not is_whole or not subscripts.has_texts(state, container):
        return False
    named = ((Const(name), value) for name, value in arguments.keywords)
    for key, value in (*(pair for inner in given for pair in inner.pairs), *named):
        subscripts.keep(interp, state, container, key, value)
    return True


def _hand_owner(state: State, function: Sym, result: Sym, *, drops: bool, free: bool) -> None:
    """
    Record that a method of an unknown object may have replaced what the program stored in that.

    One whose result the program `drops` is called for what it does: the object may keep what the method was given, or
    what functions of the program returned to it. `free`: there was none, so that it may also print or measure.
    """
    match state.symbols.keys[function.id]:
        case (origins.ATTRIBUTE, int(number), str(name)) if name not in _LEAVES_ITEMS:
            container = Sym(SymId(number))
            if drops and result.id in state.symbols.marked:
                materialise.hold(state, container, name, result, free=free)
            if unknown_history.holding(state, container):
                state.set_trait(traits.PASSED_ON, unknown_history.owner(state, container).id, True)
        case _:
            pass


def _hand_module(interp: Interpreter, state: State, function: Value, module: Value) -> None:
    """Record that an unknown call is given a module, whose attributes it may reset."""
    state.set_trait(traits.LOADED, None, True)
    name = opaque_modules.name_of_call(state, function)
    leaves = f"`{name}` leaves what a module keeps as it is" if name else _LEAVES
    resets = module_registry.sets_elsewhere(interp, state, module)
    state.set_trait(traits.HANDED, None, traits.Handed(NodeId(state.next_id), leaves, resets))


def _named(arguments: Arguments) -> tuple[list[ir.Expr], list[Value]]:
    """Return the arguments that are variables, and their values."""
    given: dict[int | str, Value] = {**dict(enumerate(arguments.positional)), **dict(arguments.keywords)}
    keys = [key for key, expr in arguments.exprs.items() if isinstance(expr, ir.Name) and key in given]
    return [arguments.exprs[key] for key in keys], [given[key] for key in keys]


def _is_tensor(state: State, value: Value) -> bool:
    """Check whether a call is given a tensor: what it returns is then made of it, and no module or parameter."""
    return state.tensor(value) is not None or (isinstance(value, Sym) and value.kind in {"tensor", "input"})


def _kind(interp: Interpreter, state: State, function: Value, arguments: Arguments) -> str:
    """Return the kind of what a method of an unknown value returns: a number from a shape or a search, or a size."""
    if interp.context.is_of_arrays(function):
        return "array"
    match state.symbols.key(function) if isinstance(function, Sym) else None:
        case (origins.ATTRIBUTE, int(owner), str(name)) if name in _SEARCHES or _is_shape(state.symbols.keys[owner]):
            return "number"
        case (origins.ATTRIBUTE, _, str(name)):
            return "number" if _measures(interp, name, is_given=bool(arguments.values)) else ""
        case _:
            return ""


def _measures(interp: Interpreter, name: str, *, is_given: bool) -> bool:
    """Check whether tensors have a method of a name that returns a size, or does so of an axis that is given."""
    facts = interp.context.default()
    forms = facts.forms(f"{facts.framework.tensor}.{name}")
    kinds = {form.returns[-1].value if form.returns else ValueKind.UNKNOWN for form in forms}
    return bool(kinds) and (kinds <= _SIZES if not is_given else not kinds.isdisjoint(_SIZES))


def _is_shape(key: object) -> bool:
    return isinstance(key, tuple) and key[0] is origins.SHAPE


_SIZES = frozenset({ValueKind.RANK, ValueKind.SIZE, ValueKind.COUNT})
_MOST_CALLED = 2
_LEAVES_ITEMS = frozenset({"get", "keys", "values", "items", "copy"})  # methods of mappings
_STORES = "update"  # the method of mappings that stores items
# Methods of Python's sequences and texts; tensors have none of them.
_SEARCHES = frozenset({"index", "rindex", "find", "rfind", "count"})
