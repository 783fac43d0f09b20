"""
The history of unknown values: the nodes of the tape that what an unknown call returned may depend on.

    out = head(h)                # unknown, but computed from `h`: one node on the tape, with an edge to that of `h`
    loss = 2 * out["a"].mean     # so is every part of it, and what is computed of it: the same node
    loss.backward()              # runs the node, and those that lead to `h`

An unknown call is taken to return new values that depend on all tensors that were passed to it, to keep none of them
for backward and to write none of them. Whether a gradient passes it at all is not certain (`domain/only_way.py`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from inplace_lint.core.event import Site
from inplace_lint.core.span import Place
from inplace_lint.domain import origins, tape, traits
from inplace_lint.domain.heap import DictObject, Instance, ListObject, Node, Tensor
from inplace_lint.domain.origins import Origin
from inplace_lint.domain.state import State
from inplace_lint.domain.values import NOT_TENSORS, ClassValue, Const, NodeId, Ref, RefId, Sym, SymId, Tuple, Value

OWNED = "<owned>"  # what an optimizer has for the parameters that it updates
GROUPS = "param_groups"
_DEEPEST = 8
_DEEPEST_ARGUMENT = 3


def nodes_behind(state: State, value: Value, depth: int = 0) -> tuple[NodeId, ...]:
    """List the nodes of the unknown calls that an unknown value comes from: as a part, or computed of one."""
    if type(value) is not Sym or not state.symbols.marked or value.kind in NOT_TENSORS:
        return ()
    if value.id in state.symbols.marked:
        known = state.trait(traits.CALL_NODE, value.id)
        if known is not None:
            return (known,)
    if depth >= _DEEPEST:
        return ()
    found: tuple[NodeId, ...] = ()
    for part in parts(state, value):
        found += nodes_behind(state, part, depth + 1)
    return found


def parts(state: State, value: Sym) -> tuple[Sym, ...]:
    """Return the values that an unknown value is a part of, or was computed of."""
    match state.symbols.keys[value.id]:
        case (origins.ATTRIBUTE, int(outer), _):
            return (Sym(SymId(outer)),)
        case (origins.ITEM | origins.ROW | origins.TURN | origins.ATTRIBUTE, Sym() as outer, *_):
            return (outer,)
        case (origins.COPY, int(outer), *_):
            return (Sym(SymId(outer)),)
        case (origins.UNARY, _, Sym() as operand):
            return (operand,)
        case (origins.BINARY, _, left, right, *_):
            return tuple(part for part in (left, right) if isinstance(part, Sym))
        case (origins.BUILTIN, _, None, tuple() as given) if not value.kind:
            return tuple(part for part in given if isinstance(part, Sym))
        case _:
            return ()


def owner(state: State, value: Sym) -> Sym:
    """Return the unknown object of which an unknown value is a part, by attributes and items, or the value itself."""
    while True:
        match state.symbols.keys[value.id]:
            case (origins.ATTRIBUTE, int(outer), _):
                value = Sym(SymId(outer))
            case (origins.ITEM, Sym() as outer, *_):
                value = outer
            case _:
                return value


def is_copy_of_trained(state: State, owner: Sym) -> bool:
    """Check whether an unknown module is a deep copy of a trained one, where nothing is told to require no grad."""
    key = state.symbols.key(owner)
    if not isinstance(key, tuple) or key[0] is not origins.COPY or not state.has_trait(traits.WEIGHT, SymId(key[1])):
        return False
    told = [frozen for _, frozen in state.all_traits(traits.TOLD_FROZEN)]
    told += [thing.rg is False for thing in state.heap.values() if isinstance(thing, Tensor) and not thing.sure]
    return not any(told)


def is_passed_on(state: State, value: Sym) -> bool:
    """Check whether unknown code has received an unknown object, or what that is a part of, and may have changed it."""
    return any(state.has_trait(traits.PASSED_ON, one.id) for one in (value, owner(state, value)))


def holding(state: State, value: Value) -> traits.Holding | None:
    """Return what the program stored in the unknown object that a value, such as a method, is a part of; else None."""
    return state.trait(traits.HOLDING, owner(state, value).id) if isinstance(value, Sym) else None


def is_measured(state: State, value: Sym) -> bool:
    """
    Check whether an unknown value is what an object says of tensors that its methods were given, beside items of it.

        metric.update(prediction, target)
        return metric.compute()
    """
    key = state.symbols.keys[value.id]
    asked = key[1] if isinstance(key, tuple) and key[0] is origins.RESULT else value
    if not isinstance(asked, Sym) or not _is_attribute(state.symbols.keys[asked.id]):
        return False
    held = holding(state, asked)
    return held is not None and held.free


def _is_attribute(key: object) -> bool:
    return isinstance(key, tuple) and key[0] is origins.ATTRIBUTE


def attribute(state: State, value: Sym, name: str) -> Value | None:
    """Return what the program stored in an attribute of an unknown object; None for a tensor that may be replaced."""
    stored = state.trait(traits.UNKNOWN_ATTRIBUTE, (value.id, name))
    is_tensor = stored is not None and state.tensor(stored) is not None
    return None if is_tensor and is_passed_on(state, value) else stored


def has_no_gradient(state: State, value: Sym, depth: int = 0) -> bool:
    """Check whether an unknown value, or all that it was computed of, is known to have no gradient."""
    if state.has_trait(traits.NO_GRADIENT, value.id) or _is_data(state, value) or is_truth(state, value):
        return True
    # A sequence is no tensor, but one of numbers says what its items are.
    within = [
        part
        for part in (parts(state, value) if depth < _DEEPEST else ())
        if part.kind not in NOT_TENSORS or state.has_trait(traits.NO_GRADIENT, part.id)
    ]
    return bool(within) and all(has_no_gradient(state, part, depth + 1) for part in within)


def _is_data(state: State, value: Sym) -> bool:
    """Check whether an unknown value is the `.data` of another one: where that is a tensor, it requires no grad."""
    match state.symbols.keys[value.id]:
        case (origins.ATTRIBUTE, int(), "data"):
            return True
        case _:
            return False


def is_parameter(state: State, value: Sym) -> bool:
    """Check whether an unknown value is what an entry point was given for a parameter."""
    key = state.symbols.keys[value.id]
    return isinstance(key, tuple) and key[:1] == (origins.PARAMETER,)


def is_row_of_argument(state: State, value: Sym) -> bool:
    """Check whether an unknown value is an item, by its position or in a loop, of what an entry point was given."""
    match state.symbols.keys[value.id]:
        case (origins.ITEM, Sym() as outer, Const(int())) | (origins.ROW | origins.TURN, Sym() as outer, *_):
            return is_parameter(state, outer)
        case _:
            return False


def is_given_to_constructor(key: object) -> bool:
    """Check whether a key is that of what an entry point gave a constructor for a parameter."""
    match key:
        case (origins.PARAMETER, str() as function, *_):
            return function.rpartition(".")[2] == "__init__"
        case _:
            return False


def view_of(state: State, method: Sym) -> Sym | None:
    """Return the mapping whose keys, values or both an unknown method lists; None for another one."""
    match state.symbols.keys[method.id]:
        case (origins.ATTRIBUTE, int(number), "keys" | "values" | "items"):
            return Sym(SymId(number))
        case _:
            return None


def is_setting(state: State, value: Sym) -> bool:
    """
    Check whether a value was given to a constructor, and nothing shows that it is no number: `self.gamma * x`.

    So is what a mapping has that it was given: `config["loss"].get("gamma", 0.1)`.
    """
    for _ in range(_DEEPEST):
        if state.has_trait(traits.IS_TENSOR, value.id):
            return False
        key = state.symbols.keys[value.id]
        if is_given_to_constructor(key):
            return True
        match key:
            case (origins.ITEM, Sym() as outer, Const(str())):
                value = outer
            case (origins.RESULT, Sym(number), *_):
                method = state.symbols.keys[number]
                if not isinstance(method, tuple) or method[0] is not origins.ATTRIBUTE or method[2] != "get":
                    return False
                value = Sym(SymId(method[1]))
            case _:
                return False
    return False


def mapping_of(state: State, value: Sym) -> Sym | None:
    """Return the unknown mapping of which a value is an item, or a part of one: `batch` of `batch["mask"][:, 1:]`."""
    for _ in range(_DEEPEST):
        match state.symbols.keys[value.id]:
            case (origins.ITEM, Sym() as outer, Const(str())):
                return outer
            case (origins.ITEM, Sym() as outer, *_):
                value = outer
            case _:
                return None
    return None


def is_truth(state: State, value: object, depth: int = 0) -> bool:
    """
    Check whether an unknown value is a comparison, or is combined of such: where that is a tensor, it is one of truths.

        (labels != padding).sum()       # a count, which has no history whatever `labels` has
    """
    match state.symbols.keys[value.id] if type(value) is Sym and depth < _DEEPEST else None:
        case (origins.COMPARE, *_):
            return True
        case (origins.NOT, int(inner)):
            return is_truth(state, Sym(SymId(inner)), depth + 1)
        case (origins.UNARY, "~", inner) | (origins.ITEM, Sym() as inner, *_):
            return is_truth(state, inner, depth + 1)
        case (origins.BINARY, "&" | "|" | "^", left, right, *_):
            return is_truth(state, left, depth + 1) and is_truth(state, right, depth + 1)
        case _:
            return False


def sources(state: State, values: Iterable[Value]) -> tuple[tuple[NodeId, ...], tuple[RefId, ...]]:
    """Return the nodes, and the leaves that require grad, that a call on some arguments may depend on."""
    nodes: dict[NodeId, None] = {}
    leaves: dict[RefId, None] = {}
    for value in values:
        _collect(state, value, nodes, leaves, 0)
    return tuple(nodes), tuple(leaves)


def _collect(state: State, value: Value, nodes: dict[NodeId, None], leaves: dict[RefId, None], depth: int) -> None:
    if type(value) is Const:
        return
    tensor = state.tensor(value)
    if tensor is not None:
        ref = state.ref(value)
        nodes.update(dict.fromkeys(tape.nodes_of(state, tensor)))
        leaves.update(dict.fromkeys(tape.leaves_of([(ref, tensor)]) if ref is not None else ()))
    elif type(value) is Sym:
        nodes.update(dict.fromkeys(nodes_behind(state, value)))
    elif depth < _DEEPEST_ARGUMENT:
        for item in _items(state, value):
            _collect(state, item, nodes, leaves, depth + 1)


def _items(state: State, value: Value) -> Collection[Value]:
    if isinstance(value, Tuple):
        return value.items
    match state.object(value):
        case ListObject(items):
            return items
        case DictObject(items):
            return items.values()
        case Instance(ClassValue() as cls, attrs) if cls.is_data:
            return attrs.values()
        case _:
            return ()


def choose(state: State, item: Sym, values: Collection[Value]) -> None:
    """Record that an unknown value is one of these tensors: a gradient of it comes to one of them."""
    tensors = [tensor for value in values if (tensor := state.tensor(value)) is not None]
    if len(tensors) < len(values) or state.modes.grad is False or state.ref(item) is not None:
        return
    nodes, leaves = sources(state, values)
    if not nodes:
        return
    node = state.record(Node("__getitem__", None, nodes, (), frozenset(), _CHOSEN, leaves))
    sure = all(tensor.rg is True and tensor.nodes for tensor in tensors)
    made = Tensor(
        storage=state.new_storage(),
        rg=True if sure else None,
        leaf=False if sure else None,
        nodes=(node,),
        why="" if sure else _CHOSEN,
        framework=tensors[0].framework,
    )
    state.tensor_of(item, made)


_CHOSEN = "`__getitem__` passes the gradient on"


def is_object(state: State, function: Value) -> bool:
    """
    Check whether an unknown call runs an object that the program holds, and no function of a library.

    Such an object is a layer or a loss; a function may also print, measure or draw what it is given. What an object of
    the program has from a base that is not known is a layer, or a method of the network.
    """
    if isinstance(function, Ref):
        return True
    match state.symbols.key(function) if isinstance(function, Sym) else None:
        case (origins.ATTRIBUTE, Ref(), _):
            return True
        case (Origin() as origin, *_):
            return origin in _HOLDS
        case _:
            return False


def is_turn(state: State, item: Value) -> bool:
    """Check whether an item stands for all of an unknown iterable, of which there are as many as turns of a loop."""
    match state.symbols.key(item) if isinstance(item, Sym) else None:
        case (origins.TURN, *_):
            return True
        case _:
            return False


def is_made_there(state: State, function: Value, site: Site) -> bool:
    """Check whether what an unknown call runs is made by the call in its own expression: `Scale(2)(x)`."""
    key = state.symbols.key(function) if isinstance(function, Sym) else None
    match key:
        case (origins.RESULT, _, Site(place, caller), *_):
            return caller == site.caller and place == Place(site.place.slice, site.place.at + 1)
        case _:
            return False


_HOLDS = frozenset({origins.RESULT, origins.ITEM, origins.PARAMETER, origins.CALL, origins.TURN})


def is_batched(state: State, value: Value, depth: int = 0) -> bool | None:
    """
    Return whether an unknown call returned a value or what it is a part of: where that got a batch, it is one.

    None for an item of a list or a dict of which not all items are known.
    """
    match state.symbols.key(value) if isinstance(value, Sym) and depth < _DEEPEST_ARGUMENT else None:
        case (origins.RESULT | origins.METHOD, *_):
            return True
        case (origins.ITEM | origins.ROW | origins.TURN, Sym() as whole, *_):
            return is_batched(state, whole, depth + 1)
        case (origins.ITEM | origins.ROW | origins.TURN, Ref(), *_):
            return None
        case _:
            return False


def is_in_group(state: State, value: Sym) -> bool:
    """
    Check whether an unknown value is a parameter of an optimizer of the program, as its groups list them.

        for group in self.param_groups:
            for p in group["params"]: ...       # which the base class refuses unless they are leaves
    """
    listed = _turned(state, value)
    match None if listed is None else state.symbols.key(listed):
        case (origins.ITEM, Sym() as group, Const("params"), *_):
            groups = _turned(state, group)
        case _:
            return False
    key = None if groups is None else state.symbols.key(groups)
    owners = ((Ref(number), thing.attrs) for number, thing in state.heap.items() if isinstance(thing, Instance))
    return groups is not None and any(
        OWNED in attrs and (attrs.get(GROUPS) == groups or key == (origins.ATTRIBUTE, owner, GROUPS))
        for owner, attrs in owners
    )


def _turned(state: State, value: Sym) -> Sym | None:
    """Return the unknown value that a value is an item of, as a loop goes through them."""
    match state.symbols.key(value):
        case (origins.TURN, Sym() as whole, *_):
            return whole
        case _:
            return None
