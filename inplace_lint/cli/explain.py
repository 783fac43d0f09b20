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
from difflib import SequenceMatcher
from pathlib import Path
from typing import NamedTuple

from inplace_lint.core.event import Carried, Event, Failure, Refused, Site, Stale, Touch
from inplace_lint.core.finding import Finding, Severity
from inplace_lint.core.span import Place, Slice
from inplace_lint.knowledge import facts
from inplace_lint.rules import RULES
from inplace_lint.rules.rule import Rule
from inplace_lint.workspace.notebook import file_of

_FRAME = re.compile(r'File "(?P<path>[^"]+)", line (?P<line>\d+), in (?P<function>.+)')
_SHAPE = re.compile(r"\[(?:torch\.)?(?P<type>[\w.]+)?\s*\[(?P<shape>[\d, ]*)\]\]")
_OUTPUT = re.compile(r"output (?P<number>\d+) of (?P<node>\w+?)(?:Backward\d*)?\b")
_VERSIONS = re.compile(
    r"(?:is at version (?P<found>\d+)[;,] expected version (?P<wanted>\d+)"
    r"|version is (?P<found2>\d+) but the expected version is (?P<wanted2>\d+))"
)
_FORWARD = re.compile(r"Error detected in \w+\. Traceback of forward call")
_HOLE = re.compile(
    r"\\\{producer\\\}|\\\[\\\.\\\.\\\.\\\]|'\\\.\\\.\\\.'|\\\(\\\.\\\.\\\.\\\)|\d+|\b(?:Float|Long)\b|(?:\\?\s)+"
)

_PART = 6  # words of a message that suffice where it is quoted in part

_STALE = frozenset({"stale", "custom_view_base"})  # raised by backward, for a write that was accepted
_LATE = frozenset({"no_derivative"})
_FREED = "freed"
_TRANSPOSED = frozenset({"T", "AsStrided", "Transpose"})  # the nodes of `weight.t()`, which a linear layer keeps
_NUMBERS = re.compile(r"Float|Half|Double|BFloat16|^$")


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

    `codes` are the rules about it, likeliest first. `node` is the operation that computed the tensor, empty where the
    message has none. `parameter`: by its node, type and version the tensor is most likely a parameter.
    """

    framework: str
    title: str
    check: str
    codes: tuple[str, ...]
    node: str
    shape: str
    versions: tuple[int, int] | None
    parameter: bool
    frames: tuple[Frame, ...]


class _Hit(NamedTuple):
    """A known message in a text; of several the one that ends last counts, then the longest, then the most specific."""

    end: int
    length: int
    specific: int
    framework: str
    check: str


def explain(text: str, rules: Sequence[Rule] = RULES) -> Explained | None:
    """Parse a traceback; None when it has no error about in-place operations. Of several errors the last counts."""
    hit = max(_hits(text), default=None) or max(_parts(text), default=None)
    if hit is None:
        return None
    framework = facts.load(hit.framework, None).framework
    message = text[hit.end - hit.length :]
    output, tensor, versions = _OUTPUT.search(message), _SHAPE.search(message), _VERSIONS.search(message)
    node = output["node"] if output is not None else ""
    counted = None
    if versions is not None:
        counted = (int(versions["found"] or versions["found2"]), int(versions["wanted"] or versions["wanted2"]))
    parameter = framework.counts_steps and tensor is not None and _is_parameter(node, tensor)
    return Explained(
        hit.framework,
        framework.title,
        hit.check,
        tuple(_codes(hit.framework, hit.check, rules, parameter=parameter)),
        node,
        tensor["shape"] if tensor is not None else "",
        counted,
        parameter,
        tuple(_frames(text)),
    )


def _hits(text: str) -> Iterator[_Hit]:
    for name, check, words in _wordings():
        for match in _pattern(words).finditer(text):
            yield _Hit(match.end(), match.end() - match.start(), len(words), name, check)


def _parts(text: str) -> Iterator[_Hit]:
    """Yield the longest part of a message that a text has: people shorten messages, and type them with other quotes."""
    spoken = list(re.finditer(r"\w+", text))
    said = [word[0].casefold() for word in spoken]
    longest: dict[int, list[_Hit]] = {}
    for name, check, words in _wordings():
        message = re.findall(r"\w+", words.casefold())
        run = SequenceMatcher(None, said, message, autojunk=False).find_longest_match()
        if run.size >= _PART:
            start, end = spoken[run.a].start(), spoken[run.a + run.size - 1].end()
            longest.setdefault(run.size, []).append(_Hit(end, end - start, -len(words), name, check))
    yield from longest.get(max(longest, default=0), [])


def _wordings() -> Iterator[tuple[str, str, str]]:
    """Yield the framework, the check and the words of each message that is known."""
    for name in facts.frameworks():
        framework = facts.load(name, None).framework
        yield from ((name, check, words) for check, words in framework.says.items() if check != "no_grad")
        yield from ((name, check, words) for check, several in framework.heard.items() for words in several)


def _is_parameter(node: str, tensor: re.Match[str]) -> bool:
    """
    Return whether a changed tensor is most likely a parameter.

    That is a floating tensor which nothing computed, or the transpose of a matrix, which a linear layer keeps.
    """
    if node:
        return node in _TRANSPOSED and tensor["shape"].count(",") == 1
    return _NUMBERS.search(tensor["type"] or "") is not None


def describe(explained: Explained, say: Callable[[str], str] = str) -> Iterator[str]:
    """Yield the meaning of an error in plain words, line by line; `say` translates them."""
    if explained.check == _FREED:
        yield from _freed(explained, say)
    elif explained.check in _LATE:
        yield say(f"{explained.title} accepted an in-place call, and backward then found no derivative for it.")
    else:
        yield from _stale(explained, say) if explained.check in _STALE else _refused(explained, say)
    user = [frame for frame in explained.frames if not _is_library(frame.path)]
    for frame in [frame for frame in user if frame.forward][-1:]:
        yield say(f"kept by: {frame.path}:{frame.line}, in {frame.function}")
    for frame in [frame for frame in user if not frame.forward][-1:]:
        yield say(f"raised at: {frame.path}:{frame.line}, in {frame.function}")
    if explained.codes:
        yield say(f"Rules about it: {', '.join(explained.codes)} (`inplace-lint rule {explained.codes[0]}`).")


def _freed(explained: Explained, say: Callable[[str], str]) -> Iterator[str]:
    yield say(
        f"{explained.title} frees what backward needs when it has run, and backward ran through this graph twice."
    )
    yield say("Two losses that share a part of their graph: run backward once, on their sum.")
    yield say(
        "A tensor that outlives a step, such as a hidden state, a buffer or a running sum: "
        "detach it where it is kept, so that it does not lead back into the graph of an earlier step."
    )


def _stale(explained: Explained, say: Callable[[str], str]) -> Iterator[str]:
    what = say(f"the result of `{explained.node}`") if explained.node else say("a tensor")
    what = say(f"{what}, of shape [{explained.shape}],") if explained.shape else what
    yield say(f"{explained.title} kept {what} during the forward pass, because backward needs its value.")
    if explained.versions is not None:
        times = explained.versions[0] - explained.versions[1]
        often = say("once") if times == 1 else say(f"{times} times")
        yield say(f"After that, it was written in place {often}, and the old value is lost.")
    if explained.parameter:
        what = say("the transposed weight of a linear layer") if explained.node else say("a parameter")
        yield say(f"It is most likely {what}: an optimizer's step writes it between the forward pass and backward.")
        if not explained.node:
            yield say(
                "If the model is wrapped for distributed training, it may be a buffer: earlier releases write those in "
                "each forward pass. Run backward before the next one, or pass `broadcast_buffers=False`."
            )
    yield say(
        "The traceback ends in backward, so its last line is neither the one that kept the tensor "
        "nor the one that wrote to it."
    )


def _refused(explained: Explained, say: Callable[[str], str]) -> Iterator[str]:
    rule = next((rule for rule in RULES if rule.code in explained.codes), None)
    refused = say(f"an in-place write ({rule.name})") if rule is not None else say("an in-place write")
    yield say(f"{explained.title} refused {refused}: the last line of your code in the traceback is the write.")


def candidates(explained: Explained, findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """
    Return the findings that can be this error, likeliest first: those at lines it shows, then those in its files.

    Where findings are at the very line that raised, or that saved the tensor, or are about the operation that the error
    names, these alone are returned.
    """
    lines = {(Path(frame.path).resolve(), frame.line) for frame in explained.frames}
    paths = {path for path, _ in lines}

    def places(finding: Finding) -> set[tuple[Path, int]]:
        spans = [finding.span, *(one.span for one in finding.related)]
        return {(Path(file_of(span)).resolve(), span.line) for span in spans}

    def score(finding: Finding) -> tuple[bool, bool, int, bool]:
        at = places(finding)
        elsewhere = not any(path in paths for path, _ in at)
        return not at & lines, elsewhere, explained.codes.index(finding.code), finding.severity is not Severity.ERROR

    own = [one for one in findings if one.code in explained.codes and one.framework in ("", explained.framework)]
    node = f" {explained.node.casefold()} "
    same = [one for one in own if any(node in _words(part.message) for part in one.related)]
    shown = {(Path(frame.path).resolve(), frame.line) for frame in explained.frames if _decides(explained, frame)}
    exact = [one for one in own if places(one) & shown]
    return tuple(sorted(exact or (same if explained.node else []) or own, key=score))


def _decides(explained: Explained, frame: Frame) -> bool:
    """Return whether a line of the traceback is one that the error is about: it saved the tensor, or it wrote."""
    return frame.forward if explained.check in _STALE else not frame.forward


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


def _codes(framework: str, check: str, rules: Sequence[Rule] = RULES, *, parameter: bool) -> Iterator[str]:
    """Yield the codes of the rules with a finding for an event that is made for an error, the likeliest event first."""
    place = Place(Slice("", 1, 1), 0)
    write = Touch("", Site(place))
    flagged, owned = Touch("", Site(place), flag=place, module=True), Touch("", Site(place), param=True)
    events: list[Event] = []
    if check in _STALE:
        touches = (owned, write, flagged) if parameter else (write, flagged, owned)
        events = [Stale(framework, write, one, None, frozenset()) for one in touches]
    elif check == _FREED:
        events = [Carried(framework, write, None, frozenset())]
    else:
        events = [Refused(framework, Failure(check), write, None, frozenset())]
    found = (rule.code for event in events for rule in rules if rule.judge(event) is not None)
    yield from dict.fromkeys(found)


def _frames(text: str) -> Iterator[Frame]:
    forward = _FORWARD.search(text)
    # Anomaly mode prints the forward call first, and then the traceback of the error.
    end = text.find("Traceback (most recent call last)", forward.end()) if forward is not None else -1
    for match in _FRAME.finditer(text):
        is_forward = forward is not None and forward.end() < match.start() < (end if end >= 0 else len(text))
        yield Frame(match["path"], int(match["line"]), match["function"].strip(), is_forward)


def _is_library(path: str) -> bool:
    return "site-packages" in path or "dist-packages" in path or path.startswith("<")
