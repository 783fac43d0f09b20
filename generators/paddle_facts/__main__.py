"""
Writes `functions.jsonl` of Paddle: `python -m generators.paddle_facts rules/ops/paddle`.

The wheel ships no derivative files, so everything is seen by running: a tensor is bumped after the call, and backward
raises if it was kept. Each function is tried in a process of its own, because some gradient kernels crash.
"""

from __future__ import annotations

import inspect
import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import paddle

from generators.paddle_facts.samples import BINARY, LAYERS, OPERATORS, SAMPLES, Sample

Row = dict[str, Any]

_HOMES = ("paddle", "paddle.nn.functional", "paddle.Tensor", "paddle.linalg")
_ALIKE = 3
_REFUSED = "modified by an inplace"


def main(folder: Path) -> None:
    """Write the table; functions that a person wrote an entry for are left out."""
    owned = _owned(folder / "hand.jsonl")
    rows: list[Row] = []
    for sample in SAMPLES:
        rows.extend(row for row in _in_child(lambda sample=sample: list(_rows(sample, owned))))
    for name in LAYERS:
        if f"paddle.nn.{name}" not in owned:
            rows.extend(_in_child(lambda name=name: list(_layer(name))))
    text = "".join(json.dumps(row, separators=(", ", ": ")) + "\n" for row in rows)
    target = folder / "functions.jsonl"
    scratch = target.with_suffix(".tmp")
    scratch.write_text(text, encoding="utf-8")
    scratch.replace(target)
    print(f"{len(rows)} entries")


def _owned(path: Path) -> frozenset[str]:
    rows = (json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip())
    return frozenset(spelling for row in rows for spelling in (row["op"], *row.get("same", ())))


def _in_child(work: Callable[[], list[Row]]) -> list[Row]:
    """Give what some work returns, done in a process of its own; nothing if that dies."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        found = work()
        with os.fdopen(writer, "w", encoding="utf-8") as stream:
            json.dump(found, stream)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, encoding="utf-8") as stream:
        text = stream.read()
    os.waitpid(child, 0)
    rows: list[Row] = json.loads(text) if text else []
    return rows


def _rows(sample: Sample, owned: frozenset[str]) -> Iterator[Row]:
    """Give the entries of one name: the function, with its methods, and its form in place."""
    spellings = [f"{home}.{sample.name}" for home in _HOMES if _found(f"{home}.{sample.name}") is not None]
    spellings += [f"paddle.Tensor.{operator}" for operator in OPERATORS.get(sample.name, ())]
    free = [spelling for spelling in spellings if spelling not in owned]
    operands = _names(spellings[0], sample) if spellings else []
    seen = _observe(_caller(spellings[0], sample), sample, spellings[0]) if spellings else None
    if seen is not None and free:
        row: Row = {"op": free[0]}
        row |= {"same": free[1:]} if free[1:] else {}
        length = seen["returns"][0].get("length")
        counted = [f"{length}=None"] if length else []
        yield row | {"args": [*operands, *counted, "*args", "**kwargs"]} | seen | _source()
    for spelling in spellings:
        if seen is not None and _takes_out(spelling, sample):
            row = {"op": spelling, "if": "passed(out)", "args": [*operands, "*args", "out", "**kwargs"]}
            row |= {"writes": [{"to": "out", "counted": False}], "grads": [], "returns": [{"is": "out"}]}
            yield row | _source()
    yield from _inplace(sample, owned)


def _names(dotted: str, sample: Sample) -> list[str]:
    """Name the tensors that a function is called on; where more of them follow, all arguments as the function does."""
    first = ["x", "y", "z"][: sample.tensors]
    if not any(_tensors(value) for value in sample.rest):
        return first
    known = list(inspect.signature(_found(dotted)).parameters)
    if "kwargs" in known:  # a wrapper that tells nothing
        known = list(inspect.signature(_found(f"paddle.{sample.name}")).parameters)
    return first + [f"{name}=None" for name in known[sample.tensors : sample.tensors + len(sample.rest)]]


def _tensors(value: Any) -> list[paddle.Tensor]:  # noqa: ANN401 - an argument
    return [item for item in (value if isinstance(value, list | tuple) else [value]) if isinstance(item, paddle.Tensor)]


def _takes_out(spelling: str, sample: Sample) -> bool:
    """Say whether a function writes its result into `out=`, behind the version counter."""
    _, inputs = sample.inputs()
    target = inputs[0].clone()
    try:
        _found(spelling)(*inputs, *sample.rest, out=target)
    except Exception:  # noqa: BLE001 - whatever it is, it takes no `out`
        return False
    return bool(target.inplace_version == 0 and not np.array_equal(target.numpy(), inputs[0].numpy()))


def _inplace(sample: Sample, owned: frozenset[str]) -> Iterator[Row]:
    spellings = [f"{home}.{sample.name}_" for home in ("paddle.Tensor", "paddle", "paddle.nn.functional")]
    free = [spelling for spelling in spellings if _found(spelling) is not None and spelling not in owned]
    if not free:
        return
    call = _caller(free[0], sample)
    _, (first, *rest) = sample.inputs()
    try:
        result = call(first, *rest)
        if result is not first or first.inplace_version == 0:
            return
        kept = _raises(lambda: _bump(result), result)
        saves = [{"of": "xyz"[index]} for index in range(1, sample.tensors) if _keeps(call, sample, index)]
        saves += _keeps_more(lambda: call(*sample.inputs()[1]), free[0], sample)
    except Exception as error:  # noqa: BLE001 - whatever it is, there is no fact then
        print(f"no fact of {free[0]}: {type(error).__name__}")
        return
    row: Row = {"op": free[0]}
    row |= {"same": free[1:]} if free[1:] else {}
    row |= {"args": [*_names(free[0], sample), "*args", "**kwargs"]}
    row |= {"writes": [{"to": "x", "counted": True, "checks": ["leaf"] if _refuses_leaf(call, sample) else []}]}
    saves += [{"of": "out0"}] if kept else []
    row |= {"saves": saves} if saves else {}
    yield row | {"returns": [{"is": "x"}], "history": "keep_base", **_source()}


def _refuses_leaf(call: Callable[..., Any], sample: Sample) -> bool:
    """Say whether a call refuses to write a leaf that requires grad; what has no gradient does not."""
    (leaf, *_), (_, *rest) = sample.inputs()
    try:
        call(leaf, *rest)
    except ValueError as error:
        if "inplace strategy" in str(error):
            return True
        raise
    return False


def _layer(name: str) -> Iterator[Row]:
    """Give the entry of a layer that has no parameters."""
    cls = _found(f"paddle.nn.{name}")
    if cls is None:
        return
    sample = Sample(name, shape=LAYERS[name][0])
    layer = cls(*LAYERS[name][1])
    seen = _observe(layer, sample, "")
    if seen is None:
        return
    init = []
    for parameter in list(inspect.signature(cls.__init__).parameters.values())[1:]:
        default = parameter.default
        plain = default is None or isinstance(default, bool | int | float | str)
        bare = default is inspect.Parameter.empty
        init.append(parameter.name if bare else f"{parameter.name}={default!r}" if plain else f"{parameter.name}=None")
    yield {"op": f"paddle.nn.{name}", "init": init, "args": ["x", "*args"], **seen, **_source()}


def _source() -> Row:
    return {"source": "probe", "probed": [paddle.__version__]}


def _found(dotted: str) -> Any:  # noqa: ANN401 - a function or a class
    value: Any = paddle
    for part in dotted.split(".")[1:]:
        value = getattr(value, part, None)
    return value if callable(value) else None


def _caller(dotted: str, sample: Sample) -> Callable[..., Any]:
    function = _found(dotted)
    return lambda *tensors: function(*tensors, *sample.rest)


def _observe(call: Callable[..., Any], sample: Sample, dotted: str) -> Row | None:
    """Give what a call keeps and returns, as seen; None when it cannot be called like this."""
    try:
        saves = [
            {"of": name} | ({} if _keeps(call, sample, index, strided=True) else {"if": f"dense({name})"})
            for index, name in enumerate("xyz"[: sample.tensors])
            if _keeps(call, sample, index)
        ]
        saves += _keeps_more(lambda: call(*sample.inputs()[1]), dotted, sample)
        _, inputs = sample.inputs()
        result = call(*inputs)
        writes = [{"to": "x", "counted": True, "checks": ["leaf"]}] if inputs[0].inplace_version else []
        single = not isinstance(result, list | tuple)
        outputs = [result] if single else list(result)
        kept = (position for position in range(len(outputs)) if _keeps_output(call, sample, position))
        saves += [{"of": f"out{position}"} for position in kept]
        kinds = [_kind(output, inputs[0]) for output in outputs]
    except Exception as error:  # noqa: BLE001 - whatever it is, there is no fact then
        print(f"no fact of {sample.name}: {type(error).__name__}: {str(error)[:80]!r}")
        return None
    returns = kinds if single else [_several(kinds, sample, dotted)]
    plain = {} if any(not output.stop_gradient for output in outputs) else {"grads": []}
    return {
        **plain,
        **({"writes": writes} if writes else {}),
        **({"saves": saves} if saves else {}),
        "returns": returns,
    }


def _several(kinds: list[Row], sample: Sample, dotted: str) -> Row:
    """Give a tuple of results; alike ones may be any number, or as many as an argument says."""
    if len(kinds) < _ALIKE or any(kind != kinds[0] for kind in kinds):
        return {"is": "tuple", "items": kinds}
    counted = sample.rest[:1] == (len(kinds),)
    known = list(inspect.signature(_found(dotted)).parameters)
    return {"is": "list", "item": kinds[0], "length": known[1] if counted else None}


def _keeps(call: Callable[..., Any], sample: Sample, index: int, *, strided: bool = False) -> bool:
    """Say whether a call keeps an operand; what is not dense in memory may be copied first, and the copy kept."""
    _, inputs = sample.inputs(strided=strided and len(sample.shape) > 1)
    return _raises(lambda: _bump(inputs[index]), call(*inputs))


def _keeps_more(call: Callable[[], Any], dotted: str, sample: Sample) -> list[Row]:
    """Give what is kept of the tensors after those that require grad: indices, masks, weights."""
    kept = []
    for name, value in zip(_names(dotted, sample)[sample.tensors :], sample.rest, strict=False):
        if _tensors(value) and _raises(lambda value=value: [_bump(one) for one in _tensors(value)], call()):
            kept.append({"of": name.removesuffix("=None")})
    return kept


def _keeps_output(call: Callable[..., Any], sample: Sample, position: int) -> bool:
    _, inputs = sample.inputs()
    result = call(*inputs)
    outputs = result if isinstance(result, list | tuple) else [result]
    return _raises(lambda: _bump(outputs[position]), result)


def _bump(tensor: paddle.Tensor) -> None:
    with paddle.no_grad():
        if tensor.dtype == paddle.bool:
            tensor.logical_or_(tensor.clone())
        else:
            tensor.add_(paddle.zeros_like(tensor))


def _raises(change: Callable[[], object], result: Any) -> bool:  # noqa: ANN401 - a tensor or several
    """Say whether backward refuses after the change."""
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


def _kind(output: paddle.Tensor, source: paddle.Tensor) -> Row:
    if output is source:
        return {"is": "x"}
    before = source.inplace_version
    _bump(output)
    if source.inplace_version != before:
        return {"is": "view", "of": "x"}
    floating = "float" in str(output.dtype)
    return {"is": "fresh"} if floating else {"is": "fresh", "dtype": "bool" if "bool" in str(output.dtype) else "int"}


if __name__ == "__main__":
    assert BINARY
    main(Path(sys.argv[1]))
