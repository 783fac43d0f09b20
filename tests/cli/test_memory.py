"""What a process keeps of the files it has read is bounded, and does not influence the findings."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from inplace_lint.config.settings import Settings
from inplace_lint.driver import session
from inplace_lint.driver.check_task import Checked, check_one
from inplace_lint.driver.entry import Entry
from inplace_lint.workspace import import_graph
from inplace_lint.workspace.places import Disk

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
LIMIT = 100_000


@pytest.fixture(autouse=True)
def nothing_read() -> Iterator[None]:
    import_graph.forget()
    yield
    import_graph.forget()


def checked(paths: list[Path]) -> list[Checked]:
    """Check files one after the other in this process."""
    settings = Settings(root=FIXTURES, cache=False)
    plan = session.Plan(settings, lambda _path: settings, lambda _path: frozenset())
    return [
        check_one(session.task_of(path.as_posix(), path.read_bytes(), path, import_graph.root_of(path), plan))
        for path in paths
    ]


def entries(paths: list[Path]) -> list[Entry]:
    """Return the results, apart from the time that each took."""
    return [replace(answer.entry, milliseconds=0) for answer in checked(paths)]


def test_what_is_found_does_not_depend_on_what_was_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    paths = sorted(FIXTURES.rglob("*.py"))
    kept = entries(paths)
    import_graph.forget()
    monkeypatch.setattr(import_graph, "_MOST_KEPT", 0)
    assert entries(paths) == kept
    assert any(entry.findings for entry in kept)


def test_what_is_kept_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pyproject.toml").write_text("")
    paths = [tmp_path / f"m{number}.py" for number in range(60)]
    for path in paths:
        path.write_text("import torch\n\n\ndef bump(x):\n    x += 1\n" + "LIMITS = [1, 2, 3]\n" * 50)
    monkeypatch.setattr(import_graph, "_MOST_KEPT", LIMIT)
    weights = []
    for path in paths:
        checked([path])
        weights.append(import_graph.project(import_graph.root_of(path), (), Disk({})).weight())
    assert LIMIT / 4 < max(weights) <= LIMIT
    assert any(later < earlier for earlier, later in itertools.pairwise(weights))
