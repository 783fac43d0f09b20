"""Who holds the memory of a tensor at the moment of a write: the answer that the alias query gives to fixes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from inplace_lint.core.span import Place

if TYPE_CHECKING:
    from dataclasses import dataclass

else:
    from inplace_lint.core.records import dataclass


@dataclass(frozen=True, slots=True)
class Holding:
    """
    What a write met.

    `call` is the expression that wrote, seen from the function whose code it stands in. `owner` is the shortest
    variable or attribute through which the program spelled the tensor (of `x.data[0]` it is `x`), empty without
    one; `item`: what is written is an item of a list or dict. `names` are the local variables that hold the memory.
    `others`: attributes, containers, callers, or somebody unknown, may hold it. `foreign`: it was made before the
    function was called, or nobody knows where. `bases` are the local variables that hold a larger tensor which sees
    the write; `base`: something else holds one; `taken`: this function took it as a part of one. `floating`: it is
    known to hold floating numbers. `cast`: the op chooses its types by itself. `param`: it is a parameter, or part
    of one. `bound`: the owner is an attribute that an object of a library needs as it is. `gradient`: a gradient
    flows into what is written from another operand. `unrecorded`: gradients were off, so that the tensor kept the
    history it had, which a new one would not have.
    """

    call: Place
    owner: str
    item: bool
    names: frozenset[str]
    others: bool
    foreign: bool
    bases: frozenset[str]
    base: bool
    taken: bool
    floating: bool
    cast: bool
    param: bool
    bound: bool
    gradient: bool
    unrecorded: bool
