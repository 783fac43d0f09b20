"""
Context managers of the program: what they do before and after what stands inside the `with`.

    @contextmanager
    def evaluating(model):
        model.eval()
        with torch.no_grad():
            yield model      # what stands inside runs here, without gradients
        model.train()

A generator runs up to its `yield`, there what stands inside, and then its rest; an object runs `__enter__` and
`__exit__`. However what stands inside is left, the rest runs and control goes on as it was left.
"""

from __future__ import annotations

from collections.abc import Callable

from inplace_lint.core.records import replace
from inplace_lint.domain import traits
from inplace_lint.domain.state import State
from inplace_lint.domain.values import NONE, Bound, Closure, Partial, Value
from inplace_lint.interp.call import closures
from inplace_lint.interp.frame import Arguments, Frame
from inplace_lint.interp.interpreter import Interpreter
from inplace_lint.interp.outcome import Outcome, Outcomes

Inside = Callable[[State, Value], Outcomes]


def run(interp: Interpreter, frame: Frame, state: State, value: Value, at: int, inside: Inside) -> Outcomes | None:
    """Run what stands inside a `with` by way of its manager; None when that is none of the program."""
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
            outcome.state.set_trait(traits.LEFT_BODY, key, (outcome.flow, outcome.value))
        return [outcome.state for outcome in left]

    outcomes: Outcomes = []
    for outcome in interp.execute(replace(entering, inside=once), state, closure.function.body):
        left = outcome.state.trait(traits.LEFT_BODY, key)
        if left is not None:
            outcomes.append(Outcome(outcome.state, *left))
        else:
            outcomes.extend(inside(outcome.state, NONE))
    return outcomes


def _run_object(
    interp: Interpreter, frame: Frame, state: State, value: Value, at: int, inside: Inside
) -> Outcomes | None:
    enter = _method(interp, frame, state, value, "__enter__", at)
    if enter is None:
        return None
    outcomes: Outcomes = []
    for after, entered in interp.call(frame, state, enter, Arguments(), at):
        for outcome in inside(after, entered):
            leave = _method(interp, frame, outcome.state, value, "__exit__", at)
            if leave is None:
                outcomes.append(outcome)
                continue
            for final, _ in interp.call(frame, outcome.state, leave, Arguments((NONE, NONE, NONE)), at):
                outcomes.append(Outcome(final, outcome.flow, outcome.value))
    return outcomes


def _method(interp: Interpreter, frame: Frame, state: State, value: Value, name: str, at: int) -> Value | None:
    """Give a method that the program defines; None for one of a library or none at all."""
    for after, found in interp.get_attribute(frame, state, value, name, at)[:1]:
        if after is not state:
            state.become(after)
        function = found.function if isinstance(found, Bound) else found
        return found if isinstance(function, Closure) else None
    return None
