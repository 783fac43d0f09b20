"""IPL901 and IPL902: findings about the text of a file, which are made where it is read and not from events."""

from __future__ import annotations

from inplace_lint.core.event import Event
from inplace_lint.rules.rule import Harm, Rule


def judge(_event: Event) -> None:
    """Report nothing: `policy.suppress` and `driver.crashes` make these findings."""


UNUSED_SUPPRESSION = Rule("IPL901", "unused-suppression", Harm.STYLE, judge, provable=False)
INVALID_SYNTAX = Rule("IPL902", "invalid-syntax", Harm.IMPORT, judge, provable=False)
