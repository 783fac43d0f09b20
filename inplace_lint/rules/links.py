"""Where the documentation of a rule is; `project.urls` of pyproject.toml has the address of the site."""

from __future__ import annotations

from pathlib import Path

from inplace_lint.knowledge.locate import rule_page
from inplace_lint.rules import RULE_OF
from inplace_lint.rules.rule import Rule

REPOSITORY = "https://github.com/inplace-lint/inplace-lint"
SITE = "https://inplace-lint.github.io/inplace-lint"


def rule_url(code: str, lang: str = "en") -> str:
    """Return the address of the page of a rule in a language; empty where it has none."""
    rule = RULE_OF.get(code)
    if rule is None or rule.page is not None:
        return "" if rule is None else rule.url
    return f"{SITE}/{'' if lang == 'en' else f'{lang}/'}rules/{rule.name}/"


def page_of(rule: Rule, lang: str = "en") -> Path:
    """Return the page of a rule in a language, in English where it has none in that language."""
    return rule.page or rule_page(rule.name, lang)
