"""
Pending constructors: an instance is constructed only when the program reads a part of it.

    self.head = Head(dim)       # pending
    self.head(x)                # the constructor runs now, then the call
"""

from __future__ import annotations

from inplace_lint.domain.state import State
from inplace_lint.domain.values import Ref, Value
from inplace_lint.interp.call import module_registry
from inplace_lint.interp.frame import Frame
from inplace_lint.interp.interpreter import Interpreter


def constructed_paths(interp: Interpreter, frame: Frame, state: State, value: Value) -> list[State]:
    """Run the constructor of an instance if it is pending, and return the paths after it."""
    instance = state.instance(value)
    if not isinstance(value, Ref) or instance is None or instance.pending is None:
        return [state]
    return interp.construct_pending(frame, state, value, 0)


def construct_all_pending(interp: Interpreter, frame: Frame, state: State, value: Value, at: int) -> None:
    """Run the pending constructors of a module and all below it, each on its first path."""
    waiting = [value]
    seen: set[Value] = set()
    while waiting:
        ref = waiting.pop()
        instance = state.instance(ref)
        if instance is None or not isinstance(ref, Ref) or ref in seen:
            continue
        seen.add(ref)
        if instance.pending is not None:
            for after in interp.construct_pending(frame, state, ref, at)[:1]:
                if after is not state:
                    state.become(after)
            instance = state.instance(ref)
        if instance is not None:
            waiting.extend(child for _, child in module_registry.direct(state, instance))
