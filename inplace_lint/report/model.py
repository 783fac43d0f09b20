"""What every reporter is given: findings, the text of their files, and how the output looks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from inplace_lint.finding import Finding
from inplace_lint.span import Span


@dataclass(frozen=True, slots=True)
class Report:
    """
    The input of a reporter.

    `lines_of` gives the lines of a file by the path that a span carries, without their ends; none when it cannot be
    read. `unsafe`: unsafe fixes count as well.
    `statements` has the first and last line where a comment silences the finding at a span.
    Units: `width` in terminal cells.
    """

    findings: Sequence[Finding]
    lines_of: Callable[[str], Sequence[str]]
    statements: Mapping[Span, tuple[int, int]] = field(default_factory=dict)
    width: int = 120
    color: bool = False
    unsafe: bool = False

    def mark(self, finding: Finding) -> str:
        """Give `[*] ` for a finding that `--fix` would mend, as the options stand."""
        return "[*] " if finding.fix is not None and finding.fix.applies(unsafe=self.unsafe) else ""
