"""How a call of Paddle is tried: writes after it, and what backward says to them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection
from typing import Any

import paddle

from generators.paddle_facts.samples import Sample

Row = dict[str, Any]
Gradients = list[tuple[str, paddle.Tensor | None]]  # with the names of the operands

_REFUSED = "modified by an inplace"
_FROM_HERE_ON = ["*args", "**kwargs"]
_AXES = 2


def found(dotted: str) -> Any:  # noqa: ANN401 - a function or a class
    """Return the object of a dotted name; None where it is nothing that can be called."""
    value: Any = paddle
    for part in dotted.split(".")[1:]:
        value = getattr(value, part, None)
    return value if callable(value) else None


def source() -> Row:
    """Return where a fact comes from."""
    return {"source": "probe", "probed": [paddle.__version__]}


def names_of(dotted: str, sample: Sample) -> list[str]:
    """Return the tensor arguments as the signature names them; x and y where there is none."""
    if sample.names is not None:
        return list(sample.names)
    last = max((index for index, value in enumerate(sample.rest) if holds_tensors(value)), default=-1)
    count = sample.tensors + last + 1
    spelled: list[str] = []
    # What only passes its arguments on has those of the form that is not in place.
    for name in (dotted, dotted.removesuffix("_")):
        parameters = inspect.signature(found(name)).parameters.values()
        spelled = [one.name for one in parameters if one.kind in {one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD}]
        if len(spelled) >= count:
            break
    return spelled[:count] if len(spelled) >= count else ["x", "y"][: sample.tensors]


def holds_tensors(value: object) -> bool:
    """Return whether an argument is a tensor, or a tuple of some."""
    return isinstance(value, paddle.Tensor) or (isinstance(value, tuple) and any(map(holds_tensors, value)))


def arguments_of(names: list[str]) -> list[str]:
    """Return the arguments of a call as an entry lists them."""
    return [*names, *_FROM_HERE_ON]


def bump(value: Any) -> None:  # noqa: ANN401 - a tensor or a tuple of some
    """Count a write of a tensor that leaves its values as they are."""
    for tensor in value if isinstance(value, tuple) else (value,):
        with paddle.no_grad():
            if tensor.dtype == paddle.bool:
                tensor.logical_or_(tensor.clone())
            else:
                tensor.add_(paddle.zeros_like(tensor))


def raises(change: Callable[[], None], result: Any) -> bool:  # noqa: ANN401 - a tensor or several
    """Return whether backward refuses after the change."""
    outputs = result if isinstance(result, list | tuple) else [result]
    parts = [output.astype("float32").sum() for output in outputs if not output.stop_gradient]
    if not parts:
        return False
    total = paddle.add_n(parts)
    change()
    try:
        total.backward()
    except RuntimeError as error:
        if _REFUSED in str(error):
            return True
        raise
    return False


def keeps(call: Callable[..., Any], sample: Sample, index: int, strided: Collection[int] = ()) -> bool:
    """Return whether the tensor at a position, of the first ones or of what follows them, is kept."""
    given = sample.arguments(strided=strided)
    return raises(lambda: bump(given[index]), call(*given))


def kept_arguments(call: Callable[..., Any], sample: Sample, names: list[str]) -> list[Row]:
    """Return the saves of a call among its named arguments."""
    values = sample.arguments()
    told = [index for index, _ in enumerate(names) if holds_tensors(values[index])]
    return [
        {
            "of": names[index],
            **({} if _keeps_strided(call, sample, index) else {"if": f"dense({names[index]})"}),
            **_use(call, sample, index, names),
        }
        for index in told
        if keeps(call, sample, index)
    ]


def _use(call: Callable[..., Any], sample: Sample, index: int, names: list[str]) -> Row:
    """Say for which other operands backward uses a tensor that it keeps; nothing if it always does."""
    if index >= sample.tensors or sample.dtype != "float32":
        return {}
    values = sample.arguments()[: sample.tensors]
    rest = sample.others()

    def run(*, changed: bool) -> Gradients:
        given = [one.clone().detach() for one in values]
        for one in given:
            one.stop_gradient = False
        found = gradients(lambda: call(*given, *rest), given, given[index] if changed else None)
        return [("" if position == index else names[position], one) for position, one in enumerate(found)]

    try:
        return used(run(changed=False), run(changed=True))
    except Exception:  # noqa: BLE001 - whatever it is, such as a result of whole numbers, nothing is known of its use
        return {}


def used(before: Gradients, after: Gradients, *, sure: bool = False) -> Row:
    """
    Say for which operands the value of one is used, by the gradients without and with a change of it.

    Under an empty name is its own gradient, or that of what is trained in any case. Where none changes, other values or
    operands could: then nothing is said, unless these are all that there are.
    """
    differ = [
        name
        for (name, one), (_, other) in zip(before, after, strict=True)
        if one is not None and other is not None and not paddle.allclose(one, other, equal_nan=True).item()
    ]
    if "" in differ or not (differ or sure):
        return {}
    return {"used": " or ".join(f"rg({name})" for name in dict.fromkeys(differ)) or False}


def gradients(
    call: Callable[[], Any], operands: list[paddle.Tensor], changed: paddle.Tensor | None
) -> list[paddle.Tensor | None]:
    """Return the gradients of operands; `changed` has its value changed before backward, which no version counts."""
    paddle.seed(0)
    result = call()
    outputs = result if isinstance(result, list | tuple) else [result]
    parts = [one.astype("float32") for one in outputs if isinstance(one, paddle.Tensor) and not one.stop_gradient]
    if not parts:
        return [None] * len(operands)
    total = paddle.add_n([(one * paddle.rand(one.shape)).sum() for one in parts])
    if changed is not None:
        changed.set_value(0.1 - changed.flip([*range(changed.ndim)]) * 1.5)  # of other signs, and in another order
    total.backward()
    return [None if one.grad is None else one.grad.clone() for one in operands]


def _keeps_strided(call: Callable[..., Any], sample: Sample, index: int) -> bool:
    """Return whether a tensor that is kept is also kept when it is not dense: some kernels keep a copy of it then."""
    if index >= sample.tensors or len(sample.shape) < _AXES:
        return True
    return keeps(call, sample, index, strided=(index,))
