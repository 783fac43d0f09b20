"""
`inplace-lint explain`: parses a traceback from standard input, says what its error means, and finds the findings that
fit it.

The text of each error is in the `framework.json` of the framework; the rules themselves decide which errors they are
about.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from inplace_lint.core.event import Event, Failure, Refused, Site, Stale, Touch
from inplace_lint.core.finding import Finding, Severity
from inplace_lint.core.span import Place, Slice
from inplace_lint.knowledge import facts
from inplace_lint.rules import RULES
from inplace_lint.workspace.notebook import file_of

_FRAME = re.compile(r'File "(?P<path>[^"]+)", line (?P<line>\d+), in (?P<function>.+)')
_SHAPE = re.compile(r"\[(?:torch\.)?(?P<type>[\w.]+)? ?\[(?P<shape>[\d, ]*)\]\]")
_OUTPUT = re.compile(r"output (?P<number>\d+) of (?P<node>\w+?)(?:Backward\d*)?\b")
_VERSIONS = re.compile(
    r"(?:is at version (?P<found>\d+)[;,] expected version (?P<wanted>\d+)"
    r"|version is (?P<found2>\d+) but the expected version is (?P<wanted2>\d+))"
)
_FORWARD = re.compile(r"Error detected in \w+\. Traceback of forward call")
_HOLE = re.compile(
    r"\\\{producer\\\}|\\\[\\\.\\\.\\\.\\\]|'\\\.\\\.\\\.'|\\\(\\\.\\\.\\\.\\\)|\d+|\b(?:Float|Long)\b|(?:\\?\s)+"
)

_STALE = frozenset({"stale", "custom_view_base"})  # raised by backward, for a write that was accepted
_LATE = frozenset({"no_derivative"})


class Frame(NamedTuple):
    """A line of a traceback; `forward`: it belongs to the call that saved the tensor, which anomaly mode shows."""

    path: str
    line: int
    function: str
    forward: bool


@dataclass(frozen=True, slots=True)
class Explained:
    """
    What an error says: the framework, the check that failed, and what its message contains.

    `codes` are the rules about it. `node` is the operation that computed the tensor, empty where the message has none.
    """

    framework: str
    title: str
    check: str
    codes: tuple[str, ...]
    node: str
    shape: str
    versions: tuple[int, int] | None
    frames: tuple[Frame, ...]


def explain(text: str) -> Explained | None:
    """Parse a traceback; None when it has no error about in-place operations. Of several errors the last counts."""
    best: tuple[int, int, str, str] | None = None
    for name in facts.frameworks():
        for check, words in facts.load(name, None).framework.says.items():
            hits = [match.start() for match in _pattern(words).finditer(text)] if check != "no_grad" else []
            # Of two that begin at one place the longer is the more particular.
            if hits and (best is None or (hits[-1], len(words)) > best[:2]):
                best = (hits[-1], len(words), name, check)
    if best is None:
        return None
    at, _, name, check = best
    message = text[at:]
    output, shape, versions = _OUTPUT.search(message), _SHAPE.search(message), _VERSIONS.search(message)
    counted = None
    if versions is not None:
        counted = (int(versions["found"] or versions["found2"]), int(versions["wanted"] or versions["wanted2"]))
    return Explained(
        name,
        facts.load(name, None).framework.title,
        check,
        tuple(_codes(name, check)),
        output["node"] if output is not None else "",
        shape["shape"] if shape is not None else "",
        counted,
        tuple(_frames(text)),
    )


def describe(explained: Explained, say: Callable[[str], str] = str) -> Iterator[str]:
    """Yield the meaning of an error in plain words, line by line; `say` translates them."""
    if explained.check in _LATE:
        yield say(f"{explained.title} let an in-place call pass, and backward then found no derivative for it.")
    else:
        yield from _stale(explained, say) if explained.check in _STALE else _refused(explained, say)
    user = [frame for frame in explained.frames if not _is_library(frame.path)]
    for frame in [frame for frame in user if frame.forward][-1:]:
        yield say(f"kept by: {frame.path}:{frame.line}, in {frame.function}")
    for frame in [frame for frame in user if not frame.forward][-1:]:
        yield say(f"raised at: {frame.path}:{frame.line}, in {frame.function}")
    yield say(f"Rules about it: {', '.join(explained.codes)} (`inplace-lint rule {explained.codes[0]}`).")


def _stale(explained: Explained, say: Callable[[str], str]) -> Iterator[str]:
    what = say(f"the result of `{explained.node}`") if explained.node else say("a tensor")
    what = say(f"{what}, of shape [{explained.shape}],") if explained.shape else what
    yield say(f"{explained.title} kept {what} during the forward pass, because backward needs its value.")
    if explained.versions is not None:
        times = explained.versions[0] - explained.versions[1]
        often = say("once") if times == 1 else say(f"{times} times")
        yield say(f"After that it was written in place {often}, and the value is gone.")
    yield say(
        "The traceback ends in backward: neither the line that kept it nor the one that wrote it is the last one."
    )


def _refused(explained: Explained, say: Callable[[str], str]) -> Iterator[str]:
    rule = next((rule for rule in RULES if rule.code in explained.codes), None)
    refused = say(f"an in-place write ({rule.name})") if rule is not None else say("an in-place write")
    yield say(f"{explained.title} refused {refused}: the last line of your code in the traceback wrote.")


def candidates(explained: Explained, findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """
    Return the findings that can be this error, likeliest first: those at lines it shows, then those in its files.

    Where the error names an operation and some findings are about it, only these.
    """
    lines = {(Path(frame.path).resolve(), frame.line) for frame in explained.frames}
    paths = {path for path, _ in lines}

    def score(finding: Finding) -> tuple[bool, bool, bool]:
        spans = [finding.span, *(one.span for one in finding.related)]
        places = {(Path(file_of(span)).resolve(), span.line) for span in spans}
        elsewhere = not any(path in paths for path, _ in places)
        return not places & lines, elsewhere, finding.severity is not Severity.ERROR

    fitting = [finding for finding in findings if finding.code in explained.codes]
    node = f" {explained.node.casefold()} "
    same = [one for one in fitting if any(node in _words(part.message) for part in one.related)]
    return tuple(sorted((same if explained.node else []) or fitting, key=score))


def _words(text: str) -> str:
    return re.sub(r"[^a-z0-9]", " ", f" {text.casefold()} ")


def _pattern(words: str) -> re.Pattern[str]:
    """Return the pattern that matches a message with other tensors, numbers and line breaks in it."""

    def hole(match: re.Match[str]) -> str:
        piece = match[0]
        if piece.isdigit():
            return r"\d+"
        if piece in {"Float", "Long"}:
            return r"\w+"
        return r"\s+" if not piece.strip("\\ \n\t") else r"[\s\S]{0,300}?"

    return re.compile(_HOLE.sub(hole, re.escape(words.rstrip("."))))


def _codes(framework: str, check: str) -> Iterator[str]:
    """Yield the codes of the rules about an error: those with a finding for an event that is made for it."""
    place = Place(Slice("", 1, 1), 0)
    write = Touch("", Site(place))
    flagged, owned = Touch("", Site(place), flag=place, module=True), Touch("", Site(place), param=True)
    events: list[Event]
    if check not in _STALE:
        events = [Refused(framework, Failure(check), write, None, frozenset())]
    else:
        events = [Stale(framework, write, one, None, frozenset()) for one in (write, flagged, owned)]
    for rule in RULES:
        if any(rule.judge(event) is not None for event in events):
            yield rule.code


def _frames(text: str) -> Iterator[Frame]:
    forward = _FORWARD.search(text)
    # Anomaly mode prints the forward call first, and then the traceback of the error.
    end = text.find("Traceback (most recent call last)", forward.end()) if forward is not None else -1
    for match in _FRAME.finditer(text):
        is_forward = forward is not None and forward.end() < match.start() < (end if end >= 0 else len(text))
        yield Frame(match["path"], int(match["line"]), match["function"].strip(), is_forward)


def _is_library(path: str) -> bool:
    return "site-packages" in path or "dist-packages" in path or path.startswith("<")
