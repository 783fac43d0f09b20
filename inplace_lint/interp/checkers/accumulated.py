"""
Reports sums that keep the history of every step, although backward has used it up.

    total = 0
    for x in loader:
        loss = net(x).mean()
        loss.backward()
        total += loss            # the graph of each step stays in memory, and nothing can run through it again
        total = total + loss     # likewise
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from inplace_lint.core.assumption import takes_for_tensor
from inplace_lint.core.event import Accumulated, Spelling, Touch
from inplace_lint.domain import tape, traits
from inplace_lint.domain.heap import Names, Tensor
from inplace_lint.domain.state import State
from inplace_lint.domain.values import Value
from inplace_lint.interp import gradients
from inplace_lint.interp.frame import Frame, text_of
from inplace_lint.interp.interpreter import Interpreter
from inplace_lint.ir import nodes as ir
from inplace_lint.ir.scopes import names_of
from inplace_lint.ir.walk import walk

_SCALES = frozenset({"*", "/"})
_SHIFTS = frozenset({"+", "-"})
_RUNS = "backward"


def augment(interp: Interpreter, frame: Frame, state: State, node: ir.AugAssign, _old: Value, result: Value) -> None:
    """Report `total += loss` where the history of one of them was used up by a backward."""
    if node.op == "+" and not isinstance(node.target, ir.Subscript):
        _check(interp, frame, state, node.at, node.target, node.value, result)


def combine(interp: Interpreter, frame: Frame, state: State, node: ir.Assign, result: Value) -> None:
    """Report `total = total + loss` likewise; of `mean = 0.9 * mean + 0.1 * loss` a backward may tell what is wrong."""
    sides, target = node.value, node.targets[0]
    if len(node.targets) > 1 or not isinstance(sides, ir.Binary) or not isinstance(target, ir.Name | ir.Attr):
        return
    if _takes(sides, target):
        _carry(interp, frame, state, node.at, target, result)
    for one, other in ((sides.left, sides.right), (sides.right, sides.left)):
        if sides.op == "+" and _is_same(one, target):
            _check(interp, frame, state, node.at, target, other, result)
            return


def _takes(expr: ir.Expr, target: ir.Name | ir.Attr) -> bool:
    """Check whether an expression is computed with a target, by operators alone."""
    if isinstance(expr, ir.Binary):
        return _takes(expr.left, target) or _takes(expr.right, target)
    return _is_same(expr, target)


def _is_same(one: object, target: ir.Name | ir.Attr) -> bool:
    return isinstance(one, ir.Name | ir.Attr) and type(one) is type(target) and text_of(one) == text_of(target)


def _carry(interp: Interpreter, frame: Frame, state: State, at: int, target: ir.Expr, result: Value) -> None:
    """Remember that an assignment hands the history of the old value on to the new one, as a write does."""
    tensor = state.tensor(result)
    if tensor is None:
        return
    for number in tensor.nodes:
        made = state.nodes[number]
        if made.write is None:
            state.nodes[number] = replace(made, write=_touch(interp, frame, at, target, tensor))


def _touch(interp: Interpreter, frame: Frame, at: int, target: ir.Expr, tensor: Tensor) -> Touch:
    framework = (interp.context.facts.get(tensor.framework) or interp.context.default()).framework
    return Touch(f"{framework.tensor}.+=", frame.site(at), "", text_of(target), Spelling.AUGMENTED)


def _check(
    interp: Interpreter, frame: Frame, state: State, at: int, target: ir.Expr, added: ir.Expr, result: Value
) -> None:
    tensor = state.tensor(result)
    if tensor is None or tensor.rg is False:
        return
    parts = [part for number in tensor.nodes for part in state.nodes[number].inputs if number not in state.freed]
    handed = state.trait(traits.HANDED, None) if isinstance(target, ir.Attr) else None
    if handed is not None and handed.resets:  # the call may have set the attribute anew
        parts = [part for part in parts if part >= handed.node]
    used = [part for part in parts if tape.is_used_up(state, part) and not takes_for_tensor(state.nodes[part].passes)]
    if (used or any(_used_up(frame, state, added))) and not _is_reset(interp, frame, at, target):
        touch = _touch(interp, frame, at, target, tensor)
        event = Accumulated(tensor.framework, touch, state.assumptions)
        why = state.nodes[used[0]].assumptions if used else frozenset[str]()
        if not gradients.is_refuted(interp, state, replace(event, assumptions=why)):  # a setting has no history
            state.report(event)


def _is_reset(interp: Interpreter, frame: Frame, at: int, target: ir.Expr) -> bool:
    """
    Check whether a sum keeps little: the innermost loop around it sets it anew, as after some steps.

    A variable of a function in which no loop is around the sum is gone when the function returns.
    """
    around: tuple[ir.Node, ...] = ()
    counters = frozenset[str]()

    def same(one: object) -> bool:
        return isinstance(one, ir.Name | ir.Attr) and text_of(one) == text_of(target)

    for part in walk(interp.context.body(frame)):
        if isinstance(part, ir.For | ir.While):
            inside = tuple(walk(part.body))
            if any(getattr(one, "at", None) == at for one in inside):
                around, counters = inside, frozenset(names_of(part.target) if isinstance(part, ir.For) else ())
    if _ends_once(around, counters):
        return True
    if not around and frame.closure is not None and isinstance(target, ir.Name):
        return target.id in frame.closure.function.local
    return any(
        isinstance(part, ir.Assign)
        and any(map(same, part.targets))
        and not any(same(one) for one in walk((part.value,)))
        for part in around
    )


def _ends_once(around: tuple[ir.Node, ...], counters: frozenset[str]) -> bool:
    """
    Check whether all backwards in a loop run in one of its turns only, such as the last: a counter has one value there.

        if step == len(loader) - 1: total.backward()
    """
    once = [part for part in around if isinstance(part, ir.If) and _is_one_turn(part.test, counters)]
    inside = {id(one) for part in once for one in walk(part.body)}
    return bool(once) and all(id(one) in inside for one in around if isinstance(one, ir.Attr) and one.name == _RUNS)


def _is_one_turn(test: ir.Expr, counters: frozenset[str]) -> bool:
    """Check whether a test compares the counter of a loop, or what is added to it, with one value."""
    if not isinstance(test, ir.Compare) or test.ops != ("==",):
        return False
    parts = [tuple(walk((side,))) for side in (test.left, *test.rights)]
    counted = [any(isinstance(one, ir.Name) and one.id in counters for one in side) for side in parts]
    plain = not any(isinstance(one, ir.Binary) and one.op not in _SHIFTS for side in parts for one in side)
    return counted.count(True) == 1 and plain


def _used_up(frame: Frame, state: State, expr: ir.Expr) -> Iterator[bool]:
    """Yield of each variable that is added, or a multiple of which is, whether a backward ran from it."""
    scope = state.heap[frame.env.id]
    match expr:
        case ir.Name(_, name) if isinstance(scope, Names):
            value = scope.values.get(name)
            ref = None if value is None else state.ref(value)
            yield ref is not None and state.has_trait(traits.USED_UP, ref.id)
        case ir.Binary(_, op, left, right) if op in _SCALES:
            yield from _used_up(frame, state, left)
            yield from _used_up(frame, state, right)
        case _:
            return
