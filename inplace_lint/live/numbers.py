"""
Silent faults: a target is run as written and with the flagged write made out of place, and the numbers are compared.

Numbers are the losses that backward starts from, the gradients it gives, and what the target returns. They say that the
write changes something only where two runs as written agree.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from inplace_lint.finding import Finding
from inplace_lint.live.child.fixing import Fix, is_fixable
from inplace_lint.live.source import Source

if TYPE_CHECKING:
    from inplace_lint.live.confirm import File
    from inplace_lint.live.targets import Target

_RELATIVE = 1e-4
_ABSOLUTE = 1e-6
Numbers = Sequence[Sequence[float]]


def compared(file: File, target: Target, number: int) -> tuple[str, bool]:
    """Say what numbers of a target do when a silent finding's write is made out of place, and whether they change."""
    fix = _fix(file.sources[file.path], file.findings[number])
    if fix is None:
        return f"the line ran by {target.words}, but it has no fixed form to compare with", False
    plain = {"numbers": True, "written": file.path}
    once, again = (file.run(target, [number], **plain) for _ in range(2))
    if _difference(once.numbers, again.numbers) is not None:
        return f"the line ran by {target.words}, whose numbers differ from run to run", False
    fixed = file.run(target, [number], **plain, fix=fix._asdict())
    found = _difference(once.numbers, fixed.numbers)
    if found is not None:
        return f"a number is {found[0]:.6g} and should be {found[1]:.6g}, by {target.words}", True
    if not any(once.numbers) or not any(fixed.numbers):
        return f"the line ran by {target.words}, which gives no numbers to compare", False
    return f"the line ran by {target.words}, with the same numbers as in its fixed form", False


def _fix(source: Source, finding: Finding) -> Fix | None:
    span = finding.span
    ends = ((span.line, span.column), (span.end_line, span.end_column))
    if source.tree is None or max(line for line, _ in ends) > len(source.lines):
        return None
    first, last = (len(source.lines[line - 1][:column].encode()) for line, column in ends)
    fix = Fix(span.line, first, span.end_line, last)
    return fix if is_fixable(source.text, fix) else None


def _difference(one: Numbers, other: Numbers) -> tuple[float, float] | None:
    """Give the first two numbers that differ, as far as both runs went."""
    for mine, theirs in zip(one, other, strict=False):
        for got, due in zip(mine, theirs, strict=False):
            if not _is_close(got, due):
                return got, due
    return None


def _is_close(one: float, other: float) -> bool:
    both = math.isnan(one) and math.isnan(other)
    return both or math.isclose(one, other, rel_tol=_RELATIVE, abs_tol=_ABSOLUTE)
