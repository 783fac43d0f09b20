"""
`inplace-lint explain`: parses a traceback from standard input and says what its error means.

The text of each error is in the `framework.json` of the framework; the rules themselves decide which errors they are
about.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from msgspec import Struct

from inplace_lint.core.event import Carried, Event, Failure, Refused, Site, Stale, Touch
from inplace_lint.core.span import Place, Slice
from inplace_lint.knowledge import facts
from inplace_lint.rules import RULES
from inplace_lint.rules.rule import Harm, Rule

_FRAME = re.compile(r'File "(?P<path>[^"]+)", line (?P<line>\d+), in (?P<function>.+)')
_SHAPE = re.compile(r"\[(?:torch\.)?(?P<type>[\w.]+)?\s*\[(?P<shape>[\d, ]*)\]\]")
_OUTPUT = re.compile(r"output (?P<number>\d+) of (?:\w+::)*(?P<node>\w+?)(?:Backward\d*)?\b")
_VERSIONS = re.compile(
    r"(?:is at version (?P<found>\d+)[;,] expected version (?P<wanted>\d+)"
    r"|version is (?P<found2>\d+) but the expected version is (?P<wanted2>\d+))"
)
_FORWARD = re.compile(r"Error detected in \w+\. Traceback of forward call")
_HOLE = re.compile(
    r"\\\{producer\\\}|\\\[\\\.\\\.\\\.\\\]|'\\\.\\\.\\\.'|\\\(\\\.\\\.\\\.\\\)|\d+|\b(?:Float|Long)\b|(?:\\?\s)+"
)

_PART = 6  # words of a message that suffice where it is quoted in part

STALE = "stale"
_FREED = "freed"
_TRANSPOSED = frozenset({"T", "AsStrided", "Transpose"})  # the nodes of `weight.t()`, which a linear layer keeps
_COPIED = frozenset({"Broadcast"})  # the node of the parameters that a replica of the model on another device has
_NUMBERS = re.compile(r"Float|Half|Double|BFloat16|^$")


class Frame(NamedTuple):
    """A line of a traceback; `forward`: it belongs to the call that saved the tensor, which anomaly mode shows."""

    path: str
    line: int
    function: str
    forward: bool

    @property
    def is_library(self) -> bool:
        """Whether the line is not the user's own code."""
        return "site-packages" in self.path or "dist-packages" in self.path or self.path.startswith("<")


class Explained(Struct, frozen=True):
    """
    What an error says: the framework, the check that failed, and what its message contains.

    `codes` are the rules about it, likeliest first. `node` is the operation that the tensor is now a result of, empty
    where the message has none. `parameter`: by its node, type and version the tensor is most likely a parameter.
    `late`: backward found what other releases refuse at the write.
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
    late: bool


class Wording(NamedTuple):
    """The words of a message, and the check that failed; `late`: backward says so."""

    framework: str
    check: str
    words: str
    late: bool


class _Hit(NamedTuple):
    """A known message in a text; of several the one that ends last counts, then the longest, then the most specific."""

    end: int
    length: int
    specific: int
    wording: Wording


def explain(text: str, rules: Sequence[Rule] = RULES) -> Explained | None:
    """Parse a traceback; None when it has no error about in-place operations. Of several errors the last counts."""
    hit = max(_hits(text), default=None) or max(_parts(text), default=None)
    if hit is None:
        return None
    name, check, _, late = hit.wording
    framework = facts.load(name, None).framework
    message = text[hit.end - hit.length :]
    output, tensor, versions = _OUTPUT.search(message), _SHAPE.search(message), _VERSIONS.search(message)
    node = output["node"] if output is not None else ""
    counted = None
    if versions is not None:
        counted = (int(versions["found"] or versions["found2"]), int(versions["wanted"] or versions["wanted2"]))
    parameter = framework.counts_steps and tensor is not None and _is_parameter(node, tensor)
    return Explained(
        name,
        framework.title,
        check,
        tuple(codes_of(name, check, rules, parameter=parameter)),
        node,
        tensor["shape"] if tensor is not None else "",
        counted,
        parameter,
        tuple(_frames(text)),
        late,
    )


def _hits(text: str) -> Iterator[_Hit]:
    for wording in wordings():
        for match in _pattern(wording.words).finditer(text):
            yield _Hit(match.end(), match.end() - match.start(), len(wording.words), wording)


def _parts(text: str) -> Iterator[_Hit]:
    """Yield the longest part of a message that a text has: people shorten messages, and type them with other quotes."""
    spoken = list(re.finditer(r"\w+", text))
    said = [word[0].casefold() for word in spoken]
    longest: dict[int, list[_Hit]] = {}
    for wording in wordings():
        message = re.findall(r"\w+", wording.words.casefold())
        run = SequenceMatcher(None, said, message, autojunk=False).find_longest_match()
        if run.size >= _PART:
            start, end = spoken[run.a].start(), spoken[run.a + run.size - 1].end()
            longest.setdefault(run.size, []).append(_Hit(end, end - start, -len(wording.words), wording))
    yield from longest.get(max(longest, default=0), [])


def wordings() -> Iterator[Wording]:
    """Yield each message that is known."""
    for name in facts.frameworks():
        framework = facts.load(name, None).framework
        yield from (Wording(name, check, words, False) for check, words in framework.says.items() if check != "no_grad")
        for heard, late in ((framework.heard, False), (framework.heard_late, True)):
            yield from (Wording(name, check, words, late) for check, several in heard.items() for words in several)


def _is_parameter(node: str, tensor: re.Match[str]) -> bool:
    """
    Return whether a changed tensor is most likely a parameter.

    That is a floating tensor which nothing computed, one that was copied to a replica of the model, or the transpose of
    a matrix, which a linear layer keeps.
    """
    if node and node not in _COPIED:
        return node in _TRANSPOSED and tensor["shape"].count(",") == 1
    return _NUMBERS.search(tensor["type"] or "") is not None


def describe(explained: Explained, say: Callable[[str], str] = str) -> Iterator[str]:
    """Yield the meaning of an error in plain words, line by line; `say` translates them."""
    if explained.check == STALE:
        yield from _stale(explained, say)
    elif explained.check == _FREED:
        yield from _freed(explained, say)
    else:
        yield _other(explained, say) or _refused(explained, say)
    user = [frame for frame in explained.frames if not frame.is_library]
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
    what = say(f"a tensor of shape [{explained.shape}]") if explained.shape else say("a tensor")
    yield say(f"{explained.title} kept {what} during the forward pass, because backward needs its value.")
    if explained.versions is not None:
        times = explained.versions[0] - explained.versions[1]
        often = say("once") if times == 1 else say(f"{times} times")
        yield say(f"After that, it was written in place {often}, and the old value is lost.")
    if explained.node:
        # PyTorch names the node that the tensor has when the error is raised, not the one that it had when it was kept.
        yield say(
            f"The tensor is now the output of `{explained.node}`: that is the operation that made it, "
            "which may have kept it, or the write."
        )
    if explained.parameter:
        what = say("the transposed weight of a linear layer" if explained.node in _TRANSPOSED else "a parameter")
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


def _refused(explained: Explained, say: Callable[[str], str]) -> str:
    """Say that a write was refused, and where it is: at the last line of the user's code, or before."""
    title = explained.title
    if explained.late:
        return say(
            f"{title} refused {_write(explained, say)}, but only in backward: the last line of the traceback "
            "is not the write, which ran before."
        )
    match explained.check:
        case "no_derivative":
            return say(f"{title} accepted an in-place call, and backward then found no derivative for it.")
        case "multi_view_base" | "no_grad_view_base" | "custom_view_base":
            return say(
                f"{title} refused to use a view, because its base or another view of it had been written in place: "
                "the last line of your code in the traceback is the use, and the write ran before."
            )
        case "shared":
            return say(
                f"{title} refused an in-place write to a tensor that shares its memory with another one, which later "
                "releases accept: the last line of your code in the traceback is the write, or the call that makes it."
            )
        case _:
            return say(
                f"{title} refused {_write(explained, say)}: the last line of your code in the traceback is the write, "
                "or the call that makes it."
            )


def _other(explained: Explained, say: Callable[[str], str]) -> str:
    """Say what was refused that writes no values; an empty text if it is a write."""
    title = explained.title
    match explained.check:
        case "inference_save":
            return say(
                f"{title} refused to track a tensor that was made in inference mode. Nothing is written in place: the "
                "last line of your code in the traceback is the operation that needs it."
            )
        case "flag":
            return say(
                f"{title} refused to change whether a computed tensor requires grad. Nothing is written in place: "
                "the last line of your code in the traceback sets the flag."
            )
        case "detach_view":
            return say(
                f"{title} refused to detach a view in place: the last line of your code in the traceback is the call."
            )
        case "keyword":
            return say(f"{title} has no such argument: the last line of your code in the traceback is the call.")
        case "parameter":
            return say(
                f"{title} refused to replace a parameter by a tensor: the last line of your code in the traceback is "
                "the assignment."
            )
        case "mixed":
            return say(
                f"{title} refused to compute with these dtypes together, in place or not: the last line of your code "
                "in the traceback is the operation."
            )
        case _:
            return ""


def _write(explained: Explained, say: Callable[[str], str]) -> str:
    rule = next((rule for rule in RULES if rule.code in explained.codes), None)
    return say(f"an in-place write ({rule.name})") if rule is not None else say("an in-place write")


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


def codes_of(framework: str, check: str, rules: Sequence[Rule] = RULES, *, parameter: bool) -> Iterator[str]:
    """Yield the codes of the rules with a finding for an event that is made for an error, the likeliest event first."""
    place = Place(Slice("", 1, 1), 0)
    write = Touch("", Site(place))
    flagged, owned = Touch("", Site(place), flag=place, module=True), Touch("", Site(place), param=True)
    events: list[Event] = []
    if check == STALE:
        touches = (owned, write, flagged) if parameter else (write, flagged, owned)
        events = [Stale(framework, write, one, None, frozenset()) for one in touches]
    elif check == _FREED:
        events = [Carried(framework, write, None, frozenset())]
    elif check in set(Failure):
        events = [Refused(framework, Failure(check), write, None, frozenset())]
    found = dict.fromkeys(rule.code for event in events for rule in rules if rule.judge(event) is not None)
    yield from found
    if check == Failure.SHAPE.value:  # a write that is too small for a batch is refused in the same words
        yield from (rule.code for rule in rules if rule.harm is Harm.AT_WRITE and rule.traced_as in found)


def _frames(text: str) -> Iterator[Frame]:
    forward = _FORWARD.search(text)
    # Anomaly mode prints the forward call first, and then the traceback of the error.
    end = text.find("Traceback (most recent call last)", forward.end()) if forward is not None else -1
    for match in _FRAME.finditer(text):
        is_forward = forward is not None and forward.end() < match.start() < (end if end >= 0 else len(text))
        yield Frame(match["path"], int(match["line"]), match["function"].strip(), is_forward)
