"""The input of every reporter: findings, the text of their files, and how the output is to look."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct, field

from inplace_lint.core.finding import Finding
from inplace_lint.core.span import Span
from inplace_lint.rules.links import rule_url


class Report(Struct, frozen=True):
    """
    The input of a reporter.

    `lines_of` returns the lines of a file by the path of a span, without their ends; none when it cannot be read.
    `statements` has the first and last line where a comment suppresses the finding at a span. `links`: the output goes
    to a terminal that shows links. `unsafe`: unsafe fixes count as well. `say` translates a text into the language
    `lang`, in which the findings are already.
    Units: `width` in terminal cells.
    """

    findings: Sequence[Finding]
    lines_of: Callable[[str], Sequence[str]]
    statements: Mapping[Span, tuple[int, int]] = field(default_factory=dict)
    width: int = 120
    color: bool = False
    links: bool = False
    unsafe: bool = False
    lang: str = "en"
    say: Callable[[str], str] = str

    def mark(self, finding: Finding) -> str:
        """Return `[*] ` for a finding that `--fix` would fix with these options."""
        return "[*] " if finding.fix is not None and finding.fix.applies(unsafe=self.unsafe) else ""

    def page_of(self, finding: Finding) -> str:
        """Return the address of the page that explains a finding; empty where it has none."""
        return rule_url(finding.code, self.lang)
