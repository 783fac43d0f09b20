"""What the settings say of assumptions and severities: which findings are told, and how severe they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from inplace_lint.config.settings import Settings
from inplace_lint.core.assumption import asks_for_gradient
from inplace_lint.core.finding import Finding, Severity


class Filtered(NamedTuple):
    """
    The findings to tell, and how many are not.

    `undecided` assume a gradient that nobody in sight asks for; `hidden` assume what the settings hide.
    """

    findings: Sequence[Finding]
    undecided: int
    hidden: int


def filtered(findings: Sequence[Finding], settings: Settings) -> Filtered:
    """Return the findings to tell; one without assumptions is always told, unless some assumption is asked for."""
    left = [one for one in findings if not _is_hidden(one.assumptions, settings)]
    shown = left if "grad" in settings.assume else [one for one in left if one.entry is None]
    return Filtered(shown, len(left) - len(shown), len(findings) - len(left))


def ranked(finding: Finding, severities: Mapping[str, str]) -> Finding:
    """Return a finding with the severity that is set for its rule."""
    word = severities.get(finding.code, finding.severity.value)
    return finding if word == finding.severity.value else replace(finding, severity=Severity(word))


def _is_hidden(assumptions: Sequence[str], settings: Settings) -> bool:
    if "no-grad" in settings.assume and any(map(asks_for_gradient, assumptions)):
        return True
    if settings.only_assuming and not _names(settings.only_assuming, assumptions):
        return True
    return _names(settings.hide_assuming, assumptions)


def _names(parts: Sequence[str], assumptions: Sequence[str]) -> bool:
    return any(part.casefold() in sentence.casefold() for part in parts for sentence in assumptions)
