"""
Records as JSON holds them: a struct is the list of its fields, a mapping the list of its pairs.

    form_of(Span("a.py", 1, 0, 1, 5))         # ["a.py", 1, 0, 1, 5, None]
    reader(Span)(["a.py", 1, 0, 1, 5, None])  # Span("a.py", 1, 0, 1, 5)

It is JSON and no pickle, because a cache that comes with a cloned repository must not run code.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints

from msgspec import Struct

Reader = Callable[[Any], Any]


def form_of(value: Any) -> Any:  # noqa: ANN401 - any record
    """Return the form of a record, and of what it holds."""
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Mapping):
        return [[form_of(key), form_of(item)] for key, item in value.items()]
    if isinstance(value, tuple):
        return [form_of(item) for item in value]
    if isinstance(value, Struct):
        return [form_of(getattr(value, name)) for name in value.__struct_fields__]
    return value


@cache
def reader(kind: Any) -> Reader:  # noqa: ANN401 - an annotation
    """
    Return the function that makes a value of a type of its form; an object with its fields by name is a form as well.

    Other keys of such an object are ignored. ValueError or TypeError is raised for what is no form of the type.
    """
    args = get_args(kind)
    if get_origin(kind) is UnionType:
        inner = reader(next(one for one in args if one is not NoneType))
        return lambda form: None if form is None else inner(form)
    if get_origin(kind) is Mapping:
        key, item = reader(args[0]), reader(args[1])
        return lambda form: {key(one): item(other) for one, other in form}
    if get_origin(kind) is tuple and args[-1] is Ellipsis:
        each = reader(args[0])
        return lambda form: tuple(map(each, form))
    if get_origin(kind) is tuple:
        parts = [reader(one) for one in args]
        return lambda form: tuple(read(part) for read, part in zip(parts, form, strict=True))
    if issubclass(kind, Struct):
        return _record(kind)
    return kind if issubclass(kind, Enum) else _plain(kind)


def _record(kind: type[Struct]) -> Reader:
    hints = get_type_hints(kind)
    readers = {name: reader(hints[name]) for name in kind.__struct_fields__}

    def read(form: Any) -> Any:  # noqa: ANN401 - the parsing edge
        named = form if isinstance(form, dict) else dict(zip(readers, form, strict=True))
        return kind(**{name: readers[name](part) for name, part in named.items() if name in readers})

    return read


def _plain(kind: type) -> Reader:
    def read(form: object) -> object:
        if type(form) is not kind:
            msg = f"{form!r} is not of the type {kind.__name__}"
            raise TypeError(msg)
        return form

    return read
