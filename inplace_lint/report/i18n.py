"""
Puts findings and the words around them into another language, just before they are shown.

Rules speak English. A catalogue, `rules/lang/<language>.json`, maps English templates to templates of the language with
the same holes: "saved here: {0}". A text is matched against all of them; what stood in the holes goes into the other
template. What stood in backticks stays as it was, other holes may hold words of ours and are put into the language in
turn. A text that no template matches stays English: the words of a framework, or of Python, are not ours.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TextIO

from inplace_lint.core.finding import Finding, Related, Verdict
from inplace_lint.knowledge.locate import rules_dir
from inplace_lint.report.model import Report

_HOLE = re.compile(r"\{(\w+)\}")
_SPACED_HOLE = re.compile(r"( ?)\{(\w+)\}( ?)")
_NUMBER, _OP = "count", "op"


@dataclass(frozen=True, slots=True)
class Template:
    """
    One entry of a catalogue: what it matches, and what it says instead.

    `kept` are the holes in backticks: what they hold is code. A hole named `op…` is none: some ops have names of ours.
    """

    english: str
    pattern: re.Pattern[str]
    other: str
    kept: frozenset[str]


@dataclass(frozen=True, slots=True)
class Catalogue:
    """The templates of a language, those with the most words of their own first."""

    templates: tuple[Template, ...]
    _said: dict[str, str] = field(default_factory=dict)

    def say(self, text: str) -> str:
        """Give a text in the language; as it is where no template matches it."""
        if text not in self._said:
            found = self.match(text)
            self._said[text] = text if found is None else self._filled(*found)
        return self._said[text]

    def match(self, text: str) -> tuple[Template, dict[str, str]] | None:
        """Give the template that a text is an instance of, and what stands in its holes."""
        for template in self.templates:
            match = template.pattern.fullmatch(text)
            if match is not None:
                return template, {name[1:]: value for name, value in match.groupdict().items()}
        return None

    def _filled(self, template: Template, holes: dict[str, str]) -> str:
        values = {name: value if name in template.kept else self.say(value) for name, value in holes.items()}

        def fill(hole: re.Match[str]) -> str:
            # A space divides Chinese from what is not, and stands in the template for a hole that holds such.
            value = values[hole[2]]
            return f"{hole[1] if value[0].isascii() else ''}{value}{hole[3] if value[-1].isascii() else ''}"

        return _SPACED_HOLE.sub(fill, template.other)


@cache
def catalogue(lang: str) -> Catalogue:
    """Read the catalogue of a language, once a process."""
    path = rules_dir() / "lang" / f"{lang}.json"
    pairs: dict[str, str] = json.loads(path.read_text(encoding="utf-8"))["templates"]
    entries = sorted(pairs.items(), key=lambda pair: -len(_HOLE.sub("", pair[0])))
    return Catalogue(tuple(_template(english, other) for english, other in entries))


def _template(english: str, other: str) -> Template:
    kept: set[str] = set()
    return Template(english, re.compile("".join(_pieces(english, kept)), re.DOTALL), other, frozenset(kept))


def _pieces(english: str, kept: set[str]) -> Iterator[str]:
    """Give the parts of the pattern, and put the names of the holes that stand in backticks into `kept`."""
    at = 0
    for hole in _HOLE.finditer(english):
        yield re.escape(english[at : hole.start()])
        at = hole.end()
        # The name of an op may be a word of ours: `indexing`. Whatever else stands in backticks is code.
        if english[: hole.start()].count("`") % 2 and not hole[1].startswith(_OP):
            kept.add(hole[1])
        # A count is digits, so that "{count} files" is not taken for the end of somebody else's sentence.
        yield f"(?P<_{hole[1]}>{r'[0-9]+' if hole[1].startswith(_NUMBER) else '.+?'})"
    yield re.escape(english[at:])


def language(
    chosen: str | None,
    *,
    for_people: bool = True,
    stream: TextIO | None = None,
    environment: Mapping[str, str] = os.environ,
) -> str:
    """
    Give the language to speak: the one chosen, else for people that of the environment, else English.

    `INPLACE_LINT_LANG` counts before the locale, and of that LC_ALL before LC_MESSAGES before LANG. Where nobody chose,
    Chinese is spoken only if `stream` can hold it; without one, a file of ours is written, which can.
    """
    if chosen or not for_people:
        return chosen or "en"
    names = ("INPLACE_LINT_LANG", "LC_ALL", "LC_MESSAGES", "LANG")
    wanted = next((environment[name] for name in names if environment.get(name)), "")
    return "zh" if wanted.lower().startswith("zh") and _can_show("\N{CJK UNIFIED IDEOGRAPH-4E2D}", stream) else "en"


def _can_show(text: str, stream: TextIO | None) -> bool:
    try:
        text.encode((stream.encoding or "ascii") if stream is not None else "utf-8")
    except UnicodeEncodeError:
        return False
    return True


def sayer(lang: str) -> Callable[[str], str]:
    """Give what puts a text of ours into a language; English is what it is in, and needs no catalogue."""
    return str if lang == "en" else catalogue(lang).say


def in_language(report: Report, lang: str) -> Report:
    """Give a report whose findings and words are in a language; code, name, places and a framework's words stay."""
    say = sayer(lang)
    if lang == report.lang:
        return report
    return replace(report, findings=[_said(one, say) for one in report.findings], say=say, lang=lang)


def _said(finding: Finding, say: Callable[[str], str]) -> Finding:
    return replace(
        finding,
        message=say(finding.message),
        label=say(finding.label),
        related=tuple(Related(item.role, item.span, say(item.message)) for item in finding.related),
        assumptions=tuple(say(sentence) for sentence in finding.assumptions),
        help=say(finding.help),
        fix=replace(finding.fix, message=say(finding.fix.message)) if finding.fix is not None else None,
        verdict=_judged(finding.verdict, say) if finding.verdict is not None else None,
    )


def _judged(verdict: Verdict, say: Callable[[str], str]) -> Verdict:
    place = f"{say(' on ')}{verdict.where}" if verdict.version else ""
    return replace(verdict, reason=say(verdict.reason), spelled=f"{say(verdict.proof.value)}{place}")
