"""
Portable arguments: what one path passes to a constructor, in a form that another path can use.

    Block(dim, nn.ReLU(inplace=True))    # `Block` is run alone on a number and on such an activation, made anew
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any, NamedTuple

from msgspec.structs import replace

from inplace_lint.core.span import Place
from inplace_lint.domain import traits
from inplace_lint.domain.heap import DictObject, Instance, ListObject, Names, Tensor
from inplace_lint.domain.state import State
from inplace_lint.domain.values import (
    ClassValue,
    Closure,
    Const,
    Dotted,
    ModuleValue,
    Partial,
    Ref,
    StorageId,
    Sym,
    Tuple,
    Value,
)
from inplace_lint.interp.frame import Arguments
from inplace_lint.ir import nodes as ir
from inplace_lint.ir.walk import walk

_DEEPEST = 12


class _Box(NamedTuple):
    """The portable form of a list or dict."""

    kind: str
    keys: tuple[Hashable, ...]
    items: tuple[Hashable, ...]
    exact: bool


class _Made(NamedTuple):
    """The portable form of an instance."""

    cls: ClassValue | Dotted
    opaque: bool
    attrs: tuple[tuple[str, Hashable], ...]
    children: Hashable
    pending: Hashable
    made: Place | None


class _Function(NamedTuple):
    """The portable form of a function that is defined in another one: what it reads of the variables there."""

    closure: Closure
    names: tuple[tuple[str, Hashable], ...]


class _Leaf(NamedTuple):
    """The portable form of a parameter or buffer."""

    tensor: Tensor


class _NotPortable(Exception):  # noqa: N818 - not an error: the arguments are then not recorded
    """Raised for a value that exists on one path only."""


def frozen(state: State, arguments: Arguments) -> tuple[Hashable, ...] | None:
    """Return arguments in a form that another path can use; None when they contain objects of this path."""
    try:
        positional = tuple(_frozen(state, value) for value in arguments.positional)
        return positional, tuple((name, _frozen(state, value)) for name, value in arguments.keywords)
    except _NotPortable:
        return None


def _frozen(state: State, value: Value, depth: int = 0) -> Hashable:
    if depth > _DEEPEST:
        raise _NotPortable
    match value:
        case Sym(number) if state.has_trait(traits.TENSOR, number):
            raise _NotPortable
        case Const() | Sym() | Dotted() | ModuleValue() | ClassValue(env=None) | Closure(env=None):
            return value
        case Closure(owner=None) as closure:
            return _Function(replace(closure, env=None), tuple(_captured(state, closure, depth + 1)))
        case Tuple(items, exact, fields):
            return Tuple, tuple(_frozen(state, item, depth + 1) for item in items), exact, fields
        case Partial(function, args, keywords):
            given = tuple((name, _frozen(state, item, depth + 1)) for name, item in keywords)
            return (
                Partial,
                _frozen(state, function, depth + 1),
                tuple(_frozen(state, item, depth + 1) for item in args),
                given,
            )
        case _:
            return _frozen_object(state, value, depth)


def _frozen_object(state: State, value: Value, depth: int) -> Hashable:
    match state.object(value):
        case ListObject(items, exact, kind):
            return _Box(kind, (), tuple(_frozen(state, item, depth + 1) for item in items), exact)
        case DictObject(mapping, exact, None):
            keys = tuple(mapping)
            return _Box("dict", keys, tuple(_frozen(state, item, depth + 1) for item in mapping.values()), exact)
        case Instance(Dotted() | ClassValue(env=None) as cls, attrs, opaque, children, made, pending):
            own = tuple((name, _frozen(state, part, depth + 1)) for name, part in attrs.items())
            inner = None if children is None else _frozen(state, children, depth + 1)
            waiting = None if pending is None else _frozen(state, pending, depth + 1)
            return _Made(cls, opaque, own, inner, waiting, made)
        case Tensor(nodes=(), base=None, grad=None) as tensor if tensor.leaf:
            return _Leaf(replace(tensor, storage=StorageId(0), device=0, made=None))
        case _:
            raise _NotPortable


def _captured(state: State, closure: Closure, depth: int) -> Iterator[tuple[str, Hashable]]:
    """Yield what a function reads of the variables of those that it is defined in."""
    read = {part.id for part in walk(closure.function.body) if type(part) is ir.Name}
    read -= {param.name for param in closure.function.params}
    scope = None if closure.env is None else state.object(closure.env)
    while isinstance(scope, Names):
        for name in sorted(read & scope.values.keys()):
            yield name, _frozen(state, scope.values[name], depth)
        read -= scope.values.keys()
        scope = None if scope.parent is None else state.object(scope.parent)


def thawed(state: State, entry: tuple[Hashable, ...], chosen: Callable[[Value], Value]) -> Arguments:
    """
    Return frozen arguments as values of another path, with new objects.

    `chosen` says what to use for a value; it is asked for those in objects as well, such as the fields of a
    configuration.
    """
    positional, keywords = _parts(entry)
    return Arguments(
        tuple(_thawed(state, item, chosen) for item in positional),
        tuple((name, _thawed(state, item, chosen)) for name, item in keywords),
    )


def _parts(entry: tuple[Hashable, ...]) -> tuple[tuple[Any, ...], tuple[tuple[str, Any], ...]]:
    positional, keywords = entry
    assert isinstance(positional, tuple)
    assert isinstance(keywords, tuple)
    return positional, keywords


def passed(entry: tuple[Hashable, ...], names: Sequence[str]) -> frozenset[str]:
    """Return the parameters that frozen arguments are passed for, of those that a call can pass by position first."""
    positional, keywords = _parts(entry)
    return frozenset({*names[: len(positional)], *(name for name, _ in keywords)})


def classes(entry: tuple[Hashable, ...]) -> Iterator[ClassValue]:
    """Yield the classes of the program among frozen arguments."""
    positional, keywords = _parts(entry)
    yield from (value for value in (*positional, *(item for _, item in keywords)) if isinstance(value, ClassValue))


def _thawed(state: State, form: Any, chosen: Callable[[Value], Value]) -> Value:  # noqa: ANN401 - a portable form
    if isinstance(form, _Box):
        items = tuple(_thawed(state, item, chosen) for item in form.items)
        if form.kind == "dict":
            return state.new(DictObject(dict(zip(form.keys, items, strict=True)), form.exact))
        return state.new(ListObject(items, form.exact, form.kind))
    if isinstance(form, _Made):
        attrs = {name: _thawed(state, part, chosen) for name, part in form.attrs}
        children = None if form.children is None else _thawed(state, form.children, chosen)
        pending = None if form.pending is None else _thawed(state, form.pending, chosen)
        assert children is None or isinstance(children, Ref)
        assert pending is None or isinstance(pending, Partial)
        return state.new(Instance(form.cls, attrs, form.opaque, children, form.made, pending))
    if isinstance(form, _Function):
        names = {name: _thawed(state, part, chosen) for name, part in form.names}
        env = state.new(Names(names, dict.fromkeys(names, state.clock))) if names else None
        return replace(form.closure, env=env)
    if isinstance(form, _Leaf):
        return state.new(replace(form.tensor, storage=state.new_storage()))
    if isinstance(form, tuple) and not isinstance(form, Ref) and form[:1] == (Tuple,):
        return Tuple(tuple(_thawed(state, item, chosen) for item in form[1]), form[2], form[3])
    if isinstance(form, tuple) and not isinstance(form, Ref) and form[:1] == (Partial,):
        args = tuple(_thawed(state, item, chosen) for item in form[2])
        return Partial(
            _thawed(state, form[1], chosen), args, tuple((name, _thawed(state, item, chosen)) for name, item in form[3])
        )
    return chosen(form)
