"""Merges the findings of one rule at one place, when several files led there."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from inplace_lint.core.finding import Applicability, Finding
from inplace_lint.rules import RULE_OF


def is_agreed(finding: Finding) -> bool:
    """Return whether a finding is to be shown: advice is only where all that led there agree."""
    return not (finding.assumptions and RULE_OF[finding.code].unanimous)


def merged(findings: Sequence[Finding]) -> Finding:
    """Return the surest of several findings of one rule at one place, with a fix that is as safe as that of each."""
    pick = max if RULE_OF[findings[0].code].unanimous else min
    best = pick(findings, key=_key)
    fixes = [finding.fix for finding in findings]
    if best.fix is None or None in fixes:
        return replace(best, fix=None)
    if all(fix is not None and fix.applicability is Applicability.SAFE for fix in fixes):
        return best
    return replace(best, fix=replace(best.fix, applicability=Applicability.UNSAFE))


def _key(finding: Finding) -> tuple[tuple[int, int, int], int, str]:
    return finding.doubt, len(finding.related), repr(finding)
