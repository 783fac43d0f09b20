"""The edits of `benchmarks/mutants`: what each kind makes of a line."""

from __future__ import annotations

import ast
from collections.abc import Sequence

import pytest

from benchmarks.mutants.choose import merged, varied
from benchmarks.mutants.edits import apply, edits, watched
from benchmarks.mutants.score import table

EDITS = [
    ("augmented", "x = x + y", "x += (y)"),
    ("augmented", "self.x = self.x * (y - 1)", "self.x *= (y - 1)"),
    ("reused", "z = x - y", "x -= (y); z = x"),
    ("reused", "return x / y", "x /= (y); return x"),
    ("arithmetic", "f((g(x)) * y)", "f((g(x)).mul_(y))"),
    ("method", "y = x.sigmoid()", "y = x.sigmoid_()"),
    ("function", "y = torch.exp(x)", "y = (x).exp_()"),
    ("function", "y = torch.clamp(x, min=0)", "y = (x).clamp_( min=0)"),
    ("functional", "y = F.relu(x)", "y = F.relu_(x)"),
    ("functional", "y = self.relu(x)", "y = F.relu_(x)"),
    ("flag", "a = nn.ReLU()", "a = nn.ReLU(inplace=True)"),
    ("flag", "x = F.dropout(x, 0.1)", "x = F.dropout(x, 0.1, inplace=True)"),
    ("item", "x = self.norm(x, y)", "x[...] = self.norm(x, y)"),
    ("clone", "y = x.clone()", "y = x"),
]
PADDLE = [
    ("arithmetic", "x = x * y", "x = (x).multiply_(y)"),
    ("function", "y = paddle.add(x, z)", "y = (x).add_( z)"),
    ("functional", "y = F.softmax(x)", "y = F.softmax_(x)"),
]
UNTOUCHED = [
    "x = (x +\n            y)",  # the operator is not on a line with both operands
    "y = 2 * x",  # a number is not written to
    "a = nn.ReLU(inplace=False)",
    "y = self.sigmoid(x)",
    "x = f(y)",  # the old value is not needed
]


def _program(line: str, framework: str) -> str:
    functional = f"{framework}.nn.functional"
    return f"import {framework}\nimport {functional} as F\n\n\ndef f(self, x, y):\n    é = 1; {line}\n"


@pytest.mark.parametrize(
    ("framework", "kind", "before", "after"), [("torch", *row) for row in EDITS] + [("paddle", *row) for row in PADDLE]
)
def test_an_edit_changes_its_line_alone(framework: str, kind: str, before: str, after: str) -> None:
    source = _program(before, framework).encode()
    (edit,) = [item for item in edits(source) if item.kind == kind]
    edited = apply(source, kind, edit.line, edit.column, edit.turn)
    assert edited.decode() == _program(after, framework)
    ast.parse(edited)
    assert edit.function == "f"


@pytest.mark.parametrize("line", UNTOUCHED)
def test_what_no_edit_fits_stays(line: str) -> None:
    assert edits(_program(line, "torch").encode()) == []


def test_edits_that_begin_at_the_same_place_have_turns() -> None:
    source = _program("z = f(x.clamp(0).log())", "torch").encode()
    edited = [apply(source, edit.kind, edit.line, edit.column, edit.turn).decode() for edit in edits(source)]
    assert edited == [_program(f"z = f({text})", "torch") for text in ("x.clamp(0).log_()", "x.clamp_(0).log()")]


def test_an_edit_that_is_not_there_is_an_error() -> None:
    with pytest.raises(LookupError, match="no clone edit at 1:0"):
        apply(b"x = 1\n", "clone", 1, 0, 0)


def test_the_value_that_an_edit_writes_to_can_be_watched() -> None:
    source = b"def f(x, y):\n    return g(x + 1) * y\n"
    found = list(enumerate(edits(source)))
    seen: list[tuple[int, object]] = []
    names: dict[str, object] = {"g": lambda x: x * 10, "__watch__": lambda *what: seen.append(what) or what[1]}
    exec(compile(watched(source, found), "f.py", "exec"), names)
    assert eval("f(2, 3)", names) == 90
    assert [(found[number][1].kind, value) for number, value in seen] == [("arithmetic", 2), ("arithmetic", 30)]


def _row(label: str, line: int = 1, kind: str = "item") -> dict[str, object]:
    place = {"library": "l", "path": "a.py", "line": line, "column": 0}
    return {**place, "kind": kind, "turn": 0, "label": label, "half": "tune", "framework": "torch", "model": "m"}


def test_a_mutant_has_the_worst_of_its_labels() -> None:
    (row,) = merged([_row("equal"), _row("raises"), _row("other"), _row("silent")])
    assert (row["label"], "model" in row) == ("raises", False)


def test_kinds_take_turns() -> None:
    rows = [_row("raises", line, kind) for line, kind in enumerate(["item", "item", "item", "flag"])]
    assert {row["kind"] for row in varied(rows)[:2]} == {"item", "flag"}


def test_the_table_counts_what_is_found() -> None:
    judged: Sequence[tuple[dict[str, object], str]] = [
        (_row("raises"), "error"),
        (_row("raises"), "warning"),
        (_row("raises"), ""),
        (_row("silent"), "warning"),
        (_row("equal"), "error"),
        (_row("equal"), ""),
    ]
    assert list(table(judged))[-1] == "| tune | l | 3 | 1 | 2 | 1 | 1 | 2 | 1 | 0 |"
