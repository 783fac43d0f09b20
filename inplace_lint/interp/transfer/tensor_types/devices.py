"""
Devices: which tensors are certainly on the same one.

    h = self.fc(x)          # on that of `x`, which is that of the parameters
    h.to(x.device)          # so that this gives `h` itself
    y.to(x.device)          # nobody knows: a copy, or `y`

A tensor has the number of a group, and all tensors of a group are on one device. Groups are joined where an operation
takes tensors of both, since it would refuse those of two devices. Which device that is, is not asked.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from msgspec.structs import replace

from inplace_lint.domain import origins, traits
from inplace_lint.domain.heap import Tensor
from inplace_lint.domain.values import NONE, Const, Dotted, Ref, Sym, SymId, Three, Tuple, Value
from inplace_lint.interp.transfer.tensor_types.dtypes import named, of_tensor

if TYPE_CHECKING:
    from inplace_lint.domain.state import State

_PARAMETERS = -1  # the group of the parameters that no conversion has moved: whoever moves them moves them together
_ATTRIBUTES = frozenset({"device", "place"})  # of tensors


def own(tensor: Tensor) -> int:
    """Return the number that a tensor has, and a view of it gets; 0 for one that has the number of its storage."""
    return tensor.device or (_PARAMETERS if tensor.param else 0)


def group(state: State, tensor: Tensor) -> int:
    """Return the number of the group of tensors that are certainly on the device of a tensor."""
    return joined(state, own(tensor) or tensor.storage)


def follow(state: State, value: Value) -> None:
    """Take a tensor for one that is moved together with the parameters, as buffers are."""
    ref, tensor = state.ref(value), state.tensor(value)
    if ref is not None and tensor is not None and not tensor.device:
        state.put(ref, replace(tensor, device=_PARAMETERS))


def is_on(state: State, tensor: Tensor, value: Value) -> Three:
    """Return whether a tensor is on the device that a value is, or another tensor is on; None if that is not known."""
    asked = of_value(state, value)
    return True if asked is not None and asked == group(state, tensor) else None


def equals(state: State, left: Value, right: Value) -> Three:
    """Return whether a device of a tensor equals another one, or the `type` of both is the same; None if unknown."""
    tensor = owner(state, left)
    match _key(state, left), _key(state, right):
        case _, (origins.VALUE, *_) if tensor is not None:  # a text, such as "cuda", equals none
            return is_on(state, tensor, right)
        case (origins.ATTRIBUTE, int(one), str(name)), (origins.ATTRIBUTE, int(other), str(same)) if name == same:
            return equals(state, Sym(SymId(one)), Sym(SymId(other)))
        case _:
            return None


def of_value(state: State, value: Value) -> int | None:
    """Return the group of what is on the device that a value may be, or that a tensor is on; else None."""
    tensor = owner(state, value) or state.tensor(value)
    if tensor is not None:
        return group(state, tensor)
    if isinstance(value, Dotted) or named(value) is not None or of_tensor(state, value) is not None:
        return None
    number = 2 * value.id if isinstance(value, Sym) else 2 * _CONSTANTS.setdefault(value, len(_CONSTANTS)) + 1
    return joined(state, _PARAMETERS - 1 - number)


_CONSTANTS: dict[Value, int] = {}


def owner(state: State, value: Value) -> Tensor | None:
    """Return the tensor of which a value is the device: of `x` for `x.device`; None for any other value."""
    match _key(state, value):
        case (origins.VALUE, str(name), (Ref() | Sym() as of, *_), *_) if name.rpartition(".")[2] in _ATTRIBUTES:
            return state.tensor(of)
        case (origins.ATTRIBUTE, int(number), str(name)) if name in _ATTRIBUTES:
            return state.tensor(Sym(SymId(number)))
        case _:
            return None


def is_place(state: State, value: Value) -> bool:
    """Check whether a value says where a tensor lies, or is a part of what says so: `y.device.type`."""
    match _key(state, value):
        case (origins.VALUE, str(name), (Ref() | Sym(), *_), *_):
            return name.rpartition(".")[2] in _ATTRIBUTES
        case (origins.ATTRIBUTE, int(outer), str()):
            return is_place(state, Sym(SymId(outer)))
        case _:
            return False


def _key(state: State, value: Value) -> object:
    return state.symbols.key(value) if isinstance(value, Sym) else None


def is_device(state: State, value: Value) -> bool:
    """Check whether a value certainly is a device, of a tensor or another one, by how it was made or is called."""
    match _key(state, value):
        case (_, str(name), *_) | (_, int(), str(name)):
            return name.rpartition(".")[2] in _ATTRIBUTES
        case _:
            return False


def is_flag(value: Value) -> bool:
    """Check whether an argument of a conversion says how to copy."""
    return isinstance(value, Const) and isinstance(value.value, bool)


def flat(values: Iterable[Value]) -> list[Value]:
    """List the arguments of a conversion, which has them in a tuple where it takes any number."""
    return [item for value in values for item in (value.items if isinstance(value, Tuple) else (value,))]


def asked(state: State, name: str, arguments: Iterable[Value]) -> int | None:
    """Return the group of what is on the device that a conversion asks for by an argument or its name; else None."""
    given = [value for value in flat(arguments) if value != NONE and not is_flag(value)]
    found = [number for value in given or [Const(name)] if (number := of_value(state, value)) is not None]
    return found[0] if found else None


def joined(state: State, number: int) -> int:
    """Return the number of the group that a group was joined to, or its own."""
    while (lower := state.trait(traits.SAME_DEVICE, number)) is not None:
        number = lower
    return number


def join(state: State, one: int, other: int) -> None:
    """Join two groups: the tensors of both are on one device."""
    lower, higher = sorted((joined(state, one), joined(state, other)))
    if lower != higher:
        state.set_trait(traits.SAME_DEVICE, higher, lower)
