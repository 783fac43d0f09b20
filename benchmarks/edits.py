"""
What an edit costs: `python benchmarks/edits.py [TREE]` prints CPU seconds of runs over a copy of timm, and ratios.

TREE is a folder with the package `timm`; by default the pinned wheel is fetched. The last line is of one process that
goes on, as an editor's server does: seconds of the clock from 100 edits of functions, five a model file, to what the
file finds by itself.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.speed import download  # noqa: E402 - of this checkout
from inplace_lint.config.settings import Settings  # noqa: E402
from inplace_lint.driver.session import Plan, run  # noqa: E402
from inplace_lint.driver.store import Store  # noqa: E402
from inplace_lint.rules import RULE_OF  # noqa: E402
from inplace_lint.workspace.memory import Memory  # noqa: E402

EDITED, EDITS = 20, 5
LAYER, MODEL = "timm/layers/create_act.py", "timm/models/resnet.py"
COMMENT = ("def get_act_layer(", "# a comment\ndef get_act_layer(")
DEFAULT = ("name: Optional[LayerType] = 'relu'", "name: Optional[LayerType] = 'gelu'")
LEFT_OUT = ("inplace: Optional[bool] = None", "inplace: Optional[bool] = False")
STATEMENT = (
    "    if name is None:\n        return None\n",
    "    if name is None or not name:\n        return None\n",
)
MODEL_EDIT = ("        x = self.maxpool(x)\n", "        x = self.maxpool(x)\n        x = x + 0\n")


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tree", nargs="?", type=Path)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name, "project")
        shutil.copytree(chosen.tree / "timm" if chosen.tree else download(Path(name), "timm"), folder / "timm")
        (folder / "pyproject.toml").write_text("[project]\nname = 'timm'\n")
        rows = _measured(folder)
        live = sorted(_live(folder))
        size = (folder / ".inplace_lint_cache" / "results.sqlite").stat().st_size
        sources = sum(path.stat().st_size for path in folder.rglob("*.py"))
    cold = rows[0][1]
    print("| run | CPU s | ÷ cold |\n|---|---|---|")
    for words, seconds in rows:
        print(f"| {words} | {seconds:.2f} | {seconds / cold:.3f} |")
    print(f"\none process: median {statistics.median(live):.2f} s, 95th percentile {live[int(len(live) * 0.95)]:.2f} s")
    print(f"store: {size / 1e6:.1f} MB; sources: {sources / 1e6:.1f} MB")


def _measured(folder: Path) -> list[tuple[str, float]]:
    rows = [("cold", _seconds(folder, "timm")), ("nothing changed", _seconds(folder, "timm"))]
    for words, path, edit in (
        (f"a comment in `{LAYER}`", LAYER, COMMENT),
        (f"a changed default in `{LAYER}`, which calls pass", LAYER, DEFAULT),
        (f"a changed default in `{LAYER}`, which calls leave out", LAYER, LEFT_OUT),
        (f"a changed statement of `get_act_layer` in `{LAYER}`", LAYER, STATEMENT),
    ):
        _edit(folder / path, *edit)
        rows.append((words, _seconds(folder, "timm")))
    _edit(folder / MODEL, *MODEL_EDIT)
    rows.append((f"an edit in `{MODEL}`, that file alone", _seconds(folder, MODEL)))
    return rows


def _live(folder: Path) -> Iterator[float]:
    """Yield the seconds of each edit of a function in one process; the first run of a file is not counted."""
    os.chdir(folder)
    settings = Settings(folder)
    lasting = {"store": Store(settings.cache_folder), "memory": Memory()}
    plan = Plan(settings, lambda _: settings, lambda _: frozenset(RULE_OF), callers=False, earlier={}, **lasting)
    rng = random.Random(7)
    models = {path: functions for path in sorted(Path("timm/models").glob("*.py")) if (functions := _functions(path))}
    for path in rng.sample(sorted(models), EDITED):
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        run([path], {}, plan)
        for number, (line, column) in enumerate(sorted(rng.choices(models[path], k=EDITS), reverse=True)):
            lines.insert(line - 1, " " * column + f"_edited = {number}\n")
            text = "".join(lines).encode()
            started = time.perf_counter()
            run([path], {}, plan._replace(texts={path.as_posix(): text}))
            yield time.perf_counter() - started


def _functions(path: Path) -> list[tuple[int, int]]:
    """Return the places of the last statements of all functions that have several."""
    functions = (node for node in ast.walk(ast.parse(path.read_bytes())) if isinstance(node, ast.FunctionDef))
    return [(node.body[-1].lineno, node.body[-1].col_offset) for node in functions if len(node.body) > 1]


def _edit(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    if old not in text:
        sys.exit(f"{path}: has no {old!r}")
    path.write_text(text.replace(old, new), encoding="utf-8")


def _seconds(folder: Path, path: str) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "inplace_lint", "check", "--exit-zero", path]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # as installed, where modules are compiled once
    subprocess.run(command, cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    main()
