"""
Faults that public reports describe, each as an own program: found as an error, as a warning, or missed.

    python -m benchmarks.reports.score [--half tune|held] [--show]    # the analyzer on programs/
    python -m benchmarks.reports.score --label                        # run all, write labels.json

In a program, `#~ NEW` at the end of a line says what the repaired program has in its place, `#!` marks further lines
where a finding counts. The analyzer sees the text above `#: stubs` and `#: run`: what stands below these lines only
serves the run, and modules that are not installed are made up for it.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from collections import Counter
from pathlib import Path

from benchmarks.reports.run import label_of
from inplace_lint.core.finding import Severity
from inplace_lint.driver.analyze_file import Options, check_file

FOLDER = Path(__file__).parent
_MARK = re.compile(r"  #(?:!|~ (.*))$")


def main() -> None:
    """Print how many faults are errors, warnings or missed, and what is found on the repaired programs."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--half", choices=("tune", "held"))
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--label", action="store_true")
    chosen = parser.parse_args()
    programs = {file.name: file.read_text(encoding="utf-8") for file in sorted((FOLDER / "programs").glob("*.py"))}
    if chosen.label:
        _write_labels(programs)
    labels = json.loads((FOLDER / "labels.json").read_text(encoding="utf-8"))
    counts: Counter[str] = Counter()
    for name in halves(list(programs))[chosen.half] if chosen.half else programs:
        verdict, alarms = judged(programs[name], labels[name])
        counts[verdict] += 1
        counts["errors elsewhere"] += alarms[Severity.ERROR]
        counts["warnings elsewhere"] += alarms[Severity.WARNING]
        if chosen.show and (verdict != "error" or alarms):
            print(f"{name} ({labels[name]['label']}): {verdict} {dict(alarms) or ''}")
    print(", ".join(f"{number} {key}" for key, number in sorted(counts.items())))


def halves(names: list[str]) -> dict[str, list[str]]:
    """Return the names that may be looked at while the tool is changed, and those that may not."""
    shuffled = sorted(names)
    random.Random(21).shuffle(shuffled)
    middle = len(shuffled) // 2
    return {"tune": sorted(shuffled[:middle]), "held": sorted(shuffled[middle:])}


def judged(text: str, label: dict[str, str]) -> tuple[str, Counter[Severity]]:
    """Return how the fault is found, and the findings on the repaired program and on other lines."""
    program = text.split("#: ", maxsplit=1)[0]
    lines = marked(program)
    found = check_file("program.py", faulty(program), Options()).findings
    at_fault = {one.severity for one in found if one.span.line in lines}
    elsewhere = Counter(one.severity for one in found if one.span.line not in lines)
    elsewhere += Counter(one.severity for one in check_file("program.py", repaired(program), Options()).findings)
    if Severity.ERROR in at_fault:
        return "error", elsewhere
    return ("warning" if Severity.WARNING in at_fault else f"not found, {label['label']}"), elsewhere


def marked(text: str) -> set[int]:
    """Return the numbers of the lines where a finding counts."""
    return {number for number, line in enumerate(text.splitlines(), 1) if _MARK.search(line)}


def faulty(text: str) -> str:
    """Return the program as it was reported."""
    return "".join(_MARK.sub("", line) + "\n" for line in text.splitlines())


def repaired(text: str) -> str:
    """Return the program with its repair."""
    return "".join(_repaired(line) + "\n" for line in text.splitlines())


def _repaired(line: str) -> str:
    mark = _MARK.search(line)
    if mark is None or mark[1] is None:
        return _MARK.sub("", line)
    return line[: len(line) - len(line.lstrip())] + mark[1]


def _write_labels(programs: dict[str, str]) -> None:
    labels = {name: label_of(faulty(text), repaired(text)) for name, text in programs.items()}
    (FOLDER / "labels.json").write_text(json.dumps(labels, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    print(Counter(one["label"] for one in labels.values()))


if __name__ == "__main__":
    main()
