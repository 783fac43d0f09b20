"""Computes figures from measured runs: ratios, medians, and the tables of docs/performance.md."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median
from typing import NamedTuple

START, END = "<!-- speed: python benchmarks/speed.py --write -->\n", "<!-- end of speed -->\n"
_SHOWN = 0.01  # a stage with less of all time has no column


class Timed(NamedTuple):
    """One run: wall and processor seconds, megabytes of its largest process, and whether it worked."""

    wall: float
    cpu: float
    peak: float
    worked: bool = True


class Row(NamedTuple):
    """The runs of each tool on a tree, round by round, and the seconds of each stage of this tool in its cold runs."""

    name: str
    files: int
    lines: int
    runs: Mapping[str, Sequence[Timed]]
    stages: Mapping[str, float]

    def ratio(self, name: str, unit: str = "ruff", *, cpu: bool = False) -> float:
        """Return how many times as long as another tool one takes: the median over rounds that have both."""
        pairs = zip(self.runs[name], self.runs[unit], strict=False)
        return median((one.cpu / other.cpu) if cpu else (one.wall / other.wall) for one, other in pairs)

    def middle(self, name: str) -> Timed:
        """Return the median run of a tool; of two, the faster."""
        ordered = sorted(self.runs[name])
        return ordered[(len(ordered) - 1) // 2]

    def broken(self) -> list[str]:
        """Return the tools that failed in a run."""
        return [name for name, runs in self.runs.items() if not all(run.worked for run in runs)]

    def rates(self) -> dict[str, float]:
        """Return lines per processor second by stage: stages share the time of a cold run as their own clocks say."""
        cpu, whole = self.middle("cold").cpu, sum(self.stages.values())
        return {stage: self.lines * whole / (cpu * spent) for stage, spent in self.stages.items() if spent > 0}


def tables(rows: Sequence[Row], growth: Mapping[int, Timed], place: str) -> str:
    """Return the tables in Markdown: the tools beside each other, the stages, and growth with copies."""
    parts = (_compared(rows), _staged(rows), _grown(growth), f"Measured on {place}.")
    return "\n\n".join(part for part in parts if part)


def written(page: str, text: str) -> str:
    """
    Return a page with the tables between its marks.

    Raises: ValueError for one without marks.
    """
    before, start, rest = page.partition(START)
    _, end, after = rest.partition(END)
    if not start or not end:
        msg = f"the page has no {START.strip()} … {END.strip()}"
        raise ValueError(msg)
    return f"{before}{START}\n{text}\n\n{END}{after}"


def _compared(rows: Sequence[Row]) -> str:
    head = (
        "tree",
        "lines",
        "cold",
        "CPU",
        "× ruff",
        "× ruff, CPU",
        "warm",
        "peak",
        "TorchFix ÷ cold",
        "peak of TorchFix",
    )
    return _table(head, [_cells(row) for row in rows])


def _cells(row: Row) -> list[str]:
    cold, warm = row.middle("cold"), row.middle("warm")
    against = f"{row.ratio('torchfix', 'cold'):.1f}" if "torchfix" in row.runs else "–"
    other = f"{row.middle('torchfix').peak:.0f} MB" if "torchfix" in row.runs else "–"
    return [
        row.name,
        f"{row.lines:,}",
        f"{cold.wall:.1f} s",
        f"{cold.cpu:.1f} s",
        f"{row.ratio('cold'):.1f}",
        f"{row.ratio('cold', cpu=True):.1f}",
        f"{warm.wall:.2f} s",
        f"{cold.peak:.0f} MB",
        against,
        other,
    ]


def _staged(rows: Sequence[Row]) -> str:
    whole = sum(sum(row.stages.values()) for row in rows)
    spent: dict[str, float] = {}
    for row in rows:
        for stage, seconds in row.stages.items():
            spent[stage] = spent.get(stage, 0.0) + seconds
    names = [stage for stage in sorted(spent, key=lambda stage: -spent[stage]) if spent[stage] > _SHOWN * whole]
    if not names:
        return ""
    lines = [[row.name, *(f"{row.rates().get(name, 0):,.0f}" for name in names)] for row in rows]
    return _table(("lines a CPU second", *names), lines)


def _grown(growth: Mapping[int, Timed]) -> str:
    if not growth:
        return ""
    one = growth[min(growth)]
    cells = [
        [str(copies), f"{run.cpu / one.cpu / copies:.2f}", f"{run.wall / one.wall / copies:.2f}", f"{run.peak:.0f} MB"]
        for copies, run in sorted(growth.items())
    ]
    return _table(("copies of a tree", "CPU a copy", "wall a copy", "peak"), cells)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cells)} |".replace(" --- ", "---") for cells in lines)
