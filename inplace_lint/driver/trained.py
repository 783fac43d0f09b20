"""
Which findings somebody in the project trains through, of those that assume so and of those in its tests.

    import pytest

    def test_that_a_shared_gradient_is_found(net):
        net.weight.data.sub_(grad)          # a warning here is counted, and told with `--assume grad`

Nobody trains through what a test does, and much of it is wrong on purpose. What certainly fails is told there, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING

from msgspec.structs import replace

from inplace_lint.core.assumption import only_training
from inplace_lint.core.finding import Asks, Certainty, Finding, Severity
from inplace_lint.core.span import Span
from inplace_lint.driver.store import Store
from inplace_lint.knowledge.facts import framework, frameworks
from inplace_lint.knowledge.locate import context_of
from inplace_lint.workspace import import_graph
from inplace_lint.workspace.import_statements import statements

if TYPE_CHECKING:
    from inplace_lint.workspace.trainers import Trainers

_TESTING = frozenset({"pytest", "unittest"})


def with_trained(
    found: Mapping[tuple[str, Span], list[Finding]],
    roots: Mapping[str, str],
    graphs: Mapping[str, import_graph.Graph],
    store: Store | None,
) -> dict[tuple[str, Span], list[Finding]]:
    """
    Return findings by place, those without entry through which something in the project trains, before all others.

    `roots` are those of the files that were checked. Of the same files, the store has the answers of earlier runs.
    """
    known: dict[str, _Answers] = {}
    tests = _tests({one.span.path: one for findings in found.values() for one in findings}, roots, graphs)
    done: dict[tuple[str, Span], list[Finding]] = {}
    for place, findings in found.items():
        sure = [one for one in findings if one.entry is None]
        if not any(one.severity is Severity.ERROR for one in sure):
            asked = [one for one in findings if one.entry is not None]
            asked_of = ((one, _of(one, roots, graphs, known, store)) for one in asked)
            sure.extend(_sought(asked_of, only_errors=bool(sure)))
        done[place] = [one for one in sure if one.entry is None] or sure
        if place[1].path in tests:
            done[place] = [_of_nobody(one) for one in done[place]]
    if known and store is not None:
        store.flush()
    return done


def _of(
    one: Finding,
    roots: Mapping[str, str],
    graphs: Mapping[str, import_graph.Graph],
    known: dict[str, _Answers],
    store: Store | None,
) -> _Answers:
    """Return what answers the questions about a finding: one for each root."""
    assert one.entry is not None
    root = roots[one.entry.path]
    if root not in known:
        known[root] = _Answers(graphs[root], store)
    return known[root]


def _sought(asked: Iterable[tuple[Finding, _Answers]], *, only_errors: bool) -> Iterator[Finding]:
    """Yield findings that assume somebody trains, without their entry where the project shows it; or `only_errors`."""
    for one, answers in asked:
        assert one.entry is not None
        told = _asked(answers, one, one.entry)
        if not only_errors or (told.entry is None and told.severity is Severity.ERROR):
            yield told


def _tests(paths: Iterable[str], roots: Mapping[str, str], graphs: Mapping[str, import_graph.Graph]) -> frozenset[str]:
    """Return the files that import a library for tests."""
    texts = {path: graphs[roots[path]].text(path) for path in paths if path in roots}
    return frozenset(path for path, text in texts.items() if _is_test(text))


def _is_test(text: bytes) -> bool:
    words = [word for word in _testing() if word.encode() in text]
    imported = [f"{one.module}." for one in statements(text) if not one.level] if words else []
    return any(module.startswith(f"{word}.") for module in imported for word in words)


@cache
def _testing() -> frozenset[str]:
    """Return the modules that only tests import."""
    return _TESTING.union(*(framework(name).testing for name in frameworks()))


def _of_nobody(one: Finding) -> Finding:
    """Return a finding of a test: for a warning nobody asks."""
    is_warning = one.entry is None and one.severity is Severity.WARNING
    return replace(one, entry=Asks(one.span.path, "")) if is_warning else one


def _asked(trainers: _Answers, one: Finding, entry: Asks) -> Finding:
    """Return a finding without its entry if the project runs it for a gradient; a warning if that is not certain."""
    if entry.computes and one.options and not trainers.passes(entry, one.options):
        return one
    if not entry.records:
        return _told(trainers, one, entry) if trainers.ask(entry) else one
    records = trainers.record(entry, one.options)
    if records is None and one.function != entry.name:  # of a function that is only handed on, what it calls may tell
        records = None if trainers.record(Asks(one.span.path, one.function), ()) is not False else False
    if records is None:
        name = (entry.name or "").removesuffix(".setter").rpartition(".")[2]
        where = f"gradients are recorded where `{name}` is called"
        assumed = (*one.assumptions, where)
        return replace(one, entry=None, severity=Severity.WARNING, certainty=Certainty.UNKNOWN, assumptions=assumed)
    return replace(one, entry=None) if records else one


def _told(trainers: _Answers, one: Finding, entry: Asks) -> Finding:
    """Return a finding without its entry; if calls in the project show all that it assumes, without that, too."""
    if not (only_training(one.assumptions, len(entry.given)) and trainers.is_certain(entry)):
        return replace(one, entry=None)
    return replace(one, entry=None, severity=one.worst, certainty=Certainty.SOMETIMES, assumptions=())


class _Answers:
    """
    What the files of a project say of who trains; each question is asked once for the same files.

    A question is a method of `Trainers`, as are its arguments.
    """

    def __init__(self, graph: import_graph.Graph, store: Store | None) -> None:
        self._graph, self._store = graph, store
        self._around: dict[str, str] = {}
        self._trainers: Trainers | None = None

    def ask(self, asks: Asks) -> bool:
        return self._answer("ask", asks) is True

    def is_certain(self, asks: Asks) -> bool:
        return self._answer("is_certain", asks) is True

    def record(self, asks: Asks, options: Iterable[str]) -> bool | None:
        return self._answer("record", asks, tuple(options))

    def passes(self, asks: Asks, options: Iterable[str]) -> bool:
        return self._answer("passes", asks, tuple(options)) is True

    def _answer(self, name: str, asks: Asks, *more: tuple[str, ...]) -> bool | None:
        if self._store is None:
            return self._found(name, asks, *more)
        if asks.path not in self._around:
            self._around[asks.path] = self._graph.around(asks.path)
        question = context_of("training", [self._around[asks.path], name, repr(asks), repr(more)])
        known = _WORDS.get(self._store.answered(question) or "")
        if known is None:
            answer = self._found(name, asks, *more)
            self._store.put_answer(question, str(answer))
            return answer
        return known[0]

    def _found(self, name: str, asks: Asks, *more: tuple[str, ...]) -> bool | None:
        if self._trainers is None:
            from inplace_lint.workspace.trainers import Trainers  # noqa: PLC0415 - of no use where nothing is assumed

            self._trainers = Trainers(self._graph)
        found: bool | None = getattr(self._trainers, name)(asks, *more)
        return found


_WORDS: dict[str, tuple[bool | None]] = {str(answer): (answer,) for answer in (True, False, None)}
