"""
Runs the context managers that the program defines: what they do before and after the body of a `with`.

    @contextmanager
    def evaluating(model):
        model.eval()
        with torch.no_grad():
            yield model      # the body runs here, without gradients
        model.train()

A generator runs up to its `yield`, where the body of the `with` runs, and then its rest; an object runs `__enter__` and
`__exit__`. However the body is left, the rest runs, and control goes on as the body left: an exception is raised at the
`yield`, or passed to `__exit__`, either of which may handle it.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from inplace_lint.domain import origins, traits
from inplace_lint.domain.state import State
from inplace_lint.domain.values import NONE, Bound, Closure, Dotted, Partial, Value
from inplace_lint.interp.call import closures
from inplace_lint.interp.control import path_condition
from inplace_lint.interp.frame import Arguments, Frame
from inplace_lint.interp.interpreter import Interpreter
from inplace_lint.interp.outcome import Flow, Outcome, Outcomes, Raised, taken

_PREFIXES = ("", "a")  # of `__enter__` and, for `async with`, `__aenter__`
Inside = Callable[[State, Value], Outcomes]


def run(interp: Interpreter, frame: Frame, state: State, value: Value, at: int, inside: Inside) -> Outcomes | None:
    """Run the body of a `with`, `inside`, by way of its manager; None where the program does not define that."""
    if isinstance(value, Partial) and isinstance(value.function, Closure) and value.function.manages:
        return _run_generator(interp, frame, state, value, value.function, at, inside)
    if state.instance(value) is not None:
        return _run_object(interp, frame, state, value, at, inside)
    return None


def _run_generator(
    interp: Interpreter, frame: Frame, state: State, value: Partial, closure: Closure, at: int, inside: Inside
) -> Outcomes | None:
    entering = closures.enter(interp, frame, state, closure, Arguments(value.args, value.keywords), at)
    if entering is None:
        return None
    key = entering.env.id

    def once(live: State, yielded: Value) -> list[State]:
        if live.has_trait(traits.LEFT_BODY, key):
            return [live]
        left = inside(live, yielded)
        for outcome in left:
            raises = outcome.flow is Flow.RAISE
            left_by = Flow.NEXT if raises else outcome.flow
            outcome.state.set_trait(traits.LEFT_BODY, key, (left_by, outcome.value))
        interp.fuel.raised.extend(outcome for outcome in left if outcome.flow is Flow.RAISE)
        return [outcome.state for outcome in left if outcome.flow is not Flow.RAISE]

    outcomes: Outcomes = []
    for outcome in interp.execute(replace(entering, inside=once), state, closure.function.body):
        body_left = outcome.state.trait(traits.LEFT_BODY, key)
        if outcome.flow is Flow.RAISE:
            outcomes.append(outcome)
        elif body_left is not None:
            flow, result = body_left
            assert isinstance(flow, Flow)
            outcomes.append(Outcome(outcome.state, flow, result))
        else:
            outcomes.extend(inside(outcome.state, NONE))
    return outcomes


def _run_object(
    interp: Interpreter, frame: Frame, state: State, value: Value, at: int, inside: Inside
) -> Outcomes | None:
    found = [(_method(interp, frame, state, value, f"__{prefix}enter__", at), prefix) for prefix in _PREFIXES]
    enter, prefix = next((pair for pair in found if pair[0] is not None), (None, ""))
    if enter is None:
        return None
    outcomes: Outcomes = []
    for after, entered in interp.call(frame, state, enter, Arguments(), at):
        with interp.fuel.listening():
            left = inside(after, entered)
        for outcome in left:
            leave = _method(interp, frame, outcome.state, value, f"__{prefix}exit__", at)
            if leave is None:
                outcomes.append(outcome)
                continue
            details = (NONE, NONE, NONE) if outcome.error is None else _details(outcome.state, outcome.error)
            for final, handles in interp.call(frame, outcome.state, leave, Arguments(details), at):
                # UNSOUND: where it cannot be told whether an exception is handled, it is not.
                if outcome.error is not None and path_condition.truth(final, handles):
                    outcomes.append(Outcome(final))
                else:
                    outcomes.append(Outcome(final, outcome.flow, outcome.value, outcome.error))
    return outcomes


def _details(state: State, error: Raised) -> tuple[Value, Value, Value]:
    """Return what `__exit__` is passed of an exception: its class, the exception itself and its traceback."""
    unknown = state.symbols.sym((origins.EXCEPTION, error.site.place.at, state.next_id))
    return error.cls or unknown, unknown, unknown


def _method(interp: Interpreter, frame: Frame, state: State, value: Value, name: str, at: int) -> Value | None:
    """Return a method that the program defines, or of which there is a fact; None for any other or none at all."""
    found = taken(state, interp.get_attribute(frame, state, value, name, at))
    function = found.function if isinstance(found, Bound) else found
    known = isinstance(function, Dotted) and isinstance(found, Bound) and interp.context.forms(function.name)
    return found if known or isinstance(function, Closure) else None
