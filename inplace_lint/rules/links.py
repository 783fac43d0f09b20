"""Where the page of each rule is on the web."""

from __future__ import annotations

from inplace_lint.rules import RULE_OF

_SITE = "https://inplace-lint.readthedocs.io/en/latest"


def rule_url(code: str) -> str:
    """Return the address of the page of a rule."""
    return f"{_SITE}/rules/{RULE_OF[code].name}/"
