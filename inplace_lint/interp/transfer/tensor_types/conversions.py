"""
Conversions: whether one gives the tensor itself, and what tensors are after it.

    h = self.fc(x)
    h.to(torch.float32)     # `h` itself: its dtype is that of the parameters
    h.to(x)                 # so is this: `x` has that dtype, too, and they are on one device
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from inplace_lint.domain.heap import Tensor
from inplace_lint.domain.values import NONE, Const, Ref, Three, Value
from inplace_lint.interp.transfer.tensor_types import devices
from inplace_lint.interp.transfer.tensor_types.dtypes import Kind, default, named, of_tensor

if TYPE_CHECKING:
    from inplace_lint.domain.state import State
    from inplace_lint.interp.transfer.binding import Binding


def keeps(binding: Binding, name: str) -> Three:
    """Return whether a conversion asks for what a tensor is already, so that it gives the tensor itself."""
    tensor = binding.tensor(name)
    if tensor is None:
        return None
    asked = devices.flat(binding.values[other] for other in binding.given - {name})
    asked += [own] if named(own := Const(binding.op.name)) is not None else []  # `Tensor.half` is called like its dtype
    answers = {_has(binding, tensor, item) for item in asked if item != NONE and not devices.is_flag(item)}
    return False if False in answers else None if None in answers else True


def _has(binding: Binding, tensor: Tensor, value: Value) -> Three:
    """Return whether a tensor has the dtype and is on the device that a value asks for, or that another tensor has."""
    state = binding.state
    is_there = devices.is_on(state, tensor, value)
    kind = _spoken(state, value)
    if kind is None:
        return is_there
    same = _is_of(binding, tensor, kind)
    return same if same is not True or state.tensor(value) is None else is_there


def _is_of(binding: Binding, tensor: Tensor, kind: Kind) -> Three:
    """Return whether a tensor has a dtype; an unknown floating dtype is taken as usual."""
    if "unknown" in {kind.kind, tensor.dtype}:
        return None
    if kind.kind != tensor.dtype:
        return False
    usual = (
        default(binding.state, "float32").exact
        if kind.kind == "float" and binding.state.modes.autocast is False
        else ""
    )
    asked, has = kind.exact or usual, tensor.exact or usual
    return asked == has if asked and has else None


def _spoken(state: State, value: Value) -> Kind | None:
    """Return the dtype that an argument asks for: one that it names, that of a tensor, or the `dtype` of one."""
    tensor = state.tensor(value)
    return of_tensor(state, value) or named(value) if tensor is None else Kind(tensor.dtype, tensor.exact)


def convert(state: State, leaves: list[Ref], name: str, arguments: list[Value]) -> None:
    """Convert the tensors of a module to a dtype, the one of a method's name or an argument's, and to a device."""
    kind = named(Const(name))
    device = devices.asked(state, name, arguments) if kind is None else None
    for value in arguments:
        if kind is None and not (isinstance(value, Const) or devices.is_device(state, value)):
            kind = named(value) or Kind("float")
    for ref in leaves:
        tensor = state.tensor(ref)
        if tensor is None:
            continue
        if kind is not None and kind.kind == "float" and tensor.dtype == "float":
            tensor = replace(tensor, exact=kind.exact)
        state.put(ref, tensor if device is None else replace(tensor, device=device))
