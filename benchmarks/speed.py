"""
Where the time goes: `python benchmarks/speed.py [TREE]`.

Prints cold and warm runs of the whole tool as a user starts it, and their ratio to `ruff check --select ALL --no-cache`
on the same tree in the same minute: the machine cancels out. Then the seconds of each stage in one process.
Without TREE the sources of timm 1.0.31 are downloaded with pip into a folder that is removed afterwards.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from collections import Counter
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
SAMPLE = "timm==1.0.31"


class Timed(NamedTuple):
    """One run of a command."""

    seconds: float
    status: int
    peak_megabytes: float


def main() -> int:
    """Measure and print; the exit status is 1 when a run broke or the ratio is over `--most`."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("tree", nargs="?", type=Path)
    parser.add_argument("--runs", type=int, default=3, help="the best of so many runs counts")
    parser.add_argument("--jobs", type=int, default=0, help="processes; default one for each CPU")
    parser.add_argument("--most", type=float, help="fail when a cold run takes more than so many times ruff's")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        tree = chosen.tree or download(Path(folder))
        print(f"{tree.name}: {describe(tree)}; Python {sys.version.split()[0]}, {os.cpu_count()} CPUs\n")
        # The stages run in this very process: before the others, they would raise the floor of their peaks.
        works = compare(tree, chosen, Path(folder))
        stages(tree)
        return 0 if works else 1


def download(folder: Path) -> Path:
    """Fetch the wheel of the sample and give the folder with its sources."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(folder), SAMPLE]
    subprocess.run(command, check=True)
    with zipfile.ZipFile(next(folder.glob("*.whl"))) as wheel:
        wheel.extractall(folder / "tree")
    return folder / "tree" / SAMPLE.partition("==")[0]


def describe(tree: Path) -> str:
    """Count files and lines."""
    files = list(tree.rglob("*.py"))
    lines = sum(path.read_bytes().count(b"\n") for path in files)
    return f"{len(files)} files, {lines} lines"


def stages(tree: Path) -> None:
    """Print the seconds of each stage, in one process and without a cache."""
    from inplace_lint import files, session  # noqa: PLC0415 - measured by `compare` too, there from the start
    from inplace_lint.config import Settings  # noqa: PLC0415
    from inplace_lint.report.model import Report  # noqa: PLC0415
    from inplace_lint.report.reporters import REPORTERS  # noqa: PLC0415
    from inplace_lint.rules import RULES  # noqa: PLC0415

    settings = Settings(root=tree, cache=False, jobs=1)
    codes = frozenset(rule.code for rule in RULES)
    started = time.perf_counter()
    outcome = session.run([tree], {}, session.Plan(settings, lambda _path: settings, lambda _path: codes))
    checked = time.perf_counter() - started
    text = REPORTERS["full"](Report(outcome.findings, files.Sources().lines, outcome.statements))
    seconds = {**outcome.seconds, "report": time.perf_counter() - started - checked}
    print(f"{'stage':<12}{'seconds':>9}{'share':>8}")
    for stage, spent in seconds.items():
        print(f"{stage:<12}{spent:>9.3f}{spent / checked:>8.1%}")
    print(f"{'all':<12}{checked:>9.3f}   ({len(text)} characters of report)")
    counts = Counter(finding.severity.value for finding in outcome.findings)
    print(f"findings: {dict(counts)}; could not be checked: {len(outcome.troubles)}\n")


def compare(tree: Path, chosen: argparse.Namespace, folder: Path) -> bool:
    """Print cold and warm runs of the tool beside ruff's; say whether they worked and stay under `--most`."""
    cache = folder / "cache"
    jobs = ["--jobs", str(chosen.jobs)] if chosen.jobs else []
    ours = [sys.executable, "-m", "inplace_lint", "check", str(tree), "--output-format", "json", *jobs]
    ruff = shutil.which("ruff", path=os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", ""))))
    if ruff is None:
        sys.exit("ruff is not installed: pip install '.[dev]'")
    rows = {
        "cold": best([*ours, "--no-cache"], chosen.runs),
        "cold, -j 1": best([*ours, "--no-cache", "--jobs", "1"], 1),
        "cold, filling the cache": best([*ours, "--cache-dir", str(cache)], 1),
        "warm": best([*ours, "--cache-dir", str(cache)], chosen.runs),
        "ruff, all rules": best([ruff, "check", "--select", "ALL", "--no-cache", "--quiet", str(tree)], chosen.runs),
    }
    unit = rows["ruff, all rules"].seconds
    print(f"{'run':<26}{'seconds':>9}{'x ruff':>8}{'peak MB':>9}")
    for name, row in rows.items():
        print(f"{name:<26}{row.seconds:>9.2f}{row.seconds / unit:>8.1f}{row.peak_megabytes:>9.0f}")
    ratio = rows["cold"].seconds / unit
    print(
        "\n"
        + json.dumps(
            {"tree": tree.name, "cold_seconds": round(rows["cold"].seconds, 3), "ratio_to_ruff": round(ratio, 2)}
        )
    )
    broken = [name for name, row in rows.items() if row.status not in {0, 1}]
    if broken:
        print(f"did not work: {', '.join(broken)}")
    return not broken and (chosen.most is None or ratio <= chosen.most)


def best(command: list[str], runs: int) -> Timed:
    """Run a command several times; give the fastest run."""
    return min(once(command) for _ in range(runs))


def once(command: list[str]) -> Timed:
    """Run a command; the peak is that of its largest process."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    started = time.perf_counter()
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return Timed(time.perf_counter() - started, process.returncode, usage.ru_maxrss / 1024)


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    sys.exit(main())
