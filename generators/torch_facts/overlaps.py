"""Which calls refuse to write memory that an operand shares in part, and which record what they write to `out`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import Any, TypeGuard

import torch

from generators.torch_facts.entries import Row
from generators.torch_facts.probe import Call

_ENOUGH = 20
_REFUSED = "refer to a single memory location"


def asks_operands(calls: Sequence[Call]) -> bool:
    """Return whether an in-place call refuses each operand that is a part of what it writes, of the same form."""
    return _all_refused(_of_operands(call) for call in calls)


def with_out_checks(row: Row, calls: Iterable[Call]) -> Row:
    """Note of the `out` of an entry that operands which overlap it are refused, and that it takes up a history."""
    written = [write for write in row.get("writes", ()) if write["to"] == "out"]
    if not written:
        return row
    tried = list(islice(calls, _ENOUGH))
    more = ["operands"] if _all_refused(map(_of_out, tried)) else []
    more += ["recorded"] if any(map(_records_out, tried)) else []
    noted = [{**write, "checks": [*write["checks"], *more]} if write in written else write for write in row["writes"]]
    return {**row, "writes": noted}


def _records_out(call: Call) -> bool:
    """Return whether a call on a leaf that requires grad is not refused, and backward runs from its `out`."""
    _, _, slots = call.make("")
    for name in dict.fromkeys(name for name, _ in slots):
        args, kwargs, _ = call.make(name)
        try:
            with torch.no_grad():
                result = call.function(*args, **kwargs)
            if isinstance(result, torch.Tensor):
                result = call.function(*args, **{**kwargs, "out": torch.empty_like(result)})
                torch.autograd.backward([result], [torch.ones_like(result)])
                return True
        except (RuntimeError, TypeError, ValueError, IndexError):
            continue
    return False


def _all_refused(tried: Iterable[list[bool | None]]) -> bool:
    answers = [answer for answers in tried for answer in answers if answer is not None]
    return bool(answers) and all(answers)


def _of_operands(call: Call) -> list[bool | None]:
    args, kwargs, _ = Call(call.function, call.args, call.kwargs, call.names).make("")
    first = args[0] if args else None
    if not _has_rows(first):
        return []
    places = [at for at, value in enumerate(args[1:], 1) if _is_kin(value, first)]
    keys = [key for key, value in kwargs.items() if _is_kin(value, first)]
    answers: list[bool | None] = []
    for place in (*places, *keys):
        written, other = _neighbours(first)
        given = [written, *(other if at == place else value for at, value in enumerate(args[1:], 1))]
        named = {key: other if key == place else value for key, value in kwargs.items()}
        answers.append(_refuses(call.function, given, named))
    return answers


def _of_out(call: Call) -> list[bool | None]:
    args, kwargs, _ = Call(call.function, call.args, call.kwargs, call.names).make("")
    try:
        result = call.function(*args, **kwargs)
    except (RuntimeError, TypeError, ValueError, IndexError):
        return []
    if not isinstance(result, torch.Tensor):
        return []
    answers: list[bool | None] = []
    for place in [
        at
        for at, value in enumerate(args)
        if _has_rows(value) and _is_kin(value, result) and value.shape == result.shape
    ]:
        written, other = _neighbours(args[place])
        given = [other if at == place else value for at, value in enumerate(args)]
        answers.append(_refuses(call.function, given, {**kwargs, "out": written}))
    return answers


def _has_rows(value: object) -> TypeGuard[torch.Tensor]:
    """Return whether two parts of a tensor, each with as many rows as it has, overlap."""
    return isinstance(value, torch.Tensor) and value.dim() > 0 and value.numel() > 0 and value.size(0) > 1


def _is_kin(value: object, model: torch.Tensor) -> bool:
    return isinstance(value, torch.Tensor) and value.dtype == model.dtype


def _neighbours(like: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return all rows but the first and all but the last of one tensor, both of the form of `like`."""
    whole = torch.cat([like[:1], like]).detach()
    return whole[1:], whole[:-1]


def _refuses(function: Callable[..., Any], args: Sequence[object], kwargs: dict[str, object]) -> bool | None:
    try:
        function(*args, **kwargs)
    except (RuntimeError, TypeError, ValueError, IndexError) as error:
        return _REFUSED in str(error) or None
    return False
