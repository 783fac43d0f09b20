"""
Reports writes to memory that overlaps, which the framework carries out without noticing.

    a[:, 1:] = a[:, :-1]            # the views have gaps: each element is set from one that was set before
    masks = mask.expand(8, -1)
    masks[0] = 1                    # all eight rows are one in memory
    x.unfold(0, 4, 1).mul_(2)       # what several windows share is doubled once for each of them
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from inplace_lint.core.event import Accepted, Failure, Spelling
from inplace_lint.interp.transfer import overlap
from inplace_lint.knowledge.words import Check

if TYPE_CHECKING:
    from inplace_lint.domain.heap import Tensor
    from inplace_lint.domain.values import Ref
    from inplace_lint.interp.transfer.op_call import Call

_ARITHMETIC = ("+", "-", "*", "/", "//", "%", "**")  # what an element becomes is another value if it is done twice


def write(call: Call, part: str, _: Ref, tensor: Tensor) -> None:
    """Report a write that changes more than it names, or that reads what it has already overwritten."""
    if call.spelled is Spelling.AGAIN or call.state.modes.compiled:
        return  # compiled code has values and no memory
    fact = next(fact for fact in call.binding.op.writes if fact.to == part)
    index = call.binding.value(call.binding.op.args[1].name) if fact.moves else None
    dense, is_broadcast = call.facts.framework.copies_gaps, Check.BROADCAST in fact.checks
    if overlap.spreads(call.state, tensor.part, index):
        _report(call, part, tensor, Failure.OVERLAP)
    elif not fact.moves and overlap.in_windows(tensor.part) and _is_arithmetic(call):
        _report(call, part, tensor, Failure.WINDOWS_OVERLAP)
    elif (dense and is_broadcast) or (Check.OPERANDS in fact.checks and (fact.moves or is_broadcast)):
        written = overlap.step(call, fact.moves, tensor) if fact.moves else tensor.part
        base = tensor if tensor.base is None else call.state.tensor(tensor.base)
        for name in call.binding.given - {part}:
            for _, other in call.binding.tensors(name):
                late = other.storage == tensor.storage and overlap.reads_late(
                    written,
                    other.part,
                    None if base is None else base.sizes,
                    call.state.symbols,
                    again=_is_arithmetic(call),
                    dense=dense,
                )
                if late is not False:
                    _report(call, part, tensor, Failure.OPERANDS_OVERLAP, near=late is None)
                    return


def _is_arithmetic(call: Call) -> bool:
    """Check whether a call computes what an operator of numbers does, in place or not."""
    framework, rows = call.facts.framework, call.facts.rows
    methods = (table.get(token) for table in (framework.augmented, framework.binary) for token in _ARITHMETIC)
    named = [row for name in (call.name, call.name.removesuffix("_")) for row in rows.get(name, ())]
    return any(row in named for method in methods for row in rows.get(f"{framework.tensor}.{method}", ()))


def _report(call: Call, part: str, tensor: Tensor, check: Failure, *, near: bool = False) -> None:
    touch = call.touch(part, call.binding.exprs.get(part), tensor)
    origin = tensor.made.site if tensor.made is not None else None
    assumptions = call.doubt | tensor.doubt | call.state.assumptions | ({overlap.NEAR} if near else set())
    call.state.report(Accepted(call.facts.framework.name, check, touch, origin, assumptions, compiled=False))
