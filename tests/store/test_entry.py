from __future__ import annotations

import msgspec
import pytest

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
from inplace_lint.core.span import Span
from inplace_lint.driver.entry import Entry, packed, unpacked

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
    assert unpacked(packed(entry)) == entry


_EMPTY = {"findings": [], "counters": {}, "statements": {}}


@pytest.mark.parametrize(
    "data",
    [None, 1, "text", [], {}, {"findings": []}]
    + [{**_EMPTY, **other} for other in ({"counters": {"a": "b"}}, {"findings": [[]]}, {"statements": {"a": [1, 2]}})],
)
def test_what_is_no_result_is_refused(data):
    with pytest.raises(msgspec.DecodeError):
        unpacked(msgspec.msgpack.encode(data))


@pytest.mark.parametrize("data", [b"", b"\xc1", b"\x91" * 100_000])
def test_bytes_that_are_cut_or_nest_without_end_are_refused(data):
    with pytest.raises(msgspec.DecodeError):
        unpacked(data)
