"""What the sides of conditions may lead to, as their statements show it: a write, what is written, what writes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import IntEnum
from typing import NamedTuple

from inplace_lint.domain.values import Three
from inplace_lint.effects.write_evidence import is_writing, lowered_may_write
from inplace_lint.ir import nodes as ir
from inplace_lint.ir.walk import walk

_ORDERS = frozenset({"<", "<=", ">", ">="})
Conditional = ir.If | ir.IfExp | ir.Assert | ir.BoolOp
PUTS = frozenset({"append", "appendleft", "insert", "extend"})  # methods that put items into a list


class Use(IntEnum):
    """What a side of a condition may lead to, the most likely last."""

    NOTHING = 0
    MAKE = 1  # something: an object that is constructed there may be made of it
    CHANGE = 2  # of what a write meets that comes after both sides
    LEAD = 3  # to what may write: a call of it, what comes after where the other side leaves, or what is written then
    WRITE = 4  # in the side itself


Sides = Iterator[tuple[tuple[int, bool], int, frozenset[str]]]


class Met(NamedTuple):
    """The variables in a function that its writes meet: what it writes, and lists of what may be written."""

    written: frozenset[str]
    lists: frozenset[str]


NOTHING_MET = Met(frozenset(), frozenset())


def met_in(body: Sequence[ir.Stmt]) -> Met:
    """Return the variables in statements that writes meet."""
    lists = frozenset(
        part.func.value.id
        for part in walk(body)
        if isinstance(part, ir.Call)
        and isinstance(part.func, ir.Attr)
        and part.func.name in PUTS
        and isinstance(part.func.value, ir.Name)
    )
    return Met(written_variables(body), lists)


def sides_in(body: Sequence[ir.Stmt], leading: frozenset[str], met: Met, *, goes_on: bool) -> Sides:
    """Return the sides of conditions in statements, with what each sets; it `goes_on` to what writes what is `met`."""
    following = [goes_on]
    for node in reversed(body):
        following.append(following[-1] or _leads((node,), leading))
    for position, node in enumerate(body):
        rest, after = body[position + 1 :], following[-position - 2]
        match node:
            case ir.If():
                yield from _sides_of_if(node, rest, leading, met, goes_on=after)
            case ir.Assert():
                yield (id(node), True), Use.WRITE if after else Use.NOTHING, _set_in(rest)
            case ir.For(body=inner) | ir.While(body=inner) | ir.With(body=inner) | ir.Try(body=inner):
                yield from sides_in(inner, leading, met, goes_on=following[-position - 1])
            case ir.FunctionDef() | ir.ClassDef():
                pass
            case _:
                for part in walk((node,)):
                    if isinstance(part, ir.IfExp):
                        for side, value in ((True, part.then), (False, part.orelse)):
                            use = (
                                Use.WRITE
                                if _leads((value,), leading)
                                else Use.CHANGE
                                if after or _reads((value,), met.lists)
                                else _made_in((value,))
                            )
                            yield (id(part), side), use, _set_in((node,))


def _sides_of_if(node: ir.If, rest: Sequence[ir.Stmt], leading: frozenset[str], met: Met, *, goes_on: bool) -> Sides:
    for side, block, other in ((True, node.body, node.orelse), (False, node.orelse, node.body)):
        left = leaves(other)
        writes = _leads(block, leading) or (left and goes_on)
        taken = (*block, *rest) if left else block
        changes = (goes_on and not leaves(block)) or _reads(block, met.lists)
        gives = changes and not met.written.isdisjoint(set_variables(block))
        uses = ((lowered_may_write(block), Use.WRITE), (writes or gives, Use.LEAD), (changes, Use.CHANGE))
        use = next((use for holds, use in uses if holds), None) or _made_in(taken)
        yield (id(node), side), use, _set_in(taken)
        yield from sides_in(block, leading, met, goes_on=goes_on)


def _made_in(body: Sequence[ir.Stmt | ir.Expr]) -> Use:
    """Return whether code may make something; what only raises makes nothing."""
    made = not isinstance(body[0], ir.Raise) if body else False
    return Use.MAKE if made and any(isinstance(part, ir.Call) for part in walk(body)) else Use.NOTHING


def _leads(body: Sequence[ir.Stmt | ir.Expr], leading: frozenset[str]) -> bool:
    """Return whether code may write a tensor, or names what does."""
    return lowered_may_write(body) or any(
        (isinstance(part, ir.Name) and part.id in leading) or (isinstance(part, ir.Attr) and part.name in leading)
        for part in walk(body)
    )


def _reads(body: Sequence[ir.Stmt | ir.Expr], names: frozenset[str]) -> bool:
    """Return whether code reads one of some variables."""
    return bool(names) and any(isinstance(part, ir.Name) and part.id in names for part in walk(body))


def leaves(body: Sequence[ir.Stmt]) -> bool:
    """Return whether control does not go from a block to what comes after it."""
    return bool(body) and (
        isinstance(body[-1], ir.Return | ir.Raise) or (isinstance(body[-1], ir.Jump) and body[-1].kind != "pass")
    )


def _set_in(body: Sequence[ir.Stmt]) -> frozenset[str]:
    """Return the attributes that statements set, and the methods in place that they call."""
    found: list[str] = []
    for part in walk(body):
        if isinstance(part, ir.Assign):
            found += [target.name for target in part.targets if isinstance(target, ir.Attr)]
        elif isinstance(part, ir.Call) and isinstance(part.func, ir.Attr) and part.func.name[-1] == "_":
            found.append(part.func.name)
    return frozenset(found)


def writing_side(node: ir.If) -> Three:
    """Return the side of an `if` that alone may write; None if both may, or none."""
    then, other = (lowered_may_write(block) for block in (node.body, node.orelse))
    return None if then is other else then


def refuses(node: Conditional, side: bool) -> bool:
    """Check whether a side of a condition does nothing but raise."""
    if isinstance(node, ir.If):
        block = node.body if side else node.orelse
        return bool(block) and isinstance(block[-1], ir.Raise)
    return isinstance(node, ir.Assert) and not side


def compares_numbers(test: ir.Expr) -> bool:
    """Check whether a condition, or a part of it, is a comparison with a number, or asks what is the larger one."""
    compared = [part for part in walk((test,)) if isinstance(part, ir.Compare)]
    numbers = (item for part in compared for item in part.rights if isinstance(item, ir.Const))
    return any(not _ORDERS.isdisjoint(part.ops) for part in compared) or any(
        type(number.value) in {int, float} for number in numbers
    )


def makes_parameters(body: Sequence[ir.Stmt], names: frozenset[str]) -> bool:
    """Check whether statements call what makes parameters: `self.window = nn.Parameter(window)`."""
    return any(
        (isinstance(func, ir.Name) and func.id in names) or (isinstance(func, ir.Attr) and func.name in names)
        for func in _called(body)
    )


def makes_writer(body: Sequence[ir.Stmt], writes: Callable[[str], bool]) -> bool:
    """Check whether statements call a class that `writes`: `self.attention = Attention(size)`."""
    return any(isinstance(func, ir.Name) and writes(func.id) for func in _called(body))


def written_attributes(bodies: Iterable[Sequence[ir.Stmt]]) -> frozenset[str]:
    """Return the attributes that some code writes in place: `self.weight.clamp_(0, 1)`, `self.count += 1`."""
    wholes = (whole for body in bodies for whole in _written(body))
    return frozenset(whole.name for whole in wholes if isinstance(whole, ir.Attr) and isinstance(whole.value, ir.Name))


def written_variables(body: Sequence[ir.Stmt]) -> frozenset[str]:
    """Return the variables that statements write in place: `x += y`, `x[0] = y`, `x.add_(y)`."""
    return frozenset(whole.id for whole in _written(body) if isinstance(whole, ir.Name))


def set_variables(body: Sequence[ir.Stmt]) -> frozenset[str]:
    """Return the variables that statements give another value."""
    targets = [target for part in walk(tuple(body)) if isinstance(part, ir.Assign) for target in part.targets]
    bound = tuple(target for target in targets if not isinstance(target, ir.Attr | ir.Subscript))
    return frozenset(part.id for part in walk(bound) if isinstance(part, ir.Name))


def _written(body: Sequence[ir.Stmt]) -> Iterator[ir.Expr]:
    """Yield what statements write in place, as a whole: `x` where `x[0]` is written."""
    for part in walk(tuple(body)):
        match part:
            case ir.Call(func=ir.Attr(value=written, name=called)) if is_writing(called):
                targets: tuple[ir.Expr, ...] = (written,)
            case ir.AugAssign(target=target):
                targets = (target,)
            case ir.Assign(targets=several):
                targets = tuple(target for target in several if isinstance(target, ir.Subscript))
            case _:
                continue
        yield from (target.value if isinstance(target, ir.Subscript) else target for target in targets)


def _called(body: Sequence[ir.Stmt]) -> Iterator[ir.Expr]:
    return (part.func for part in walk(body) if isinstance(part, ir.Call))
