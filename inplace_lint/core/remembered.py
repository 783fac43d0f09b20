"""
Methods that compute a result once for each object and arguments, as `functools.cached_property` does for an attribute.

    @remembered
    def callers(self, path: str) -> tuple[str, ...]: ...
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, cast

Given = ParamSpec("Given")
Result = TypeVar("Result")


class remembered(Generic[Given, Result]):  # noqa: N801 - a decorator, as `property` is
    """A method of a class without slots; its results are kept as long as the object, which they belong to."""

    def __init__(self, method: Callable[Concatenate[Any, Given], Result]) -> None:
        self._method = method
        self.__doc__ = method.__doc__

    def __get__(self, instance: object, owner: type | None = None) -> Callable[Given, Result]:
        """Return the method of an object, which that has as an attribute from then on."""
        kept = cast("Callable[Given, Result]", cache(partial(self._method, instance)))
        vars(instance)[self._method.__name__] = kept
        return kept
