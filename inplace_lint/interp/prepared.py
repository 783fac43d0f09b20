"""
Objects whose methods are called in any order: one method is run after the others that set what it reads.

    def __init__(self): self.net = None
    def build(self): self.net = Linear(4, 4)
    def step(self, x): self.net(x)            # is run on None, and on what `build` leaves
"""

from __future__ import annotations

from itertools import islice

from inplace_lint.domain.state import State
from inplace_lint.domain.values import NONE, Bound, ClassValue, Closure, Const, Value
from inplace_lint.effects import schedule
from inplace_lint.effects.summary import Definition
from inplace_lint.interp import symbolic_args
from inplace_lint.interp.frame import Frame
from inplace_lint.interp.fuel import SETTERS
from inplace_lint.interp.interpreter import Interpreter


def prepared(
    interp: Interpreter, frame: Frame, made: tuple[State, Value], cls: ClassValue, item: Definition, method: Definition
) -> list[tuple[State, Value]]:
    """
    Return an instance on which other methods have set what a method reads, and its constructor left unset.

    A method that writes tensors or runs backward is left out: when a program calls it is not known.
    """
    state, receiver = made
    ready = False
    for other, names in islice(schedule.setters(item, method), SETTERS):
        instance = state.instance(receiver)
        unset = (
            () if instance is None else [name for name in names if isinstance(instance.attrs.get(name, NONE), Const)]
        )
        function = interp.lookup(state, cls, other.member)
        if not unset or not isinstance(function, Closure) or function.wrapper:
            continue
        arguments = symbolic_args.of_method(interp, state, function, cls)
        with interp.fuel.scope(paths=1):
            for after, _ in interp.call(frame, state.fork(), Bound(receiver, function), arguments, 0)[:1]:
                if after.freed == state.freed and all(
                    after.storages[key] == one for key, one in state.storages.items()
                ):
                    state, ready = after, True
    return [(state, receiver)] if ready else []
