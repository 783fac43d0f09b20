"""
Translates findings and the text around them, just before they are shown.

All messages are English. A catalogue, `rules/lang/<language>.json`, maps English templates to templates of the language
with the same holes: "saved here: {0}". A text is matched against all of them, and the text of the holes goes into the
other template: unchanged if the hole is in backticks, otherwise translated in turn. A text that no template matches
stays English: messages of a framework, or of Python, are not translated.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import TextIO

from msgspec import Struct
from msgspec.structs import replace

from inplace_lint.core.finding import Finding, Related, Verdict
from inplace_lint.core.remembered import remembered
from inplace_lint.knowledge.locate import rules_dir
from inplace_lint.report.model import Report

_HOLE = re.compile(r"\{(\w+)\}")
_SPACED_HOLE = re.compile(r"( ?)\{(\w+)\}( ?)")
_NUMBER, _OP = "count", "op"
_DIGITS = "[0-9]+(?:,[0-9]{3})*"


class Template(Struct, frozen=True):
    """
    One entry of a catalogue: the pattern that it matches, and its translation.

    `kept` are the holes in backticks: they hold code. A hole named `op…` is none of them: some ops are named by words.
    """

    english: str
    pattern: re.Pattern[str]
    other: str
    kept: frozenset[str]


class Catalogue(Struct, frozen=True, dict=True):
    """The templates of a language, the most specific first."""

    templates: tuple[Template, ...]

    @remembered
    def say(self, text: str) -> str:
        """Return a text in the language; unchanged where no template matches it."""
        found = self.match(text)
        return text if found is None else self._filled(*found)

    def match(self, text: str) -> tuple[Template, dict[str, str]] | None:
        """Return the template that a text matches, and the text of its holes."""
        for template in self.templates:
            match = template.pattern.fullmatch(text)
            if match is not None:
                return template, {name[1:]: value for name, value in match.groupdict().items()}
        return None

    def _filled(self, template: Template, holes: dict[str, str]) -> str:
        values = {name: value if name in template.kept else self.say(value) for name, value in holes.items()}

        def fill(hole: re.Match[str]) -> str:
            # A space separates Chinese from other text; the template has it around a hole that holds such text.
            value = values[hole[2]]
            return f"{hole[1] if value[0].isascii() else ''}{value}{hole[3] if value[-1].isascii() else ''}"

        return _SPACED_HOLE.sub(fill, template.other)


@cache
def catalogue(lang: str) -> Catalogue:
    """Return the catalogue of a language; it is read once in a process."""
    path = rules_dir() / "lang" / f"{lang}.json"
    pairs: dict[str, str] = json.loads(path.read_text(encoding="utf-8"))["templates"]
    entries = sorted(pairs.items(), key=lambda pair: -len(_HOLE.sub("", pair[0])))
    return Catalogue(tuple(_template(english, other) for english, other in entries))


def _template(english: str, other: str) -> Template:
    kept: set[str] = set()
    return Template(english, re.compile("".join(_pieces(english, kept)), re.DOTALL), other, frozenset(kept))


def _pieces(english: str, kept: set[str]) -> Iterator[str]:
    """Yield the parts of the pattern, and add the names of the holes in backticks to `kept`."""
    at = 0
    for hole in _HOLE.finditer(english):
        yield re.escape(english[at : hole.start()])
        at = hole.end()
        # The name of an op may be a word: `indexing`. Everything else in backticks is code.
        if english[: hole.start()].count("`") % 2 and not hole[1].startswith(_OP):
            kept.add(hole[1])
        # A count is digits, so that "{count} files" does not match the end of another sentence.
        yield f"(?P<_{hole[1]}>{_DIGITS if hole[1].startswith(_NUMBER) else '.+?'})"
    yield re.escape(english[at:])


def language(
    chosen: str | None,
    *,
    for_people: bool = True,
    stream: TextIO | None = None,
    environment: Mapping[str, str] = os.environ,
) -> str:
    """
    Return the language of messages: the chosen one, or for people that of the environment, or English.

    `INPLACE_LINT_LANG` counts before the locale, and of that LC_ALL before LC_MESSAGES before LANG. If no language was
    chosen, Chinese is used only if `stream` can encode it; None is a file that we write, which can.
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
    """Return the function that translates a message; for English it returns the message."""
    return str if lang == "en" else catalogue(lang).say


def in_language(report: Report, lang: str) -> Report:
    """Return a report in a language; codes, names, places and the messages of frameworks stay as they are."""
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
