"""
Programs of the pages that raise, with operations that save nothing in place of those that save their result.

    python -m benchmarks.weakened       # prints each that runs and has an error, and each that raises without a finding

`torch.sigmoid(x)` becomes `-x`, `nn.Sigmoid` becomes `nn.Identity`, and so on. Most of these programs run then: an
error in one of them is wrong, unless it is in a class that the program does not run. What still raises is missed if
nothing is found in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import paddle  # noqa: F401 - the forks have what is imported here
import torch  # noqa: F401

from benchmarks.mutants.label import NoAnswerError, in_fork
from inplace_lint.core.finding import Severity
from inplace_lint.driver.analyze_file import Options, check_file

ROOT = Path(__file__).resolve().parents[1]
REFUSED = ("modified by an inplace", "is being used in an in-place", "modified inplace", "PermissionDenied")
_PROGRAM = re.compile(r"^```python raises[^\n]*\n(.*?)^```", re.DOTALL | re.MULTILINE)
_NEGATIVE = "(lambda value, *args, **options: -value)("
_REPLACED = (
    (re.compile(r"\b(?:torch|paddle|F)\.(?:sigmoid|tanh|exp|relu|sqrt|rsqrt|softmax|gelu|silu|elu)\("), _NEGATIVE),
    (re.compile(r"\bnn\.(?:Sigmoid|Tanh|ReLU6?|Softmax|SiLU|GELU|ELU)\b"), "nn.Identity"),
    (re.compile(r"\.(?:sigmoid|tanh|exp|softmax|sqrt|relu|pow|square)\([^()]*\)"), ".neg()"),
    (re.compile(r'"(?:sigmoid|tanh|exp|relu)"'), '"neg"'),
)
_SECONDS = 20.0


def main() -> None:
    """Run and check each program."""
    count = ran = 0
    for name, program in weakened():
        raised = _run(program)
        result = check_file(f"{name}.py", program, Options())
        lines = sorted(one.span.line for one in result.findings if one.severity is Severity.ERROR)
        count, ran = count + 1, ran + (raised == "")
        if (not raised and lines) or (not result.findings and any(words in (raised or "") for words in REFUSED)):
            print(f"## {name}: {raised or 'runs'}; errors in lines {lines}\n\n{program}")
    print(f"{count} programs, of which {ran} run")


def weakened() -> Iterator[tuple[str, str]]:
    """Yield the programs in which something was replaced, with the names of their pages and their numbers."""
    for page in sorted([*ROOT.glob("tests/semantics/*.md"), *ROOT.glob("rules/*.md")]):
        for number, match in enumerate(_PROGRAM.finditer(page.read_text(encoding="utf-8"))):
            program = match[1]
            for pattern, new in _REPLACED:
                program = pattern.sub(new, program)
            if program != match[1]:
                yield f"{page.stem}-{number}", program


def _run(program: str) -> str | None:
    """Return what a program raises, "" for nothing; None if it does not come to an end."""

    def run() -> str:
        try:
            exec(compile(program, "program", "exec"), {"__name__": "__main__"})
        except Exception as error:  # noqa: BLE001 - whatever it raises
            return f"{type(error).__name__}: {error}"
        return ""

    try:
        return in_fork(run, _SECONDS)
    except NoAnswerError:
        return None


if __name__ == "__main__":
    main()
