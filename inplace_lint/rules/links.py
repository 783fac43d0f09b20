"""Where the documentation is on the web; `project.urls` of pyproject.toml has the same address."""

from __future__ import annotations

from inplace_lint.rules import RULE_OF

REPOSITORY = "https://github.com/inplace-lint/inplace-lint"
SITE = "https://inplace-lint.github.io/inplace-lint"


def rule_url(code: str, lang: str = "en") -> str:
    """Return the address of the page of a rule in a language."""
    return f"{SITE}/{'' if lang == 'en' else f'{lang}/'}rules/{RULE_OF[code].name}/"
