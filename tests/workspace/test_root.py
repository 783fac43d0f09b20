"""Where imports are looked up: the result is the same from each folder of a package in which the command is started."""

from __future__ import annotations

from pathlib import Path

import pytest

from inplace_lint.config.settings import marked_root
from inplace_lint.workspace.import_graph import root_of


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """Create `top/pkg/models/net.py` below a folder that no file marks as the root of a project."""
    assert marked_root(tmp_path, own=True) is None
    inner = tmp_path / "top" / "pkg" / "models"
    inner.mkdir(parents=True)
    for folder in (inner, inner.parent):
        (folder / "__init__.py").touch()
    (inner / "net.py").touch()
    return tmp_path / "top" / "pkg"


@pytest.mark.parametrize("start", [".", "models", ".."])
def test_the_folder_that_holds_the_package_is_the_root_from_inside_of_it(package, start, monkeypatch):
    monkeypatch.chdir(package / start)
    assert root_of(package / "models" / "net.py") == package.parent.as_posix()


def test_the_working_folder_is_the_root_above_the_package(package, monkeypatch):
    monkeypatch.chdir(package.parent.parent)
    assert root_of(package / "models" / "net.py") == package.parent.parent.as_posix()


def test_a_file_beside_the_working_folder_has_the_root_of_its_package(package, tmp_path, monkeypatch):
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "other")
    assert root_of(package / "models" / "net.py") == package.parent.as_posix()


def test_a_project_file_marks_the_root(package, monkeypatch):
    (package.parent / "pyproject.toml").touch()
    monkeypatch.chdir(package / "models")
    assert root_of(package / "models" / "net.py") == package.parent.as_posix()


def test_a_folder_of_a_package_needs_no_file_that_says_so(package, tmp_path, monkeypatch):
    (package / "layers").mkdir()
    (package / "layers" / "norm.py").touch()
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "other")
    assert root_of(package / "layers" / "norm.py") == package.parent.as_posix()
