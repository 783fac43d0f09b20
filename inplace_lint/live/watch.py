"""
Watching parts of a running program: for tests of users.

    with inplace_lint.watch() as seen:
        model(batch).sum().backward()
    assert not seen.findings
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import TracebackType
from typing import Any, ParamSpec, Protocol, TypeVar, overload

from msgspec import Struct, convert, field

from inplace_lint.core.finding import Finding
from inplace_lint.live.child.watch.ledger import Write
from inplace_lint.live.child.watch.manager import WatchManager
from inplace_lint.live.child.watch.places import described
from inplace_lint.live.events import findings_in
from inplace_lint.live.record import Position, Record, record_of
from inplace_lint.live.source import expression_at, load, span_of
from inplace_lint.report.formats.full import render
from inplace_lint.report.model import Report
from inplace_lint.workspace.files import Sources

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


class Seen(Struct):
    """What was seen so far; findings are made when they are read."""

    _records: list[Record] = field(default_factory=list)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Return the findings, without those that a comment suppresses."""
        return findings_in(self._records).findings

    def text(self) -> str:
        """Return the findings as `inplace-lint` prints them; empty when there are none."""
        return render(Report(self.findings, Sources().lines)).rstrip()

    def take(self, data: Mapping[str, Any]) -> None:
        """Add a record of a watch."""
        self._records.append(record_of(data))


@contextmanager
def watch() -> Iterator[Seen]:
    """
    Watch what runs inside, on this thread and those started by it.

    Where backward would raise because of a write, that is a finding, and backward goes on.
    """
    with _watching() as (seen, _):
        yield seen


@contextmanager
def _watching() -> Iterator[tuple[Seen, WatchManager]]:
    seen = Seen()
    watches = WatchManager(seen.take)
    watches.start()
    try:
        yield seen, watches
    finally:
        watches.ended_by(sys.exc_info()[1])
        watches.stop()


class Asserting(Protocol):
    """A context manager that can decorate a function as well."""

    def __enter__(self) -> Seen:
        """Begin to watch."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> bool | None:
        """Stop, and fail where something was found."""

    def __call__(self, function: Callable[Arguments, Result], /) -> Callable[Arguments, Result]:
        """Watch each call of a function."""


@overload
def assert_no_inplace_bugs() -> Asserting: ...


@overload
def assert_no_inplace_bugs(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]: ...


def assert_no_inplace_bugs(function: Callable[..., Any] | None = None) -> Any:
    """
    Fail when what runs inside a `with`, or in a decorated function, overwrites what backward needs.

    Raises: `AssertionError` with the findings in full; the framework's own error, if one flew, is its cause.
    """
    if function is None:
        return _asserting()

    @functools.wraps(function)
    def checked(*args: Any, **options: Any) -> Any:
        with _asserting():
            return function(*args, **options)

    return checked


@contextmanager
def _asserting() -> Iterator[Seen]:
    seen = Seen()
    try:
        with watch() as seen:
            yield seen
    finally:
        error = sys.exc_info()[1]
        text = seen.text()
        if text:
            raise AssertionError(text) from error


def assert_arguments_unchanged(module: Callable[..., Result], *args: Any, **options: Any) -> Result:
    """
    Call a module, or any function, and return its result; fail when it writes to a tensor that it was given.

    Raises: `AssertionError` with the name of the argument and the line that wrote.
    """
    names = list(_named(module, args, options))
    with _watching() as (_, watches):
        saves = [(name, save) for name, value in names for save in watches.saves_of(value)]
        result = module(*args, **options)
        written = [f"`{name}` {_where(write)}" for name, save in saves if (write := watches.reached(save)) is not None]
    if written:
        what = getattr(module, "__name__", type(module).__name__)
        msg = f"{what} changes its arguments: {'; '.join(written)}"
        raise AssertionError(msg)
    return result


def _named(module: Callable[..., Any], args: tuple[Any, ...], options: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Return the values among arguments, those in containers too, with the name of the argument."""
    called = getattr(module, "forward", module)
    bound = inspect.signature(called).bind(*args, **options)
    for name, value in bound.arguments.items():
        yield from _inside(name, value)


def _inside(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, list | tuple):
        for at, item in enumerate(value):
            yield from _inside(f"{name}[{at}]", item)
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _inside(f"{name}[{key!r}]", item)
    else:
        yield name, value


def _where(write: Write) -> str:
    if write.spot.where is None:
        return "is written by a library"
    position = convert(described(write.spot.where), Position)
    source = load(position.path)
    span = span_of(source, position, expression_at(source, position, writes=True))
    line = source.lines[span.line - 1].strip() if span.line <= len(source.lines) else ""
    return f"is written at {span.path}:{span.line}:{span.column + 1}: {line}"
