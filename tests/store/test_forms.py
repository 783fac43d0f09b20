from __future__ import annotations

import json

import pytest
from msgspec import Struct

from inplace_lint.core.finding import (
    Applicability,
    Asks,
    Certainty,
    Edit,
    Finding,
    Fix,
    Given,
    Proof,
    Related,
    Role,
    Severity,
    Verdict,
)
from inplace_lint.core.forms import form_of, reader
from inplace_lint.core.span import Span
from inplace_lint.driver.entry import Entry

SPAN = Span("a.py", 1, 2, 3, 4, cell=7)
FINDING = Finding(
    code="IPL101", name="modified-after-save", severity=Severity.WARNING, certainty=Certainty.UNKNOWN, message="m",
    span=SPAN, label="l", related=(Related(Role.SAVE, SPAN, "saved"),), assumptions=("a", "b"),
    entry=Asks("b.py", "f", (Given("a.py", "f", "x", ("k",)),)),
    fix=Fix(Applicability.UNSAFE, "use", (Edit(SPAN, ""),)), verdict=Verdict(Proof.REFUTED, "torch", "2", "cpu", "why"),
)  # fmt: skip
ENTRY = Entry((FINDING,), {"calls": 3}, {SPAN: (1, 3)})


@pytest.mark.parametrize("entry", [ENTRY, Entry((), {}, {})])
def test_what_is_read_is_what_was_written(entry):
    assert reader(Entry)(json.loads(json.dumps(form_of(entry)))) == entry


@pytest.mark.parametrize(
    "form",
    [None, 1, "text", [], [[], []], [[], [], [], []], [[], {"a": 1}, []], [[[]], [], []], [[], [["a", "b"]], []]],
)
def test_what_is_no_form_of_a_record_is_refused(form):
    with pytest.raises((ValueError, TypeError)):
        reader(Entry)(form)


@pytest.mark.parametrize("value", [True, "1", 1.0, None])
def test_a_number_is_no_other_kind_of_value(value):
    with pytest.raises(TypeError):
        reader(int)(value)


class Point(Struct, frozen=True):
    x: int
    y: int = 0


def test_fields_by_name_may_leave_out_what_has_a_default_and_have_more():
    assert reader(Point)({"x": 1, "z": 2}) == Point(1)
    with pytest.raises(TypeError):
        reader(Point)({"y": 1})
