"""What the sides of conditions do, as their statements show it: raise, make parameters or what writes, write."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from inplace_lint.effects.write_evidence import is_writing
from inplace_lint.ir import nodes as ir
from inplace_lint.ir.walk import walk

_ORDERS = frozenset({"<", "<=", ">", ">="})
Conditional = ir.If | ir.IfExp | ir.Assert | ir.BoolOp


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
    found: set[str] = set()
    for part in (part for body in bodies for part in walk(body)):
        match part:
            case ir.Call(func=ir.Attr(value=written, name=called)) if is_writing(called):
                targets: tuple[ir.Expr, ...] = (written,)
            case ir.AugAssign(target=target):
                targets = (target,)
            case ir.Assign(targets=several):
                targets = tuple(target for target in several if isinstance(target, ir.Subscript))
            case _:
                continue
        found.update(
            whole.name
            for target in targets
            for whole in (target.value if isinstance(target, ir.Subscript) else target,)
            if isinstance(whole, ir.Attr) and isinstance(whole.value, ir.Name)
        )
    return frozenset(found)


def _called(body: Sequence[ir.Stmt]) -> Iterator[ir.Expr]:
    return (part.func for part in walk(body) if isinstance(part, ir.Call))
