"""Spans are those of the original file, whatever its lines contain."""

from __future__ import annotations

import pytest

from inplace_lint.core.source_lines import split_lines
from inplace_lint.core.span import Slice, Span
from inplace_lint.frontend.lower import lower
from inplace_lint.frontend.positions import Located
from inplace_lint.ir import nodes as ir


def span_of_write(source: str, slice_: Slice, holes: tuple[Slice, ...] = ()) -> tuple[Span, str, tuple[int, int]]:
    """Return the span, the text and the statement lines of the only augmented assignment in a slice."""
    waiting: list[object] = list(lower(source, slice_, holes).body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ir.AugAssign):
            located = Located(source, slice_, holes)
            span = located.span(node.at)
            text = "".join(span.cut(split_lines(source)))
            return span, text, located.statement(node.at)
        if isinstance(node, tuple):
            waiting.extend(node)
    raise AssertionError


@pytest.mark.parametrize(
    ("source", "first", "last", "line", "column"),
    [
        pytest.param("x += 1\n", 1, 1, 1, 0, id="plain"),
        pytest.param("a = 1\n\n\ndef f():\n    x += 1\n", 4, 5, 5, 4, id="function"),
        pytest.param("class A:\n\tdef f(self):\n\t\tx += 1\n", 2, 3, 3, 2, id="tabs"),
        pytest.param("s = '中文字'; x += 1\n", 1, 1, 1, 11, id="wide characters"),
        pytest.param("def f():\r\n    x += 1\r\n", 1, 2, 2, 4, id="carriage returns"),
        pytest.param("def f():\r    x += 1\r", 1, 2, 2, 4, id="old line ends"),
        pytest.param("@d\ndef f():\n    if a:\n        x += 1  # noqa\n", 1, 4, 4, 8, id="decorator and comment"),
        pytest.param("s = '''\n\x0c\n'''\nx += 1\n", 1, 4, 4, 0, id="form feed in a string"),
        pytest.param("def f(x: 'a.B | None', *y: 'C'):\n    x += 1\n", 1, 2, 2, 4, id="annotation that is a text"),
    ],
)
def test_the_span_of_a_write_is_its_statement(source: str, first: int, last: int, line: int, column: int) -> None:
    span, text, _ = span_of_write(source, Slice("p", first, last))
    assert (span.line, span.column) == (line, column)
    assert text == "x += 1"
    assert (span.end_line, span.end_column) == (line, column + 6)


def test_what_stands_in_a_class_without_its_methods_keeps_its_lines() -> None:
    source = "class A:\n    def f(self):\n        pass\n\n    x += 1\n"
    span, text, _ = span_of_write(source, Slice("p", 1, 5, "class"), (Slice("p", 2, 3),))
    assert (span.line, text) == (5, "x += 1")


def test_a_write_over_several_lines_can_be_suppressed_on_each() -> None:
    source = "def f():\n    x += g(\n        1,\n    )\n    return x\n"
    _, _, lines = span_of_write(source, Slice("p", 1, 5))
    assert lines == (2, 4)


def test_of_a_compound_statement_only_the_header_counts() -> None:
    source = "def f():\n    for i in range(\n        3\n    ):\n        pass\n"
    slice_ = Slice("p", 1, 5)
    loop = next(node for node in lower(source, slice_).body[0].function.body)
    assert isinstance(loop, ir.For)
    assert isinstance(loop.iter, ir.Call)
    assert Located(source, slice_, ()).statement(loop.iter.at) == (2, 4)
