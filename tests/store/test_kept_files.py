"""What is kept of single files: their outlines, and answers to questions about them."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

import pytest

from inplace_lint.driver.entry import Entry
from inplace_lint.driver.kept import KeptFiles
from inplace_lint.driver.store import NAME, Key, Store
from inplace_lint.effects.outline_form import outline_in, outline_out
from inplace_lint.effects.summary import outline
from inplace_lint.workspace.claims import Claim, Question, digest, reader
from inplace_lint.workspace.import_resolver import Lookup
from inplace_lint.workspace.import_statements import Statement, statements
from inplace_lint.workspace.module_store import Project
from inplace_lint.workspace.top_level import Headers, TopLevels, hashes

ROOTS = ["torch"]
SOURCES = sorted(Path(__file__).parents[2].glob("inplace_lint/**/*.py"))
TEXT = "import torch\nimport a.b as c\nfrom ..d import (e, f as g)\nclass N(e):\n    @g\n    def f(self, x): x += 1\n"
KEY = digest(TEXT)


def kept(folder, form: str = "") -> KeptFiles:
    store = Store(folder)
    files = store.files(ROOTS)
    store.put_outlines({KEY: form or outline_out(outline("m.py", TEXT, ROOTS))}, files.code)
    answers = {Claim("m.py", Question.BYTES): KEY, Claim("m.py", Question.CODE, "N.f 1"): "2"}
    store.put(Key("a.py", "context", "digest"), Entry((), {}, {}), answers, TEXT.encode())
    store.end()
    return files


def test_an_outline_comes_back_equal():
    for source in (TEXT, *(path.read_text(encoding="utf-8") for path in SOURCES)):
        made = outline("m.py", source, ROOTS)
        assert outline_in(outline_out(made), "m.py", source, ROOTS) == made


def test_an_outline_is_that_of_its_bytes_and_of_the_code_that_made_it(tmp_path):
    files = kept(tmp_path / "cache")
    assert outline_in(files.outline(KEY), "other.py", TEXT, ROOTS) == outline("other.py", TEXT, ROOTS)
    assert files.outline("2") is None
    assert files._replace(code="other").outline(KEY) is None


def test_answers_are_those_of_the_bytes_that_were_asked(tmp_path):
    files = kept(tmp_path / "cache")
    assert files.answers("m.py", KEY) == {("code", "N.f 1"): "2"}
    assert files.answers("m.py", "2") == files.answers("other.py", KEY) == {}


@pytest.mark.parametrize("form", ["{", "[]", "[1, 2, 3]", '[1, [], [[["x"]]]]', "null"])
def test_a_form_that_is_none_is_made_again(tmp_path, form):
    files = kept(tmp_path / "cache", form)
    project = Project(Lookup(lambda _: False, frameworks=frozenset(ROOTS)), reader({"m.py": TEXT}), files)
    assert project.module("m.py").outline == outline("m.py", TEXT, ROOTS)
    assert list(project.outlines) == [KEY]


@pytest.mark.parametrize(
    "statement", ["UPDATE outline SET form = x'00'", "UPDATE outline SET form = 7", "DROP TABLE claim"]
)
def test_a_damaged_file_has_nothing(tmp_path, statement):
    files = kept(tmp_path / "cache")
    sqlite3.connect(tmp_path / "cache" / NAME, isolation_level=None).execute(statement)
    assert files.outline(KEY) is None or files.answers("m.py", KEY) == {}


def headers_kept(folder, text: bytes) -> Headers:
    """Return the headers that a second run begins with, after a first one has read a file of this text."""
    store = Store(folder)
    files = store.files(ROOTS)
    headers = Headers(files.headers())
    headers.statements("1", lambda: text)
    headers.outside("1", text.decode)
    headers.put("1", text.decode)
    store.put_headers(headers.taken(), files.code)
    store.end()
    assert files._replace(code="other").headers() == {}
    return Headers(Store(folder).files(ROOTS).headers())


def unread() -> bytes:
    pytest.fail("the file was read again")


def test_imports_and_words_are_kept_by_the_bytes_of_files(tmp_path):
    text = b"import a.b, c\nfrom ..d import (e, f as g)\nfrom h import *\nNETS['Gated-x'] = 1\n"
    headers = headers_kept(tmp_path / "cache", text)
    assert headers.statements("1", unread) == statements(text)
    found = headers.outside("1", unread)
    top_levels = TopLevels(str, lambda path: path, headers)
    assert found.digest == digest(text)
    assert hashes("gated x NETS") <= top_levels.words("1")
    assert hashes("y").isdisjoint(top_levels.words("1"))
    assert headers.put("1", unread) == (("NETS", frozenset({"gated-x"})),)
    assert headers.taken() == {}


USED = {
    "not": ("from home import register", False),
    "in brackets": ("from home import (\n    other,  # register\n    register,\n)", False),
    "over lines": ("from home import other, \\\n    register", False),
    "in a statement": ("if other:\n    from home import register", False),
    "by its name": ("from home import register\nregister('key')", True),
    "by another name": ("from home import register as put\nput('key')", True),
    "by another name in brackets": ("from home import (\n    register as put\n)\nput('key')", True),
    "of all": ("from home import *\nregister('key')", True),
    "of a module": ("import home\nhome.register('key')", True),
    "after an import": ("from home import other; register('key')", True),
}


@pytest.mark.parametrize(("text", "used"), USED.values(), ids=USED)
def test_names_that_are_only_imported_are_no_words(text, used):
    top_levels = TopLevels(lambda _: text, lambda path: path, Headers())
    assert (hashes("register") <= top_levels.words("1")) is used


@pytest.mark.parametrize(
    "form", [b"", b"\x93", b"\xc0", b"\x92\xc0\x92\xa1d\xc4\x03abc", b"\x92\xc0\x05", b"\x93\xc0\xc0\x01"]
)
def test_a_damaged_header_is_made_again(form):
    headers = Headers({"1": form})
    assert headers.statements("1", lambda: b"import a") == (Statement("a"),)
    assert headers.outside("1", lambda: "import a").digest == digest("import a")
    assert headers.put("1", lambda: "a.b('C')") == (("a", frozenset({"c"})),)


def test_without_a_file_nothing_is_kept():
    assert KeptFiles().outline(KEY) is None
    assert Store(None).files(ROOTS).place == ""


def test_half_of_the_outlines_is_dropped_where_there_is_too_much(tmp_path):
    store = Store(tmp_path / "cache", most=1)
    files = store.files(ROOTS)
    store.put_outlines({str(number): "[]" for number in range(8)}, files.code)
    store.end()
    assert [files.outline(str(number)) for number in range(8)] == [None] * 4 + ["[]"] * 4


def test_a_forked_process_opens_the_file_itself_and_leaves_the_inherited_one_open(tmp_path, monkeypatch):
    opened = []
    connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda *rest, **more: opened.append(connect(*rest, **more)) or opened[-1])
    files = kept(tmp_path / "cache")
    assert files.outline(KEY)
    before = len(opened)
    child = os.fork()
    if child == 0:
        found = files.outline(KEY)
        ours = opened[before - 1].total_changes  # raises where it is closed
        os._exit(0 if found and ours == 0 and len(opened) == before + 1 else 1)
    assert os.waitpid(child, 0)[1] == 0
