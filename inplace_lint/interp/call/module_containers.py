"""
Module containers: which modules they hold, in which order, and what a call of one runs.

    nn.Sequential(a, b)(x)      # b(a(x))
    nn.ModuleList([a, b])[0]    # a
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from inplace_lint.domain import origins, traits
from inplace_lint.domain.heap import DictObject, Instance, ListObject, Object
from inplace_lint.domain.state import State
from inplace_lint.domain.values import NONE, Closure, Const, Dotted, Ref, SliceValue, Sym, Tuple, Value, of_key
from inplace_lint.interp.frame import Arguments, Frame
from inplace_lint.interp.interpreter import Interpreter
from inplace_lint.interp.outcome import Results
from inplace_lint.interp.transfer import materialise

_Item = TypeVar("_Item")


class Children(Struct, frozen=True):
    """The modules in a container, by name; `exact` when these are certainly all."""

    pairs: tuple[tuple[str, Value], ...]
    exact: bool


def name(state: State, text: str) -> Value:
    """Return the name of a module or parameter as a value: unknown if it was put into a container under such a key."""
    return state.symbols.sym((origins.FIELD, text, ""), "str") if _UNKNOWN in text else Const(text)


def keys(state: State, instance: Instance) -> list[Value]:
    """List the keys of a container: what it keeps the modules under."""
    inner = state.object(instance.children) if instance.children is not None else None
    if isinstance(inner, DictObject):
        return [key for key, _ in inner.pairs]
    return [Const(name) for name, _ in children(state, instance).pairs]


_UNKNOWN = "<"  # no name of an attribute has it


def children(state: State, instance: Instance) -> Children:
    """List the modules of a container, in order."""
    inner = state.object(instance.children) if instance.children is not None else None
    match inner:
        case ListObject(items, exact):
            return Children(tuple((str(position), item) for position, item in enumerate(items)), exact)
        case DictObject(items, exact):
            named = ((f"{_UNKNOWN}{key.id}" if isinstance(key, Sym) else str(key), item) for key, item in items.items())
            return Children(tuple(named), exact)
        case _:
            return Children((), exact=False)


def named(state: State, instance: Instance, name: str) -> Value | None:
    """Return the module that a container has under a name; None if it is no container, or has none."""
    return None if instance.children is None else dict(children(state, instance).pairs).get(name)


def key_at(inner: Object | None, index: Value) -> Value:
    """Return the name of the module at a position, if what a container holds has names; else the index itself."""
    keys = [*inner.items] if isinstance(inner, DictObject) else []
    if isinstance(index, Const) and type(index.value) is int and -len(keys) <= index.value < len(keys):
        return of_key(keys[index.value])
    return index


def item(state: State, instance: Instance, inner: ListObject, index: Value) -> Value:
    """Return an item or a slice of a container that is indexed by position."""
    if (
        isinstance(index, Const)
        and isinstance(index.value, int)
        and -len(inner.items) <= index.value < len(inner.items)
    ):
        return inner.items[index.value]
    if isinstance(index, SliceValue):
        parts = [part.value if isinstance(part, Const) else None for part in (index.lower, index.upper, index.step)]
        bounds = [part if isinstance(part, int) else None for part in parts]
        chosen = ListObject(inner.items[slice(*bounds)], inner.exact)
        return state.new(replace(instance, children=state.new(chosen)))
    # IMPRECISE: an unknown position is taken for the first: the modules of a list are usually similar.
    return inner.items[0] if inner.items else state.symbols.sym((origins.ITEM, instance.children, index))


def extend(state: State, container: Ref, values: tuple[Value, ...], *, exact: bool = True) -> None:
    """Append modules to a list-like container."""
    instance = state.instance(container)
    inner = state.object(instance.children) if instance is not None and instance.children is not None else None
    if instance is None or instance.children is None:
        return
    if isinstance(inner, ListObject):
        state.put(instance.children, ListObject(inner.items + values, inner.exact and exact, inner.kind))
    elif isinstance(inner, DictObject):
        named = {str(position): value for position, value in enumerate(values, len(inner.items))}
        state.put(instance.children, replace(inner, items={**inner.items, **named}, exact=inner.exact and exact))


def insert(state: State, container: Ref, index: Value, value: Value) -> None:
    """Insert a module into a list-like container; at an unknown position it is appended."""
    instance = state.instance(container)
    inner = state.object(instance.children) if instance is not None and instance.children is not None else None
    if instance is not None and instance.children is not None and isinstance(inner, ListObject):
        position = index.value if isinstance(index, Const) and isinstance(index.value, int) else len(inner.items)
        items = (*inner.items[:position], value, *inner.items[position:])
        state.put(instance.children, ListObject(items, inner.exact, inner.kind))


def put(state: State, container: Ref, name: object, value: Value) -> None:
    """Set a module of a container by name or position."""
    instance = state.instance(container)
    if instance is None or instance.children is None:
        return
    inner = state.object(instance.children)
    if isinstance(inner, DictObject):
        state.put(instance.children, DictObject({**inner.items, name: value}, inner.exact, inner.default))
    elif isinstance(inner, ListObject) and name == str(len(inner.items)):
        state.put(instance.children, ListObject((*inner.items, value), inner.exact, inner.kind))
    elif isinstance(inner, ListObject):
        before: dict[object, Value] = {**dict(children(state, instance).pairs)}
        state.put(instance.children, DictObject({**before, name: value}, inner.exact))


def drop(state: State, instance: Instance, name: str) -> None:
    """Take a module out of a container by its name."""
    inner = state.object(instance.children) if instance.children is not None else None
    if instance.children is not None and isinstance(inner, ListObject):
        listed = tuple(value for place, value in enumerate(inner.items) if str(place) != name)
        state.put(instance.children, replace(inner, items=listed))
    elif instance.children is not None and isinstance(inner, DictObject):
        kept = {key: value for key, value in inner.items.items() if str(key) != name}
        state.put(instance.children, replace(inner, items=kept))


def maps(interp: Interpreter, state: State, instance: Instance) -> bool:
    """Check whether a container is one of names to modules, whose iteration gives the names."""
    named = instance.children is not None and isinstance(state.object(instance.children), DictObject)
    return named and interp.lookup(state, instance.cls, "keys") is not None


def condensed(state: State, items: tuple[Value, ...]) -> tuple[Value, ...]:
    """
    Keep two of each run of similar modules: further ones behave like the second.

    A module that occurs a second time is kept, since its second call meets what its first call saved.
    """
    return tuple(items[position] for position in shown(items, lambda one, other: alike(state, one, other)))


def shown(items: Sequence[_Item], similar: Callable[[_Item, _Item], bool]) -> list[int]:
    """Return the positions of two of each run of similar items, and of those that occur a second time."""
    kept: list[int] = []
    for position, item in enumerate(items):
        if (
            len(kept) > 1
            and similar(items[kept[-1]], item)
            and similar(items[kept[-2]], item)
            # Checked last: the items may be thousands of values that are no modules.
            and sum(items[one] == item for one in kept) != 1
        ):
            continue
        kept.append(position)
    return kept


def note_left_out(state: State, items: tuple[Value, ...], kept: tuple[Value, ...]) -> None:
    """Remember for which modules those of `items` that are not in `kept` are left out."""
    last: Value = NONE
    behind: dict[Value, tuple[Ref, ...]] = {}
    for value in items if len(kept) < len(items) else ():
        if value in kept:
            last = value
        elif isinstance(value, Ref):
            behind[last] = (*behind.get(last, ()), value)
    for value, others in behind.items():
        if isinstance(value, Ref):
            state.set_trait(traits.LEFT_OUT, value.id, others)


def forms(state: State, items: tuple[Value, ...]) -> dict[Ref, Hashable]:
    """Return the form of each module of some items, or of rows of items, for which others are left out."""
    parts = (part for value in items for part in (value.items if type(value) is Tuple else (value,)))
    return {
        part: form(state, part) for part in parts if isinstance(part, Ref) and state.has_trait(traits.LEFT_OUT, part.id)
    }


def follow(paths: Iterable[State], before: Mapping[Ref, Hashable]) -> None:
    """
    Change modules that were left out, on each path, as those for which they were left out have been changed since.

    for block in self.blocks:
        block.act.inplace = False       # two turns are run, and say it of all
    """
    for state in paths if before else ():
        for ref, known in before.items():
            if form(state, ref) != known:
                for other in state.trait(traits.LEFT_OUT, ref.id) or ():
                    _follow(state, ref, other, 0)


def _follow(state: State, one: Ref, other: Ref, depth: int) -> None:
    left, right = state.instance(one), state.instance(other)
    if left is None or right is None or depth > _DEEPEST:
        return
    for name, part in left.attrs.items():
        twin = right.attrs.get(name)
        ours, theirs = state.tensor(part), None if twin is None else state.tensor(twin)
        if ours is not None and theirs is not None and isinstance(twin, Ref):
            state.put(twin, replace(theirs, rg=ours.rg, leaf=ours.leaf) if ours.param and theirs.param else theirs)
        elif isinstance(part, Ref) and isinstance(twin, Ref) and _is_of_class_of(state, part, twin):
            _follow(state, part, twin, depth + 1)
        elif part != twin and ours is None and not _is_number(part):
            state.set_attribute(other, name, part)
    mine, its = children(state, left).pairs, children(state, right).pairs
    for (_, part), (_, twin) in zip(mine, its, strict=False):
        if isinstance(part, Ref) and isinstance(twin, Ref):
            _follow(state, part, twin, depth + 1)


def _is_of_class_of(state: State, one: Ref, other: Ref) -> bool:
    left, right = state.instance(one), state.instance(other)
    return left is not None and right is not None and left.cls == right.cls


def _is_number(value: Value) -> bool:
    return isinstance(value, Const) and isinstance(value.value, int | float) and not isinstance(value.value, bool)


def alike(state: State, one: Value, other: Value, depth: int = 0) -> bool:
    """Check whether two modules have the same class, the same constants and similar parts."""
    if one == other:
        return isinstance(one, Ref) and state.instance(one) is not None
    left, right = state.instance(one), state.instance(other)
    if (
        left is None
        or right is None
        or left.cls != right.cls
        or left.pending != right.pending
        or len(left.attrs) != len(right.attrs)
        or depth > _DEEPEST
    ):
        return False
    others = right.attrs
    for name, part in left.attrs.items():
        twin = others.get(name)
        if part is not twin and not _same_part(state, part, twin, depth):
            return False
    if left.children is None and right.children is None:
        return True
    mine, theirs = children(state, left).pairs, children(state, right).pairs
    return len(mine) == len(theirs) and all(
        alike(state, child, twin, depth + 1) for (_, child), (_, twin) in zip(mine, theirs, strict=True)
    )


def _same_part(state: State, one: Value, other: Value | None, depth: int) -> bool:
    if other is None:
        return False
    if type(one) is Const and type(other) is Const:
        if isinstance(one.value, float) and isinstance(other.value, float):
            # Of rates and scales that depend on the depth of a block, only whether they are zero decides how it runs.
            return bool(one.value) == bool(other.value)
        return one == other
    if not isinstance(one, Ref) or not isinstance(other, Ref):
        return one == other or (isinstance(one, Sym) and isinstance(other, Sym))
    if state.instance(one) is not None:
        return alike(state, one, other, depth + 1)
    return type(state.object(one)) is type(state.object(other))


def form(state: State, value: Value, seen: set[int] | None = None) -> Hashable:
    """
    Return a key of what decides how a module runs, but no numbers.

    It has classes, flags, words and functions of the module and its parts.
    """
    seen = set() if seen is None else seen
    if isinstance(value, Const):
        return value.value if value.value is None or isinstance(value.value, bool | str) else type(value.value).__name__
    if isinstance(value, Dotted | Closure):
        return value.name if isinstance(value, Dotted) else id(value.function)
    instance, tensor = state.instance(value), state.tensor(value)
    if tensor is not None and tensor.param:
        return "parameter", tensor.rg
    if instance is None or not isinstance(value, Ref):
        return state.truth(value.id) if isinstance(value, Sym) else type(state.object(value)).__name__
    if value.id in seen:
        return "seen"
    seen.add(value.id)
    cls = instance.cls.name if isinstance(instance.cls, Dotted) else id(instance.cls)
    parts = [*instance.attrs.items(), *children(state, instance).pairs]
    return cls, tuple((name, form(state, part, seen)) for name, part in parts)


_DEEPEST = 8


def _seen_from(frame: Frame, state: State, child: Value, at: int) -> tuple[Frame, int]:
    """Return the frame and offset in which a library module of a container runs: where it was constructed."""
    module = state.instance(child)
    if module is None or module.made is None or not isinstance(module.cls, Dotted) or module.children is not None:
        return frame, at
    caller = frame.site(at) if not frame.built else frame.caller
    return replace(frame, slice=module.made.slice, caller=caller, built=True), module.made.at


def run_in_order(
    interp: Interpreter, frame: Frame, state: State, instance: Instance, arguments: Arguments, at: int
) -> Results:
    """Call the modules of a sequence one after the other; None is left out, as libraries do that allow it."""
    inner = children(state, instance)
    going: list[tuple[State, Arguments]] = [(state, arguments)]
    for child in condensed(state, tuple(child for _, child in inner.pairs if child != NONE)):
        seen_from, place = _seen_from(frame, state, child, at)
        going = [
            (after, Arguments((value,)))
            for before, given in going
            for after, value in interp.call(seen_from, before, child, given, place)
        ]
    results: Results = []
    for after, given in going:
        if not inner.exact:
            site = frame.site(at)
            unknown = after.symbols.sym((origins.RESULT, instance.children, site, after.next_id), "input")
            chain = Dotted(instance.cls.name)
            materialise.remember_history(after, unknown, chain, given, site, given.positional)
            results.append((after, unknown))
        elif given.positional:
            results.append((after, given.positional[0]))
    return results
