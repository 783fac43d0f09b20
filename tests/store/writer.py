"""A process that writes to a store."""

from __future__ import annotations

from pathlib import Path

from inplace_lint.driver.entry import Entry
from inplace_lint.driver.store import Key, Store
from inplace_lint.workspace.claims import Claim, Question


def write_fifty(folder: Path, number: int) -> None:
    """Write fifty results, one by one."""
    store = Store(folder)
    for at in range(50):
        key, answers = Key(f"{number}-{at}.py", "", ""), {Claim("b.py", Question.ITEMS, str(at)): "1"}
        store.put(key, Entry((), {}, {}), answers, b"")
        store.flush()
    store.end()
