"""Fixes of programs in memory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from inplace_lint.core.finding import Finding, Severity
from inplace_lint.driver.analyze_file import Options, check_file
from inplace_lint.driver.session import Outcome
from inplace_lint.fix.apply.rounds import Rounds
from inplace_lint.fix.fixers import make_fixes
from inplace_lint.workspace import files
from tests.once import once

PATH = "program.py"


class Fixed(NamedTuple):
    """A program after its fixes: what was found first, what remains, which fixes were taken back and why."""

    text: str
    found: tuple[Finding, ...]
    remaining: tuple[Finding, ...]
    refused: tuple[str, ...]


def found(source: str, *, opinions: bool = False, advice: bool = False, fixes: bool = False) -> tuple[Finding, ...]:
    """Give the findings about a program that stands alone; opinions are told beside all else, and change nothing."""
    checked = _checked(source, advice=advice, fixes=fixes)
    return checked if opinions else tuple(one for one in checked if one.severity is not Severity.INFO)


@once
def _checked(source: str, *, advice: bool, fixes: bool) -> tuple[Finding, ...]:
    options = Options(opinions=True, advice=advice)
    return check_file(PATH, source, options, None, make_fixes if fixes else None).findings


@once
def fixed(source: str, *, unsafe: bool = True) -> Fixed:
    """Give a program with its fixes applied, as `--fix` does to a file that stands alone."""
    data = source.encode()

    def check(texts: Mapping[str, bytes]) -> Outcome:
        now = texts.get(PATH, data)
        return Outcome(findings=found(files.decode(now), fixes=True), requested={PATH: now})

    first = check({})
    rounds = Rounds(check, unsafe, first)
    rounds.run()
    text = rounds.texts.get(PATH, data).decode()
    refused = tuple(entry.reason for entry in rounds.refused.values())
    return Fixed(text, first.findings, rounds.before.findings, refused)
