"""
Collects what else refers to the memory of a tensor when it is written, for fixes.

    identity = x
    x += 1               # `identity` refers to it as well: `x = x + 1` would leave it the old values
    self.cache = y
    y.relu_()            # so does an attribute

A query listens only on a second run of the program, and only to the writes that findings name: it searches everything
that can be reached from a live variable. Where it cannot see all references, it says that there are others. The first
run notes which entry points wrote where, so that the second leaves out those that a query asks nothing about.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING

from msgspec import Struct

from inplace_lint.core.span import Place
from inplace_lint.domain import traits
from inplace_lint.domain.heap import DictObject, Instance, ListObject, Names, Tensor, View
from inplace_lint.domain.tape import leaves_of, nodes_of, reachable
from inplace_lint.domain.values import (
    Bound,
    ClassValue,
    Closure,
    Const,
    Dotted,
    Partial,
    Ref,
    RefId,
    StorageId,
    Super,
    Sym,
    Tuple,
    Value,
)
from inplace_lint.interp.frame import text_of
from inplace_lint.interp.pylib import dataclass_fields
from inplace_lint.interp.transfer.tensor_types import dtypes
from inplace_lint.ir import nodes as ir

if TYPE_CHECKING:
    from inplace_lint.domain.state import State
    from inplace_lint.interp.frame import Frame
    from inplace_lint.interp.transfer.op_call import Call

_TRACKED = frozenset({View.SINGLE, View.MULTI, View.EXPANDED, View.CUSTOM, View.HOOKED, View.MAYBE})


class WrittenTensor(Struct, frozen=True):
    """
    A tensor as a write found it: what it is, and what refers to its memory.

    `call` is the expression that wrote, in the function whose code contains it. `owner` is the shortest
    variable or attribute through which the program spelled the tensor (of `x.data[0]` it is `x`), empty without
    one; `item`: what is written is an item of a list or dict. `names` are the local variables that refer to the memory.
    `others`: attributes, containers, callers or unknown code may refer to it; `kept`: other attributes, or containers,
    have this very tensor. `foreign`: it was made before the function was called, or its origin is not known. `bases`
    are the local variables that refer to a larger tensor which shares the write; `base`: something else refers to one;
    `taken`: this function took it as a part of one.
    `floating`: its elements are floating numbers. `cast`: the op chooses its types by itself. `widened`: an operand has
    a wider floating dtype, which a new tensor would have. `param`: it is a parameter, or part of
    one. `apart`: it is a view that has a local variable of its own. `bound`: the owner is an attribute that an object
    of a library needs as it is. `fixed`: what is written is an item or attribute to which nothing can be assigned.
    `certain`: it is certainly a tensor of the framework. `array`: it is an array that shares the memory of one.
    `gradient`: a gradient flows into what is written from another operand. `unrecorded`: the write was not recorded,
    so that the tensor kept its history, which a new one would not have. `fed`: a call of which nothing is
    known was given the tensor, and may have saved it.
    """

    call: Place
    owner: str
    item: bool
    names: frozenset[str]
    others: bool
    kept: bool
    foreign: bool
    bases: frozenset[str]
    base: bool
    taken: bool
    floating: bool
    cast: bool
    widened: bool
    param: bool
    apart: bool
    bound: bool
    fixed: bool
    certain: bool
    array: bool
    gradient: bool
    unrecorded: bool
    fed: bool


def attempt(call: Call, _part: str, _ref: Ref, _tensor: Tensor) -> None:
    """Note where the entry point that runs writes: a query about this place has to run it again."""
    call.interp.context.writing.update(_places(call))


def _places(call: Call) -> tuple[Place, ...]:
    """Return the places by which a query asks about what a call writes: its own, and that of its flag."""
    here = Place(call.frame.slice, call.at)
    return (here,) if call.flag is None else (here, call.flag)


class AliasQuery:
    """
    Collects what refers to the tensors that are written at some places.

    `places` are those of writes, or of flags that make a call write. `written` is the answer for each.
    """

    __slots__ = ("places", "written")

    def __init__(self, places: set[Place]) -> None:
        self.places = places
        self.written: dict[Place, set[WrittenTensor]] = {}

    def attempt(self, call: Call, part: str, ref: Ref, tensor: Tensor) -> None:
        """Add what refers to the tensor that a call writes, if the place of it or of its flag is looked at."""
        for place in _places(call):
            if place in self.places:
                self.written.setdefault(place, set()).add(_describe(call, part, ref, tensor))

    def hand_over(self, state: State, value: Value) -> None:
        """Remember that a call of which nothing is known may have kept the tensors in its argument."""
        for ref, _ in state.tensors_in(value):
            state.set_trait(traits.ESCAPED, ref.id, True)


def _describe(call: Call, part: str, ref: Ref, tensor: Tensor) -> WrittenTensor:
    state, frame, expr = call.state, call.frame, call.binding.exprs.get(part)
    owner = _owner(state, frame, expr, tensor.storage)
    held = references(state, frame, ref, tensor)
    own = held.pop(owner, None) if "." in owner else None
    if isinstance(expr, ir.Subscript) and not owner and len(held.get(f"{text_of(expr.value)}.item", ())) == 1:
        held.pop(f"{text_of(expr.value)}.item")  # the container that the item is put back into
    names = {path for path in held if "." not in path and path}
    rest = {path: refs for path, refs in held.items() if path not in names}
    view = tensor.base is not None and tensor.view in _TRACKED
    whole = state.tensor(tensor.base) if view and tensor.base is not None else None
    over = [path for path, refs in held.items() if view and tensor.base in refs]
    site = frame.site(call.at)
    return WrittenTensor(
        call=site.caller.place if frame.built and site.caller is not None else site.place,
        owner=owner,
        item=isinstance(expr, ir.Subscript) and not owner,
        names=frozenset(names),
        kept=any(ref in refs and _is_kept(path, owner) for path, refs in rest.items()),
        others=bool(rest) or state.has_trait(traits.ESCAPED, ref.id) or _has_attributes(state, ref),
        foreign=tensor.storage <= frame.env.id or _is_unknown(state, tensor),
        bases=frozenset(over) & names,
        base=not names.issuperset(over) or (view and own is not None and tensor.base in own),
        taken=view and ref.id > frame.env.id and tensor.view is not View.EXPANDED and not _is_all(tensor),
        floating=tensor.dtype == "float" or (tensor.dtype == "unknown" and tensor.rg is True),
        cast=state.modes.autocast is not False,
        widened=_is_widened(call, part, tensor),
        param=tensor.param or (whole is not None and whole.param),
        apart=view and owner in names and tensor.base not in held[owner],
        bound=_is_bound(state, frame, expr, owner),
        fixed=_is_fixed(call, expr),
        certain=tensor.sure and not _is_unknown(state, tensor),
        array=tensor.view is View.UNTRACKED,
        gradient=_brings_gradient(call, tensor),
        unrecorded=tensor.rg is not False and (state.modes.grad is not True or call.binding.op.history == "keep_old"),
        fed=_is_fed(state, tensor if whole is None else whole),
    )


def _is_kept(path: str, owner: str) -> bool:
    """Check whether a path leads into a container or an object, and not to what is the owner itself."""
    name = path.lstrip("0123456789.")  # without the number of a scope
    return "." in name and not ("." in owner and name.rpartition(".")[2] == owner.rpartition(".")[2])


def _is_fed(state: State, tensor: Tensor) -> bool:
    """Check whether the result of an unknown call depends on a tensor itself."""
    own = set(nodes_of(state, tensor))
    unknown = (node for node in state.nodes.values() if node.passes or node.fed is not None)
    return any(not own.isdisjoint(node.inputs) for node in unknown)


def _is_widened(call: Call, part: str, tensor: Tensor) -> bool:
    """Check whether an operand has a floating dtype which a new tensor would have, and what is written has not."""
    names, usual = call.binding.given - {part}, call.facts.framework.default_dtype
    others = [other for name in names for _, other in call.binding.tensors(name) if other.dtype == "float"]
    return any(dtypes.widens(tensor.exact, other.exact, usual) for other in others)


def _brings_gradient(call: Call, tensor: Tensor) -> bool:
    """Check whether a gradient flows through an operand on other memory to a leaf that is no gradient itself."""
    state = call.state
    gradients = {thing.grad.id for thing in state.heap.values() if isinstance(thing, Tensor) and thing.grad is not None}
    for ref, other in call.grads:
        if other.rg is True and other.storage != tensor.storage:
            behind = (state.nodes[number].leaves for number in reachable(state, nodes_of(state, other)))
            leaves = {*leaves_of([(ref, other)]), *itertools.chain.from_iterable(behind)}
            if not leaves or leaves - gradients:
                return True
    return False


def _is_all(tensor: Tensor) -> bool:
    """Check whether a view has all elements of its base, in another shape."""
    return tensor.part is not None and all(move in {"all", "axes"} for move, _, _ in tensor.part)


def _owner(state: State, frame: Frame, expr: ir.Expr | None, storage: StorageId) -> str:
    """Return the text of the shortest variable or attribute within an expression that is a tensor on this memory."""
    chain: list[ir.Expr] = []
    while expr is not None:
        chain.append(expr)
        match expr:
            case ir.Attr(_, inner, _) | ir.Subscript(_, inner, _):
                expr = inner
            case ir.Call(_, func, _, _):
                expr = func
            case _:
                expr = None
    for part in reversed(chain):
        value = _value(state, frame, part)
        tensor = None if value is None else state.tensor(value)
        if tensor is not None and tensor.storage == storage:
            return text_of(part)
    return ""


def _value(state: State, frame: Frame, expr: ir.Expr) -> Value | None:
    """Return the value of a local variable or of an attribute reached from one, without evaluating anything."""
    match expr:
        case ir.Name(_, name):
            scope = state.heap[frame.env.id]
            return scope.values.get(name) if isinstance(scope, Names) else None
        case ir.Attr(_, inner, name):
            value = _value(state, frame, inner)
            instance = None if value is None else state.instance(value)
            return None if instance is None else instance.attrs.get(name)
        case _:
            return None


def _is_bound(state: State, frame: Frame, expr: ir.Expr | None, owner: str) -> bool:
    """Check whether an owner is an attribute of an object whose class is a library's."""
    while isinstance(expr, ir.Attr | ir.Subscript | ir.Call) and text_of(expr) != owner:
        expr = expr.func if isinstance(expr, ir.Call) else expr.value
    holder = _value(state, frame, expr.value) if isinstance(expr, ir.Attr) and owner else None
    instance = None if holder is None else state.instance(holder)
    return instance is not None and isinstance(instance.cls, Dotted)


def _is_fixed(call: Call, expr: ir.Expr | None) -> bool:
    """Check whether an item is one of a tuple or of an object that takes none, or an attribute of a frozen object."""
    if not isinstance(expr, ir.Subscript | ir.Attr):
        return False
    holder = _value(call.state, call.frame, expr.value)
    instance = None if holder is None else call.state.instance(holder)
    cls = None if instance is None else instance.cls
    if not isinstance(cls, ClassValue):
        return isinstance(holder, Tuple)
    if isinstance(expr, ir.Attr):
        return dataclass_fields.is_frozen(call.interp, cls)
    return call.interp.context.has_all_code(cls) and call.interp.lookup(call.state, cls, "__setitem__") is None


def _has_attributes(state: State, ref: Ref) -> bool:
    """Check whether attributes were set on the tensor object itself, which a new tensor would not have."""
    return any(number == ref.id for (number, _), _ in state.all_traits(traits.ATTRIBUTE))


def _is_unknown(state: State, tensor: Tensor) -> bool:
    """Check whether the memory is that of a value whose origin is not known."""
    unknowns = (state.tensor(ref) for _, ref in state.all_traits(traits.TENSOR))
    return any(known is not None and known.storage == tensor.storage for known in unknowns)


def references(state: State, frame: Frame, ref: Ref, tensor: Tensor) -> dict[str, list[Ref]]:
    """Return the paths from variables to tensors on the memory of one; that of a local variable is its name alone."""
    found: dict[str, list[Ref]] = {}
    seen: set[RefId] = set()
    waiting = list(_roots(state, frame))
    while waiting:
        path, value = waiting.pop()
        known, other = state.tensor(value), state.ref(value)
        if known is not None and other is not None:
            if known.storage == tensor.storage and not _is_apart(state, other, ref):
                found.setdefault(path, []).append(other)
        elif other is None or other.id not in seen:
            if other is not None:
                seen.add(other.id)
            waiting.extend((f"{path}.{name}", inner) for name, inner in _inside(state, value))
    return found


def _roots(state: State, frame: Frame) -> Iterator[tuple[str, Value]]:
    """
    Yield the live variables: those of this function first, then those that may be read again later.

    The variables of a function that has returned are live only if a closure was made in it.
    """
    scope = state.heap[frame.env.id]
    if isinstance(scope, Names):
        yield from scope.values.items()
    heap = state.heap
    captured = {thing.parent.id for thing in heap.values() if isinstance(thing, Names) and thing.parent is not None}
    for number, thing in heap.items():
        if isinstance(thing, Names) and number != frame.env.id and (number < frame.env.id or number in captured):
            yield from ((f"{number}.{name}", value) for name, value in thing.values.items())
    for number, value in state.all_traits(traits.YIELDED):
        yield f"{number}.", value


def _is_apart(state: State, one: Ref, other: Ref) -> bool:
    """
    Check whether two tensors are different ones of the views that one call returned: these share no element.

    The results of one call have consecutive ids.
    """
    first, last = sorted((one.id, other.id))
    views = [state.tensor(Ref(RefId(number))) for number in range(first, last + 1)] if first != last else []
    made = {(view.base, view.made) if view is not None and view.view is View.MULTI else None for view in views}
    return len(made) == 1 and None not in made


def _inside(state: State, value: Value) -> Iterator[tuple[str, Value]]:
    """Yield the values that a value refers to, each with a name for the reference."""
    match value:
        case Tuple(items):
            yield from (("item", item) for item in items)
        case Bound(receiver, function):
            yield from (("receiver", receiver), ("function", function))
        case Partial(function, args, keywords):
            yield from (("argument", item) for item in (function, *args, *(given for _, given in keywords)))
        case Super(_, receiver):
            yield "receiver", receiver
        case Closure():
            yield from value.defaults
        case Ref():
            yield from _inside_object(state, value)
        case Const() | Sym() | _:
            pass


def _inside_object(state: State, ref: Ref) -> Iterator[tuple[str, Value]]:
    match state.object(ref):
        case ListObject(items):
            yield from (("item", item) for item in items)
        case DictObject(mapping):
            yield from (("item", item) for item in mapping.values())
        case Instance() as thing:
            yield from thing.attrs.items()
            if thing.children is not None:
                yield "child", thing.children
        case _:
            pass
