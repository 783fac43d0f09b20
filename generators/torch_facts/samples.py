"""
Sample calls for public names: those of torch's own operator tests, those written here, and at last guesses.

Torch's samples are reached through the private test package that every wheel has; it needs `expecttest`.
"""

from __future__ import annotations

import random
import warnings
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any, TypeGuard

import torch
from torch.testing._internal import common_utils
from torch.testing._internal.common_methods_invocations import op_db
from torch.testing._internal.opinfo import core
from torch.utils._pytree import tree_leaves

from generators.torch_facts.forms import PREFIXES, Form
from generators.torch_facts.handmade import HANDMADE, besides, tensor
from generators.torch_facts.native import Parameter

Arguments = tuple[tuple[Any, ...], dict[str, Any]]
MOST = 40
TURNED = 3
_APART = frozenset({"inplace", "pin_memory"})  # what is written is found out elsewhere

# Torch looks through the stack, for each sample, for the test that asks: half of our time, and there is none.
for module in (common_utils, core):
    module.extract_test_fn = lambda: None


def calls_of(name: str, forms: tuple[Form, ...]) -> list[Arguments]:
    """Return argument lists to try a public name with; the same ones on every run."""
    _seed()
    made = HANDMADE.get(name) or HANDMADE.get(_plain(name))
    if made is not None:
        return _with_flags(list(made()), forms)
    calls = [call for info in infos().get(_plain(name), ()) for call in _of_info(info)]
    calls = calls or [call for form in forms for call in _guesses(form)]
    if not any(
        entry.requires_grad for args, kwargs in calls for entry in tree_leaves((args, kwargs)) if _is_float(entry)
    ):
        calls = [((_grown(args[0]), *args[1:]), kwargs) if args else (args, kwargs) for args, kwargs in calls]
    return _with_flags([*besides(_plain(name)), *calls], forms)


def _with_flags(calls: list[Arguments], forms: tuple[Form, ...]) -> list[Arguments]:
    return [*calls, *(call for form in forms for _, call in turned(calls, form.parameters))]


def turned(calls: Sequence[Arguments], parameters: Sequence[Parameter]) -> Iterator[tuple[int, Arguments]]:
    """Yield the first calls once more with each flag turned that no call passes, by the number of the call."""
    for position, flag in enumerate(parameters):
        is_left = flag.default in {"False", "True"} and flag.name not in _APART
        if is_left and not any(_passes(call, position, flag) for call in calls):
            for number, (args, kwargs) in enumerate(calls[:TURNED]):
                if len(args) <= position:
                    yield number, (args, {**kwargs, flag.name: flag.default == "False"})


def _passes(call: Arguments, position: int, flag: Parameter) -> bool:
    """Return whether a call passes another value than the default of a flag."""
    args, kwargs = call
    value = kwargs.get(flag.name, args[position] if len(args) > position else None)
    return value is not None and str(value) != flag.default


def _is_float(value: object) -> TypeGuard[torch.Tensor]:
    return isinstance(value, torch.Tensor) and value.is_floating_point()


def _grown(value: object) -> object:
    """Let a sample that nobody differentiates require grad, so that what comes of it shows."""
    return value.detach().requires_grad_() if _is_float(value) else value


def _seed() -> None:
    torch.manual_seed(0)
    random.seed(0)


def _plain(name: str) -> str:
    """Return the name under which torch's own tests know a public name: `torch.Tensor.add_` is `add`."""
    for prefix in PREFIXES:
        if name.startswith(prefix):
            kept = {"torch.special.": "special.", "torch.linalg.": "linalg.", "torch.fft.": "fft."}.get(prefix, "")
            if prefix in {"torch.nn.functional.", "torch._C._nn."}:
                kept = "nn.functional."
            tail = name.removeprefix(prefix)
            return kept + (tail[:-1] if tail.endswith("_") and not tail.endswith("__") else tail)
    return name


@lru_cache(maxsize=1)
def infos() -> dict[str, list[Any]]:
    """Return the operator infos by name and alias."""
    found: dict[str, list[Any]] = {}
    for info in op_db:
        for name in (info.name, *(alias.name for alias in info.aliases)):
            found.setdefault(name, []).append(info)
            if name.startswith("nn.functional.") and not name.endswith("_like"):
                found.setdefault(name.removeprefix("nn.functional."), []).append(info)
    return found


def _of_info(info: Any) -> Iterator[Arguments]:  # noqa: ANN401 - an OpInfo
    for dtype in (torch.float32, torch.int64, torch.bool, torch.complex64):
        if dtype not in info.dtypes:
            continue
        _seed()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                made = list(
                    islice(
                        info.sample_inputs("cpu", dtype, requires_grad=dtype.is_floating_point or dtype.is_complex),
                        MOST,
                    )
                )
        except (RuntimeError, TypeError, ValueError, NotImplementedError, AttributeError):
            continue
        made = [sample for sample in made if _small(sample)]
        if made:
            yield from (((sample.input, *sample.args), dict(sample.kwargs)) for sample in made)
        if made and dtype is not torch.int64:  # what takes whole numbers only may give others for booleans
            return


def _small(sample: Any) -> bool:  # noqa: ANN401 - a SampleInput
    tensors = [entry for entry in (sample.input, *sample.args) if isinstance(entry, torch.Tensor)]
    return all(0 < entry.numel() <= 20_000 for entry in tensors)  # noqa: PLR2004 - larger ones take too long


def _guesses(form: Form) -> Iterator[Arguments]:
    for integral in (False, True):
        required = [entry for entry in form.parameters if entry.default is None]
        values = {entry.name: _guess(entry, integral=integral) for entry in required}
        args = tuple(values[entry.name] for entry in required if not entry.keyword)
        yield args, {entry.name: values[entry.name] for entry in required if entry.keyword}


def _guess(parameter: Parameter, *, integral: bool) -> object:
    kind = parameter.type.rstrip("?")
    if kind.startswith("Tensor["):
        return [tensor(3, 4), tensor(3, 4)]
    if kind == "Tensor" or not kind:
        if parameter.name in {"index", "indices", "target"}:
            return torch.zeros(3, 4, dtype=torch.long)
        if parameter.name == "mask":
            return torch.ones(3, 4, dtype=torch.bool)
        return torch.ones(3, 4, dtype=torch.long) if integral else tensor(3, 4)
    if "[" in kind:
        return [0]
    return {"bool": True, "Scalar": 1 if integral else 0.5, "float": 0.5, "str": "sum"}.get(
        kind, 0 if "dim" in parameter.name else 1
    )
