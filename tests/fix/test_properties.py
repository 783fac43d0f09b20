"""Laws that hold for any program: texts, places, and programs put together at random."""

from __future__ import annotations

import ast

import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st

from inplace_lint.core.finding import Edit
from inplace_lint.core.source_lines import split_lines
from inplace_lint.core.span import Span
from inplace_lint.fix.texts import applied, moved
from tests.fix.mending import fixed

TEXT = st.text(alphabet="ab é\n\r\t", max_size=40)


@st.composite
def edited(draw):
    """Give a text with edits that do not overlap, and the text that they make, put together piece by piece."""
    pieces, edits, expected = "", [], ""
    for _ in range(draw(st.integers(1, 5))):
        kept, gone, new = draw(TEXT), draw(TEXT), draw(TEXT)
        if pieces.endswith("\r") and kept.startswith("\n"):
            kept = "a" + kept
        start = len(pieces) + len(kept)
        pieces += kept + gone
        expected += kept + new
        edits.append((start, len(pieces), new))
    return pieces + "z", edits, expected + "z"


def span(text: str, start: int, end: int) -> Span | None:
    """Give the span between two offsets; None within the end of a line."""
    places = []
    for offset in (start, end):
        if text[offset - 1 : offset + 1] == "\r\n":
            return None
        lines = split_lines(text[:offset])
        whole = not lines or lines[-1].endswith(("\n", "\r"))
        places.append((len(lines) + whole, 0 if whole else len(lines[-1])))
    return Span("a.py", *places[0], *places[1])


@given(edited())
def test_what_no_edit_touches_keeps_every_character(example):
    text, edits, expected = example
    spans = [span(text, start, end) for start, end, _ in edits]
    if None not in spans:
        assert applied(text, [Edit(at, new) for at, (_, _, new) in zip(spans, edits, strict=True)]) == expected


@given(edited(), st.data())
def test_a_place_that_was_moved_is_found_again(example, data):
    text, edits, expected = example
    spans = [span(text, start, end) for start, end, _ in edits]
    if None in spans or any("\r" in new for _, _, new in edits) or "\r" in text:
        return  # line ends that come together are one: places on them are not those of either text
    moves = moved([Edit(at, new) for at, (_, _, new) in zip(spans, edits, strict=True)])
    offset = data.draw(st.integers(edits[-1][1], len(text) - 1))
    old = span(text, offset, offset)
    new = span(expected, offset - len(text) + len(expected), offset - len(text) + len(expected))
    assert moves.origin((new.line, new.column)) == (old.line, old.column)


STEPS = (
    "h = torch.sigmoid(h)",
    "h = torch.exp(h * 0.1)",
    "h = fc(h)",
    "k = h",
    "k = h[0:1] * 1",
    "k = torch.tanh(h)",
    "h += 1",
    "h += k",
    "h *= k - 1",
    "h.mul_(2)",
    "h[0] = 0",
    "h[:, 1] += k[0].mean()",
    "F.relu_(h)",
    "h = F.relu(h, inplace=True)",
    "k.mul_(0.5)",
    "seen.append(h)",
    "h = h + seen[-1]",
    "shift_(h)",
    "r = h.reshape(-1); r += torch.sin(r); h = r.view(2, 3)",
    "for row in h: row += 1",
    "k, _ = h; k.mul_(2); k = k.unsqueeze(0)",
    "_, k = h.unbind(); k += 1; k = k.unsqueeze(0)",
    "h = turned(h)",
)
PROGRAM = """\
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
fc = nn.Linear(3, 3)


def shift_(t):
    t += 1


def turned(t):
    s = torch.tanh(t)
    t *= s
    return t + s


def forward(h):
    k = h * 1
    seen = [h * 2]
{body}
    return h.sum() + k.sum()


out = forward(fc(torch.rand(2, 3)))
out.backward()
result = [out.item(), *fc.weight.grad.flatten().tolist()]
"""
BODIES = st.lists(st.sampled_from(STEPS), min_size=1, max_size=7)


def program(steps: list[str]) -> str:
    return PROGRAM.format(body="\n".join(f"    {step}" for step in steps))


def outcome(text: str) -> tuple[str, object]:
    """Run a program on real torch: what it computed, or why it did not."""
    space: dict[str, object] = {}
    try:
        exec(compile(text, "program.py", "exec"), space)
    except RuntimeError as error:
        return "raised", str(error)
    return "ran", space["result"]


def same(one, other) -> bool:
    return len(one) == len(other) and all(abs(a - b) <= 1e-4 * max(1, abs(a)) for a, b in zip(one, other, strict=True))


def keeps_its_values(steps: list[str]) -> None:
    text = program(steps)
    with torch.autograd.graph.saved_tensors_hooks(torch.clone, lambda copy: copy):
        before = outcome(text)
    done = fixed(text, unsafe=False)
    after = outcome(done.text)
    if outcome(text)[0] == "ran":
        assert after[0] == "ran"
    if before[0] == "ran" and after[0] == "ran":
        assert same(before[1], after[1])


@settings(max_examples=150, deadline=None)
@given(BODIES)
def test_safe_fixes_change_no_value(steps):
    """What the program means is told by torch itself, which can keep copies of all that backward needs."""
    keeps_its_values(steps)


@pytest.mark.slow
@settings(max_examples=4000, deadline=None)
@given(BODIES)
def test_safe_fixes_of_many_programs_change_no_value(steps):
    keeps_its_values(steps)


def is_fixed_at_once(steps: list[str], *, unsafe: bool) -> None:
    once = fixed(program(steps), unsafe=unsafe)
    ast.parse(once.text)
    again = fixed(once.text, unsafe=unsafe)
    assert again.text == once.text
    assert [(one.code, one.span) for one in again.found] == [(one.code, one.span) for one in once.remaining]


@settings(max_examples=120, deadline=None)
@given(BODIES, st.booleans())
@example(["h *= k - 1", "h.mul_(2)", STEPS[-2], "F.relu_(h)", "for row in h: row += 1"], True)
def test_fixed_programs_parse_and_a_second_run_finds_and_changes_nothing_new(steps, unsafe):
    is_fixed_at_once(steps, unsafe=unsafe)


@pytest.mark.slow
@settings(max_examples=2000, deadline=None)
@given(BODIES, st.booleans())
def test_a_second_run_over_many_programs_finds_and_changes_nothing_new(steps, unsafe):
    is_fixed_at_once(steps, unsafe=unsafe)


@settings(max_examples=120, deadline=None)
@given(BODIES)
@example(
    [
        "k, _ = h; k.mul_(2); k = k.unsqueeze(0)",
        "r = h.reshape(-1); r += torch.sin(r); h = r.view(2, 3)",
        "h += k",
    ]
)
def test_programs_whose_faults_are_all_fixed_run_on_real_torch(steps):
    done = fixed(program(steps))
    if not any(finding.severity.value == "error" for finding in done.remaining):
        ended, _ = outcome(done.text)
        assert ended == "ran"
