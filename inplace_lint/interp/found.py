"""What was found from an entry point, on how many of its paths, and what it showed of the calls in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from inplace_lint.core.event import Carried, Escaped, Event, Failure, Performed, Refused, Stale
from inplace_lint.core.finding import Asks
from inplace_lint.domain.state import State
from inplace_lint.domain.values import ClassValue
from inplace_lint.effects import schedule
from inplace_lint.effects.summary import Definition
from inplace_lint.interp import gradients
from inplace_lint.interp.interpreter import Interpreter
from inplace_lint.interp.observed_calls import Entry
from inplace_lint.interp.outcome import Results
from inplace_lint.workspace import trainers

# What the framework refuses only where gradients are recorded.
_WHERE_RECORDED = frozenset(
    {
        Failure.LEAF,
        Failure.DIRTY_LEAF,
        Failure.LEAF_VIEW,
        Failure.MULTI_VIEW,
        Failure.MULTI_VIEW_BASE,
        Failure.NO_GRAD_VIEW,
        Failure.NO_GRAD_VIEW_BASE,
        Failure.CUSTOM_VIEW_BASE,
        Failure.INFERENCE_SAVE,
        Failure.OUT_GRAD,
        Failure.OUT_LEAF,
    }
)


class Found(Struct, frozen=True):
    """
    A breach found from one entry point, with the number of its paths that have it and of all its paths.

    `options` are the arguments on which the entry point was run instead of its defaults. `entry` says who can ask for
    the gradient that is assumed, where that is not settled: a caller of the entry point, `Class.method` for a method.
    `root` is the name of the entry point; empty for the module's own statements.
    """

    event: Event
    paths: int
    of: int
    options: tuple[str, ...] = ()
    entry: Asks | None = None
    root: str = ""

    @property
    def always(self) -> bool:
        """Whether every path of the entry point has it."""
        return self.paths == self.of


def collect(interp: Interpreter, results: Results, *, calls: bool = False) -> list[Found]:
    """
    Return the events of all paths, each once, with what is refused on paths that were dropped.

    Of an entry point that only `calls` others, and runs no backward, the classes that it used are still to be run.
    """
    entry, asks = _entry(interp)
    tries = not entry.item and interp.context.is_in_package()
    trains = interp.context.observed.end_root([state for state, _ in results], entry, asks=asks, tries=tries)
    if calls and not trains:
        interp.fuel.returned -= schedule.methods_of_classes(interp.context.outline) - interp.fuel.before
    counted = Counter(event for state, _ in results for event in _events(interp, state))
    aside = dict.fromkeys(
        event for state in interp.fuel.aside for event in _events(interp, state) if isinstance(event, Stale | Refused)
    )
    interp.listeners.finish([state for state, _ in results], bool(interp.fuel.cut))
    options = interp.context.coverage.words()
    found = [Found(event, count, len(results), options) for event, count in counted.items()]
    return [*found, *(Found(event, 1, len(results) + 1, options) for event in aside if event not in counted)]


def _entry(interp: Interpreter) -> tuple[Entry, bool]:
    """Return the entry point that is run, with whether its own code asks for a gradient."""
    root, method = interp.context.coverage.root, interp.context.coverage.method
    for item in interp.context.outline.items if root is not None else ():
        if item.slice == root:
            parts = [one for one in item.methods if one.member == method] if item.kind == "class" else [item]
            return Entry(item.name, method), any(map(trainers.asks, parts))
    return Entry("", ""), False


def _events(interp: Interpreter, state: State) -> Iterator[Event]:
    """Yield the events of a path that nothing on it refutes, as they are at its end."""
    return (gradients.settled(state, event) for event in state.events if not gradients.is_refuted(interp, state, event))


def with_callers(
    interp: Interpreter, found: list[Found], name: str, cls: ClassValue | None, asked: str, ran: str
) -> list[Found]:
    """
    Return what running a function, or a method of a class, found, with what only a caller of it can decide.

    Whether a gradient is asked for what it returns, where that is assumed, and whether gradients are recorded around
    it. `ran`: what is assumed where it runs a backward itself. After a step of its own, what it returns is used up.
    Around a module that a function only made, gradients are recorded where what the function returned is called.
    """
    if not name or (name.startswith("__") and name != "__call__"):
        return found
    entry = Asks(interp.context.path, name if cls is None else f"{cls.name}.{name}")
    recorded = replace(entry, records=True)
    called = replace(recorded, name=f"{name}.{interp.context.default().framework.calls}")
    again = replace(entry, method=name, owner="" if cls is None else cls.name, ran=True)
    made = [
        replace(one, entry=again)
        if ran and ran in one.event.assumptions and _is_stepped(one.event)
        else replace(one, entry=entry)
        if asked and (asked in one.event.assumptions or _is_refused_alone(one.event))
        else replace(one, entry=recorded if cls is not None or _runs_inside(interp, one.event) else called)
        if isinstance(one.event, Refused) and one.event.check in _WHERE_RECORDED
        else one
        for one in found
    ]
    return with_options(made, entry)


def with_options(found: list[Found], entry: Asks) -> list[Found]:
    """Return what was found of an entry point; an option may be passed only where no gradients are recorded."""
    computes = replace(entry, computes=True)
    return [
        replace(one, entry=computes)
        if one.entry is None and one.options and isinstance(one.event, Stale | Carried) and one.event.backward is None
        else one
        for one in found
    ]


def _runs_inside(interp: Interpreter, event: Refused) -> bool:
    """Check whether a write runs while the function runs that is the entry point, not when what it made is called."""
    site = event.write.site
    while site.caller is not None:  # the last is the call by the entry point
        if site.place.slice == interp.context.coverage.root:
            return True
        site = site.caller
    return False


def _is_stepped(event: Event) -> bool:
    """Check whether an event is a write of a parameter that backward needs."""
    return isinstance(event, Stale) and event.write.param


def _is_refused_alone(event: Event) -> bool:
    """Check whether an event is a write that is refused if a value from outside requires grad."""
    return isinstance(event, Refused) and gradients.is_assumed(event)


def is_opinion(event: Event) -> bool:
    """Check whether an event is told as an opinion alone, which says nothing of a gradient."""
    return isinstance(event, Performed) or (isinstance(event, Escaped) and event.read is None)


def named(interp: Interpreter, item: Definition, found: list[Found]) -> list[Found]:
    """Return what an entry point found, with its name where only a caller, or nobody, can ask for a gradient."""
    found = [replace(one, event=gradients.supposed(interp, one.event)) for one in found]
    passed = [gradients.is_passed_on(one.event) for one in found]
    rests = [gradients.is_assumed(one.event) for one in found]
    if not any(rests) and not any(passed):
        return found
    plain = gradients.is_plain(interp, item)
    rests = [assumed or (plain and through) for assumed, through in zip(rests, passed, strict=True)]
    entry = Asks(interp.context.path, item.name) if plain else None
    return [_asked(interp, one, entry) if asked else one for one, asked in zip(found, rests, strict=True)]


def of_method(
    interp: Interpreter, found: list[Found], name: str, cls: ClassValue, entry: str, *, returns: bool
) -> list[Found]:
    """
    Return what a method was found to do that a call of its object does not run, with who trains through it.

    If objects of its class are not called, all calls of it may run in evaluation: of a module, somebody has to be seen
    who trains; where its own parameters require grad, somebody who does not would have to be. If they are called, and
    it `returns` nothing but writes parameters, it is a step: what the object keeps of an earlier call has been trained
    through before.
    """
    if entry:
        nobody = Asks(interp.context.path, "")
        return found if returns else [replace(one, entry=nobody) if _is_own_step(one.event) else one for one in found]
    whole = f"{cls.name}.{name}" if interp.context.is_module(cls) is not None else None
    anybody = Asks(interp.context.path, whole, method=name, owner=cls.name)
    recording = replace(anybody, computes=True)
    asked = [(one, anybody if gradients.is_assumed(one.event) else recording) for one in found]
    return [replace(one, entry=asks) if asks is anybody or _is_of_caller(one.event) else one for one, asks in asked]


def _is_of_caller(event: Event) -> bool:
    """Check whether an event fails in a backward that whoever called the entry point runs, whatever is assumed."""
    return isinstance(event, Stale) and event.backward is None and not event.assumptions


def _is_own_step(event: Event) -> bool:
    """Check whether an event is a write of a parameter before a backward that the program itself does not run."""
    return _is_stepped(event) and isinstance(event, Stale) and event.backward is None


def of_number(found: list[Found]) -> list[Found]:
    """Return what a method was found to do that returns one number, such as a loss."""
    return [one if one.entry is None else replace(one, entry=replace(one.entry, number=True)) for one in found]


def of_loss(found: list[Found], path: str) -> list[Found]:
    """Return what a function of the file at a path was found to do that returns one number, such as a loss."""
    loss = Asks(path, None, number=True)
    return [replace(one, entry=loss) if one.entry is None and gradients.is_assumed(one.event) else one for one in found]


def of_stateless(interp: Interpreter, found: list[Found], name: str, *, buffers: bool) -> list[Found]:
    """
    Return what a call of a module without parameters was found to do, with the name of its class.

    Such a module may as well prepare data, with or without `buffers`, or keep what was computed before, to infer. One
    that calls an unknown one may have its parameters, unless that is made for this call.
    """
    users = Asks(interp.context.path, name, buffers=buffers)
    assumed = [gradients.is_assumed(one.event) or gradients.is_passed_on(one.event) for one in found]
    asked = [some and not gradients.has_trained(one.event) for one, some in zip(found, assumed, strict=True)]
    return [
        replace(one, entry=replace(users, again=buffers and isinstance(one.event, Carried))) if asks else one
        for one, asks in zip(found, asked, strict=True)
    ]


def _asked(interp: Interpreter, one: Found, entry: Asks | None) -> Found:
    """Return what was found with who can ask for the gradient that it assumes."""
    path, given = interp.context.path, gradients.given(interp, one.event)
    if gradients.by_nobody(one.event) or (not given and gradients.is_of_constructor(interp, one.event)):
        return replace(one, entry=Asks(path, ""))
    asks = entry or one.entry or (Asks(path, None) if given else None)
    own = one.entry or asks
    if asks is None or own is None:
        return one
    runs = isinstance(one.event, Stale) and one.event.backward is not None
    asks = replace(own, name=asks.name, path=asks.path, records=asks.records, given=given, own=runs)
    return replace(one, entry=asks)
