"""
What a rule of one's own is made of; docs/rule-plugins.md describes it.

These names stay. What the other modules of this package have may change with each release.
"""

from __future__ import annotations

from inplace_lint.core.event import (
    Accepted,
    Accumulated,
    Carried,
    Clobbered,
    Escaped,
    Event,
    Failure,
    Ignored,
    Keeping,
    Lost,
    LostUpdate,
    Misdeclared,
    Performed,
    Recomputed,
    Refused,
    Site,
    Snapshot,
    Spared,
    Spelling,
    Stale,
    Touch,
    Untracked,
)
from inplace_lint.core.finding import Role, Severity
from inplace_lint.rules.draft import Draft, Mark, kept, made, named, ran, short
from inplace_lint.rules.rule import Harm, Rule

__all__ = [
    "Accepted",
    "Accumulated",
    "Carried",
    "Clobbered",
    "Draft",
    "Escaped",
    "Event",
    "Failure",
    "Harm",
    "Ignored",
    "Keeping",
    "Lost",
    "LostUpdate",
    "Mark",
    "Misdeclared",
    "Performed",
    "Recomputed",
    "Refused",
    "Role",
    "Rule",
    "Severity",
    "Site",
    "Snapshot",
    "Spared",
    "Spelling",
    "Stale",
    "Touch",
    "Untracked",
    "kept",
    "made",
    "named",
    "ran",
    "short",
]
