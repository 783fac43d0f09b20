"""Runs that are repeated in one process find what a cold run finds, after each edit."""

from __future__ import annotations

import os
import random
import shutil
from pathlib import Path

import pytest

from inplace_lint.config.settings import Settings
from inplace_lint.driver import session
from inplace_lint.driver.store import Store
from inplace_lint.rules import RULE_OF
from inplace_lint.workspace import import_graph
from inplace_lint.workspace.memory import Memory
from tests.store.edits import contents, edit

ZOO = Path(__file__).parent / "zoo"
_EDITS_A_COPY = 20


def plan(**fields) -> session.Plan:
    settings = Settings(root=Path.cwd(), jobs=1, assume=("grad",))
    return session.Plan(settings, lambda _: settings, lambda _: frozenset(RULE_OF), **fields)


def lasting() -> session.Plan:
    return plan(store=Store(None), memory=Memory())


def findings(plan: session.Plan, *paths: str) -> list[str]:
    outcome = session.run([Path(path) for path in paths or ("zoo",)], {}, plan)
    return sorted([*map(repr, outcome.findings), *outcome.failures])


@pytest.fixture
def cold(monkeypatch):
    """Return a function that runs as a new process does."""

    def run(texts, *paths: str) -> list[str]:
        with monkeypatch.context() as patch:
            patch.setattr(import_graph, "_PROJECTS", {})
            return findings(plan(texts=texts), *paths)

    return run


@pytest.fixture
def zoo(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copytree(ZOO, "zoo")
    return tmp_path / "zoo"


def replayed(seed: int, cold) -> int:
    """Edit the library, as saved files and as texts that are not saved; return how many findings there were."""
    rng = random.Random(seed)
    kept, texts, found = lasting(), {}, 0
    expected, of = [], None
    for number in range(60):
        if number % _EDITS_A_COPY == 0:
            shutil.rmtree("zoo")
            shutil.copytree(ZOO, "zoo")
            texts = {}
        before = contents(Path("zoo"))
        done = edit(rng, Path("zoo"))
        changed = [path for path in before if path.is_file() and path.read_bytes() != before[path]]
        if rng.random() < 0.5 and len(changed) == 1:  # it is not saved
            texts[changed[0].as_posix()] = changed[0].read_bytes()
            changed[0].write_bytes(before[changed[0]])
        paths = (
            [rng.choice(sorted(path.as_posix() for path in Path("zoo").rglob("*.py")))] if rng.random() < 0.5 else []
        )
        if (now := (contents(Path("zoo")), dict(texts), paths)) != of:  # an edit may have found nothing to change
            of, expected = now, cold(texts, *paths)
        assert findings(kept._replace(texts=texts), *paths) == expected, (seed, number, done, paths)
        found += len(expected)
    return found


@pytest.mark.parametrize("seed", range(3))
def test_after_each_edit_findings_are_those_of_a_cold_run(seed, zoo, cold):
    assert replayed(seed, cold) > 30


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 130))
def test_after_many_edits_findings_are_those_of_a_cold_run(seed, zoo, cold):
    replayed(seed, cold)


def test_what_did_not_change_is_not_read_again(zoo, monkeypatch):
    kept = lasting()
    findings(kept)
    read = []
    monkeypatch.setattr(import_graph.files, "read", lambda path: (read.append(path.name), path.read_bytes())[1])
    module = next(path for path in sorted(zoo.rglob("*.py")) if path.stat().st_size > 300)
    os.utime(module, ns=(1, 1))
    findings(kept, module.relative_to(Path.cwd()).as_posix())
    assert set(read) <= {module.name}


def test_a_file_that_is_new_is_seen(zoo):
    kept = lasting()
    findings(kept)
    Path("zoo/new_file.py").write_text(
        "import torch\ny = torch.ones(3, requires_grad=True).exp()\ny.add_(1)\ny.sum().backward()\n"
    )
    assert any("new_file.py" in one for one in findings(kept))
    Path("zoo/new_file.py").unlink()
    assert not any("new_file.py" in one for one in findings(kept))
