"""
A second call of a method that is run alone, where the first one left something that the next one meets.

    def forward(self, x):
        h = self.fc(x)
        self.mean.mul_(0.9).add_(0.1 * h.mean(0))    # the buffer has the history of this call
        return h - self.mean                         # backward of the next call runs into it

    def push(self, x):
        self.frame.mul_(0.9).add_(x)
        self.frames.append(self.frame)               # the next call writes what is in the list
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from inplace_lint.core.event import Carried, Keeping, Snapshot
from inplace_lint.core.finding import Asks
from inplace_lint.domain import tape, traits
from inplace_lint.domain.heap import Tensor
from inplace_lint.domain.state import State
from inplace_lint.domain.values import Bound, ClassValue, Closure, Ref, Value
from inplace_lint.effects import may_write
from inplace_lint.effects.reachability import reachable
from inplace_lint.effects.summary import Definition
from inplace_lint.interp import losses
from inplace_lint.interp.call import module_registry
from inplace_lint.interp.found import Found, with_options
from inplace_lint.interp.frame import Frame
from inplace_lint.interp.interpreter import Interpreter
from inplace_lint.interp.options import method_arguments

Left = Sequence[tuple[State, Value | None]]  # what calls left: the receiver of each; None where there is none


def run(interp: Interpreter, frame: Frame, made: State, left: Left, cls: ClassValue, name: str) -> list[Found]:
    """
    Return what is found when a module is called once more after backward, where that freed what a buffer leads to.

    The module was called as it was `made`; the first of what these calls `left` that carries something is called on. It
    is assumed that nothing else detaches the buffer between two steps. Where a method does, nothing is run.
    """
    for state, receiver in left:
        method = interp.lookup(state, cls, name)
        if receiver is None or not isinstance(method, Closure):
            continue
        carrying = set(_carrying(made, state, receiver))
        if not carrying or carrying & _used_elsewhere(interp, state, receiver, name):
            continue
        again = state.fork()
        for buffer in sorted(carrying):
            again.assume(f"nothing detaches `{buffer}` between two steps")
        interp.fuel.start_root(again=True, paths=1)
        arguments = method_arguments.of_method(interp, again, method, cls)
        for after, returned in interp.call(frame, again, Bound(receiver, method), arguments, 0)[:1]:
            tape.next_step(after, interp.context.default().framework.name, losses.of_result(interp, after, returned))
            options = interp.context.coverage.words()
            found = [Found(event, 1, 1, options) for event in after.events if isinstance(event, Carried)]
            return with_options(found, Asks(interp.context.path, f"{cls.name}.{name}"))
    return []


def keep(interp: Interpreter, frame: Frame, made: State, left: Left, cls: ClassValue, name: str) -> list[Found]:
    """Return what is found when a method is called once more that stored what it writes, on objects as `made`."""
    found: list[Found] = []
    for state, receiver in left:
        method = interp.lookup(state, cls, name)
        if receiver is None or not isinstance(method, Closure) or method.wrapper:
            continue
        if not _stores_what_it_writes(made, state):
            continue
        again = state.fork()
        again.assume(f"`{name}` is called more than once")
        interp.fuel.start_root(again=True, paths=1)
        arguments = method_arguments.of_method(interp, again, method, cls)
        for after, _ in interp.call(frame, again, Bound(receiver, method), arguments, 0)[:1]:
            new = (event for event in after.events if event not in state.events and isinstance(event, Snapshot))
            found += [
                Found(event, 1, 1, interp.context.coverage.words())
                for event in new
                if event.how in {Keeping.AGAIN, Keeping.TWICE}
            ]
    return found


def _stores_what_it_writes(made: State, state: State) -> bool:
    """Check whether a call put memory into a container that is older than the call, and has written it."""
    for ref, kept in state.all_traits(traits.KEPT_FOR_LATER):
        thing = state.heap.get(ref)
        if kept.clock <= made.clock or not isinstance(thing, Tensor) or thing.storage > made.next_id:
            continue
        if any(write.clock > made.clock for write in state.storages[thing.storage].writes):
            return True
    return False


def _carrying(made: State, state: State, receiver: Value) -> Iterator[str]:
    """Yield the tensors of a module, no trained parameters, that a call wrote, with a history that is freed by now."""
    instance = state.instance(receiver)
    plain = () if instance is None else [(name, ref) for name, ref in instance.attrs.items() if isinstance(ref, Ref)]
    for name, ref in (*module_registry.state_of(state, receiver), *plain):
        tensor = state.tensor(ref) if made.tensor(ref) is not None else None
        numbers = () if tensor is None else tensor.nodes
        if any(state.nodes[one].write is not None and one in state.freed and one not in made.nodes for one in numbers):
            yield name.rpartition(".")[2]


def _used_elsewhere(interp: Interpreter, state: State, receiver: Value, called: str) -> set[str]:
    """Return the attributes that other methods of a module and its parts use, or other code of the file."""
    of_file = interp.context.outline.items
    found = {name for item in of_file if item.kind != "class" for name in item.attributes | item.sets}
    for _, part in module_registry.parts(state, receiver):
        instance = state.instance(part)
        if instance is not None and isinstance(instance.cls, ClassValue):
            found.update(
                *(other.attributes | other.sets for other in _others(interp.context.definitions(instance.cls), called))
            )
    return found


def _others(items: Sequence[Definition], called: str) -> Iterator[Definition]:
    """Yield the methods of a class that neither its constructor nor a call of an instance runs."""
    methods = [part for item in items for part in item.methods]
    run = reachable({called}, {part.member: part.attributes for part in reversed(methods)})
    run |= frozenset().union(*map(may_write.set_up_methods, items))
    return (part for part in methods if part.member not in run and part.name not in run)
