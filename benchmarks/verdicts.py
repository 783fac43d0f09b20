"""
What the tool says of much code, recorded and compared: `python benchmarks/verdicts.py record|compare FILE`.

    python benchmarks/verdicts.py record before.json      # on the commit to compare with
    python benchmarks/verdicts.py compare before.json     # after a change: prints each difference, exit status 1

A verdict is the rule, severity and place of a finding with its related places; `--messages` compares the sentences as
well. Judged are unpacked wheels of public libraries under `--corpus` (`shared/bench/corpus.sh` downloads them), and of
`--bench` the micro-cases, the reduced causes and the mutants (which need torch), and the fixtures of this checkout.
`--only` names some of these parts; a part that is not there is an error, never left out in silence.
"""

from __future__ import annotations

import argparse
import functools
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from inplace_lint.core.span import Span  # noqa: E402 - of this checkout

LIBRARIES = {
    "torchvision": "torchvision",
    "monai": "monai",
    "kornia": "kornia",
    "segmentation-models-pytorch": "segmentation_models_pytorch",
    "timm": "timm",
    "diffusers": "diffusers",
    "paddleclas": "paddleclas",
    "paddleseg": "paddleseg",
}
PARTS = (*LIBRARIES, "micro", "causes", "fixtures", "mutants")
_BROKEN = ("raises_forward", "raises_backward", "silent")
Verdicts = dict[str, list[list[Any]]]


def main() -> int:
    """Record the verdicts of today's checkout in a file, or print how they differ from those of the file."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("do", choices=("record", "compare"))
    parser.add_argument("file", type=Path)
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--corpus", type=Path, default=Path(tempfile.gettempdir()) / "corpus" / "src")
    parser.add_argument("--bench", type=Path, default=ROOT.parent / "shared" / "bench")
    parser.add_argument("--messages", action="store_true", help="compare what findings say, too")
    parser.add_argument("--jobs", default="2", help="processes of a run")
    chosen = parser.parse_args()
    known = json.loads(chosen.file.read_text(encoding="utf-8")) if chosen.do == "compare" else {}
    differences = 0
    for part in chosen.only:
        verdicts = judge(part, chosen.corpus, chosen.bench, chosen.jobs)
        if chosen.do == "record":
            known[part] = verdicts
            print(f"{part}: {sum(map(len, verdicts.values()))} findings", flush=True)
        else:
            lines = list(differing(known.get(part, {}), verdicts, messages=chosen.messages))
            differences += len(lines)
            print(*lines, f"{part}: {len(lines)} differences", sep="\n", flush=True)
    if chosen.do == "record":
        chosen.file.write_text(json.dumps(known, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return 1 if differences else 0


def judge(part: str, corpus: Path, bench: Path, jobs: str) -> Verdicts:
    """Return the findings of one part by file; for mutants by file and mutant."""
    if part in LIBRARIES:
        return findings(corpus / part, [LIBRARIES[part]], jobs)
    if part == "fixtures":
        return findings(ROOT, ["fixtures"], jobs)
    if part == "mutants":
        return dict(mutants(corpus, bench / "mutants", jobs))
    return findings(bench, [part], jobs)


def findings(folder: Path, paths: Sequence[str], jobs: str) -> Verdicts:
    """Return what a run in a folder finds, sorted: code, severity, place, related places, message."""
    for path in paths:
        if not (folder / path).exists():
            raise SystemExit(f"{folder / path}: not there")
    command = [sys.executable, "-m", "inplace_lint", "check", "--no-cache", "--isolated", "--output-format", "json"]
    run = subprocess.run(
        [*command, "--jobs", jobs, *paths],
        cwd=folder,
        env={"PYTHONPATH": str(ROOT), "PATH": "", "INPLACE_LINT_LANG": "en"},
        capture_output=True,
        text=True,
        check=False,
    )
    if run.returncode not in (0, 1):
        raise SystemExit(f"{folder}: exit status {run.returncode}: {run.stderr[-2000:]}")
    found: Verdicts = defaultdict(list)
    for row in json.loads(run.stdout):
        found[_relative(row["filename"], folder)].append(verdict(row, folder))
    return {path: sorted(rows, key=str) for path, rows in sorted(found.items())}


def verdict(row: dict[str, Any], folder: Path) -> list[Any]:
    """Return what is compared of one finding; the sentence last."""
    related = [
        [item["role"], _relative(item["filename"], folder), *item["location"].values()] for item in row["related"]
    ]
    return [row["code"], row["severity"], *row["location"].values(), related, row["message"]]


def mutants(corpus: Path, folder: Path, jobs: str) -> Iterator[tuple[str, list[list[Any]]]]:
    """
    Yield what the entry points of the edited file find, for each mutant: all that broke, every eighth of the others.

    The edited text stands for the file on disk, so that a library is read where it lies.
    """
    rows = [json.loads(line) for line in (folder / "labels.jsonl").read_text(encoding="utf-8").splitlines()]
    broken = [row for row in rows if row["label"] in _BROKEN]
    harmless = [row for row in rows if row["label"] == "equal"][::8]
    work = [(row, corpus / row["library"], folder / "mutate.py") for row in (*broken, *harmless)]
    with ProcessPoolExecutor(int(jobs)) as pool:
        yield from pool.map(_judge_mutant, work, chunksize=4)


def _judge_mutant(work: tuple[dict[str, Any], Path, Path]) -> tuple[str, list[list[Any]]]:
    from inplace_lint.driver.check_task import Task, check_task  # noqa: PLC0415 - not needed for other parts
    from inplace_lint.workspace import import_graph  # noqa: PLC0415

    row, root, mutator = work
    os.chdir(root)
    import_graph.forget()  # the mutant before may have been in a file that this one imports
    source = Path(row["path"]).read_bytes()
    edited = _imported(mutator).apply(source, row["kind"], row["line"], row["col"])
    checked = check_task(Task(row["path"], edited, root=str(root)))
    if checked.failure:
        raise SystemExit(f"{row['path']}: {checked.failure}")
    name = f"{row['path']}:{row['line']}:{row['col']} {row['kind']} {row.get('detail', '')} ({row['label']})"
    found = [
        [finding.code, finding.severity.value, *_place(finding.span, root)[1:], related, finding.message]
        for finding in checked.entry.findings
        for related in [[[item.role.value, *_place(item.span, root)] for item in finding.related]]
    ]
    return name, sorted(found, key=str)


def _place(span: Span, root: Path) -> list[Any]:
    return [_relative(span.path, root), span.line, span.column + 1]


def _relative(path: str, folder: Path) -> str:
    return Path(os.path.relpath(folder / path, folder)).as_posix()


@functools.cache
def _imported(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise SystemExit(f"{path}: not there")
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module  # its dataclasses look for themselves there
    spec.loader.exec_module(module)
    return module


def differing(before: Verdicts, after: Verdicts, *, messages: bool) -> Iterator[str]:
    """Yield a line for each finding that only one of two records has."""
    for path in sorted({*before, *after}):
        old, new = before.get(path, []), after.get(path, [])
        if not messages:
            old, new = [row[:-1] for row in old], [row[:-1] for row in new]
        yield from (f"- {path} {_told(row)}" for row in old if row not in new)
        yield from (f"+ {path} {_told(row)}" for row in new if row not in old)


def _told(row: list[Any]) -> str:
    code, severity, line, column, related, *message = row
    places = " ".join(f"{role}={path}:{row}:{at}" for role, path, row, at in related)
    return f"{line}:{column} {severity} {code} {places} {' '.join(message)}".rstrip()


if __name__ == "__main__":
    sys.exit(main())
