"""
Advice: runs a target as written and with the advice followed, and compares numbers and memory.

Loss, gradients and results have to be the same bit for bit, or within what another kernel of the framework may differ
by. Two runs as written have to agree bit for bit; else nothing follows.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Iterator
from typing import TYPE_CHECKING

from msgspec import Struct

from inplace_lint.core.finding import Proof
from inplace_lint.live.confirm.compare import forms_of
from inplace_lint.live.warm import Measured, Ran

if TYPE_CHECKING:
    from inplace_lint.live.confirm.confirm import File
    from inplace_lint.live.confirm.targets import Target

_TOLERANCE = 1e-5  # relative to the largest number: a derivative from the result is rounded otherwise


class Result(Struct, frozen=True):
    """What a target shows of an advice; without a `proof` it did not run it, and `ending` is how it ended."""

    proof: Proof | None
    reason: str
    ending: Proof = Proof.NOT_REACHED


class _Pair(Struct, frozen=True):
    """A trial as written and in place."""

    before: Measured
    after: Measured
    apart: float

    @property
    def gain(self) -> tuple[int, int]:
        """The bytes that are saved: of those kept for backward, and of the peak."""
        return self.before.kept - self.after.kept, self.before.peak - self.after.peak


def measured(file: File, target: Target, number: int) -> Result:
    """Return what becomes of the numbers and of the memory of a target in place."""
    by = target.words
    form = next(forms_of(file.sources[file.path], file.findings[number]), None)
    if form is None:
        return Result(Proof.NOT_REACHED, "the call has no in-place form to run")
    with tempfile.TemporaryDirectory() as folder:

        def run(*, is_changed: bool, counts: bool) -> Ran:
            more = {"form": form.plain} if is_changed else {}
            return file.run(target, [number], numbers=True, gain={"folder": folder, "counts": counts}, **more)

        first = run(is_changed=False, counts=False)
        if file.warm.trouble or first.problem:
            return Result(None, f"{by}: {first.problem}", Proof.COULD_NOT_RUN)
        changed = run(is_changed=True, counts=False)
        if not any(number in one.ran for one in changed.measured):
            return Result(None, f"{by} ran to the end without running the line")
        again, before = run(is_changed=False, counts=False), run(is_changed=False, counts=True)
        after = run(is_changed=True, counts=True)
    if changed.trouble or again.problem or before.problem or after.trouble:
        return Result(Proof.NOT_REACHED, f"the line ran by {by}, which says nothing certain")
    if any(one.apart > 0 for one in again.measured):
        return Result(Proof.NOT_REACHED, f"the line ran by {by}, whose numbers differ from run to run")
    refuted = next(_refuted(first, changed, by), None)
    if refuted is not None:
        return refuted
    return _said(list(_pairs(number, changed, before, after)), by)


def _refuted(first: Ran, changed: Ran, by: str) -> Iterator[Result]:
    """Yield what shows that the program does something else in place: an error, or other numbers."""
    for one, other in zip(first.measured, changed.measured, strict=False):
        if one.error is None and other.error is not None:
            yield Result(Proof.REFUTED, f"in place it raises {other.error}, by {by}")
        elif one.error is None and math.isinf(other.apart):
            yield Result(Proof.REFUTED, f"in place its numbers differ, by {by}")
        elif one.error is None and other.apart > _TOLERANCE:
            yield Result(Proof.REFUTED, f"in place its numbers differ by {other.apart:.0e}, by {by}")


def _pairs(number: int, changed: Ran, before: Ran, after: Ran) -> Iterator[_Pair]:
    """Yield the trials in which the call wrote in place, and which ended well."""
    for compared, old, new in zip(changed.measured, before.measured, after.measured, strict=False):
        if number in compared.ran and compared.apart >= 0 and old.error is None and new.error is None:
            yield _Pair(old, new, compared.apart)


def _said(pairs: list[_Pair], by: str) -> Result:
    """Return the verdict of trials that gave the same numbers; the figures are of the one that gains most."""
    if not pairs:
        return Result(Proof.NOT_REACHED, f"the line ran by {by}, which says nothing certain")
    best = max(pairs, key=lambda pair: pair.gain)
    old, new = best.before, best.after
    reason = (
        f"{new.kept:,} bytes kept for backward instead of {old.kept:,}, a peak of {new.peak:,} instead of {old.peak:,}"
    )
    if max(best.gain) <= 0 or min(best.gain) < 0:
        return Result(Proof.NOT_REACHED, f"the line ran by {by}, but no memory is saved: {reason}")
    if best.apart == 0:
        reason = f"the same loss and gradients: {reason}, by {by}"
    else:
        reason = f"loss and gradients within {best.apart:.0e}: {reason}, by {by}"
    return Result(Proof.CONFIRMED, reason)
