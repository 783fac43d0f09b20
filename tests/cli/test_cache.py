from __future__ import annotations

import json

import pytest

from inplace_lint.core.finding import Applicability, Certainty, Edit, Finding, Fix, Related, Role, Severity
from inplace_lint.core.span import Span
from inplace_lint.driver import cache

SPAN = Span("a.py", 3, 4, 3, 9, 40, 45)
ENTRY = cache.Entry(
    (
        Finding(
            code="IPL101",
            name="modified-after-save",
            severity=Severity.WARNING,
            certainty=Certainty.UNKNOWN,
            message="`x` is overwritten",
            span=SPAN,
            label="written here",
            related=(Related(Role.SAVE, Span("b.py", 1, 0, 1, 3, 0, 3, cell=2), "saved here"),),
            more=1,
            symbol="x",
            op="torch.relu_",
            function="f",
            framework="torch",
            assumptions=("`x` requires grad",),
            help="use `y`",
            says="modified by an inplace operation",
            fix=Fix(Applicability.SAFE, "use `y = x`", (Edit(Span("a.py", 1, 2, 3, 4), "x\n"),)),
        ),
    ),
    {"roots": 2},
    {SPAN: (2, 5)},
)


@pytest.fixture
def store(tmp_path):
    return cache.Cache(tmp_path / "cache", "context")


def entries(store: cache.Cache):
    return list(store.folder.rglob("*.json"))


def test_an_entry_comes_back_equal_in_every_field(store):
    key = store.key("a.py", b"import torch")
    store.put("a.py", key, ENTRY)
    assert store.get("a.py", key) == ENTRY


def test_other_bytes_another_path_or_another_context_are_another_key(store):
    key = store.key("a.py", b"x")
    others = [store.key("a.py", b"y"), store.key("b.py", b"x"), cache.Cache(store.folder, "new").key("a.py", b"x")]
    assert key not in others
    store.put("a.py", key, ENTRY)
    assert [store.get("a.py", other) for other in others] == [None, None, None]


def test_a_new_result_of_a_path_takes_the_place_of_the_old(store):
    for data in (b"x", b"y", b"z"):
        store.put("a.py", store.key("a.py", data), ENTRY)
    assert len(entries(store)) == 1


@pytest.mark.parametrize(
    "damage",
    [
        b"",
        b"{",
        b"\xff\xfe",
        b"[]",
        b"null",
        b'{"key": 1}',
        b"[" * 100_000,
        b'{"key":"K","findings":[{}],"counters":{},"statements":[]}',
    ],
)
def test_a_damaged_entry_is_a_miss(store, damage):
    key = store.key("a.py", b"x")
    store.put("a.py", key, ENTRY)
    entries(store)[0].write_bytes(damage.replace(b'"K"', json.dumps(key).encode()))
    assert store.get("a.py", key) is None


def test_a_truncated_entry_is_a_miss_at_every_length(store):
    key = store.key("a.py", b"x")
    store.put("a.py", key, ENTRY)
    (place,) = entries(store)
    whole = place.read_bytes()
    for length in range(0, len(whole), 7):
        place.write_bytes(whole[:length])
        assert store.get("a.py", key) is None


def test_git_does_not_see_the_folder(store):
    store.put("a.py", store.key("a.py", b"x"), ENTRY)
    assert "*" in (store.folder / ".gitignore").read_text().split("\n")


def test_a_folder_that_cannot_be_made_is_left_alone(tmp_path):
    (tmp_path / "file").write_text("")
    store = cache.Cache(tmp_path / "file", "context")
    store.put("a.py", store.key("a.py", b"x"), ENTRY)
    assert store.get("a.py", store.key("a.py", b"x")) is None


def test_the_context_changes_with_facts_and_settings():
    contexts = {cache.context_of("f", ("1",)), cache.context_of("g", ("1",)), cache.context_of("f", (None,))}
    assert len(contexts) == 3
    assert cache.context_of("f", ("1",)) in contexts
