"""
Subscripts: of tensors by the framework's facts, of tuples, lists and dicts by content.

    x[:, 0]             # `Tensor.__getitem__`: a view
    sizes[-1]           # the last item of a list, if its length is known
    batch["image"]      # of an unknown value: an unknown item, the same one for the same index
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from inplace_lint.core.event import Spelling
from inplace_lint.core.span import Place
from inplace_lint.domain import origins, traits, unknown_history
from inplace_lint.domain.heap import DictObject, Instance, ListObject, Object
from inplace_lint.domain.state import State
from inplace_lint.domain.values import (
    Builtin,
    ClassValue,
    Const,
    Dotted,
    Ref,
    SliceValue,
    Sym,
    SymId,
    Tuple,
    Value,
    is_absent,
    is_key,
    key_of,
    may_be_key,
)
from inplace_lint.interp.call import enums, module_containers
from inplace_lint.interp.control import exceptional_flow, path_condition
from inplace_lint.interp.expr import comparisons, item_stores, own_names, registries
from inplace_lint.interp.frame import Arguments, Frame
from inplace_lint.interp.interpreter import Interpreter
from inplace_lint.interp.intrinsics import kernels, opaque_modules
from inplace_lint.interp.options.coverage import is_alternative
from inplace_lint.interp.outcome import Raised, Results
from inplace_lint.interp.pylib import constant_folding, mappings, numbered_names
from inplace_lint.interp.transfer import materialise
from inplace_lint.interp.transfer.index import copies
from inplace_lint.ir import nodes as ir
from inplace_lint.knowledge.facts import Facts


def get(interp: Interpreter, frame: Frame, state: State, value: Value, index: Value, expr: ir.Expr) -> Results:
    """Evaluate `value[index]`."""
    at = expr.at if isinstance(expr, ir.Subscript) else 0
    facts = _framework_of(interp, frame, state, value, index)
    if facts is not None:
        exprs: dict[int | str, ir.Expr] = {0: expr.value} if isinstance(expr, ir.Subscript) else {}
        name = f"{facts.framework.tensor}.__getitem__"
        results = interp.apply_op(frame, state, name, Arguments((value, index), (), exprs), at)
        for after, item in results if copies(state, index) else ():
            if isinstance(item, Ref):
                after.set_trait(traits.SELECTED, item.id, True)
        return results
    if exceptional_flow.refuses_none(interp, frame, state, value, at):
        return interp.fuel.leave(state, Raised(Builtin("TypeError"), frame.site(at)))
    return _of_python(interp, frame, state, value, index, at)


def _of_python(interp: Interpreter, frame: Frame, state: State, value: Value, index: Value, at: int) -> Results:
    if isinstance(value, Tuple):
        if interp.fuel.listens and value.exact and _is_outside(value.items, index):
            return interp.fuel.leave(state, Raised(Builtin("IndexError"), frame.site(at)))
        return [(state, _from_items(state, value, value.items, value.exact, index))]
    if kernels.is_kernel(value):
        return [(state, value)]
    of_class = enums.item_of_class(interp, frame, state, value, index, at) if isinstance(value, ClassValue) else None
    if of_class is not None:
        return of_class
    if isinstance(value, Const):
        part = constant_folding.binary(state, "[]", value, index)
        return [(state, unknown_item(state, value, index) if part is None else part)]
    match state.object(value):
        case ListObject(items, exact):
            if interp.fuel.listens and exact and _is_outside(items, index):
                return interp.fuel.leave(state, Raised(Builtin("IndexError"), frame.site(at)))
            return [(state, _from_items(state, value, items, exact, index))]
        case DictObject() as mapping:
            return _from_mapping(interp, frame, state, value, mapping, index, at)
        case Instance() as instance:
            return _from_instance(interp, frame, state, value, instance, index, at)
        case _:
            named = numbered_names.item(interp, frame, state, value, index, at)
            kept = _kept_under(state, value, index) if named is None else named
            return [(state, unknown_item(state, value, index) if kept is None else kept)]


def _from_mapping(
    interp: Interpreter, frame: Frame, state: State, value: Value, mapping: DictObject, index: Value, at: int
) -> Results:
    """Return the item of a dict; where one that handles exceptions calls, a key that is missing raises."""
    index = comparisons.or_unknown(interp, state, index, value)
    mapping = registries.filled(interp, state, value, mapping, index)
    interp.context.coverage.entry(frame, state, at, mapping, index)
    if mapping.factory is not None and may_be_key(index) and key_of(index) not in mapping.items:
        return _made(interp, frame, state, value, mapping, index, at)
    if interp.fuel.listens and _is_missing(mapping, path_condition.known(state, index)):
        return interp.fuel.leave(state, Raised(Builtin("KeyError"), frame.site(at)))
    return [(state, _from_dict(state, value, mapping, index))]


def _is_outside(items: Sequence[Value], index: Value) -> bool:
    """Check whether a list of these items certainly has none at an index."""
    return isinstance(index, Const) and type(index.value) is int and not -len(items) <= index.value < len(items)


def _is_missing(mapping: DictObject, key: Value) -> bool:
    """Check whether a dict certainly has no item under a key, which then raises."""
    made = mapping.default is not None or mapping.factory is not None
    return isinstance(key, Const) and not made and mapping.exact and is_absent(mapping.items, key)


def _framework_of(interp: Interpreter, frame: Frame, state: State, value: Value, index: Value) -> Facts | None:
    """Return the facts for an item of a tensor; in a module, an input with an index of several axes is a tensor."""
    facts = materialise.framework_of(interp, state, value)
    if facts is not None or not isinstance(value, Sym) or value.kind != "input" or not isinstance(index, Tuple):
        return facts
    owner = frame.closure.owner if frame.closure is not None else None
    axes = any(isinstance(part, SliceValue) or part == Const(...) for part in index.items)
    return interp.context.default() if axes and owner is not None and interp.context.is_module(owner) else None


def _of_target(interp: Interpreter, state: State, value: Value, index: Value) -> Facts | None:
    """
    Return the facts for an unknown value that an assignment to an item shows to be a tensor.

    It is a module's `weight`, an item of which is assigned by its position, or what has elements that are chosen by a
    tensor, or by what they are themselves.
    """
    default = interp.context.default()
    if opaque_modules.is_named_as_parameter(state, value, default.framework.parameters) and not _is_text(index):
        return default
    if not isinstance(value, Sym) or value.kind not in {"", "input"}:
        return None
    return default if state.tensor(index) is not None or _compares(state, index, value) else None


def _is_text(index: Value) -> bool:
    """Check whether an index is a text, so that what has an item there is no tensor."""
    return isinstance(index, Const) and isinstance(index.value, str)


def _compares(state: State, index: Value, value: Sym) -> bool:
    """Check whether an index is a comparison of a value with something, or the opposite of one."""
    match state.symbols.key(index) if isinstance(index, Sym) else None:
        case (origins.COMPARE, str(), left, _):
            return left == value
        case (origins.NOT, int(number)):
            return _compares(state, Sym(SymId(number)), value)
        case _:
            return False


def _kept_under(state: State, value: Value, index: Value) -> Value | None:
    """Return what the program stored in an unknown mapping under a key, until unknown code receives the mapping."""
    value = item_stores.unknown(state, value)
    if not isinstance(value, Sym) or not isinstance(index, Const) or not isinstance(index.value, str):
        return None
    if value.id not in state.symbols.marked or unknown_history.is_passed_on(state, value):
        return None
    return dict(kept_in(state, value)).get(index)


def kept_in(state: State, value: Sym) -> tuple[tuple[Value, Value], ...]:
    """List the keys and values that the program stored in an unknown container, which may be a tensor."""
    return state.trait(traits.ITEMS, value.id) or ()


def has_texts(state: State, value: Sym) -> bool:
    """Check whether something was read from an unknown value, or stored in it, under a text: it is a mapping."""
    read = (key for key in state.symbols.keys if isinstance(key, tuple) and key[0] is origins.ITEM)
    return any(key[1] == value and _is_text(key[2]) for key in read) or any(
        _is_text(key) for key, _ in kept_in(state, value)
    )


def unknown_item(state: State, value: Value, index: Value) -> Sym:
    """Return the item of an unknown value: the same one for the same index."""
    is_second = opaque_modules.is_named_parameter(state, value) and index == Const(1)
    kind = "tensor" if is_second or _is_tensor_in(state, value, index) else kind_of_item(state, value)
    if kind == "number" and isinstance(index, SliceValue):
        kind = "sequence"
    return state.symbols.sym((origins.ITEM, value, index), kind)


def kind_of_item(state: State, value: Value) -> str:
    """Return the kind of the items of an unknown value: of a shape, numbers; of an input or array, the same kind."""
    if _is_shape(state, value):
        return "number"
    if opaque_modules.is_listed(state, value, "parameters"):
        return "tensor"
    return value.kind if isinstance(value, Sym) and value.kind in {"array", "input"} else ""


def _is_tensor_in(state: State, value: Value, index: Value) -> bool:
    return isinstance(value, Sym) and state.has_trait(traits.OF_TENSORS, value.id) and type(index) is not SliceValue


def _is_shape(state: State, value: Value) -> bool:
    match state.symbols.key(value) if isinstance(value, Sym) else None:
        case (origins.SHAPE, *_):
            return True
        case (origins.ITEM, Builtin() | Sym() as whole, SliceValue()):
            return _is_shape(state, whole)
        case _:
            return value == Builtin("shape")


def _from_items(state: State, value: Value, items: tuple[Value, ...], exact: bool, index: Value) -> Value:
    if isinstance(index, Const) and isinstance(index.value, int):
        position = int(index.value)
        # The start of a tuple of unknown length is known, and later items are taken to be like the known ones.
        if (exact or isinstance(value, Tuple)) and -len(items) <= position < len(items):
            return items[position]
    if isinstance(index, SliceValue):
        parts = (index.lower, index.upper, index.step)
        exact = exact and not any(unknown_history.is_turn(state, item) for item in items)
        bounds = [part.value for part in parts if isinstance(part, Const) and isinstance(part.value, int | None)]
        if exact and len(bounds) == len(parts) and bounds[2] != 0:
            chosen = items[slice(*bounds)]
            return Tuple(chosen) if isinstance(value, Tuple) else state.new(ListObject(chosen))
        exact = exact and not items  # any slice of an empty sequence is empty
        if items and unknown_history.is_turn(state, items[0]) and index.lower not in {Const(None), Const(0)}:
            items = items[1:] or items
        return Tuple(items, exact=exact) if isinstance(value, Tuple) else state.new(ListObject(items, exact=exact))
    distinct = set(items)
    if len(distinct) == 1 and (exact or _is_repeated(state, items[0])):
        return items[0]
    return _some_item(state, value, items, index)


def _is_repeated(state: State, item: Value) -> bool:
    """Check whether a list was made of one item, some number of times."""
    return isinstance(item, Ref) and state.has_trait(traits.REPEATED, item.id)


def _some_item(state: State, value: Value, items: tuple[Value, ...], index: Value) -> Value:
    """Return what a container has at an unknown index: of rows of one length, a row of what may be at each place."""
    # IMPRECISE: an unknown position among modules, parameters, classes and functions takes the first one.
    if items and (all(is_alternative(state, item) for item in items) or _are_parameters(state, items)):
        return items[0]
    item = state.symbols.sym((origins.ITEM, value, index), _kind_of_all(state, items))
    rows = [row.items for row in items if isinstance(row, Tuple) and row.exact]
    if rows and len(rows) == len(items) and len({len(row) for row in rows}) == 1:
        columns = enumerate(zip(*rows, strict=True))
        return Tuple(tuple([_some_item(state, item, column, Const(place)) for place, column in columns]))
    return _any_of(state, item, items)


def _are_parameters(state: State, items: Collection[Value]) -> bool:
    """Check whether all items of a container are parameters, whichever of a model has that name or place."""
    return bool(items) and all((tensor := state.tensor(item)) is not None and tensor.param for item in items)


def _any_of(state: State, item: Sym, items: Collection[Value]) -> Sym:
    """Return an item of a container at an unknown index; its history is that of what may be there."""
    if item.kind == "tensor":
        unknown_history.choose(state, item, items)
    return item


def _kind_of_all(state: State, items: Collection[Value]) -> str:
    """Return the kind of an item of a container, where all that are known are of one kind."""
    if items and all(_is_number(item) for item in items):
        return "number"
    return "tensor" if items and all(state.tensor(item) is not None for item in items) else ""


def _is_number(value: Value) -> bool:
    if isinstance(value, Const):
        return type(value.value) in {int, float}
    return isinstance(value, Sym) and value.kind == "number"


def _made(
    interp: Interpreter, frame: Frame, state: State, value: Value, mapping: DictObject, key: Value, at: int
) -> Results:
    """Return what the factory of a dict makes for a missing key, which it has from then on."""
    assert isinstance(value, Ref)
    assert mapping.factory is not None
    results = interp.call(frame, state, mapping.factory, Arguments(()), at)
    if any(isinstance(other, Sym) for other in mapping.items) and not isinstance(key, Sym):
        results = [(after, unknown_item(after, value, key) if type(made) is Const else made) for after, made in results]
    for after, made in results:
        item_stores.store(after, value, after.object(value), key, made)
    return results


def _from_dict(state: State, value: Value, mapping: DictObject, index: Value) -> Value:
    index = path_condition.known(state, index)
    if may_be_key(index) and key_of(index) in mapping.items:
        return mapping.items[key_of(index)]
    if mapping.default is not None and not any(isinstance(key, Sym) for key in mapping.items):
        return mapping.default
    distinct = set(mapping.items.values())
    named = mapping.exact and is_key(index) and not any(isinstance(key, Sym) for key in mapping.items)
    if len(distinct) == 1 and mapping.exact and not named:
        return next(iter(distinct))
    if not named and _are_parameters(state, distinct):
        return next(iter(mapping.items.values()))
    if distinct and not is_key(index) and all(is_alternative(state, item) for item in distinct):
        return mappings.alternative(state, mapping, index)
    if is_key(index):
        return state.symbols.sym((origins.ITEM, value, index))
    return _any_of(state, state.symbols.sym((origins.ITEM, value, index), _kind_of_all(state, distinct)), distinct)


def _from_instance(
    interp: Interpreter, frame: Frame, state: State, value: Value, instance: Instance, index: Value, at: int
) -> Results:
    inner: Object | None
    if instance.children is not None:
        inner = state.object(instance.children)
        if isinstance(inner, DictObject) and isinstance(index, SliceValue):
            inner = ListObject(tuple(inner.items.values()), inner.exact)
        if isinstance(inner, ListObject):
            return [(state, module_containers.item(state, instance, inner, index))]
        if isinstance(inner, DictObject):
            return [(state, _from_dict(state, value, inner, module_containers.key_at(inner, index)))]
    mapping = state.trait(traits.CONTENTS, value.id) if isinstance(value, Ref) else None
    inner = None if mapping is None else state.object(mapping)
    if isinstance(inner, DictObject) and _is_missing(inner, path_condition.known(state, index)):
        own = interp.special_method(frame, state, value, "__missing__", (index,), at)
        if own is not None:
            return own
    results: Results = []
    for after, method in interp.get_attribute(frame, state, value, "__getitem__", at):
        if isinstance(method, Sym | Dotted):
            results.append((after, unknown_item(after, value, index)))
        else:
            results.extend(interp.call(frame, after, method, Arguments((index,)), at))
    return results


def set_(
    interp: Interpreter,
    frame: Frame,
    state: State,
    receiver: Value,
    index: Value,
    value: Value,
    target: ir.Subscript,
    source: ir.Expr | None,
    *,
    again: bool = False,
) -> list[State]:
    """Run `receiver[index] = value`; `again` if an augmented assignment has just written the item itself."""
    facts = _framework_of(interp, frame, state, receiver, index) or _of_target(interp, state, receiver, index)
    if facts is not None and _is_text(index):
        return [state]  # it was taken for a tensor, which has no items under texts
    if facts is not None:
        given = ((0, target.value), (2, source))
        exprs: dict[int | str, ir.Expr] = {place: expr for place, expr in given if expr is not None}
        name = f"{facts.framework.tensor}.__setitem__"
        arguments = Arguments((receiver, index, value), (), exprs)
        spelled = Spelling.AGAIN if again else Spelling.ITEM
        return [after for after, _ in interp.apply_op(frame, state, name, arguments, target.at, spelled)]
    owner = own_names.object_of(state, receiver)
    if owner is not None and isinstance(index, Const) and isinstance(index.value, str):
        return interp.set_attribute(frame, state, owner, index.value, value, target.at)
    thing = state.object(receiver)
    if isinstance(thing, Instance) and thing.children is None:
        return _set_instance(interp, frame, state, receiver, index, value, target.at)
    if isinstance(receiver, Ref):
        held: tuple[Value, ...] = ()
        index = path_condition.known(state, index)
        if isinstance(thing, DictObject) and may_be_key(index) and not again:  # `d[k] += x` stores nothing elsewhere
            held = tuple(v for k, v in thing.items.items() if k != key_of(index))
        interp.listeners.store(state, Place(frame.slice, target.at), value, held)
        item_stores.store(state, receiver, thing, index, value)
    keep(interp, state, item_stores.unknown(state, receiver), index, value)
    return [state]


def keep(interp: Interpreter, state: State, container: Value, key: Value, value: Value) -> None:
    """Remember an item of an unknown container."""
    if not isinstance(container, Sym) or not isinstance(key, Const) or not isinstance(key.value, str | int):
        return
    interp.listeners.put_again(state, container, key, value)
    pairs = {**dict(kept_in(state, container)), key: value}
    state.symbols.marked.add(container.id)
    state.set_trait(traits.ITEMS, container.id, tuple(pairs.items()))
    if isinstance(key.value, str):
        materialise.hold(state, container, key, value)


def _set_instance(
    interp: Interpreter, frame: Frame, state: State, receiver: Value, index: Value, value: Value, at: int
) -> list[State]:
    for after, method in interp.get_attribute(frame, state, receiver, "__setitem__", at):
        if not isinstance(method, Sym | Dotted):
            return [done for done, _ in interp.call(frame, after, method, Arguments((index, value)), at)]
        return [after]
    return [state]
