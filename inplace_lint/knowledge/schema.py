"""
How a JSON object of a fact is read: a reader for each key, and an error for everything that has none.

    SAVE = Schema("a save", {"of": ("of", text), "if": ("condition", guard), ...}, needs=("of",))
    SAVE.read({"of": "self", "fi": "rg(other)"})   # FactError: "fi" is no key of a save; did you mean "if"?
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from msgspec import Struct

from inplace_lint.core.errors import FactError
from inplace_lint.core.word import Word

Closed = TypeVar("Closed", bound=Word)
Reader = Callable[[Any], Any]


class Schema(Struct, frozen=True):
    """
    The keys of one kind of object, each with the field that it fills and the reader of its value.

    A key without a field ("") is read for its errors alone.
    """

    what: str
    keys: Mapping[str, tuple[str, Reader]]
    needs: tuple[str, ...] = ()

    def read(self, value: object) -> dict[str, Any]:
        """
        Return the fields of an object.

        Raises: `FactError` for an unknown or missing key, or a value that its reader refuses.
        """
        if not isinstance(value, dict):
            raise mistyped(value, "an object")
        for key in self.needs:
            if key not in value:
                msg = f'{self.what} needs the key "{key}"'
                raise FactError(msg)
        read = {key: self.value(key, inner) for key, inner in value.items()}
        return {self.keys[key][0]: inner for key, inner in read.items() if self.keys[key][0]}

    def value(self, key: str, value: object) -> Any:  # noqa: ANN401 - of the type of its reader
        """Return what the reader of a key makes of a value; raise `FactError` where it refuses it."""
        if key not in self.keys:
            raise unknown(key, f"key of {self.what}", self.keys)
        try:
            return self.keys[key][1](value)
        except TypeError as error:
            msg = f'"{key}" of {self.what} is {error}'
            raise FactError(msg) from error


def unknown(word: object, what: str, known: Iterable[str]) -> FactError:
    """Return the error for a word that is not in a closed set, named in the singular, with the nearest one that is."""
    return mistaken(word, f"not {'an' if what[0] in 'aeio' else 'a'} {what}", known)


def mistaken(word: object, how: str, known: Iterable[str]) -> FactError:
    """Return the error for a word of which something is said, with the nearest of those that are known."""
    near = difflib.get_close_matches(str(word), [str(one) for one in known], n=1)
    hint = f'; did you mean "{near[0]}"?' if near else ""
    return FactError(f'"{word}" is {how}{hint}')


def mistyped(value: object, wanted: str) -> TypeError:
    """Return the error for a value of another JSON type than `wanted`; `Schema.read` adds the key."""
    return TypeError(f"{json.dumps(value)}, not {wanted}")


def text(value: object) -> str:
    """Return a string."""
    if not isinstance(value, str) or not value:
        raise mistyped(value, "a text")
    return value


def flag(value: object) -> bool:
    """Return true or false."""
    if not isinstance(value, bool):
        raise mistyped(value, "true or false")
    return value


def each(reader: Reader) -> Reader:
    """Return a reader of lists whose items `reader` reads."""

    def read(value: object) -> tuple[Any, ...]:
        if not isinstance(value, list):
            raise mistyped(value, "a list")
        return tuple(reader(item) for item in value)

    return read


def word(closed: type[Closed], what: str) -> Callable[[Any], Closed]:
    """Return a reader of the words of a closed set."""

    def read(value: object) -> Closed:
        try:
            return closed(text(value))
        except ValueError:
            raise unknown(value, what, (one.value for one in closed)) from None

    return read


def table(reader: Reader, what: str = "", keys: Iterable[str] = ()) -> Reader:
    """Return a reader of objects whose values `reader` reads; their keys are free where there are no `keys`."""
    closed = {str(key) for key in keys}

    def read(value: object) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise mistyped(value, "an object")
        for key in value:
            if closed and key not in closed:
                raise unknown(key, what, closed)
        return {key: reader(inner) for key, inner in value.items()}

    return read


def number(value: object) -> int:
    """Return a whole number."""
    if type(value) is not int:
        raise mistyped(value, "a whole number")
    return value
