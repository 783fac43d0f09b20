"""What an editor shows for the text under the pointer: the rule of a finding there, or of a code in a comment."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from inplace_lint.core.finding import Finding
from inplace_lint.policy.suppress import suppressions
from inplace_lint.rules import RULE_OF, links

_SHORT = re.compile(r"^(?:In short: |一句话：)(?P<short>.+)$", re.MULTILINE)


def page_of(code: str, lang: str) -> str:
    """Return the text of the page of a rule."""
    return links.page_of(RULE_OF[code], lang).read_text(encoding="utf-8")


def of_findings(findings: Iterable[Finding], lang: str) -> str:
    """Return Markdown about findings: the rule in a sentence, then what is said of this place."""
    return "\n\n---\n\n".join("\n\n".join(_about(finding, lang)) for finding in findings)


def of_comment(line: str, lang: str) -> str:
    """Return Markdown about the rules that a comment on a line suppresses; empty where it names none."""
    known = {word: rule.code for rule in RULE_OF.values() for word in (rule.code.lower(), rule.name)}
    words = [word.lower() for comment in suppressions(line.strip()) for word in comment.selectors]
    return "\n\n".join(_rule(known[word], lang) for word in dict.fromkeys(words) if word in known)


def short(code: str, lang: str) -> str:
    """Return what a rule is about, in a sentence."""
    match = _SHORT.search(page_of(code, lang))
    return match["short"] if match is not None else RULE_OF[code].name


def _rule(code: str, lang: str) -> str:
    address = links.rule_url(code)
    return f"{f'[**{code}**]({address})' if address else f'**{code}**'} `{RULE_OF[code].name}`: {short(code, lang)}"


def _about(finding: Finding, lang: str) -> Iterator[str]:
    yield _rule(finding.code, lang)
    yield finding.sentence
    if finding.assumptions:
        yield "\n".join(f"- assuming {sentence}" for sentence in finding.assumptions)
    if finding.help:
        yield f"help: {finding.help}"
