"""
Verdicts: confirms or refutes each finding by running its code on the real framework.

Targets that may reach a finding are run, each in a process of its own, until one *confirms* or *refutes* it. A wrong
*refuted* is worse than no verdict: a run on made-up inputs or arguments refutes nothing, since the program may use
others; and a run refutes a finding only if it did the save, the write and a backward through both, in this order. All
other findings are *not reached*, or *could not run*.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from inplace_lint.core.errors import UnreadableError
from inplace_lint.core.event import Failure
from inplace_lint.core.finding import Finding, Proof, Role, Severity, Verdict
from inplace_lint.core.span import Span
from inplace_lint.live import source as text
from inplace_lint.live.child.variants.rewrite import Form
from inplace_lint.live.child.variants.tree import Place
from inplace_lint.live.confirm.compare import compared, forms_of, place_of, plain_runs
from inplace_lint.live.confirm.gain import measured
from inplace_lint.live.confirm.matching import is_same, traced
from inplace_lint.live.confirm.targets import Target, TopLevelNames, Way, probe_for, targets_of
from inplace_lint.live.warm import Ran, Warm
from inplace_lint.rules import RULE_OF
from inplace_lint.rules.rule import Harm, Variant
from inplace_lint.workspace.files import decode, read

_ASSIGNED = re.compile(r"[\w.]+\s*=(?!=)")


class Setup(Struct, frozen=True):
    """
    How to run targets: the interpreter, the device, limits, and what a project says about its files.

    `probes` are by file below `root`; `callers_of` returns the files that import something from a file, `root_of` the
    folder in which its imports are searched. `show_output` receives what the targets print.
    Units: seconds of wall-clock time; memory in MiB.
    """

    python: str
    device: str = "cpu"
    seconds: float = 30.0
    memory: int = 4096
    root: str = ""
    probes: Mapping[str, str] = field(default_factory=dict)
    callers_of: Callable[[str], Sequence[str]] = lambda _path: ()
    root_of: Callable[[str], str] = lambda _path: ""
    show_output: Callable[[str, str], None] = lambda _what, _printed: None


def confirmed(findings: Sequence[Finding], setup: Setup) -> tuple[Finding, ...]:
    """Return the findings with their verdicts; info has none, unless it is advice."""
    verdicts: dict[int, Verdict] = {}
    groups: dict[tuple[str, str], list[int]] = defaultdict(list)
    for number, finding in enumerate(findings):
        if finding.severity is not Severity.INFO or RULE_OF[finding.code].unanimous:
            groups[finding.framework, finding.span.path].append(number)
    warm: dict[str, Warm] = {}
    repairs = Repairs(findings)
    try:
        for (framework, path), numbers in groups.items():
            process = warm.setdefault(framework, Warm(setup.python, framework, setup.device))
            mine = {number: findings[number] for number in numbers}
            verdicts |= File(path, mine, process, setup, repairs).verdicts()
    finally:
        for process in warm.values():
            process.stop()
    return tuple(replace(one, verdict=verdicts.get(number)) for number, one in enumerate(findings))


class Repairs:
    """The forms in which the framework does not refuse the writes of a run's findings, by framework and file."""

    def __init__(self, findings: Sequence[Finding]) -> None:
        self._findings = findings
        self._forms: dict[tuple[str, str], tuple[Form, ...]] = {}

    def beside(self, framework: str, path: str) -> dict[str, tuple[Form, ...]]:
        """Return the forms for the findings in other files: what one of these refuses may end a run, too."""
        if not self._forms:
            for finding in self._findings:
                key = finding.framework, str(Path(finding.span.path).absolute())
                forms = repairs_of(text.load(key[1]), finding)[:1] if finding.span.cell is None else []
                self._forms[key] = tuple(dict.fromkeys((*self._forms.get(key, ()), *forms)))
        return {
            file: forms for (name, file), forms in self._forms.items() if forms and name == framework and file != path
        }


def repairs_of(source: text.Source, finding: Finding) -> list[Form]:
    """List the forms in which the framework does not refuse a write, the likeliest first; none if it never does."""
    return list(forms_of(source, finding)) if RULE_OF[finding.code].checks else []


class File:
    """
    The findings of one framework in one file, and the verdicts and reasons so far.

    `repairs` are the forms of other findings of the file in which all targets are run, `beside` those of other files.
    """

    def __init__(self, path: str, findings: Mapping[int, Finding], warm: Warm, setup: Setup, repairs: Repairs) -> None:
        self.path, self.findings, self.warm, self.setup = str(Path(path).absolute()), findings, warm, setup
        self.all_repairs = repairs
        self.beside: dict[str, tuple[Form, ...]] = {}
        self.done: dict[int, Verdict] = {}
        self.partly: dict[int, str] = {}
        self.missed: dict[int, tuple[Way, Proof, str]] = {}
        self.sources: dict[str, text.Source] = {}
        self.lines: list[tuple[int, Place]] = []
        self.repairs: tuple[Form, ...] = ()
        self._plain: dict[tuple[Target, tuple[Form, ...], bool, bool], tuple[Ran, Ran]] = {}

    def plain(self, target: Target, *, nodes: bool) -> tuple[Ran, Ran]:
        """Return two runs of a target as written, but for the repairs, with their numbers; they are run once."""
        key = target, self.repairs, bool(self.beside), nodes
        if key not in self._plain:
            self._plain[key] = plain_runs(self, target, nodes=nodes)
        return self._plain[key]

    def verdicts(self) -> dict[int, Verdict]:
        """Run targets until each finding has its verdict, or there are no more."""
        reason = self._obstacle()
        if reason:
            return self._all_could_not_run(reason)
        wanted = self._targets()
        self.lines = list(self._lines())
        for target in sorted(wanted, key=lambda target: target.way):
            numbers = [number for number in wanted[target] if number not in self.done]
            advice = [number for number in numbers if RULE_OF[self.findings[number].code].unanimous]
            for number in advice:
                self._prove(target, number)
            faults = [number for number in numbers if number not in advice]
            if faults:
                self._try(target, faults)
            if self.warm.trouble:
                return self._all_could_not_run(self.warm.trouble)
        return {number: self.done.get(number) or self._left(number) for number in self.findings}

    def _all_could_not_run(self, reason: str) -> dict[int, Verdict]:
        return {number: self._verdict(one, Proof.COULD_NOT_RUN, reason) for number, one in self.findings.items()}

    def _obstacle(self) -> str:
        one = next(iter(self.findings.values()))
        if one.span.cell is not None:
            return "cells of a notebook are not run"
        if not one.framework:
            return "it is not about a framework"
        if not Path(self.path).is_file():
            return "there is no file to run"
        return ""

    def _targets(self) -> dict[Target, list[int]]:
        """Return the targets with the findings that each may reach; all files are read before anything runs."""
        outline = self._outline(self.path)
        callers = [self._outline(path) for path in self.setup.callers_of(self.path)]
        probe = probe_for(self.path, self.setup.root, self.setup.probes)
        wanted: dict[Target, list[int]] = {}
        for number, finding in self.findings.items():
            for span in (finding.span, *(item.span for item in finding.related)):
                self.sources.setdefault(str(Path(span.path).absolute()), text.load(str(Path(span.path).absolute())))
            if RULE_OF[finding.code].provable and outline is not None:
                known = [caller for caller in callers if caller is not None]
                for target in targets_of(outline, finding.span.line, probe, known):
                    wanted.setdefault(target, []).append(number)
        return wanted

    def _outline(self, path: str) -> TopLevelNames | None:
        try:
            return TopLevelNames(str(Path(path).absolute()), decode(read(Path(path))))
        except (UnreadableError, SyntaxError, ValueError):
            return None

    def _try(self, target: Target, numbers: Sequence[int]) -> None:
        ran = self.run(target, numbers)
        self.setup.show_output(f"{target.path}: {target.words}", ran.printed)
        hides = self._judge(target, numbers, ran)
        if ran.refusals or hides:
            for number in numbers:
                if number not in self.done and not self.warm.trouble:
                    self._try_alone(target, number, ran)

    def _prove(self, target: Target, number: int) -> None:
        """Record what following an advice changes in a target."""
        result = measured(self, target, number)
        if result.proof is None:
            self._missed(number, target.way, result.ending, result.reason)
        elif result.proof is Proof.NOT_REACHED:
            self.partly[number] = result.reason
        else:
            self.done[number] = self._verdict(self.findings[number], result.proof, result.reason)

    def _try_alone(self, target: Target, number: int, ran: Ran) -> None:
        """
        Run a target that did not run to its end without the other writes that findings are about.

        What ends a run hides what comes later; and an error that comes later than its write does not say which it was.
        """
        finding = self.findings[number]
        others = [one for other, one in self.findings.items() if other != number]
        repaired = tuple(dict.fromkeys(form for one in others for form in self._repairs(one)[:1]))
        self.beside = self.all_repairs.beside(finding.framework, self.path)
        if repaired or self.beside:
            self.repairs = repaired
            ran = self.run(target, [number])
            self._judge(target, [number], ran)
        is_late = not (ran.made_up or ran.refusals.isdisjoint(RULE_OF[finding.code].checks)) and any(ran.marks)
        for own in self._repairs(finding) if number not in self.done and is_late else ():
            self.repairs = (*repaired, own)
            if not self.run(target, [number]).problem:
                reason = f"raised after the write, but not when this write alone is repaired, by {target.words}"
                self.done[number] = self._verdict(finding, Proof.CONFIRMED, reason)
                break
        self.repairs, self.beside = (), {}

    def _repairs(self, finding: Finding) -> list[Form]:
        return repairs_of(self.sources[self.path], finding)

    def _judge(self, target: Target, numbers: Sequence[int], ran: Ran) -> bool:
        """Record what follows for findings from a run; return whether a fault was seen, which may hide others."""
        faults = list(traced(ran.records, self.sources, made_up=ran.made_up))
        for found in faults:
            for number in numbers:
                finding = self.findings[number]
                if number not in self.done and is_same(finding, found, tuple(self.findings.values())):
                    reason = f"{found.cause}, by {target.words}"
                    if found.is_silent:
                        shown, is_different = compared(self, target, number, is_traced=True)
                        reason = f"{found.cause}, so that {shown}" if is_different else reason
                    self.done[number] = self._verdict(finding, Proof.CONFIRMED, reason)
        if not self.warm.trouble:
            for number in numbers:
                if number not in self.done:
                    self._weigh(number, target, ran, failed=bool(faults))
        return bool(faults)

    def _weigh(self, number: int, target: Target, ran: Ran, *, failed: bool) -> None:
        """Record what follows for a finding from a run that did not report its fault."""
        finding = self.findings[number]
        marks = [mark for mark in ran.marks if mark.number == number]
        rule = RULE_OF[finding.code]
        if rule.harm is Harm.SILENT and not ran.trouble and (marks or Variant.UNCOMPILED in rule.variants):
            reason, is_confirmed = compared(self, target, number, is_traced=False)
            if is_confirmed:
                self.done[number] = self._verdict(finding, Proof.CONFIRMED, reason)
            else:
                self.partly[number] = reason
        elif any(mark.complete for mark in marks) and not (failed or ran.made_up or self.repairs or self.beside):
            reason = f"it was saved, written and used in backward by {target.words}, and nothing failed"
            self.done[number] = self._verdict(finding, Proof.REFUTED, reason)
        elif marks:
            self.partly[number] = _uncertain(target.words, ran.problem)
        else:
            end = "ran to the end without running the line"
            proof = Proof.COULD_NOT_RUN if ran.problem else Proof.NOT_REACHED
            reason = f"{target.words}: {ran.problem}" if ran.problem else f"{target.words} {end}"
            self._missed(number, target.way, proof, reason)

    def _missed(self, number: int, way: Way, proof: Proof, reason: str) -> None:
        """
        Record why a target did not reach a finding: the first reason of the last way, the closest to the line.

        With the other findings repaired, a target comes closer.
        """
        before = self.missed.get(number)
        if before is None or before[0] < way or (before[0] is way and (self.repairs or self.beside)):
            self.missed[number] = (way, proof, reason)

    def _left(self, number: int) -> Verdict:
        """Return the verdict on a finding neither confirmed nor refuted; its reason is of the run that came closest."""
        finding = self.findings[number]
        if not RULE_OF[finding.code].provable:
            why = f"findings of {finding.code} cannot be proved by running"
            return self._verdict(finding, Proof.COULD_NOT_RUN, why)
        if number in self.partly:
            return self._verdict(finding, Proof.NOT_REACHED, self.partly[number])
        if number in self.missed:
            return self._verdict(finding, *self.missed[number][1:])
        return self._verdict(finding, Proof.COULD_NOT_RUN, "nothing that runs the line was found")

    def _verdict(self, finding: Finding, proof: Proof, reason: str) -> Verdict:
        return Verdict(proof, finding.framework, self.warm.version, self.setup.device, reason)

    def run(self, target: Target, marked: Sequence[int], **more: Any) -> Ran:  # noqa: ANN401 - keys of an order
        """Run a target in a process of its own, with marks at the places of these findings."""
        roots = [self.setup.root_of(target.path), self.setup.root, str(Path.cwd())]
        return self.warm.run(
            {
                "framework": self.warm.framework,
                "path": target.path,
                "paths": [root for root in dict.fromkeys(roots) if root],
                "entry": {"kind": target.kind, "name": target.name, "method": target.method},
                "marks": [self._mark(number) for number in marked],
                "written": self.path,
                "lines": self.lines,
                "repairs": [form.plain for form in self.repairs],
                "beside": {path: [form.plain for form in forms] for path, forms in self.beside.items()},
                "device": self.setup.device,
                "seconds": self.setup.seconds,
                "memory": self.setup.memory,
                **more,
            }
        )

    def _lines(self) -> Iterator[tuple[int, Place]]:
        """Yield the places of silent writes and assignments: what writes there need not be a call of the framework."""
        for number, finding in self.findings.items():
            rule, is_flag = RULE_OF[finding.code], any(item.role is Role.WRITE for item in finding.related)
            is_silent = rule.harm is Harm.SILENT and Variant.UNCOMPILED not in rule.variants and not is_flag
            if is_silent or (Failure.FREED in rule.checks and _ASSIGNED.match(self._text_from(finding.span))):
                place = place_of(self.sources[self.path], finding.span)
                if place is not None:
                    yield number, place

    def _text_from(self, span: Span) -> str:
        lines = self.sources[self.path].lines
        return lines[span.line - 1][span.column :] if 0 < span.line <= len(lines) else ""

    def _mark(self, number: int) -> dict[str, Any]:
        finding = self.findings[number]
        return {
            "number": number,
            "writes": [self._range(finding.span)],
            "saves": [self._range(item.span) for item in finding.related if item.role is Role.SAVE],
        }

    def _range(self, span: Span) -> tuple[str, int, int, int]:
        path = str(Path(span.path).absolute())
        lines = self.sources[path].lines if path in self.sources else ()
        text = lines[span.end_line - 1] if span.end_line <= len(lines) else ""
        return path, span.line, span.end_line, len(text[: span.end_column].encode("utf-8", "surrogatepass"))


def _uncertain(by: str, problem: str) -> str:
    if problem:
        return f"the line ran by {by}, which is not conclusive ({problem})"
    return f"the line ran by {by}, which is not conclusive"
