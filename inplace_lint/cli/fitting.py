"""
Findings that fit an error: which of those in a project can be its cause.

An error names little: the lines of its traceback and, in PyTorch, one operation. That is the node of the tensor at the
time of the error, so it is what made the tensor, which may have kept it, or the last write.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from inplace_lint.cli.explain import STALE, Explained, Frame
from inplace_lint.core.finding import Finding, Severity
from inplace_lint.knowledge import facts
from inplace_lint.knowledge.locate import framework_names
from inplace_lint.workspace import files, import_graph
from inplace_lint.workspace.notebook import file_of


class Fitting(NamedTuple):
    """The findings that fit an error, likeliest first; `elsewhere` counts those outside of the program that raised."""

    findings: tuple[Finding, ...]
    elsewhere: int


def fitting(explained: Explained, findings: Sequence[Finding], texts: Mapping[str, bytes]) -> Fitting:
    """
    Return the findings that can be this error; `texts` are the files that were read.

    Findings at the very line that raised, or that saved the tensor, are returned alone. Else those in the files of the
    traceback and what these import are, if there are any; else those about the operation that the error names.
    """
    own = [one for one in findings if one.code in explained.codes and one.framework in ("", explained.framework)]
    decisive = _lines(frame for frame in explained.frames if _decides(explained, frame))
    lines, called = _lines(explained.frames), _names(explained)
    layers = {_plain(Path(frame.path).stem) for frame in explained.frames if frame.is_library}
    program = _program(explained, texts)

    def named(finding: Finding) -> int:
        """Return 0 if the write is what the error names, 1 if another part of the finding is."""
        return 0 if _plain(_call(finding)) in called else 1 if _words(finding) & called else 2

    def score(finding: Finding) -> tuple[bool, bool, int, int, bool]:
        at = not _places(finding) & lines
        again = not (layers & {_plain(name) for name in re.findall(r"`(\w+)`", finding.message)})
        return again, at, named(finding), explained.codes.index(finding.code), finding.severity is not Severity.ERROR

    exact = [one for one in own if _places(one) & decisive]
    inside = [one for one in own if any(path in program for path, _ in _places(one))]
    chosen = exact or inside or [one for one in own if named(one) < 2] or own  # noqa: PLR2004 - see `named`
    elsewhere = len(own) - len(inside) if inside and not exact else 0
    return Fitting(tuple(sorted(chosen, key=score)), elsewhere)


def found_out(explained: Explained, findings: Sequence[Finding]) -> Explained:
    """Return an error without the guess that a parameter was written, where the likeliest finding is about another."""
    if not explained.parameter or not findings or findings[0].code == explained.codes[0]:
        return explained
    first = findings[0].code
    return replace(explained, parameter=False, codes=(first, *(code for code in explained.codes if code != first)))


def _lines(frames: Iterable[Frame]) -> set[tuple[Path, int]]:
    return {(Path(frame.path).resolve(), frame.line) for frame in frames}


def _places(finding: Finding) -> set[tuple[Path, int]]:
    spans = [finding.span, *(one.span for one in finding.related)]
    return {(Path(file_of(span)).resolve(), span.line) for span in spans}


def _decides(explained: Explained, frame: Frame) -> bool:
    """Return whether a line of the traceback is one that the error is about: it saved the tensor, or it wrote."""
    return frame.forward if explained.check == STALE else not frame.forward


def _program(explained: Explained, texts: Mapping[str, bytes]) -> set[Path]:
    """Return the user's files in the traceback, and what they import, directly or through others."""
    mine = {Path(frame.path) for frame in explained.frames if not frame.is_library and Path(frame.path).is_file()}
    found = set(mine)
    for root in {import_graph.root_of(path) for path in mine}:
        graph = import_graph.Graph(root, framework_names(), texts, {})
        found |= {Path(path) for path in graph.below(files.shown(path) for path in mine)}
    return {path.resolve() for path in found}


def _names(explained: Explained) -> set[str]:
    """Return the names of the calls that make the node that an error names."""
    if not explained.node:
        return set()
    calls = facts.framework(explained.framework).nodes.get(explained.node, ())
    return {_plain(name) for name in (explained.node, *calls)}


def _call(finding: Finding) -> str:
    """Return the last name of the operation that writes, as that of the operator where it is an augmented one."""
    name = finding.op.rpartition(".")[2]
    framework = facts.framework(finding.framework)
    tokens = {method: token for token, method in framework.augmented.items()}
    return framework.binary.get(tokens.get(name, ""), name)


def _words(finding: Finding) -> set[str]:
    said = (finding.message, *(part.message for part in finding.related))
    return {_plain(word) for text in said for word in re.findall(r"\w+", text)}


def _plain(name: str) -> str:
    return name.replace("_", "").casefold()
