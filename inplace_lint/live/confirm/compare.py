"""
Silent faults: runs a target as written and in a variant without the fault, and compares the numbers.

The rule has the variants that fit its fault. Numbers are the losses that backward starts from, the gradients that it
computes, what the target returns, and the variables of the file at its end. A difference confirms a finding only where
two runs as written agree.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from inplace_lint.core.finding import Finding, Role
from inplace_lint.core.span import Span
from inplace_lint.live.child.variants.rewrite import EDITS, Form, has_form
from inplace_lint.live.child.variants.tree import Place
from inplace_lint.live.confirm.matching import is_same, traced
from inplace_lint.live.source import Source
from inplace_lint.live.warm import Ran
from inplace_lint.rules import RULE_OF
from inplace_lint.rules.rule import Variant

if TYPE_CHECKING:
    from inplace_lint.live.confirm.confirm import File
    from inplace_lint.live.confirm.targets import Target

_RELATIVE = 1e-4
_ABSOLUTE = 1e-6
_ONLY_IN = {Variant.RECORDED: "torch", Variant.REBOUND: "paddle", Variant.UPDATE: "paddle"}
_OF_SECOND_NAMES = {Variant.ALIAS, Variant.BOUND}
_OF_ALL = {Variant.DIRECT.value}
Numbers = Sequence[Sequence[tuple[str, float]]]


def compared(file: File, target: Target, number: int, *, is_traced: bool) -> tuple[str, bool]:
    """
    Return how the numbers of a target change in a variant without a silent fault, in words, and whether they do.

    A variant without checkpoints is also one without the faults of others: it tells only of a fault that was traced.
    """
    finding, by = file.findings[number], target.words
    if RULE_OF[finding.code].supersedes:
        return _refused_uncompiled(file, target, number)
    forms = [form for form in forms_of(file.sources[file.path], finding) if is_traced or form.kind not in _OF_ALL]
    if not forms:
        return f"the line ran by {by}, but it has no fixed form to compare with", False
    nodes = any(form.kind == Variant.DETACHED.value for form in forms)
    once, again = file.plain(target, nodes=nodes)
    if _difference(once.numbers, again.numbers) is not None:
        return f"the line ran by {by}, whose numbers differ from run to run", False
    ran = [file.run(target, [number], numbers=True, nodes=nodes, form=form.plain) for form in forms]
    for form, fixed in zip(forms, ran, strict=True):
        if form.kind == Variant.UNCOMPILED.value and not any(mark.number == number for mark in fixed.marks):
            continue
        found = _difference(once.numbers, fixed.numbers)
        if found is not None:
            what, got, due = found
            return f"{what} is {got:.6g} and should be {due:.6g}, by {by}", True
    if not any(once.numbers) or not any(any(fixed.numbers) for fixed in ran):
        return f"the line ran by {by}, which gives no numbers to compare", False
    return f"the line ran by {by}, with the same numbers as in its fixed form", False


def _refused_uncompiled(file: File, target: Target, number: int) -> tuple[str, bool]:
    """Check whether a write that compiled code carries out is refused where nothing is compiled."""
    finding, by = file.findings[number], target.words
    plain = file.plain(target, nodes=False)[0]
    if plain.problem:
        return f"the compiled code did not run by {by}: {plain.problem}", False
    form = Form(Variant.UNCOMPILED.value).plain
    ran = file.run(target, [number], numbers=True, form=form)
    seen = replace(finding, code=RULE_OF[finding.code].supersedes)
    if any(is_same(seen, one, ()) for one in traced(ran.records, file.sources, made_up=ran.made_up)):
        return f"carried out in compiled code and refused without the compiler, by {by}", True
    return f"the line ran by {by}, and nothing refused it without the compiler", False


def forms_of(source: Source, finding: Finding) -> Iterator[Form]:
    """Yield the variants of a program in which the fault of a finding is not there, the likeliest first."""
    aliases = [item.span for item in finding.related if item.role is Role.ALIAS]
    for variant in RULE_OF[finding.code].variants:
        if _ONLY_IN.get(variant, finding.framework) != finding.framework:
            continue
        if variant.value not in EDITS:
            yield Form(variant.value)
            continue
        spans = aliases if variant in _OF_SECOND_NAMES else [finding.span]
        places = (place_of(source, span) for span in spans)
        forms = [Form(variant.value, (place,)) for place in places if place is not None]
        yield from (form for form in forms if has_form(source.text, form))


def place_of(source: Source, span: Span) -> Place | None:
    """Return the place of a span in its source; None where it is in another one."""
    ends = ((span.line, span.column), (span.end_line, span.end_column))
    is_here = Path(span.path).absolute() == Path(source.path).absolute()
    if source.tree is None or not is_here or max(line for line, _ in ends) > len(source.lines):
        return None
    first, last = (len(source.lines[line - 1][:column].encode()) for line, column in ends)
    return Place(span.line, first, span.end_line, last)


def _difference(one: Numbers, other: Numbers) -> tuple[str, float, float] | None:
    """Return the first number that differs in what both runs did, with the words for it; that of a variable if any."""
    found = []
    for mine, theirs in zip(one, other, strict=False):
        due = _by_words(theirs)
        for what, numbers in _by_words(mine).items():
            both = zip(numbers, due.get(what, ()), strict=False)
            found += [(what, got, meant) for got, meant in both if not _is_close(got, meant)]
    return next((item for item in found if "`" in item[0]), next(iter(found), None))


def _by_words(numbers: Sequence[tuple[str, float]]) -> dict[str, list[float]]:
    found: dict[str, list[float]] = defaultdict(list)
    for what, number in numbers:
        found[what].append(number)
    return found


def _is_close(one: float, other: float) -> bool:
    both = math.isnan(one) and math.isnan(other)
    return both or math.isclose(one, other, rel_tol=_RELATIVE, abs_tol=_ABSOLUTE)


def plain_runs(file: File, target: Target, *, nodes: bool) -> tuple[Ran, Ran]:
    """Run a target twice as written, without its asserts."""
    once, again = (file.run(target, list(file.findings), numbers=True, nodes=nodes) for _ in range(2))
    return once, again
