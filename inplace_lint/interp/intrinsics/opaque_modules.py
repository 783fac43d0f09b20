"""
Opaque modules: values of unknown class that the program shows to be modules with weights.

    for p in critic.parameters(): ...  # `critic` is unknown, but has weights: the same ones each time they are listed
    opt = Adam(critic.parameters())    # which require grad, and which the optimizer writes
    q = critic(state)                  # backward of this call needs their present values
    opt.step()                         # writes them

Two parameters stand for all. Every finding about a call has an assumption: backward of a single layer needs no weights
if its input requires no gradient.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator

from msgspec.structs import replace

from inplace_lint.core.assumption import assumption
from inplace_lint.core.event import Site, Touch
from inplace_lint.domain import origins, traits, unknown_history
from inplace_lint.domain.heap import BESIDE, DictObject, Instance, ListObject, Node, Save, Tensor, View
from inplace_lint.domain.state import State
from inplace_lint.domain.values import Closure, Const, Dotted, NodeId, Ref, StorageId, Sym, SymId, Three, Tuple, Value
from inplace_lint.interp.fuel import UNKNOWN_TURNS
from inplace_lint.knowledge.framework import Framework

_DEEPEST = 4
_LISTED = "what `parameters()` returns requires grad"
_NAMELESS = "forward"


def parameters(state: State, owner: Sym) -> tuple[Ref, ...]:
    """Return the parameters of an unknown module, the same ones each time; whether they require grad is not known."""
    known = state.trait(traits.PARAMETERS, owner.id)
    if known is None:
        _touch_layer(state, owner)
        known = tuple(_listed(state, owner, position) for position in range(UNKNOWN_TURNS))
        state.set_trait(traits.PARAMETERS, owner.id, known)
        state.symbols.marked.add(owner.id)
    return known


def named_parameters(state: State, owner: Sym) -> list[tuple[Value, Ref]]:
    """List the parameters of an unknown module, each with a name that is not known, but the same for all modules."""
    return [
        (state.symbols.sym((origins.LISTED, "name", position), "name"), ref)
        for position, ref in enumerate(parameters(state, owner))
    ]


def _listed(state: State, owner: Sym, position: int) -> Ref:
    number = state.symbols.sym((origins.LISTED, owner, position), "tensor")
    trains = True if unknown_history.is_copy_of_trained(state, owner) else None
    why = "" if trains else assumption(_LISTED, number.id)
    return state.tensor_of(number, Tensor(state.new_storage(), rg=trains, leaf=trains, param=True, why=why))


def same_if(state: State, one: Tensor, other: Tensor) -> frozenset[str] | None:
    """
    Return the assumptions under which two tensors share the memory of one parameter; None if nothing says so.

    A module that two functions receive under one name is taken for the same one, where `one` is a view that was kept
    of a parameter: an average of whole modules may be given a copy.
    """
    if one.storage == other.storage:
        return frozenset()
    if one.view not in BESIDE:
        return None
    known = [_place(state, tensor.storage) for tensor in (one, other)]
    match known:
        case [(Sym() as first, int() as position), (Sym() as second, int() as same)] if position == same:
            keys = [state.symbols.key(owner) for owner in (first, second)]
        case _:
            return None
    match keys:
        case [(origins.PARAMETER, _, name, *_), (origins.PARAMETER, _, again, *_)] if name == again:
            return frozenset({f"`{name}` is the same module each time"})
        case _:
            return None


def owner_of(state: State, storage: StorageId) -> SymId | None:
    """Return the opaque module that lists a tensor with this memory as a parameter; None if none does."""
    found = _place(state, storage)
    return None if found is None else found[0].id


def _place(state: State, storage: StorageId) -> tuple[Sym, int] | None:
    """Return the unknown module that lists a tensor with this memory, and its position; None if none does."""
    for owner, listed in state.all_traits(traits.PARAMETERS):
        for position, ref in enumerate(listed):
            tensor = state.tensor(ref)
            if tensor is not None and tensor.storage == storage:
                return Sym(owner), position
    return None


def train(state: State, refs: Iterable[Ref]) -> None:
    """Remember that parameters, and with them all of the same unknown module, require grad: something trains them."""
    held = set(refs)
    for owner, listed in list(state.all_traits(traits.PARAMETERS)):
        if not held.isdisjoint(listed):
            _weight(state, owner)


def note_layer(state: State, owner: Sym) -> None:
    """Record that an unknown value is a layer of a library: whatever a call returns is computed with its parameters."""
    state.set_trait(traits.LAYER, owner.id, _weight(state, owner.id))


def set_trained(state: State, owner: Sym, trains: Three) -> None:
    """Record that an unknown value was told whether its parameters require grad; None if that is not known."""
    state.set_trait(traits.TOLD_FROZEN, owner.id, trains is False)
    _touch_layer(state, owner)
    for ref in state.trait(traits.PARAMETERS, owner.id) or () if state.has_trait(traits.LAYER, owner.id) else ():
        tensor = state.tensor(ref)
        if tensor is not None:
            state.put(ref, replace(tensor, rg=trains))


def _touch_layer(state: State, part: Sym) -> None:
    """Record of the layer that a value is a part of that some of its parameters may be frozen."""
    layer = unknown_history.owner(state, part)
    if layer.id != part.id and state.has_trait(traits.LAYER, layer.id):
        state.set_trait(traits.PASSED_ON, layer.id, True)


def note_parameters(state: State, value: Value, listed: Iterator[Ref]) -> None:
    """Remember whose parameters a value lists, for the optimizer that it is passed to."""
    if isinstance(value, Sym | Ref):
        held = tuple(ref for ref in listed)
        if held:
            state.set_trait(traits.LISTED, value, held)


def weights(state: State, given: Value, depth: int = 0) -> Iterator[Ref]:
    """Yield the weights of the opaque modules whose parameters an optimizer owns, created on first use."""
    if isinstance(given, Sym):
        owner = _owner(state, given)
        if owner is not None:
            yield _weight(state, owner)
    if isinstance(given, Sym | Ref):
        for owner in _parts(state, state.trait(traits.LISTED, given) or ()):
            yield _weight(state, owner)
    inner = state.object(given)
    parts: tuple[Value, ...] = ()
    if isinstance(given, Tuple):
        parts = given.items
    elif isinstance(inner, ListObject):
        parts = inner.items
    elif isinstance(inner, DictObject):
        parts = tuple(inner.items.values())
    for part in parts if depth < _DEEPEST else ():
        yield from weights(state, part, depth + 1)


def _parts(state: State, modules: tuple[Ref, ...]) -> Iterator[SymId]:
    """Yield the opaque modules that are attributes of modules."""
    for module in modules:
        instance = state.instance(module)
        for part in instance.attrs.values() if instance is not None else ():
            inner = behind(state, part)
            if inner is not None and not inner.kind:
                yield inner.id


def _owner(state: State, value: Sym, depth: int = 0) -> SymId | None:
    """Return the opaque module whose `parameters()` a value is, or was derived from."""
    key = state.symbols.key(value)
    match key:
        case (origins.RESULT, Sym() as function, *_):
            match state.symbols.key(function):
                case (origins.ATTRIBUTE, int(module), "parameters"):
                    return SymId(module)
                case _:
                    return None
        case (origins.Origin(), Sym() as inner, *_) if depth < _DEEPEST:
            return _owner(state, inner, depth + 1)
        case _:
            return None


def _weight(state: State, owner: SymId) -> Ref:
    known = state.trait(traits.WEIGHT, owner)
    if known is not None:
        return known
    listed = parameters(state, Sym(owner))
    for ref in listed:
        tensor = state.tensor(ref)
        if tensor is not None and tensor.rg is None:
            state.put(ref, replace(tensor, rg=True, leaf=True, why=""))
    state.set_trait(traits.WEIGHT, owner, listed[0])
    return listed[0]


def is_parameter(state: State, value: Sym) -> bool:
    """Check whether an unknown value is a parameter of an opaque module that has a weight."""
    owner = _owner(state, value)
    return owner is not None and state.has_trait(traits.WEIGHT, owner)


def weight_behind(state: State, storage: StorageId) -> Ref | None:
    """Return the weight of the opaque module that lists a tensor with this memory as a parameter; None if none does."""
    owner = owner_of(state, storage)
    return None if owner is None else state.trait(traits.WEIGHT, owner)


def behind(state: State, value: Value) -> Sym | None:
    """
    Return the unknown value that a value is, also for what a method returned that tensors and modules have.

    What `make().to(device)` returns is a tensor as long as it is used as one, and a module once it is called.
    """
    if isinstance(value, Sym):
        return value
    tensor = state.tensor(value)
    if tensor is None or tensor.sure or tensor.view is not View.MAYBE:
        return None
    return next((Sym(number) for number, ref in state.all_traits(traits.TENSOR) if ref == tensor.base), None)


def trained(state: State, value: Value) -> Sym | None:
    """Return the opaque module that a value is if an optimizer owns its parameters; None for other values."""
    inner = behind(state, value)
    return inner if inner is not None and state.has_trait(traits.WEIGHT, inner.id) else None


def parameter(state: State, owner: Sym, name: str) -> Ref | None:
    """Return the parameter that an opaque module has under a name; None for an unknown value that may be no module."""
    if not state.has_trait(traits.WEIGHT, owner.id) and not is_child(state, owner):
        return None
    assumed = frozenset({f"`{name}` is a parameter"})
    made = Tensor(state.new_storage(), rg=True, leaf=True, param=True, part=None, doubt=assumed)
    ref = state.new(made)
    state.set_trait(traits.UNKNOWN_ATTRIBUTE, (owner.id, name), ref)
    return ref


def assumed_parameter(state: State, tensor: Tensor, framework: Framework) -> frozenset[str] | None:
    """
    Return the assumption under which a tensor is a parameter of an unknown module; None if nothing says so.

    It is its `weight` or `bias`, or what its `parameters()` lists, which is certain where an optimizer owns these.
    """
    number = next((number for number, ref in state.all_traits(traits.TENSOR) if state.tensor(ref) is tensor), None)
    if number is None or _freezes(state, framework.requires_grad):
        return None
    key = state.symbols.keys[number]
    if is_named_as_parameter(state, Sym(number), framework.parameters):
        assert isinstance(key, tuple)
        if _is_operand(state, SymId(key[1]), framework):
            return None
        return frozenset({f"`{key[2]}` is a parameter"})
    match key:
        case (origins.LISTED, *_):
            sure = False
        case (origins.TURN, *_) if unknown_history.is_in_group(state, Sym(number)):
            sure = True
        case (origins.TURN, Sym() as listed, *_) if is_listed(state, listed, "parameters"):
            owner = _owner(state, listed)
            sure = owner is not None and (
                state.has_trait(traits.WEIGHT, owner) or unknown_history.is_copy_of_trained(state, Sym(owner))
            )
        case (origins.ITEM, Sym() as pair, Const(1)) if is_named_parameter(state, pair):
            sure = False
        case _:
            return None
    return frozenset() if sure else frozenset({_LISTED})


def is_named_as_parameter(state: State, value: Value, named: Container[str]) -> bool:
    """Check whether a value is an attribute of an unknown one, with the name that a module has for a parameter."""
    match state.symbols.key(value) if isinstance(value, Sym) else None:
        case (origins.ATTRIBUTE, int(), str(name)):
            return name in named
        case _:
            return False


def _is_operand(state: State, number: SymId, framework: Framework) -> bool:
    """Check whether an unknown value is what a class is given for an operator that it defines: that is no module."""
    operators = {*framework.binary.values(), *framework.augmented.values(), *framework.compare.values()}
    match state.symbols.keys[number]:
        case (origins.PARAMETER, str(name), *_):
            return name in operators
        case _:
            return False


def _freezes(state: State, setting: str) -> bool:
    """Check whether the program says of something unknown that it requires no grad: it may be the module."""
    tensors = (state.tensor(ref) for _, ref in state.all_traits(traits.TENSOR))
    return any(tensor is not None and tensor.rg is False for tensor in tensors) or any(
        isinstance(key, tuple) and key[0] is origins.ATTRIBUTE and str(key[2]).startswith(setting)
        for key in state.symbols.keys
    )


def is_listed(state: State, value: Value, method: str) -> bool:
    """Check whether an unknown value is what a method of an unknown object returned, or a list of that."""
    return listed_by(state, value, method) is not None


def listed_by(state: State, value: Value, method: str) -> Ref | Sym | None:
    """Return the object of which a method returned an unknown value, or what that is a list of; None if none did."""
    match state.symbols.key(value) if isinstance(value, Sym) else None:
        case (origins.RESULT, Sym() as function, *_):
            match state.symbols.key(function):
                case (origins.ATTRIBUTE, Ref() as owner, name, *_) if name == method:
                    return owner
                case (origins.ATTRIBUTE, int(number), name, *_) if name == method:
                    return Sym(SymId(number))
                case _:
                    return None
        case (origins.BUILTIN, "list" | "tuple", None, (Sym() as inner,)):
            return listed_by(state, inner, method)
        case _:
            return None


def is_named_parameter(state: State, value: Value) -> bool:
    """Check whether an unknown value is a pair of a name and a parameter, of those that an unknown module lists."""
    match state.symbols.key(value) if isinstance(value, Sym) else None:
        case (origins.TURN, Sym() as listed, *_):
            return is_listed(state, listed, "named_parameters")
        case _:
            return False


def is_child(state: State, value: Sym) -> bool:
    """Check whether a container of modules holds an unknown value."""
    for thing in state.heap.values():
        if isinstance(thing, Instance) and thing.children is not None:
            match state.object(thing.children):
                case ListObject(items) if value in items:
                    return True
                case DictObject(items) if value in items.values():
                    return True
                case _:
                    pass
    return False


def record_call(
    state: State, function: Value, given: tuple[Value, ...], site: Site, nodes: tuple[NodeId, ...]
) -> NodeId | None:
    """Record a call of an opaque module on the tape, if its weights may require grad; None for any other call."""
    if not isinstance(function, Sym) or function.id not in state.symbols.marked:
        return None
    listed = state.trait(traits.PARAMETERS, function.id)
    tensor = None if listed is None else state.tensor(listed[0])
    if tensor is None or listed is None or tensor.rg is False:
        return None
    name = name_of(state, function.id)
    version = state.storages[tensor.storage].version
    touch = Touch(name, site, "self.weight", module=True, param=True)
    save = Save(tensor.storage, version, touch, state.clock, frozenset())
    assumed = frozenset({f"backward of `{name}` needs its parameters"}) | ({tensor.why} if tensor.rg is None else set())
    return state.record(Node(name, site, nodes, (save,), assumed, leaves=(listed[0].id,), fed=given))


def name_of(state: State, owner: SymId) -> str:
    """Return the name of an opaque module in the program; `forward` if it has none."""
    match state.symbols.keys[owner]:
        case (origins.ATTRIBUTE | origins.PARAMETER | origins.GLOBAL, _, str(name), *_):
            return name
        case (origins.RESULT, Dotted(name), *_):
            return name.rpartition(".")[2]
        case (origins.RESULT, Sym(method), *_):
            match state.symbols.keys[method]:
                case (origins.ATTRIBUTE, int(receiver), _):
                    return name_of(state, SymId(receiver))
                case (origins.GLOBAL, _, str(name), *_):
                    return name
                case _:
                    return _NAMELESS
        case _:
            return _NAMELESS


def name_of_call(state: State, function: Value) -> str:
    """Return the name of what an unknown call runs; empty if it has none in the program."""
    match function:
        case Sym():
            name = name_of(state, function.id)
            return "" if name == _NAMELESS else name
        case Dotted(name):
            return name.rpartition(".")[2]
        case Closure():
            return function.function.qualname.rpartition(".")[2]
        case _:
            instance = state.instance(function)
            cls = None if instance is None else instance.cls
            return cls.name.rpartition(".")[2] if cls is not None else ""


def is_output(state: State, value: Sym) -> bool:
    """Check whether the call of an opaque module returned a value, or an object that contains it."""
    return any(not state.nodes[number].passes for number in unknown_history.nodes_behind(state, value))
