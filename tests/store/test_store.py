"""Results that are kept: when they are valid, and what becomes of a file that is damaged, locked or too large."""

from __future__ import annotations

import multiprocessing
import sqlite3
import zlib

import pytest
from msgspec import Raw, msgpack

from inplace_lint.core.finding import Applicability, Certainty, Edit, Finding, Fix, Related, Role, Severity
from inplace_lint.core.span import Span
from inplace_lint.driver.entry import Entry
from inplace_lint.driver.store import NAME, Key, Store, ValidResults
from inplace_lint.knowledge.locate import context_of
from inplace_lint.workspace.claims import Claim, Question
from tests.store.writer import write_fifty

SPAN = Span("a.py", 3, 4, 3, 9)
ENTRY = Entry(
    (
        Finding(
            code="IPL101",
            name="modified-after-save",
            severity=Severity.WARNING,
            certainty=Certainty.UNKNOWN,
            message="`x` is overwritten",
            span=SPAN,
            label="written here",
            related=(Related(Role.SAVE, Span("b.py", 1, 0, 1, 3, cell=2), "saved here"),),
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


KEY = Key("a.py", "context", "digest")
TEXT = b"def f(x):\n    # as before\n    return g(x)\n"
BYTES, CODE, OTHER = (
    Claim("b.py", Question.BYTES),
    Claim("b.py", Question.CODE, "f 1"),
    Claim("b.py", Question.ITEMS, "g"),
)
IMPORT = Claim("pkg", Question.RESOLVE, "0 b")
ANSWERS = {BYTES: "1", CODE: "2", OTHER: "3", IMPORT: "b.py"}
CLEAN = Entry((), {"roots": 1}, {})


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "cache"


def kept(folder, entry: Entry = CLEAN, answers=ANSWERS) -> Store:
    store = Store(folder)
    store.put(KEY, entry, answers, TEXT)
    store.end()
    return store


def today(store: Store, **changed: str) -> ValidResults:
    """Return the check of a run in which some answers are not what they were."""
    answers = {claim: changed.get(claim.question.name.lower(), answer) for claim, answer in ANSWERS.items()}
    return ValidResults(store, lambda claim: answers.get(claim, ""))


def test_a_result_comes_back_equal_in_every_field(folder):
    kept(folder, ENTRY)
    assert today(Store(folder)).get(KEY, TEXT) == ENTRY


def test_other_bytes_another_path_or_another_context_have_no_result(folder):
    check = today(kept(folder))
    assert [check.get(KEY._replace(**{name: "other"}), b"f(1)") for name in Key._fields] == [None, None, None]


EDITED = KEY._replace(digest="edited")
TEXTS = {
    "a comment": (b"def f(x):\n    return g(x)  # of another\n", True),
    "a line": (b"\n\ndef f(x):\n\n    return g(\n        x,\n    )\n", True),
    "a comment about a framework": (b"def f(x):\n    # like torch\n    return g(x)\n", False),
    "a documented function": (b'def f(x):\n    """Write into `x`."""\n    return g(x)\n', False),
    "a statement": (b"def f(x):\n    # as before\n    return g(x + 1)\n", False),
    "an error": (b"def f(x):\n    # as before\n    return g(x\n", False),
    "no text": (b"# -*- coding: none -*-\n", False),
}


@pytest.mark.parametrize(("text", "is_valid"), TEXTS.values(), ids=TEXTS)
def test_a_result_without_findings_is_valid_while_the_code_is_the_same(folder, text, is_valid):
    store = kept(folder)
    assert (today(store).get(EDITED, text) is not None) is is_valid
    store.end()
    assert (today(Store(folder)).get(EDITED, b"not looked at") is not None) is is_valid


def test_of_the_same_code_a_result_is_valid_while_its_claims_hold(folder):
    assert today(kept(folder), bytes="new", code="new").get(EDITED, TEXT) is None


def test_what_was_found_in_other_bytes_is_not_valid(folder):
    assert today(kept(folder, ENTRY)).get(EDITED, TEXT) is None


@pytest.mark.parametrize(
    ("changed", "is_valid"),
    [
        ({}, True),
        ({"bytes": "new"}, True),  # nothing that was read of it is another
        ({"bytes": "new", "code": "new"}, False),
        ({"bytes": "new", "items": "new"}, False),
        ({"code": "new"}, True),  # with the same bytes it is not asked
        ({"resolve": ""}, False),
        ({"resolve": "pkg/b.py", "bytes": "new"}, False),
    ],
)
def test_a_result_is_valid_while_its_claims_hold(folder, changed, is_valid):
    assert (today(kept(folder), **changed).get(KEY, TEXT) is not None) is is_valid


def test_a_result_that_names_a_file_is_not_valid_when_that_file_changed(folder):
    check = today(kept(folder, ENTRY), bytes="new")
    assert ENTRY.paths == {"a.py", "b.py"}
    assert check.get(KEY, TEXT) is None


def test_bytes_that_were_looked_at_are_known_to_the_next_run(folder):
    store = kept(folder)
    assert today(store, bytes="new").get(KEY, TEXT) is not None
    store.end()
    asked: list[Claim] = []
    answers = {**ANSWERS, BYTES: "new"}
    assert ValidResults(store, lambda claim: (asked.append(claim), answers[claim])[1]).get(KEY, TEXT) is not None
    assert CODE not in asked


def test_a_new_result_takes_the_place_of_the_old(folder):
    store = kept(folder)
    store.put(KEY, ENTRY, ANSWERS, TEXT)
    store.end()
    assert store.size().results == 1
    assert today(store).get(KEY, TEXT) == ENTRY


def test_without_a_folder_results_are_kept_in_memory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert today(kept(None)).get(KEY, TEXT) == CLEAN
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("damage", [b"", b"{", b"SQLite format 3\0" + b"\xff" * 4000])
def test_a_damaged_file_is_made_anew(folder, damage):
    kept(folder)
    (folder / NAME).write_bytes(damage)
    assert today(Store(folder)).get(KEY, TEXT) is None
    assert today(kept(folder)).get(KEY, TEXT) == CLEAN


def test_a_file_cut_short_is_made_anew_at_every_length(folder):
    kept(folder, ENTRY)
    whole = (folder / NAME).read_bytes()
    for length in range(0, len(whole), 1500):
        (folder / NAME).write_bytes(whole[:length])
        assert today(Store(folder)).get(KEY, TEXT) in (None, ENTRY)
        assert today(kept(folder)).get(KEY, TEXT) == CLEAN


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE result SET entry = x'00'",
        "UPDATE result SET entry = 'text'",
        "UPDATE result SET entry = NULL",
        "UPDATE result SET coarse = x'00'",
        "UPDATE result SET fine = 1",
        "UPDATE claim SET question = 'no question'",
        "UPDATE claim SET path = 1, detail = NULL",
        "DELETE FROM claim",
        "DROP TABLE claim",
        "PRAGMA user_version = 999",
    ],
)
def test_rows_that_are_none_of_ours_are_no_results_and_no_failures(folder, statement):
    kept(folder)
    database = sqlite3.connect(folder / NAME)
    database.execute(statement)
    database.commit()
    database.close()
    assert today(Store(folder), bytes="new").get(KEY, TEXT) is None
    assert today(kept(folder)).get(KEY, TEXT) == CLEAN


@pytest.mark.parametrize(
    "text", ["", "[]", "null", "{}", "[" * 100_000, '{"findings": [{}], "counters": {}, "statements": []}']
)
def test_a_result_that_is_none_is_no_failure(folder, text):
    kept(folder)
    database = sqlite3.connect(folder / NAME)
    database.execute("UPDATE result SET entry = ?", (zlib.compress(text.encode()),))
    database.commit()
    database.close()
    assert today(Store(folder)).get(KEY, TEXT) is None


def test_git_does_not_see_the_folder(folder):
    kept(folder)
    assert "*" in (folder / ".gitignore").read_text().split("\n")


def test_a_folder_that_cannot_be_made_is_left_alone(tmp_path):
    (tmp_path / "file").write_text("")
    assert today(kept(tmp_path / "file")).get(KEY, TEXT) is None


def test_what_was_used_longest_ago_is_dropped_where_there_is_too_much(folder):
    store = Store(folder, most=1)
    for number in range(8):
        store.put(KEY._replace(path=f"{number}.py"), CLEAN, {Claim(f"{number}.py", Question.ITEMS, "x"): "1"}, TEXT)
    store.flush()
    sqlite3.connect(folder / NAME, isolation_level=None).execute("UPDATE result SET used = 1 WHERE path < '4'")
    store.end()
    assert store.size()[:2] == (4, 4)
    check = ValidResults(store, lambda _: "1")
    assert [check.get(KEY._replace(path=f"{number}.py"), TEXT) is not None for number in range(8)] == [False] * 4 + [
        True
    ] * 4


def test_processes_write_at_once(folder):
    context = multiprocessing.get_context("spawn")
    running = [context.Process(target=write_fifty, args=(folder, number)) for number in range(3)]
    for process in running:
        process.start()
    for process in running:
        process.join()
        assert process.exitcode == 0
    assert Store(folder).size().results == 150


def test_while_another_process_writes_nothing_is_lost(folder, monkeypatch):
    monkeypatch.setattr("inplace_lint.driver.store._BUSY_SECONDS", 0.05)
    other = sqlite3.connect(folder / NAME, isolation_level=None) if Store(folder) else None
    store = Store(folder)
    other.execute("BEGIN IMMEDIATE")
    store.put(KEY, CLEAN, ANSWERS, TEXT)
    store.flush()
    assert Store(folder).size().results == 0
    other.execute("ROLLBACK")
    store.end()
    assert today(Store(folder)).get(KEY, TEXT) == CLEAN


def test_the_context_changes_with_facts_and_settings():
    contexts = {context_of("f", ("1",)), context_of("g", ("1",)), context_of("f", (None,))}
    assert len(contexts) == 3
    assert context_of("f", ("1",)) in contexts


def test_stored_results_are_plain_data(folder):
    kept(folder, ENTRY)
    ((data,),) = sqlite3.connect(folder / NAME).execute("SELECT entry FROM result").fetchall()
    fields = msgpack.decode(zlib.decompress(data), type=dict[str, Raw])
    assert msgpack.decode(fields["findings"])[0]["code"] == "IPL101"
