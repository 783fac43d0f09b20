"""
Measures the tool beside others: `python benchmarks/speed.py`.

Downloads the pinned wheels below with pip and runs, in turns on each, this tool without and with a filled cache, `ruff
check --select ALL --no-cache`, and TorchFix with all its rules, which `--torchfix` names. Prints the tables of
docs/performance.md; `--write` writes them there. Ratios are of one round to ruff in the same round, and their median is
shown, so that other load on the machine cancels out as far as it can. Seconds are of the processors (CPU) and of the
clock (wall).
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks import figures  # noqa: E402 - of this checkout

WHEELS = {
    "segmentation-models-pytorch": ("0.6.0", "segmentation_models_pytorch"),
    "torchvision": ("0.28.0", "torchvision"),
    "kornia": ("0.9.0", "kornia"),
    "timm": ("1.0.31", "timm"),
    "transformers": ("4.57.1", "transformers"),
}
GROWING = "segmentation-models-pytorch"
COPIES = (1, 2, 4, 8)
_STAGE = re.compile(r"^ +(\d+\.\d+)  (\w+)$", re.MULTILINE)


class Tools(NamedTuple):
    """The commands to compare; `torchfix` is empty where it is not measured."""

    ours: tuple[str, ...]
    ruff: str
    torchfix: str


def main() -> int:
    """Measure and print; the exit status is 1 when a run broke or a ratio is over `--most`."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("trees", nargs="*", type=Path, help="folders to measure instead of the wheels")
    parser.add_argument("--wheels", nargs="+", choices=WHEELS, default=list(WHEELS), help="which of the wheels")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=0, help="processes of this tool; default one for each CPU")
    parser.add_argument("--torchfix", default="", help="the command of TorchFix, in an environment of its own")
    parser.add_argument(
        "--most", type=float, help="fail when a cold run takes more than so many times ruff's wall time"
    )
    parser.add_argument("--write", action="store_true", help="write the tables into docs/performance.md")
    chosen = parser.parse_args()
    jobs = ("--jobs", str(chosen.jobs)) if chosen.jobs else ()
    tools = Tools((sys.executable, "-m", "inplace_lint", "check", *jobs), ruff(), chosen.torchfix)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        trees = chosen.trees or [download(folder, wheel) for wheel in chosen.wheels]
        rows = [compare(tree, tools, chosen.rounds, folder) for tree in trees]
        growth = grow(trees[0] if chosen.trees else download(folder, GROWING), tools, folder)
    place = f"Python {sys.version.split()[0]}, {os.cpu_count()} CPUs, load {os.getloadavg()[0]:.0f}"
    text = figures.tables(rows, growth, place)
    print(text)
    if chosen.write:
        page = ROOT / "docs" / "performance.md"
        page.write_text(figures.written(page.read_text(encoding="utf-8"), text), encoding="utf-8")
    slow = chosen.most is not None and any(row.ratio("cold") > chosen.most for row in rows)
    return 1 if slow or any(row.broken() for row in rows) else 0


def ruff() -> str:
    """Return ruff beside this Python, or on the path."""
    found = shutil.which("ruff", path=os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", ""))))
    if found is None:
        sys.exit("ruff is not installed: pip install '.[dev]'")
    return found


def download(folder: Path, wheel: str) -> Path:
    """Download a pinned wheel once, and return the folder with its sources."""
    version, package = WHEELS[wheel]
    place = folder / wheel
    if not place.exists():
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"]
        subprocess.run([*command, "--dest", str(place), f"{wheel}=={version}"], check=True)
        with zipfile.ZipFile(next(place.glob("*.whl"))) as archive:
            archive.extractall(place)
    return place / package


def compare(tree: Path, tools: Tools, rounds: int, folder: Path) -> figures.Row:
    """Run the tools in turns on a tree; TorchFix, which takes long, in the first round only."""
    runs: dict[str, list[figures.Timed]] = {}
    stages: dict[str, float] = {}
    for number in range(rounds):
        cache = folder / f"cache-{tree.name}-{number}"
        ours = (*tools.ours, str(tree), "--output-format", "json", "--statistics", "--cache-dir", str(cache))
        commands = {"cold": ours, "warm": ours}
        commands["ruff"] = (tools.ruff, "check", "--select", "ALL", "--no-cache", "--quiet", str(tree))
        if tools.torchfix and number == 0:
            commands["torchfix"] = (tools.torchfix, "--select", "ALL", str(tree))
        for name, command in commands.items():
            timed, words = once(command)
            runs.setdefault(name, []).append(timed)
            if name == "cold":
                for seconds, stage in _STAGE.findall(words):
                    stages[stage] = stages.get(stage, 0.0) + float(seconds)
        print(f"{tree.name}: round {number + 1} of {rounds}: {runs}", file=sys.stderr, flush=True)
    return figures.Row(tree.name, *size(tree), runs, stages)


def grow(tree: Path, tools: Tools, folder: Path) -> dict[int, figures.Timed]:
    """Run the tool without a cache on several copies of a tree in one folder."""
    found: dict[int, figures.Timed] = {}
    for copies in COPIES:
        place = folder / f"copies-{copies}"
        for number in range(copies):
            shutil.copytree(tree, place / f"copy_{number}" / tree.name)
        found[copies], _ = once((*tools.ours, str(place), "--output-format", "json", "--no-cache"))
        shutil.rmtree(place)
    return found


def size(tree: Path) -> tuple[int, int]:
    """Count Python files and their lines."""
    texts = list(sources(tree))
    return len(texts), sum(text.count(b"\n") for text in texts)


def sources(tree: Path) -> Iterator[bytes]:
    """Return the bytes of each Python file."""
    for path in tree.rglob("*.py"):
        yield path.read_bytes()


def once(command: Sequence[str]) -> tuple[figures.Timed, str]:
    """Run a command; processor time is that of all its processes, the peak that of its largest."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with tempfile.TemporaryFile() as words:
        started = time.perf_counter()
        process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=words)
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(status)
        words.seek(0)
        said = words.read().decode("utf-8", "replace")
    return figures.Timed(
        wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, process.returncode in {0, 1}
    ), said


if __name__ == "__main__":
    sys.exit(main())
