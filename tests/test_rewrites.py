"""How a program is laid out changes no verdict."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from benchmarks.rewrites import changes

ROOT = Path(__file__).parent.parent
# A folder of further programs, such as a shared benchmark, can be named in the environment.
FOLDERS = [
    ROOT / "fixtures",
    *(Path(name) for name in os.environ.get("INPLACE_LINT_PROGRAMS", "").split(os.pathsep) if name),
]
PROGRAMS = sorted(
    path
    for folder in FOLDERS
    for path in folder.rglob("*.py")
    # What is in a folder with a main.py is a part of that program, and says nothing on its own.
    if path.name == "main.py" or (path.name != "record.py" and not (path.parent / "main.py").exists())
)


@pytest.mark.parametrize("path", [pytest.param(path, id=path.name) for path in PROGRAMS])
def test_a_program_is_judged_the_same_however_it_is_laid_out(path: Path) -> None:
    assert changes(path.read_text(encoding="utf-8")) == []
