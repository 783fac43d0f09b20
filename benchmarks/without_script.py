"""
Errors that are still found when the statements that run a program are taken away, as in a library.

    python -m benchmarks.without_script [--bench DIR] [--show]      # --show prints each program that has a miss

Judged are the examples of the pages, and with `--bench` the micro-cases, that have an error inside of a function or
class. Taken away are the statements below the last definition, loops, and functions without parameters that nothing
calls any more. Some errors are decided by what was taken away: no tool can find these.
"""

from __future__ import annotations

import argparse
import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from inplace_lint.core.finding import Finding, Severity
from inplace_lint.driver.analyze_file import Options, check_file
from tests.pages.examples import RULE_PAGES, SEMANTICS_PAGES, examples_of

_DEFINITION = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_SET_UP = (ast.Import, ast.ImportFrom, ast.Assign, ast.AnnAssign, ast.Expr, ast.If, ast.Try)


def main() -> None:
    """Print how many errors are found, are warnings only, and are missed without the script."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--bench", type=Path, help="folder that holds micro/FRAMEWORK/*.py")
    parser.add_argument("--show", action="store_true")
    chosen = parser.parse_args()
    counts: Counter[str] = Counter()
    for name, program in programs(chosen.bench):
        rest, inside = without_script(program)
        errors = {one for one in found(program, Severity.ERROR) if one[0] in inside}
        sure, unsure = found(rest, Severity.ERROR), found(rest, Severity.WARNING)
        counts["programs"] += bool(errors)
        counts["found"] += len(errors & sure)
        counts["warnings only"] += len(errors & unsure - sure)
        counts["missed"] += len(errors - unsure - sure)
        if chosen.show and errors - sure:
            print(f"{name}: {sorted(errors - sure)}, found {sorted(sure | unsure)}\n{program}")
    print(", ".join(f"{counts[key]} {key}" for key in ("programs", "found", "warnings only", "missed")))


def programs(bench: Path | None) -> Iterator[tuple[str, str]]:
    """Yield the name and text of each program that is judged."""
    for page in (*RULE_PAGES, *SEMANTICS_PAGES):
        yield from ((one.name, one.program) for one in examples_of(page) if one.lines_of("error"))
    for file in sorted(bench.glob("micro/*/*.py")) if bench else ():
        yield file.name, file.read_text(encoding="utf-8")


def found(program: str, severity: Severity) -> set[tuple[int, str]]:
    """Return line and code of the findings of one severity."""
    findings: tuple[Finding, ...] = check_file("program.py", program, Options()).findings
    return {(one.span.line, one.code) for one in findings if one.severity is severity}


def without_script(program: str) -> tuple[str, set[int]]:
    """Return a program with empty lines instead of what runs it, and the lines of its functions and classes."""
    body = ast.parse(program).body
    last = max((number for number, item in enumerate(body) if isinstance(item, _DEFINITION)), default=-1)
    kept = [item for item in body[: last + 1] if isinstance(item, (*_DEFINITION, *_SET_UP))]
    read = {node.id for item in kept for node in ast.walk(item) if isinstance(node, ast.Name)}
    drivers = (item for item in kept if isinstance(item, ast.FunctionDef) and not ast.unparse(item.args))
    for item in [one for one in drivers if one.name not in read and not one.decorator_list]:
        kept.remove(item)
    inside = {number for item in kept if isinstance(item, _DEFINITION) for number in _lines(item)}
    lines = {number for item in kept for number in _lines(item)}
    rest = (text if number in lines else "" for number, text in enumerate(program.splitlines(), 1))
    return "\n".join(rest) + "\n", inside


def _lines(item: ast.stmt) -> range:
    first = min([item.lineno, *(one.lineno for one in getattr(item, "decorator_list", ()))])
    return range(first, (item.end_lineno or item.lineno) + 1)


if __name__ == "__main__":
    main()
