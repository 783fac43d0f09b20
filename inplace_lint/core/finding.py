"""
What is reported to the user.

A rule makes a `Finding` from an event; suppression, reporters, fixes and confirmation use it. It has source positions
and sentences, and nothing of how it was found.
"""

from __future__ import annotations

from enum import Enum

from msgspec import Struct

from inplace_lint.core.span import Span


class Ranked(Enum):
    """A word of an ordered set; `rank` is 0 for the first, which is the worst or surest."""

    def __init__(self, _word: str) -> None:
        self.rank = len(type(self).__members__)


class Severity(Ranked):
    """How certain and how harmful: an error is always right, a warning needs an assumption, info is opinion."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


class Certainty(Ranked):
    """`always`: on every explored path; `sometimes`: on one; `unknown`: only under at least one assumption."""

    ALWAYS = "always"
    SOMETIMES = "sometimes"
    UNKNOWN = "unknown"


class Role(Enum):
    """What happened at a related place."""

    SAVE = "save"
    WRITE = "write"
    ALIAS = "alias"
    BACKWARD = "backward"


class Applicability(Enum):
    """Whether a fix may be applied without `--unsafe-fixes`, or only be shown."""

    SAFE = "safe"
    UNSAFE = "unsafe"
    DISPLAY = "display"


class Proof(Enum):
    """The result of running the flagged code on the real framework."""

    CONFIRMED = "confirmed"
    REFUTED = "refuted"
    NOT_REACHED = "not reached"
    COULD_NOT_RUN = "could not run"


class Verdict(Struct, frozen=True):
    """
    What `--confirm` found out about a finding.

    `confirmed`: the framework broke at this very write. `refuted`: the write ran after the save, a backward ran through
    both in training, and nothing failed. `not reached`: what was run shows neither. `could not run`: nothing ran to its
    end. `reason` is one line; `version` is empty where there is no framework; `spelled` is `name` in another language.
    """

    proof: Proof
    framework: str
    version: str
    device: str
    reason: str
    spelled: str = ""

    @property
    def where(self) -> str:
        """The framework and the device, as `torch 2.13.0 (cpu)`."""
        return f"{self.framework} {self.version} ({self.device})" if self.version else self.framework

    @property
    def name(self) -> str:
        """The verdict without its reason."""
        place = f" on {self.where}" if self.version else ""
        return self.spelled or f"{self.proof.value}{place}"

    @property
    def words(self) -> str:
        """The verdict in one line."""
        return f"{self.name}: {self.reason}"


class Edit(Struct, frozen=True):
    """A span of source text and its replacement; an empty span is an insertion."""

    span: Span
    content: str


class Fix(Struct, frozen=True):
    """
    Edits that remove a fault together, and the sentence that says what they do ("use `x = x + y`").

    `safe`: the tape showed that nothing else sees the written tensor and that its value stays the same. `display`:
    there is only the sentence.
    """

    applicability: Applicability
    message: str
    edits: tuple[Edit, ...]

    def applies(self, *, unsafe: bool) -> bool:
        """Return whether the fix may be applied; `unsafe`: unsafe fixes were requested."""
        return self.applicability is Applicability.SAFE or (unsafe and self.applicability is Applicability.UNSAFE)


class Related(Struct, frozen=True):
    """A place that takes part in a finding, and the sentence about it ("saved here: relu keeps its output")."""

    role: Role
    span: Span
    message: str


class Given(Struct, frozen=True):
    """
    A parameter of a function, by its file, the qualified name of the function and its own.

    Or what it holds under each of some keys, which may be attributes; the empty key means the parameter itself. No
    function: they are keys of something else that an entry point was given.
    """

    path: str
    function: str
    param: str
    keys: tuple[str, ...] = ("",)


class Asks(Struct, frozen=True):
    """
    Who can ask for the gradient that a finding assumes.

    Only a caller of the function or class `name` that was run alone, in the file `path`; nobody where that is empty,
    and anybody where it is None. `given` are the parameters from which the gradient would come. `records`: the write is
    refused only where gradients are recorded, and the question is whether somebody calls `name` there. `method` is the
    method, of the class `owner`, that was run alone, where nobody can ask through it if all calls of it run in
    evaluation, or lead to no training. `number`: the method returns one number, such as a loss.
    `ran`: what was run alone trains parameters itself, and the question is who trains through what it returns.
    `buffers`: it is a call of a module that has them and no parameters, and the question is what it is called on; where
    it would fail at the second step (`again`), a call has to be seen. `own`: what was run alone asks itself, before it
    returns. `computes`: its own parameters require grad, and only calls in evaluation ask for none.
    """

    path: str
    name: str | None
    given: tuple[Given, ...] = ()
    records: bool = False
    method: str = ""
    owner: str = ""
    number: bool = False
    ran: bool = False
    buffers: bool = False
    again: bool = False
    own: bool = False
    computes: bool = False


class Finding(Struct, frozen=True):
    """
    One fault at one primary place.

    `message` is lower case without a full stop, the fact first and the consequence second. `label` is printed under the
    carets ("written here"). `help` is the cure in one line; `says` is the error that the framework prints. `symbol` is
    the tensor as the user spelled it, `function` the enclosing qualified name. `more` counts related saves that were
    left out. `fix` is the cure as edits, where there is one. `assumptions` are sentences ("`x` requires grad").
    `options` are the arguments of the program with which it happens (`dropout=0.5`), as the message names them.
    `entry` says who can ask for the gradient that is assumed, where that is not settled.
    `gain` orders advice: the known factors of the number of elements that it spares. `worst` is the severity that it
    has if all that it assumes is so.
    """

    code: str
    name: str
    severity: Severity
    certainty: Certainty
    message: str
    span: Span
    label: str
    related: tuple[Related, ...] = ()
    more: int = 0
    symbol: str = ""
    op: str = ""
    function: str = ""
    framework: str = ""
    assumptions: tuple[str, ...] = ()
    help: str = ""
    says: str = ""
    fix: Fix | None = None
    verdict: Verdict | None = None
    entry: Asks | None = None
    gain: int = 0
    options: tuple[str, ...] = ()
    worst: Severity = Severity.ERROR

    @property
    def doubt(self) -> tuple[int, int, int]:
        """The key by which the surest of several findings is the lowest."""
        return doubt(self.severity, len(self.assumptions), self.certainty)

    @property
    def sentence(self) -> str:
        """The message, followed by the verdict where there is one: for formats with one line of text."""
        return self.message if self.verdict is None else f"{self.message} [{self.verdict.words}]"


def doubt(severity: Severity, assumptions: int, certainty: Certainty) -> tuple[int, int, int]:
    """Return a key that is lowest for the surest: the highest severity, then the fewest assumptions, then certainty."""
    return severity.rank, assumptions, certainty.rank
