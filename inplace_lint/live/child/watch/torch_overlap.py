"""
Writes whose operands share memory with what is written, which PyTorch carries out without noticing.

    a[:, 1:] = a[:, :-1]      # the views have gaps: torch looks no further, and reads what it has just set

Such a call is made once more on copies, and reported where these have other values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, NamedTuple, Optional, Tuple

from .ledger import stretch

if TYPE_CHECKING:
    from .torch_mode import Written
    from .torch_watch import TorchWatch


class Copies(NamedTuple):
    """The arguments of a call as they were before it, with copies of its tensors."""

    args: Tuple[Any, ...]
    written: Any  # the tensor that the call writes


def copies(watch: TorchWatch, func: Any, args: Tuple[Any, ...], written: Written) -> Optional[Copies]:
    """Return copies for a call on overlapping tensors; None for any other, and for one that draws random numbers."""
    target = args[0] if written and written[0][0] == 0 and args else None
    identity = watch.storage_of(target)
    others = [arg for arg in args[1:] if isinstance(arg, watch.tensor)] if identity is not None else []
    if not any(watch.storage_of(other) == identity and _differ(watch, target, other) for other in others):
        return None
    if any(argument.name == "generator" for argument in func._schema.arguments):
        return None
    made = tuple(watch.copied(arg) if isinstance(arg, watch.tensor) else arg for arg in args)
    return None if any(copy is None and arg is not None for copy, arg in zip(made, args)) else Copies(made, target)  # noqa: B905 - Python 3.8


def _differ(watch: TorchWatch, one: Any, other: Any) -> bool:
    """Check whether two tensors of one storage are different parts of it that may have elements in common."""
    mine, its = watch.extent(one), watch.extent(other)
    return one.dtype == other.dtype and mine != its and stretch(mine, its) is not None


def is_other(watch: TorchWatch, func: Any, before: Copies, options: Dict[str, Any]) -> bool:
    """Check whether a call that was made gave what it wrote other values than it gives copies."""
    with watch.without_modes():
        func(*before.args, **options)
    return not watch.has_values(before.written, before.args[0])
