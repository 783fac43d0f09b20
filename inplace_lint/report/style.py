"""Colours: the few that reports use, as ANSI sequences, or nothing at all."""

from __future__ import annotations

from enum import Enum

from inplace_lint.core.finding import Finding, Severity


class Ink(Enum):
    """What a piece of text is; that decides its colour."""

    PLAIN = ""
    BOLD = "1"
    ERROR = "1;31"
    WARNING = "1;33"
    INFO = "1;36"
    FRAME = "1;34"
    GOOD = "1;32"


SEVERITY = {Severity.ERROR: Ink.ERROR, Severity.WARNING: Ink.WARNING, Severity.INFO: Ink.INFO}


def paint(text: str, ink: Ink, *, color: bool) -> str:
    """Return the text in its colour; unchanged when colours are off."""
    return f"\x1b[{ink.value}m{text}\x1b[0m" if color and ink.value and text else text


def level(finding: Finding, *, color: bool, address: str = "") -> str:
    """Return `error[CODE]` in its colour; where the page of the rule has an address, the code is a link to it."""
    ink = SEVERITY[finding.severity]
    if not address:
        return paint(f"{finding.severity.value}[{finding.code}]", ink, color=color)
    code = f"\x1b]8;;{address}\x1b\\{paint(finding.code, ink, color=color)}\x1b]8;;\x1b\\"
    return f"{paint(f'{finding.severity.value}[', ink, color=color)}{code}{paint(']', ink, color=color)}"
