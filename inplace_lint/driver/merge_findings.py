"""What is said of one fault that was found from several files: the surest word, with a fix that all agree on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from inplace_lint.core.finding import Applicability, Certainty, Finding, Severity


def agreement(findings: Sequence[Finding]) -> Finding:
    """Give the surest of several findings of one rule at one place; its fix is only as safe as all of them say."""
    best = min(findings, key=_rank)
    fixes = [finding.fix for finding in findings]
    if best.fix is None or None in fixes:
        return replace(best, fix=None)
    if all(fix is not None and fix.applicability is Applicability.SAFE for fix in fixes):
        return best
    return replace(best, fix=replace(best.fix, applicability=Applicability.UNSAFE))


def _rank(finding: Finding) -> tuple[int, int, int, int, str]:
    severities, certainties = list(Severity), list(Certainty)
    return (
        severities.index(finding.severity),
        len(finding.assumptions),
        certainties.index(finding.certainty),
        len(finding.related),
        repr(finding),
    )
