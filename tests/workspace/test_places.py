"""Whether files exist, by what is in their folders."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from inplace_lint.workspace.places import Disk


@pytest.fixture
def here(tmp_path, monkeypatch):
    (tmp_path / "pkg" / "sub").mkdir(parents=True)
    (tmp_path / "pkg" / "__init__.py").write_text("")
    (tmp_path / "pkg" / "folder.py").mkdir()
    (tmp_path / "a.py").write_text("")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_files_are_found_as_the_system_finds_them(here):
    has = Disk({}).finder()
    for path in (
        "a.py",
        "pkg/__init__.py",
        "pkg/folder.py",
        "pkg/sub/__init__.py",
        "pkg/none/b/c.py",
        "none/a.py",
        "pkg",
        "",
    ):
        assert has(path) == Path(path).is_file() == has((here / path).as_posix()), path
    assert not has("a\0b/c.py")
    assert not has("x" * 5000 + "/c.py")


@pytest.mark.skipif(not hasattr(os, "symlink"), reason="there are no links")
def test_links_are_followed(here):
    (here / "linked").symlink_to(here / "pkg")
    (here / "b.py").symlink_to(here / "a.py")
    (here / "broken.py").symlink_to(here / "nowhere.py")
    (here / "loop.py").symlink_to(here / "loop.py")
    has = Disk({}).finder()
    assert [has(path) for path in ("a.py", "linked/__init__.py", "b.py", "broken.py", "loop.py")] == [True] * 3 + [
        False
    ] * 2


def test_a_folder_is_read_once(here, monkeypatch):
    read = []
    scandir = os.scandir
    monkeypatch.setattr(os, "scandir", lambda folder: read.append(folder) or scandir(folder))
    has = Disk({}).finder()
    for name in ("__init__", "a", "b", "sub/__init__", "sub/c", "gone/__init__", "gone/c"):
        has(f"pkg/{name}.py")
    assert read == ["pkg/", "pkg/sub/"]
