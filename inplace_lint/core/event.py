"""
Breaches: what happened to memory and autograd that a user would not want.

The interpreter and the run-time trace emit the same events, so one rule set judges both. An event names places, not
positions, and carries what had to be assumed for it to happen; without assumptions it happens on a feasible path.
"""

from __future__ import annotations

from typing import NamedTuple

from msgspec import Struct

from inplace_lint.core.span import Place
from inplace_lint.core.word import Word


class Spelling(Word):
    """How a write is spelled: `f(x)`, `x += y`, `x[i] = y`, or `x[i] += y`, which assigns its result once more."""

    CALL = "call"
    AUGMENTED = "augmented"
    ITEM = "item"
    AGAIN = "again"


class Keeping(Word):
    """How the program keeps a value that a write changes."""

    CONTAINER = "container"
    RETURNED = "returned"
    DETACHED = "detached"
    HOOK = "hook"
    AVERAGE = "average"
    STATE = "state"
    MODEL = "model"
    WEIGHTS = "weights"
    BESIDE = "beside"
    AGAIN = "again"
    TWICE = "twice"
    ITEM = "item"
    REPEATED = "repeated"
    KEYS = "keys"
    DEFAULT = "default"
    CACHED = "cached"
    GRADIENT = "gradient"
    SUM = "sum"


class Failure(Word):
    """The check of the framework that a write, or backward through it, fails."""

    LEAF = "leaf"
    DIRTY_LEAF = "dirty_leaf"
    LEAF_VIEW = "leaf_view"
    EARLY_VIEW = "early_view"
    MULTI_VIEW = "multi_view"
    MULTI_VIEW_BASE = "multi_view_base"
    NO_GRAD_VIEW = "no_grad_view"
    NO_GRAD_VIEW_BASE = "no_grad_view_base"
    INFERENCE = "inference"
    INFERENCE_VIEW = "inference_view"
    INFERENCE_SAVE = "inference_save"
    OVERLAP = "overlap"
    OPERANDS_OVERLAP = "operands_overlap"
    WINDOWS_OVERLAP = "windows_overlap"
    SHAPE = "shape"
    CAST = "cast"
    MIXED = "mixed"
    RESIZE = "resize"
    DETACH_VIEW = "detach_view"
    NO_DERIVATIVE = "no_derivative"
    FLAG = "flag"
    OUT_GRAD = "out_grad"
    OUT_LEAF = "out_leaf"
    CUSTOM_VIEW = "custom_view"
    CUSTOM_VIEW_BASE = "custom_view_base"
    HOOKED_VIEW = "hooked_view"
    DIRTY = "dirty"
    BATCHED = "batched"
    CAPTURED = "captured"
    KEYWORD = "keyword"
    PARAMETER = "parameter"
    OPERAND = "operand"
    EXPANDED = "expanded"
    FREED = "freed"


class Site(NamedTuple):
    """A place that was executed, and the call that led there."""

    place: Place
    caller: Site | None = None


class Reading(NamedTuple):
    """The places that read values from before, and the names of the variables and attributes that hold these."""

    sites: tuple[Site, ...]
    names: frozenset[str]


class Touch(Struct, frozen=True):
    """
    One access to a tensor: a save, a write or a read.

    `op` is the canonical name of the call; `part` which of its tensors is meant (an argument name, `out0`,
    `self.weight`); `symbol` how the user spelled the tensor, if he did; `spelled` how the write was spelled.
    `flag` is the expression that decides that a module or function writes at all (`inplace=True`), `module` whether
    the writer is a module that was constructed with it. `built`: a container ran the module, so that the site is where
    the module was constructed, and its caller where the container was called. `dropped`: the call is a statement, so
    that writing is all that it is for.
    """

    op: str
    site: Site
    part: str = ""
    symbol: str = ""
    spelled: Spelling = Spelling.CALL
    flag: Place | None = None
    module: bool = False
    param: bool = False
    producer: str = ""
    built: bool = False
    dropped: bool = False


class _Needed(Struct, frozen=True):
    """
    `write` changed what `save` kept, or read, before `backward` needs it; that is None where it is not known.

    `read`: of a parameter that was written, what reads after the write what was computed before it, if the loss trains
    others on other ways; without the history of these values, backward would not need what `save` kept.
    """

    framework: str
    save: Touch
    write: Touch
    backward: Site | None
    assumptions: frozenset[str]
    read: Reading | None = None


class Stale(_Needed, frozen=True):
    """Backward needs what `save` kept, but `write` overwrote it."""


class Untracked(_Needed, frozen=True):
    """Backward uses what `save` kept, and `write` changed it behind the version counter; `array`: through an array."""

    array: bool = False


class Recomputed(_Needed, frozen=True):
    """Backward runs a function again that read `save` from outside its arguments, and `write` has changed that."""


class _Checked(Struct, frozen=True):
    """The framework checks `write` before it carries it out; `origin` is where the tensor was made."""

    framework: str
    check: Failure
    write: Touch
    origin: Site | None
    assumptions: frozenset[str]


class Refused(_Checked, frozen=True):
    """The framework refuses `write` by `check` (leaf, leaf_view, multi_view, …)."""


class Accepted(_Checked, frozen=True):
    """
    The framework carries out `write` to memory that overlaps, with other values than it spells.

    `check` says what overlaps. `compiled`: only compiled code carries it out; as it stands, `check` refuses it.
    """

    compiled: bool = True


class Clobbered(Struct, frozen=True):
    """
    `write` changed a tensor that `read` reads afterwards under the other name `other`, bound before the write.

    `together`: both are parts of one assignment to several targets. `within`: `other` is the name that was written, in
    an expression that uses the result as another value.
    """

    framework: str
    write: Touch
    read: Touch
    other: str
    assumptions: frozenset[str]
    together: bool = False
    within: bool = False


class Snapshot(Struct, frozen=True):
    """
    `write` changed a value that the program keeps: `how` it is kept.

    `kept` is the place where it was put away, `read` the access that then sees the change, where there is one.
    `array`: what was put away is an array of another library, on the memory of a tensor.
    """

    framework: str
    how: Keeping
    write: Touch
    kept: Place | None
    read: Touch | None
    assumptions: frozenset[str]
    array: bool = False


class Lost(Struct, frozen=True):
    """
    A gradient flows past `write`, which changed a value while nothing was recorded.

    `read` is the first use of the new value; None when backward starts from it. `beside`: the write went through a
    detached view, which shares the memory and has no part in the history. `of_slope`: the gradient that is lost is that
    of a gradient, which was made for it. `starves`: that of parameters of an optimizer, which get none otherwise.
    """

    framework: str
    write: Touch
    read: Touch | None
    assumptions: frozenset[str]
    beside: bool = False
    of_slope: bool = False
    starves: bool = False


class Escaped(Struct, frozen=True):
    """
    `write` changed a tensor that the function was passed as `argument`.

    `read` is the access of a caller that then sees the change, where one is known.
    """

    framework: str
    write: Touch
    argument: str
    read: Touch | None
    assumptions: frozenset[str]


class Carried(Struct, frozen=True):
    """
    `write` put a history into a tensor that outlives a step, and the `backward` of a later step ran into it.

    `trains`: something is trained only through such writes.
    """

    framework: str
    write: Touch
    backward: Site | None
    assumptions: frozenset[str]
    trains: bool = False


class _Written(Struct, frozen=True):
    """A fault that is known by `write` alone."""

    framework: str
    write: Touch
    assumptions: frozenset[str]


class Ignored(_Written, frozen=True):
    """A write that has no effect where the function is compiled as a whole: only what a statement binds is kept."""


class Misdeclared(_Written, frozen=True):
    """`write` declares an operator by a schema that does not parse: `problem` says where."""

    problem: str


class LostUpdate(_Written, frozen=True):
    """
    An augmented assignment bound a variable anew, and the parameter behind it keeps its value.

    Or, with `copy`, a write went to a copy that nothing reads: `written` is how an assignment to the elements that it
    was copied from is spelled, empty where no index made it.
    """

    copy: bool = False
    written: str = ""


class Accumulated(_Written, frozen=True):
    """`write` added a value to a sum whose history, or that of the value, was used up by a backward."""


class Altered(_Written, frozen=True):
    """
    `write`, in a backward or a hook, changed the gradient that it was given; `shared` handed that to others, too.

    `returned`: the function returns a gradient; otherwise writing is how it changes the one that it was given.
    """

    shared: Site | None
    returned: bool


class Performed(_Written, frozen=True):
    """A write in the call of a module, whatever comes of it."""


class Spared(_Written, frozen=True):
    """
    A call that writes nothing would, in place, spare memory; `write` is the call as it stands.

    `place` is where the flag belongs that makes it write: at the call, or where its module was constructed. `result` is
    the size of its result in words. `elements` are the known factors of that size. `recorded`: the input would not be
    kept for backward; otherwise nothing is recorded, and only the peak falls. With assumptions it is not certain that
    the program computes the same.
    """

    place: Place
    result: str
    elements: int
    recorded: bool


Event = (
    Stale
    | Refused
    | Untracked
    | Recomputed
    | Accepted
    | Clobbered
    | Snapshot
    | Lost
    | Ignored
    | Misdeclared
    | Escaped
    | LostUpdate
    | Carried
    | Accumulated
    | Altered
    | Performed
    | Spared
)
