"""
What the evaluators announce while a program runs, for the checkers that listen.

An evaluator knows what happens (a value is stored, an op writes), a checker knows when that is a fault. Neither imports
the other: the evaluator announces what happens, and `assembly.py` subscribes the checkers.

    call.interp.listeners.write(call, part, ref, tensor)      # an evaluator: the framework lets this write pass

    write=to_all(kept_values.write, escaped.write),           # assembly.py: these two are called, in this order

A listener may report events and set the traits of checkers; nothing that it does changes what is evaluated.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, ParamSpec

from msgspec import Struct

from inplace_lint.core.event import Keeping, Site, Touch
from inplace_lint.core.span import Place
from inplace_lint.domain.heap import Tensor
from inplace_lint.domain.state import State
from inplace_lint.domain.values import NodeId, Ref, Sym, Value
from inplace_lint.interp.frame import Arguments, Frame
from inplace_lint.ir import nodes as ir

if TYPE_CHECKING:
    from inplace_lint.interp.interpreter import Interpreter
    from inplace_lint.interp.transfer.op_call import Call

Given = ParamSpec("Given")


class Listeners(Struct, frozen=True):
    """
    The callable of each announcement.

    Variables:

    * `bind(frame, state, name, value, source)`: an assignment has bound a variable; `source` is the expression on its
      right, None where the value is an item of that or of a loop.
    * `spread(state, values)`: several targets are about to be assigned these values, from the left to the right.
    * `turn(frame, state, target)`: a loop has bound its target for a turn.
    * `leave(interp, frame, state, node, since, made)`: a loop has come to its end on this path; it began at the clock
      `since`, when `made` was the next id.
    * `augment(interp, frame, state, node, old, result)`: `x += …` or `x.y += …` has been evaluated and is about to
      be set to the result, which is `old` itself where that was written in place.
    * `combine(interp, frame, state, node, result)`: the right side of an assignment has been evaluated, which is two
      values with an operator between them.

    Containers and attributes:

    * `store(state, place, value, held)`: a value is about to be put into a list or dict that was made before; `held`
      are the values that stay in it, where that matters.
    * `collect(state, place, value, held)`: a value is about to be an item of a list that is made here; `held` as above.
    * `put_again(state, receiver, index, value)`: a value is about to be put into a container of which nothing is known.
    * `gather(frame, state, at, exprs, values)`: a tuple, a list or a dict is about to be made of the values of these
      expressions, or an unknown call is passed them.
    * `yielded(state, place, value)`: a generator has yielded a value, and goes on before its caller uses it.
    * `repeat(state, items, place)`: a list is about to be made that holds each of these items several times.
    * `set_attribute(state, place, owner, value, source)`: a value is about to become an attribute of an object;
      `source` is the expression on the right, None where the value is an item of that.
    * `hand_over(state, value)`: a value is passed to a call of which nothing is known.
    * `called(frame, state, function, arguments, result, site)`: such a call has returned an unknown value.

    Calls of an op, each but `result` before anything of it has happened:

    * `read(call, part, expr, value)`: it reads this argument, and does not write it.
    * `compare(call)`: it returns a Python value that it computes from its arguments.
    * `record(call)`: it is about to be recorded on the tape.
    * `result(call, node, value)`: it has returned a value and written nothing; `node` is that on the tape.
    * `attempt(call, part, ref, tensor)`: it would write this tensor, if the framework does not refuse.
    * `write(call, part, ref, tensor)`: it writes this tensor; the framework has let it pass.

    Assignments to `data`:

    * `replace(interp, state, touch, tensor, value)`: a tensor is about to get the memory of another value.

    Entry points:

    * `give_back(state, value)`: one of its paths has returned a value, to a caller that is not known.
    * `finish(states, cut)`: its paths have come to their end; `cut`: some were not explored.

    Modules and their gradients:

    * `read_state(state, place, ref)`: a tensor of a module was returned as a part of its state.
    * `load_state(state, framework, read, pairs)`: a state is about to be written to a module: `pairs` are the values in
      it, each with the parameter or buffer that it is written to. `read` is the call.
    * `differentiate(state, framework, tensors)`: backward is about to run from these tensors.
    * `accumulate(state, framework, tensors, site, retain)`: it is about to add to the gradients of all leaves, and to
      free what it runs unless that is retained.
    * `step(frame, state, optimizer, site)`: an optimizer of which nothing is known is about to update parameters.
    * `change_gradients(interp, frame, state, write, owners, how)`: the gradients of these parameters are written
      in place: set to zero (`GRADIENT`), or added to by backward (`SUM`). `write` is the call.
    """

    bind: Callable[[Frame, State, str, Value, ir.Expr | None], None]
    spread: Callable[[State, Sequence[Value]], None]
    turn: Callable[[Frame, State, ir.Expr], None]
    leave: Callable[[Interpreter, Frame, State, ir.For | ir.While, int, int], None]
    augment: Callable[[Interpreter, Frame, State, ir.AugAssign, Value, Value], None]
    combine: Callable[[Interpreter, Frame, State, ir.Assign, Value], None]
    store: Callable[[State, Place, Value, tuple[Value, ...]], None]
    collect: Callable[[State, Place, Value, tuple[Value, ...]], None]
    put_again: Callable[[State, Value, Value, Value], None]
    gather: Callable[[Frame, State, int, Sequence[ir.Expr], Sequence[Value]], None]
    yielded: Callable[[State, Place, Value], None]
    repeat: Callable[[State, tuple[Value, ...], Place | None], None]
    set_attribute: Callable[[State, Place, Value, Value, ir.Expr | None], None]
    hand_over: Callable[[State, Value], None]
    called: Callable[[Frame, State, Value, Arguments, Sym, Site], None]
    read: Callable[[Call, str, ir.Expr, Value], None]
    compare: Callable[[Call], None]
    record: Callable[[Call], None]
    result: Callable[[Call, NodeId | None, Value], None]
    attempt: Callable[[Call, str, Ref, Tensor], None]
    write: Callable[[Call, str, Ref, Tensor], None]
    replace: Callable[[Interpreter, State, Touch, Tensor, Value], None]
    give_back: Callable[[State, Value], None]
    finish: Callable[[Sequence[State], bool], None]
    read_state: Callable[[State, Place, Ref], None]
    load_state: Callable[[State, str, Touch, Sequence[tuple[Value, Ref]]], None]
    differentiate: Callable[[State, str, Sequence[Tensor]], None]
    accumulate: Callable[[State, str, Sequence[Tensor], Site | None, bool], None]
    step: Callable[[Frame, State, Sym, Site], None]
    change_gradients: Callable[[Interpreter, Frame, State, Touch, Sequence[Ref], Keeping], None]


def to_all(*listeners: Callable[Given, None]) -> Callable[Given, None]:
    """Return a callable that calls the listeners in this order; a single one is returned as it is."""
    if len(listeners) == 1:
        return listeners[0]

    def announce(*args: Given.args, **kwargs: Given.kwargs) -> None:
        for listener in listeners:
            listener(*args, **kwargs)

    return announce
