"""
Returns the items that a loop or an unpacking takes from an iterable.

    for block in (first, second):     # two items, both known
    for batch in loader:              # unknown: two turns, which show every write that the next turn meets

A loop over items that are all known runs them all, up to a bound.
"""

from __future__ import annotations

from msgspec.structs import replace

from inplace_lint.domain import origins, tape, traits, unknown_history
from inplace_lint.domain.heap import DictObject, Instance, ListObject
from inplace_lint.domain.state import State
from inplace_lint.domain.values import NONE, Builtin, ClassValue, Const, Ref, Sym, SymId, Tuple, Value, of_key
from inplace_lint.interp.call import data_loaders, enums, module_containers
from inplace_lint.interp.expr import subscripts
from inplace_lint.interp.frame import Arguments, Frame
from inplace_lint.interp.fuel import (
    EXACT_TURNS,
    EXACT_TURNS_IN_CONSTRUCTOR,
    NESTED_TURNS,
    TURNS_OVER_PARAMETERS,
    UNKNOWN_TURNS,
)
from inplace_lint.interp.interpreter import Interpreter
from inplace_lint.interp.options import late_turns
from inplace_lint.interp.outcome import Items, taken
from inplace_lint.interp.transfer import materialise, recording, shapes
from inplace_lint.ir import nodes as ir
from inplace_lint.ir.walk import walk


def items_of(interp: Interpreter, frame: Frame, state: State, value: Value, expr: ir.Expr | None, at: int) -> Items:
    """Return the items of an iterable, as far as they are known."""
    if materialise.framework_of(interp, state, value) is not None:
        count, exact = _number_of_rows(state, value)
        return Items(tuple(_rows(interp, frame, state, value, expr, at, count)), exact)
    match value:
        case Tuple(items, exact):
            return Items(items, exact)
        case Const(str() as text):
            return Items(tuple(Const(letter) for letter in text), exact=True)
        case ClassValue():
            members = enums.members(interp, state, value)
            return Items(tuple(members.values()), exact=bool(members))
        case _:
            return _of_object(interp, frame, state, value, expr, at)


def _of_object(interp: Interpreter, frame: Frame, state: State, value: Value, expr: ir.Expr | None, at: int) -> Items:
    match state.object(state.contents(value)):
        case ListObject(items, exact):
            return Items(items, exact)
        case DictObject(items, exact):
            return Items(tuple(of_key(key) for key in items), exact)
        case Instance() as instance if instance.children is not None:
            inner = module_containers.children(state, instance)
            maps = module_containers.maps(interp, state, instance)
            children = module_containers.keys(state, instance) if maps else [child for _, child in inner.pairs]
            return Items(tuple(children), inner.exact)
        case Instance() as instance:
            own = interp.special_method(frame, state, value, "__iter__", (), at)
            if not own:
                return Items((), exact=False, asked=(value, "__getitem__") if own is None else None)
            # IMPRECISE: an iteration with several outcomes is followed on its first one.
            if own[0][0] is not state:
                state.become(own[0][0])
            if state.instance(own[0][1]) is not None:
                return Items((), exact=False, asked=(own[0][1], "__next__"))
            found = items_of(interp, frame, state, own[0][1], expr, at)
            data_loaders.yielded(interp, state, instance.cls, found.items)
            return found
        case _:
            return Items((), exact=False)


def turns(
    interp: Interpreter,
    frame: Frame,
    state: State,
    value: Value,
    expr: ir.Expr | None,
    at: int,
    *,
    loops: bool = True,
    node: ir.For | None = None,
) -> Items:
    """
    Return the items that a loop runs with: all of a short iterable, or enough turns to see what carries over.

    Where nothing `loops`, but the items are collected, those of an unknown iterable are the first of them. Similar
    modules are left out unless the loop, `node`, tells them apart.
    """
    found = items_of(interp, frame, state, value, expr, at)
    most = TURNS_OVER_PARAMETERS
    if not _says_what_is_trained(interp, frame, state, found):
        if len(found.items) > EXACT_TURNS or state.instance(value) is not None:
            found = _without_similar(state, found, node)
        constructing = frame.closure is not None and frame.closure.function.qualname.rpartition(".")[2] == "__init__"
        most = EXACT_TURNS_IN_CONSTRUCTOR if constructing or _no_tensors(state, found) else EXACT_TURNS
        most = max(EXACT_TURNS, min(most, NESTED_TURNS // frame.turns))
    if found.exact and len(found.items) <= most:
        return found
    if found.items:
        return _that_matter(frame, state, found.items)
    loaded = data_loaders.batches(interp, frame, state, value, at)
    if loaded is not None:
        return loaded
    # Two turns of an unknown iterable are a feasible path: on it, these are all the items.
    if loops and isinstance(value, Sym):
        state.set_trait(traits.LENGTH, value.id, UNKNOWN_TURNS)
        asked = state.symbols.sym((origins.BUILTIN, "len", None, (value,)), "number")
        state.set_trait(traits.EQUALS, asked.id, Const(UNKNOWN_TURNS))
    unknown = tuple([_unknown_item(frame, state, value, turn) for turn in range(UNKNOWN_TURNS)])
    return Items(unknown, exact=loops, asked=found.asked)


def _without_similar(state: State, found: Items, node: ir.For | None) -> Items:
    if node is not None and late_turns.tells_apart(node):
        return found
    short = module_containers.condensed(state, found.items)
    module_containers.note_left_out(state, found.items, short)
    return replace(found, items=short, left_out=len(found.items) - len(short))


def collected(
    interp: Interpreter, frame: Frame, state: State, value: Value, expr: ir.Expr | None, at: int, *, loops: bool = True
) -> Items:
    """
    Return the items of `turns` for what goes through them by itself, such as a comprehension, or `enumerate`.

    An object of the program is asked for all of them before the first is used, if it computes nothing for that.
    IMPRECISE: it is followed on its first outcome.
    """
    found = turns(interp, frame, state, value, expr, at, loops=loops)
    if found.asked is None:
        return found
    path, items, exact = state.fork(), list[Value](), False
    for turn in range(len(found.items)):
        outcomes = asked(interp, frame, path, found, turn, at)
        if not outcomes:
            exact = True
            break
        path = outcomes[0][0]
        items.append(outcomes[0][1])
    if len(path.nodes) > len(state.nodes) or not path.leaves_tensors_of(state):
        return replace(found, asked=None)
    state.become(path)
    return Items(tuple(items), exact)


def asked(
    interp: Interpreter, frame: Frame, state: State, found: Items, turn: int, at: int
) -> list[tuple[State, Value]]:
    """Return the item of a turn, which counts from 0; nothing where the object that is asked for it raises."""
    if found.asked is None:
        return [(state, found.items[turn])]
    value, method = found.asked
    given = (Const(turn),) if method == "__getitem__" else ()
    own = interp.special_method(frame, state, value, method, given, at)
    return [(state, found.items[turn])] if own is None else own


def are_first(value: Value, found: Items) -> bool:
    """Check whether turns are the first rows of `enumerate(x)` or `zip(x, y)`, or of parts whose number is unknown."""
    return type(value) is Tuple and not value.exact and found.items == value.items


def placed(state: State, env: Ref, made: Value) -> Value:
    """Return the list that a comprehension made, and note where its items are among those that it goes through."""
    places = state.trait(traits.PLACES, env.id)
    inner = state.object(made)
    if places is not None and isinstance(made, Ref) and isinstance(inner, ListObject):
        state.set_trait(traits.PLACES, made.id, places if len(inner.items) == len(places) else ())
    return made


def by_place(state: State, value: Value, found: Items) -> tuple[dict[int, Value], bool]:
    """Return the items of a list by their places, and whether these are the first ones."""
    places = state.trait(traits.PLACES, value.id) if isinstance(value, Ref) else None
    if places is None or len(places) != len(found.items):
        return dict(enumerate(found.items)), True
    return dict(zip(places, found.items, strict=True)), places == tuple(range(len(places)))


def _that_matter(frame: Frame, state: State, items: tuple[Value, ...]) -> Items:
    """Return so many of the items as a loop runs with; a comprehension notes where these are among all of them."""
    places = _places(state, items, EXACT_TURNS)
    if state.has_trait(traits.COMPREHENSION, frame.env.id):
        state.set_trait(traits.PLACES, frame.env.id, places)
    return Items(tuple([items[place] for place in places]), exact=False)


def _places(state: State, items: tuple[Value, ...], most: int) -> tuple[int, ...]:
    """
    Return the places of so many items: the first, if one of each dtype and one that backward needs is among them.

    Else the first of each dtype, then those that backward needs, in order. An item that holds tensors is as they are.
    The first ones are the same each time: what one loop made of them is beside them in a later `zip(params, old)`.
    """
    if len(items) <= most:
        return tuple(range(len(items)))
    saved = tape.saved(state)
    dtypes: set[str] = set()
    ranks: list[tuple[bool, bool, int]] = []
    for position, item in enumerate(items):
        tensors = [tensor for _, tensor in state.tensors_in(item)]
        another = not dtypes.issuperset(tensor.dtype for tensor in tensors)
        dtypes.update(tensor.dtype for tensor in tensors)
        ranks.append((not another, not any(tensor.storage in saved for tensor in tensors), position))
    later, first = ranks[most:], ranks[:most]
    if all(rank[0] for rank in later) and (all(rank[1] for rank in later) or not all(rank[1] for rank in first)):
        return tuple(range(most))
    return tuple(sorted(position for *_, position in sorted(ranks)[:most]))


def _says_what_is_trained(interp: Interpreter, frame: Frame, state: State, found: Items) -> bool:
    """
    Check whether items are parameters or modules, in code that says of tensors whether they require grad.

    for weight in net.parameters():
        weight.requires_grad = False        # each of them, or `net` would still be trained
    """
    first = found.items[0] if found.items else NONE
    first = first.items[-1] if type(first) is Tuple and first.items else first
    tensor, module = state.tensor(first), state.instance(first)
    if not (tensor.param if tensor is not None else module is not None and "training" in module.attrs):
        return False
    code = interp.context.code(frame.slice) if frame.closure is None else frame.closure.function
    known = interp.context.freezing.get(id(code))
    if known is None:
        framework = interp.context.default().framework
        names = {framework.requires_grad, f"{framework.requires_grad}_", *framework.flags}
        says = any(isinstance(part, ir.Attr) and part.name in names for part in walk(code.body))
        known = interp.context.freezing[id(code)] = (code, says)
    return known[1]


def _no_tensors(state: State, found: Items) -> bool:
    return bool(found.items) and all(not isinstance(item, Ref) or state.tensor(item) is None for item in found.items)


def _unknown_item(frame: Frame, state: State, value: Value, turn: int) -> Sym:
    """
    Return an item of an unknown iterable: another one in each iteration, but for what a module was constructed with.

        for name in names:              # in `__init__`
            self.layers[name] = nn.Linear(8, 8)
        for name in self.names:         # in `forward`: the same names
            x = self.layers[name](x)
    """
    is_range = isinstance(value, Builtin) and value.name == "range"
    kind = "number" if is_range else subscripts.kind_of_item(state, value)
    setting = _setting(frame, state, value)
    return state.symbols.sym((origins.TURN, setting or value, turn, None if setting else state.next_id), kind)


def _setting(frame: Frame, state: State, value: Value) -> Sym | None:
    """Return what an iterable is to a module that was constructed with it, or with what it is part of; else None."""
    module = None if frame.receiver is None else state.instance(frame.receiver)
    if type(value) is not Sym or module is None or "training" not in module.attrs:
        return None
    listed = value
    match state.symbols.keys[value.id]:
        case (origins.RESULT, Sym() as method, *_) if (mapping := unknown_history.view_of(state, method)) is not None:
            listed, value = method, mapping
        case _:
            pass
    while True:
        match state.symbols.keys[value.id]:
            case key if unknown_history.is_given_to_constructor(key):
                return listed
            case (origins.ATTRIBUTE, int(number), _):
                value = Sym(SymId(number))
            case (origins.ITEM, Sym() as outer, Const()):
                value = outer
            case _:
                return None


def _number_of_rows(state: State, value: Value) -> tuple[int, bool]:
    """Return how many rows of a tensor a loop takes: all of a short one, and whether it may have no more."""
    tensor = state.tensor(value)
    first = tensor.sizes[0] if tensor is not None and tensor.sizes else None
    known = first if isinstance(first, int) and first else 0
    return (known, True) if 0 < known <= EXACT_TURNS else (UNKNOWN_TURNS, not known)


def _rows(
    interp: Interpreter, frame: Frame, state: State, value: Value, expr: ir.Expr | None, at: int, count: int
) -> list[Value]:
    """Iterate over a tensor: several views of it, by the framework's fact."""
    facts = materialise.framework_of(interp, state, value)
    assert facts is not None
    exprs: dict[int | str, ir.Expr] = {} if expr is None else {0: expr}
    name = f"{facts.framework.tensor}.__iter__"
    result = taken(state, interp.apply_op(frame, state, name, Arguments((value,), (), exprs), at)) or NONE
    inner = state.object(result)
    known = result.items if isinstance(result, Tuple) else inner.items if isinstance(inner, ListObject) else ()
    rows = list(recording.more_like(state, known, count))
    return rows or [state.symbols.sym((origins.ROW, value, turn, state.next_id), "tensor") for turn in range(count)]


def unpack(
    interp: Interpreter,
    frame: Frame,
    state: State,
    value: Value,
    expr: ir.Expr | None,
    at: int,
    count: int,
    starred: bool,
) -> tuple[Value, ...]:
    """Return the values for `count` targets of an unpacking, and for a starred one as many more as there are."""
    if materialise.framework_of(interp, state, value) is not None:
        return tuple(_rows(interp, frame, state, value, expr, at, count + starred))
    found = items_of(interp, frame, state, value, expr, at)
    if len(found.items) == count or (starred and len(found.items) >= count and found.exact):
        return found.items
    # A list that is too short was made in turns of a loop over something unknown, which then has more of them.
    if found.items and (not found.exact or len(found.items) < count):
        return recording.more_like(state, found.items, count + starred)
    if not starred:
        shapes.learn(state, value, count)
    indices = range(count + starred)
    return tuple(_item(state, value, index) for index in indices)


def _item(state: State, value: Value, index: int) -> Value:
    return subscripts.unknown_item(state, value, Const(index))
