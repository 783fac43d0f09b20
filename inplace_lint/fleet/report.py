"""What a run over many repositories came to: a table, and a page of HTML with the most certain findings."""

from __future__ import annotations

import html
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from inplace_lint.core.finding import Severity
from inplace_lint.fleet.repository import MOST_CERTAIN, Certain, Checked
from inplace_lint.report.paths import visible
from inplace_lint.report.text_width import width_of
from inplace_lint.rules.links import rule_url

Say = Callable[[str], str]
_STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; margin: 2em auto; max-width: 75em; padding: 0 1em }
table { border-collapse: collapse; margin: 1em 0 2em } td, th { padding: .2em .7em; text-align: right }
td:first-child, th:first-child { text-align: left } tr:nth-child(even) { background: #f4f4f6 }
pre { background: #f4f4f6; padding: .8em; overflow-x: auto } .trouble { text-align: left; color: #a40000 }
"""


def rows(results: Sequence[Checked], say: Say) -> list[list[str]]:
    """Return the table: a head, a row for each repository, and the sums; a row of two cells says what is wrong."""
    codes = sorted({code for one in results for code in one.findings})
    head = [say("repository"), say("files"), say("lines"), say("seconds"), *codes]
    head += [say("errors"), say("warnings"), say("not checked")]
    table = [head, *([one.name, one.trouble] if one.trouble else _cells(one, codes) for one in results)]
    sums = Checked(
        say(f"{len(results)} repositories"),
        "",
        files=sum(one.files for one in results),
        lines=sum(one.lines for one in results),
        seconds=sum(one.seconds for one in results),
        findings=_sum([one.findings for one in results]),
        severities=_sum([one.severities for one in results]),
        failures=tuple(line for one in results for line in one.failures),
    )
    return [*table, _cells(sums, codes)]


def _sum(counts: Sequence[Mapping[str, int]]) -> Counter[str]:
    total: Counter[str] = Counter()
    for count in counts:
        total.update(count)
    return total


def _cells(one: Checked, codes: Sequence[str]) -> list[str]:
    numbers = [one.files, one.lines, f"{one.seconds:.1f}", *(one.findings.get(code, 0) for code in codes)]
    numbers += [one.severities.get(severity.value, 0) for severity in (Severity.ERROR, Severity.WARNING)]
    return [one.name, *(str(number) for number in numbers), str(len(one.failures))]


def text(table: Sequence[Sequence[str]]) -> str:
    """Return a table for a terminal: names at the left, numbers at the right."""
    full = [row for row in table if len(row) == len(table[0])]
    widths = [max(width_of(row[column]) for row in full) for column in range(len(table[0]))]
    widths[0] = max(width_of(row[0]) for row in table)
    lines = []
    for name, *cells in table:
        padded = [" " * (width - width_of(cell)) + cell for cell, width in zip(cells, widths[1:], strict=False)]
        shown = padded if len(cells) + 1 == len(widths) else [visible(cell) for cell in cells]
        lines.append("  ".join([name + " " * (widths[0] - width_of(name)), *shown]).rstrip())
    return "".join(f"{line}\n" for line in lines)


def most_certain(results: Sequence[Checked]) -> list[tuple[Checked, Certain]]:
    """Return the most certain findings of all repositories, the surest first."""
    pairs = [(one, finding) for one in results for finding in one.certain]
    return sorted(pairs, key=lambda pair: (pair[1].rank, pair[0].name))[:MOST_CERTAIN]


def page(table: Sequence[Sequence[str]], results: Sequence[Checked], lang: str, say: Say) -> str:
    """Return the report as a page of HTML that loads nothing."""
    title = html.escape(say("In-place operations in many repositories"))
    head = f'<meta charset="utf-8"><title>{title}</title><style>{_STYLE}</style>'
    parts = [f'<!doctype html>\n<html lang="{lang}"><head>{head}</head><body>\n<h1>{title}</h1>\n<table>\n']
    for number, (name, *cells) in enumerate(table):
        tag = "td" if number else "th"
        whole = len(cells) + 1 == len(table[0])
        shown = (
            "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells)
            if whole
            else f'<td class="trouble" colspan="{len(table[0]) - 1}">{html.escape(visible(cells[0]))}</td>'
        )
        parts.append(f"<tr><{tag}>{html.escape(name)}</{tag}>{shown}</tr>\n")
    parts.append(f"</table>\n<h2>{html.escape(say('The most certain findings'))}</h2>\n")
    for one, finding in most_certain(results):
        place = html.escape(visible(f"{one.name}/{finding.place}"))
        link = f'<a href="{html.escape(rule_url(finding.code, lang))}">{html.escape(finding.code)}</a>'
        parts.append(f"<h3>{place} {link}</h3>\n<pre>{html.escape(finding.text)}</pre>\n")
    return "".join([*parts, "</body></html>\n"])
