"""Results that are kept are those of a cold run, after every edit of a library."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest

from inplace_lint.config.settings import Settings
from inplace_lint.core.finding import Finding
from inplace_lint.driver import session
from inplace_lint.driver.store import Store
from inplace_lint.rules import RULE_OF
from tests.store.edits import contents, edit

ZOO = Path(__file__).parent / "zoo"
_EDITS_A_COPY = 25  # then the library is made anew: what is edited too often finds nothing


def _run(store: Store | None) -> tuple[session.Outcome, list[str]]:
    plan = session.Plan(
        Settings(root=Path.cwd(), jobs=1, assume=("grad",)),
        lambda _: Settings(root=Path.cwd(), jobs=1),
        lambda _: frozenset(RULE_OF),
        store=store,
    )
    outcome = session.run([Path("zoo")], {}, plan)
    return outcome, sorted([*map(_shown, outcome.findings), *outcome.failures])


def _shown(finding: Finding) -> str:
    return repr(finding)


def _fresh() -> None:
    shutil.rmtree("zoo", ignore_errors=True)
    shutil.copytree(ZOO, "zoo")


def _replay(seed: int, edits: int) -> tuple[int, int]:
    """Return how many results were taken from the store, and how many findings there were in all."""
    rng = random.Random(seed)
    store = Store(Path("kept"))
    kept = found = 0
    before, cold = dict[Path, bytes](), list[str]()
    for number in range(edits):
        if number % _EDITS_A_COPY == 0:
            _fresh()
        done = edit(rng, Path("zoo"))
        outcome, warm = _run(store)
        if (now := contents(Path("zoo"))) != before:  # an edit may have found nothing to change
            before, (_, cold) = now, _run(None)
        assert warm == cold, (seed, number, done)
        kept += outcome.counters["files_from_cache"]
        found += len(cold)
    return kept, found


@pytest.mark.parametrize("seed", range(5))
def test_after_each_edit_results_are_those_of_a_cold_run(seed, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    kept, found = _replay(seed, 100)
    assert kept > 300  # of about eight files a run
    assert found > 100


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 120))
def test_after_many_edits_results_are_those_of_a_cold_run(seed, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    _replay(seed, 250)
