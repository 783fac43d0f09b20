"""
Writes that count, but leave the values as the program knows them.

    x.transpose_(0, 0)              # an axis is exchanged with itself
    part = scores[ids]
    scores[:] = -inf
    scores[ids] = part              # puts back what was taken from this very place
    w.data.clamp_(min=0)            # a second time
    edges[..., -1] += 1e-6          # nobody who reads `edges` later can tell
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from inplace_lint.core.event import Spelling
from inplace_lint.domain import traits
from inplace_lint.domain.values import Const, Dotted, Sym, Value
from inplace_lint.interp.frame import text_of
from inplace_lint.ir import nodes as ir
from inplace_lint.ir.walk import walk
from inplace_lint.knowledge.guard import holds
from inplace_lint.knowledge.words import ShapeRule

if TYPE_CHECKING:
    from inplace_lint.domain.heap import Tensor, Write
    from inplace_lint.interp.transfer.op_call import Call

_AXES = 2
_NUDGE = 1e-4  # what is added against a division by zero, or to a last edge, is not more


def keeps_values(call: Call) -> bool:
    """Check whether a write leaves each element where and what it is, but for a nudge, or puts back what was there."""
    if call.spelled is Spelling.AGAIN:
        return _was_nudged(call)
    return _exchanges_nothing(call) or _nudges(call) or (call.spelled is Spelling.ITEM and _puts_back(call))


def _nudges(call: Call) -> bool:
    """Check whether a number is added or subtracted that is too small to be meant for its value."""
    args, framework = call.binding.op.args, call.facts.framework
    number = call.binding.values.get(args[1].name) if len(args) > 1 else None
    if type(number) is not Const or type(number.value) is not float or not -_NUDGE <= number.value <= _NUDGE:
        return False
    names = (f"{framework.tensor}.{framework.augmented[sign]}" for sign in "+-" if sign in framework.augmented)
    return any(call.binding.op in call.facts.forms(name) for name in names)


def _was_nudged(call: Call) -> bool:
    """Check whether the last write to the memory of an item was a nudge, by the augmented assignment to the item."""
    tensor = call.binding.tensor(call.binding.op.args[0].name)
    known = None if tensor is None else call.state.trait(traits.SETTLED, tensor.storage)
    if tensor is None or known is None or not known.nudge:
        return False
    return known.clock == call.state.storages[tensor.storage].writes[-1].clock


def keeps_slope(call: Call, part: str) -> bool:
    """
    Check whether a write changes values by what has no gradient: it hands on that of the result, all of it.

    Of an augmented assignment to an item, what puts the item back changes what the operator before it did.
    """
    if call.spelled is Spelling.AGAIN:
        given = (one for name in call.binding.given - {part} for _, one in call.binding.tensors(name))
        return any(one.steady for tensor in given for one in call.state.storages[tensor.storage].writes[-1:])
    hands = {one.of for one in call.binding.op.hands if not one.expanded and holds(one.condition, call.binding)}
    others = call.binding.given - {part}
    return part in hands and not any(one.rg for name in others for _, one in call.binding.tensors(name))


def _exchanges_nothing(call: Call) -> bool:
    returns = call.binding.op.returns
    fact = returns[0].shape if returns else None
    if fact is None or fact.rule is not ShapeRule.TRANSPOSE or len(fact.args) < _AXES:
        return False
    one, other = (call.binding.value(str(name)) for name in fact.args[-_AXES:])
    return one == other


def _puts_back(call: Call) -> bool:
    """Check whether an item is assigned the variable that is bound to it, by the same words, and to nothing else."""
    exprs, args, closure = call.binding.exprs, call.binding.op.args, call.frame.closure
    whole, value = exprs.get(args[0].name), exprs.get(args[-1].name)
    if not isinstance(value, ir.Name) or whole is None or closure is None:
        return False
    assignments = [node for node in walk(closure.function.body) if isinstance(node, ir.Assign)]
    targets = [target for node in assignments for target in node.targets]
    item = next((one for one in targets if isinstance(one, ir.Subscript) and one.value == whole), None)
    bound = [node.value for node in assignments if any(_is(target, value.id) for target in node.targets)]
    taken = bound[0] if len(bound) == 1 else None
    same = item is not None and isinstance(taken, ir.Subscript) and text_of(taken.value) == text_of(item.value) != ""
    return same and isinstance(taken, ir.Subscript) and item is not None and _is_same_key(taken.key, item.key)


def _is_same_key(one: ir.Expr, other: ir.Expr) -> bool:
    return isinstance(one, ir.Name) and isinstance(other, ir.Name) and one.id == other.id


def _is(target: ir.Expr, name: str) -> bool:
    return isinstance(target, ir.Name) and target.id == name


def record(call: Call, part: str, tensor: Tensor, write: Write) -> None:
    """Record a write, unless nothing counts it and it does once more what settled the memory: then nothing changes."""
    state, known = call.state, call.state.trait(traits.SETTLED, tensor.storage)
    given = tuple((name, call.binding.values[name]) for name in sorted(call.binding.given - {part}))
    settles = _settles(call, part) and all(_stays(call, value) for _, value in given)
    same = known is not None and (known.op, known.part, known.arguments) == (call.name, tensor.part, given)
    if same and settles and known is not None and not write.counted and _is_as_it_was(call, tensor, known):
        return
    state.write(tensor.storage, write)
    if settles or _nudges(call):
        settled = traits.Settled(call.name, tensor.part, given, state.clock, nudge=not settles)
        state.set_trait(traits.SETTLED, tensor.storage, settled)


def _settles(call: Call, part: str) -> bool:
    """
    Check whether a call changes nothing where it is repeated.

    IMPRECISE: what memory is multiplied with once and again is taken for a mask, if it is a tensor with axes.
    """
    framework = call.facts.framework
    factors = [factor for name in call.binding.given - {part} for _, factor in call.binding.tensors(name)]
    masks = call.name in framework.masks and bool(factors) and all(factor.rank != 0 for factor in factors)
    return masks or call.name in framework.settles


def _stays(call: Call, value: Value) -> bool:
    """Check whether an argument has one value only, or is a tensor, whose writes are known."""
    return isinstance(value, Const | Sym | Dotted) or call.state.tensor(value) is not None


def _is_as_it_was(call: Call, tensor: Tensor, known: traits.Settled) -> bool:
    """Check whether neither the memory nor an argument was written since."""
    tensors = [tensor, *(one for _, value in known.arguments for _, one in call.state.tensors_in(value))]
    writes = (write for one in tensors for write in call.state.storages[one.storage].writes)
    return all(write.clock <= known.clock for write in writes)
