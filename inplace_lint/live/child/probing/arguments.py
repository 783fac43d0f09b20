"""The arguments that an operator is probed with: those of a text, as in a call, or guesses."""

from __future__ import annotations

import inspect
import itertools
from typing import Any, Callable, Dict, Iterator, List, Tuple

from .signatures import signature_of

SHAPES = ((2, 4), (4,), (2, 4, 8), (2, 4, 8, 8), (4, 4))
_MOST = 64  # combinations of arguments


def guesses(torch: Any, function: Callable[..., Any]) -> Iterator[Dict[str, Any]]:
    """Yield arguments that a function may take: a tensor for each parameter without a default, or a number."""
    params = [one for one in signature_of(function).parameters.values() if one.default is one.empty]
    params = [one for one in params if one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)]
    for shape in SHAPES:
        choices: List[List[Any]] = []
        for one in params:
            choices.append(_choices(torch, one, shape, len(choices)))
        for values in itertools.islice(itertools.product(*choices), _MOST):
            yield {params[position].name: value for position, value in enumerate(values)}


def _choices(torch: Any, one: inspect.Parameter, shape: Tuple[int, ...], position: int) -> List[Any]:
    """Return what a parameter may take; the tensors for two parameters do not have the same values."""
    kind = getattr(one.annotation, "__name__", str(one.annotation))
    numbers = {"int": 2, "float": 1.5, "number": 2, "bool": True, "str": "mean"}
    if kind in numbers:
        return [numbers[kind]]
    tensor = torch.rand(shape) + 0.5
    bits = (torch.arange(tensor.numel()) // 2**position % 2).reshape(shape)  # other ones at each position
    return [tensor, *([] if kind == "Tensor" else [2, 1.5]), bits, bits > 0]


def of_text(torch: Any, function: Callable[..., Any], text: str) -> Dict[str, Any]:
    """Return the arguments that a text, as in a call, gives a function."""
    given = eval(f"(lambda *args, **kwargs: (args, kwargs))({text})", {torch.__name__: torch})  # noqa: S307 - the user's own
    signature = signature_of(function)
    found = dict(signature.bind(*given[0], **given[1]).arguments)
    for one in signature.parameters.values():
        if one.kind is one.VAR_KEYWORD:
            found.update(found.pop(one.name, {}))
    return found
