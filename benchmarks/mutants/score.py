"""
How many of the mutants the analyzer finds: `python -m benchmarks.mutants.score`.

A mutant that raises counts as found where the edited file has a finding that the original lacks and that stands on the
edited lines or leads there; for an edit whose harm shows elsewhere (`flag`, `clone`), any such finding. On a harmless
mutant any is a false alarm. The files of a library are judged together, each with one mutant at a time. `--missed FILE`
lists, of the half to tune on, the raising mutants that are no errors.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.mutants.edits import apply
from inplace_lint.config.settings import Settings
from inplace_lint.driver.session import Plan, run
from inplace_lint.rules import RULE_OF

_LABELS = Path(__file__).with_name("labels.jsonl")
_ELSEWHERE = ("flag", "clone")
_COLUMNS = ("half", "library", "raises", "errors", "found", "silent", "found", "harmless", "errors", "warnings")
Row = dict[str, Any]
_Found = tuple[str, frozenset[tuple[str, int]]]


def main() -> None:
    """Print the counts of each library and of both halves."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--corpus", type=Path, default=Path(tempfile.gettempdir()) / "corpus" / "src")
    parser.add_argument("--labels", type=Path, default=_LABELS)
    parser.add_argument("--half", choices=("tune", "held"))
    parser.add_argument("--missed", type=lambda text: Path(text).resolve())  # each library is a working directory
    parser.add_argument("--only", nargs="+", default=[], help="libraries")
    parser.add_argument("--jobs", type=int, default=1)
    chosen = parser.parse_args()
    rows = [json.loads(line) for line in chosen.labels.read_text(encoding="utf-8").splitlines()]
    rows = [row for row in rows if chosen.half in {None, row["half"]}]
    rows = [row for row in rows if not chosen.only or row["library"] in chosen.only]
    judged = list(verdicts(chosen.corpus.resolve(), rows, chosen.jobs))
    print(*table(judged), sep="\n")
    if chosen.missed:
        missed = [
            {**row, "found": found or "nothing"}
            for row, found in judged
            if row["half"] == "tune" and row["label"] == "raises" and found != "error"
        ]
        chosen.missed.write_text("".join(listed(missed, chosen.corpus.resolve())), encoding="utf-8")


def verdicts(corpus: Path, rows: Sequence[Row], jobs: int) -> Iterator[tuple[Row, str]]:
    """Yield how the edit of each mutant is reported: `error`, `warning`, or not at all."""
    for library in sorted({row["library"] for row in rows}):
        root = corpus / library
        mutants = [row for row in rows if row["library"] == library]
        texts = {row["path"]: (root / row["path"]).read_bytes() for row in mutants}
        healthy = set(_findings(root, texts, jobs))
        for turn in rounds(mutants):
            edited = {row["path"]: _edited(root, row) for row in turn}
            found = [finding for finding in _findings(root, edited, jobs) if finding not in healthy]
            for row in turn:
                severities = {severity for severity, places in found if concerns(row, places)}
                yield row, "error" if "error" in severities else "warning" if "warning" in severities else ""


def rounds(rows: Sequence[Row]) -> Iterator[list[Row]]:
    """Yield the mutants of a library in groups with one of a file, the harmless apart from those that do harm."""
    for harmless in (False, True):
        queues: dict[str, list[Row]] = defaultdict(list)
        for row in rows:
            if (row["label"] == "equal") == harmless:
                queues[row["path"]].append(row)
        while queues:
            yield [queue.pop() for queue in queues.values()]
            queues = {path: queue for path, queue in queues.items() if queue}


def concerns(row: Row, places: Iterable[tuple[str, int]]) -> bool:
    """Return whether a finding at these places is one of the edit."""
    anywhere = row["kind"] in _ELSEWHERE or row["label"] == "equal"
    lines = range(row["line"], row["last_line"] + 1)
    return any(path == row["path"] and (anywhere or line in lines) for path, line in places)


def _edited(root: Path, row: Row) -> bytes:
    return apply((root / row["path"]).read_bytes(), row["kind"], row["line"], row["column"], row["turn"])


def _findings(root: Path, texts: Mapping[str, bytes], jobs: int) -> Iterator[_Found]:
    """Yield severity and places of what a run finds in files that have these texts; their callers are run as well."""
    os.chdir(root)
    settings = Settings(root, cache=False, jobs=jobs)
    plan = Plan(settings, lambda _path: settings, lambda _path: frozenset(RULE_OF), texts=texts)
    outcome = run([Path(path) for path in sorted(texts)], {}, plan)
    if outcome.failures:
        raise SystemExit("\n".join(outcome.failures))
    for finding in outcome.findings:
        spans = (finding.span, *(item.span for item in finding.related))
        places = frozenset((Path(os.path.relpath(root / span.path, root)).as_posix(), span.line) for span in spans)
        yield finding.severity.value, places


def table(judged: Sequence[tuple[Row, str]]) -> Iterator[str]:
    """Yield the lines of a table: each library, and the sum of each half and framework."""
    groups: dict[tuple[str, str], list[tuple[Row, str]]] = defaultdict(list)
    for row, found in judged:
        groups[row["half"], row["library"]].append((row, found))
        groups[row["half"], f"all of {row['framework']}"].append((row, found))
    yield "| " + " | ".join(_COLUMNS) + " |"
    yield "|---" * len(_COLUMNS) + "|"
    for (half, library), group in sorted(groups.items()):
        of = {
            label: [found for row, found in group if row["label"] == label] for label in ("raises", "silent", "equal")
        }
        counts = [
            *(len(of["raises"]), of["raises"].count("error"), len(of["raises"]) - of["raises"].count("")),
            *(len(of["silent"]), len(of["silent"]) - of["silent"].count("")),
            *(len(of["equal"]), of["equal"].count("error"), of["equal"].count("warning")),
        ]
        yield f"| {half} | {library} | " + " | ".join(map(str, counts)) + " |"


def listed(missed: Sequence[Row], corpus: Path) -> Iterator[str]:
    """Yield each mutant as a section: where it is, where it raises, and the edited lines."""
    for row in missed:
        root = corpus / row["library"]
        lines = _edited(root, row).decode().splitlines()
        first = max(row["line"] - 4, 0)
        shown = "\n".join(lines[first : row["last_line"] + 3])
        yield f"## {row['library']} {row['path']}:{row['line']}:{row['column']} {row['kind']}\n\n"
        raised = f"{row['stage']} raises (call at {row['raised'] or '?'}): {row.get('error', '?')}"
        yield f"found: {row['found']}; {raised}\n\n"
        yield f"```python\n{shown}\n```\n\n"


if __name__ == "__main__":
    main()
