"""What a call says of the dtypes and devices of its operands, and of the device of its result."""

from __future__ import annotations

from msgspec.structs import replace

from inplace_lint.domain import traits
from inplace_lint.domain.heap import ListObject, Tensor
from inplace_lint.domain.state import State
from inplace_lint.domain.values import NONE, Const, Dotted, Sym, Tuple, Value
from inplace_lint.interp.control import path_condition
from inplace_lint.interp.transfer.binding import Binding
from inplace_lint.interp.transfer.op_call import Call
from inplace_lint.interp.transfer.tensor_types import devices, dtypes
from inplace_lint.ir import nodes as ir
from inplace_lint.knowledge.framework import Framework
from inplace_lint.knowledge.op import ReturnFact
from inplace_lint.knowledge.words import ShapeRule

_DEVICE = "device"  # the argument that asks for one
_LOWER = "lower"  # the dtype that autocast computes in


def note_dtypes(call: Call) -> None:
    """
    Take operands of an unknown dtype for floating ones where a call refuses others beside what it gets.

        h = self.fc(x)      # the weight is floating, and so is `x`
    """
    layer = call.binding.instance is not None
    if not layer and call.binding.op.name not in call.facts.framework.autocast:
        return
    if any(tensor.dtype == "float" and (tensor.param or not layer) for _, tensor in call.grads):
        for given, view in call.grads:
            for ref in (given, view.base):
                tensor = None if ref is None else call.state.tensor(ref)
                if ref is not None and tensor is not None and tensor.dtype == "unknown":
                    call.state.put(ref, replace(tensor, dtype="float"))


def dtype_of_new(binding: Binding, framework: Framework, fact: ReturnFact, operands: list[Tensor]) -> dtypes.Kind:
    """Return the dtype of a new result: a requested one, that of its fact, or what the operands are promoted to."""
    requested = _requested(binding)
    if requested is not None:
        return requested
    if fact.dtype == "other":
        asked = binding.tensor("other")
        return dtypes.UNKNOWN if asked is None else dtypes.Kind(asked.dtype, asked.exact)
    if fact.dtype == "float" and fact.leaf:
        return dtypes.default(binding.state, framework.default_dtype)
    if fact.dtype not in {"same", "fraction", "count"}:
        own = dtypes.named(Const(binding.op.name))  # `Tensor.half` is called like its dtype
        return own if own is not None and own.kind == fact.dtype else dtypes.Kind(fact.dtype)
    common = _common(binding, framework, operands)
    if common.kind not in dtypes.WHOLE or fact.leaf:
        return common
    if fact.dtype == "fraction":
        return dtypes.default(binding.state, framework.default_dtype)
    others = [binding.values[name] for name in binding.given if not binding.tensors(name)]
    if fact.dtype == "count":
        return dtypes.Kind("int")
    if all(isinstance(value, Const) and not isinstance(value.value, float) for value in others):
        whole = any(type(value.value) is int for value in others if isinstance(value, Const))
        return dtypes.UNKNOWN if whole and common.kind == "bool" else common
    return (
        dtypes.Kind("float")
        if any(isinstance(v, Const) and isinstance(v.value, float) for v in others)
        else dtypes.UNKNOWN
    )


def _common(binding: Binding, framework: Framework, operands: list[Tensor]) -> dtypes.Kind:
    """Return the dtype that the operands are promoted to: floating if any of them is."""
    kinds = {tensor.dtype for tensor in operands}
    if len(kinds) == 1 and "float" not in kinds:
        return dtypes.Kind(kinds.pop())
    kind = next((kind for kind in ("complex", "float", "unknown") if kind in kinds), "int" if kinds else "unknown")
    floats = {tensor.exact for tensor in operands if tensor.dtype in {"float", "unknown"}}
    if kind == "float" and binding.op.name in framework.autocast:
        if binding.state.modes.autocast:
            return dtypes.Kind(kind, _LOWER)
        floats = floats - {""} or floats  # outside of autocast these refuse operands of different dtypes
    return dtypes.Kind(kind, floats.pop() if kind == "float" and len(floats) == 1 else "")


def dtype_of_view(binding: Binding, fact: ReturnFact, source: Tensor) -> dtypes.Kind:
    """Return the dtype of a view; a cast to whole numbers that gives the tensor itself shows that this holds such."""
    own = dtypes.Kind(source.dtype, source.exact) if fact.dtype == "same" else dtypes.Kind(fact.dtype)
    found = _requested(binding) or own
    if fact.kind == "maybe" and found.kind in dtypes.WHOLE:
        binding.state.set_trait(traits.WHOLE_NUMBERS, source.storage, True)
    return found


def _requested(binding: Binding) -> dtypes.Kind | None:
    """
    Return the dtype that a `dtype` argument requests, or one in the place of a shape; None if there is none.

    One that a text chose is unknown: `DTYPES[header["dtype"]]` is that of the path, which the data may never take.
    """
    given = [binding.values[name] for name in ("dtype", "args") if name in binding.given]
    flat = devices.flat(given)
    sizes = binding.values.get("shape")
    asked = [size for size in sizes.items if isinstance(size, Dotted)] if isinstance(sizes, Tuple) else []
    for value in (*flat, *asked):
        kind = dtypes.named(value)
        if kind is not None:
            chosen = isinstance(binding.exprs.get("dtype"), ir.Name | ir.Subscript)
            return dtypes.UNKNOWN if chosen and path_condition.takes_text(binding.state) else kind
    return dtypes.UNKNOWN if any(_may_be_dtype(binding.state, value) for value in flat) else None


def _may_be_dtype(state: State, value: Value) -> bool:
    """Check whether an argument may request a dtype: a tensor requests its own, sizes request none."""
    if isinstance(value, Sym):
        return value.kind not in {"number", "sequence"}
    return not isinstance(value, Const | Tuple) and not isinstance(state.object(value), ListObject)


def device_of_view(call: Call, source: Tensor) -> int:
    """Return the number of what shares the memory of a tensor, or may be a copy of it on the device it is moved to."""
    binding = call.binding
    if binding.op.name in call.facts.framework.moves:
        others = [binding.values[one.name] for one in binding.op.args[1:] if one.name in binding.given]
        number = devices.asked(call.state, binding.op.name, others)
        if number is not None:
            return number
    return devices.own(source)


def device_of_new(call: Call, fact: ReturnFact, operands: list[Tensor]) -> int:
    """
    Return the number of a new result, after the groups of its operands were joined.

    `operands` are those through which a gradient flows, or all. One of an elementwise operation may be a single number,
    which may lie anywhere, unless it is known to have axes.
    """
    state, binding = call.state, call.binding
    if (given := binding.values.get(_DEVICE, NONE)) != NONE:
        return devices.of_value(state, given) or 0
    if not operands:
        return 0
    if binding.op.name in call.facts.framework.moves:
        return device_of_view(call, operands[0]) or operands[0].storage
    numbers = [devices.group(state, tensor) for tensor in operands]
    if len(set(numbers)) > 1 and binding.instance is None and (fact.shape is None or fact.shape.rule in _ELEMENTWISE):
        numbers = [number for number, tensor in zip(numbers, operands, strict=True) if tensor.rank]
    for number in numbers[1:]:
        devices.join(state, numbers[0], number)
    return devices.joined(state, numbers[0]) if numbers else 0


_ELEMENTWISE = frozenset({ShapeRule.LIKE, ShapeRule.BROADCAST})
