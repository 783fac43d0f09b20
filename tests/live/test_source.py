"""The source text at a position: with columns, without them, and on lines that are not ASCII."""

from __future__ import annotations

import pytest

from inplace_lint.live import source
from inplace_lint.live.record import Position

TEXT = """\
import torch
from torch.nn import init

def f(x, w):
    größe = x; größe += 1
    x[0, 1] = 2
    y = (x
         .view(-1)
         .mul_(2))
    torch.relu_(w.data)
    init.zeros_(w)
    torch.add(x, 1, out=w)
    w.data.clamp_(0)
    with torch.no_grad(): w.add_(1)
    return y
"""


@pytest.fixture
def loaded(tmp_path):
    path = tmp_path / "a.py"
    path.write_text(TEXT, encoding="utf-8")
    return source.load(str(path))


def at(line, column=None, end_column=None, end_line=None):
    return Position("a.py", "f", line, end_line or line, column, end_column)


@pytest.mark.parametrize(
    ("position", "symbol", "spelled", "columns"),
    [
        (at(5, 17, 29), "größe", "augmented", (15, 25)),
        (at(5), "größe", "augmented", (15, 25)),
        (at(6, 4, 11), "x", "item", (4, 11)),
        (at(6), "x", "item", (4, 11)),
        (at(9, 9, 17), "", "call", (9, 17)),
        (at(10), "w.data", "call", (4, 23)),
        (at(11, 4, 18), "w", "call", (4, 18)),
        (at(12, 4, 26), "w", "call", (4, 26)),
        (at(13), "w.data", "call", (4, 20)),
        (at(14), "w", "call", (26, 35)),
    ],
)
def test_the_expression_that_wrote_is_found_with_and_without_columns(loaded, position, symbol, spelled, columns):
    node = source.expression_at(loaded, position, writes=True)
    span = source.span_of(loaded, position, node)
    assert (source.symbol_of(loaded, node), source.spelling_of(node)) == (symbol, spelled)
    if position.line != 9:
        assert (span.column, span.end_column) == columns


def test_a_call_over_several_lines_is_found_by_its_end(loaded):
    node = source.expression_at(loaded, at(9, 9, 17), writes=True)
    assert (node.lineno, node.end_lineno) == (7, 9)


def test_a_statement_in_a_block_of_one_line_is_the_smallest(loaded):
    position = at(13, 4, 20)
    span = source.span_of(loaded, position, source.expression_at(loaded, position, writes=True))
    assert source.statement_of(loaded, span) == (13, 13)


def test_a_file_that_is_gone_has_a_position_and_nothing_else(tmp_path):
    gone = source.load(str(tmp_path / "gone.py"))
    position = at(3, 2, 5)
    assert source.expression_at(gone, position, writes=True) is None
    assert source.span_of(gone, position, None).line == 3


@pytest.mark.parametrize(
    ("text", "flag"), [("nn.ReLU(inplace=True)", "inplace=True"), ("nn.ReLU(True)", "True"), ("act()", "act()")]
)
def test_the_flag_is_the_argument_that_carries_it(tmp_path, text, flag):
    path = tmp_path / "b.py"
    path.write_text(text)
    loaded = source.load(str(path))
    node = source.flag_in(source.expression_at(loaded, at(1, 0, len(text)), writes=False))
    assert text[node.col_offset : node.end_col_offset] == flag
