"""
Writes the tables of Paddle that no person writes: `python -m generators.paddle_facts rules/ops/paddle`.

The wheel ships no derivative files, so what runs on a CPU is seen by running: a tensor is bumped after the call, and
backward raises if it was kept. Functions are tried in child processes, because some gradient kernels crash.
"""

from __future__ import annotations

import inspect
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any, cast

import numpy as np
import paddle

from generators.paddle_facts import c_ops, gradients, inplace, weights
from generators.paddle_facts.samples import BINARY, LAYERS, OPERATORS, SAMPLES, Sample
from generators.paddle_facts.trying import Row, arguments_of, bump, found, kept_arguments, names_of, raises, source
from generators.shapes import common, shapes
from inplace_lint.core.errors import FactError
from inplace_lint.knowledge.op import op_of

_HOMES = (
    *("paddle", "paddle.nn.functional", "paddle.Tensor", "paddle.linalg", "paddle.fft"),
    *("paddle.signal", "paddle.geometric", "paddle.vision.ops", "paddle.incubate", "paddle.incubate.nn.functional"),
)
_SIZES = ((4,), (1, 3), (3, 1), (2, 3), (3, 2), (2, 3, 4), (4, 3, 2), (2, 1, 3))  # besides those of the samples
_ALIKE = 3


def main(folder: Path) -> None:
    """Write the tables; functions that a person wrote an entry for are left out."""
    weights.rewrite(folder / "hand.jsonl")
    owned = _owned(folder / "hand.jsonl")
    layers = (partial(_layer, name) for name in LAYERS if f"paddle.nn.{name}" not in owned)
    found = _in_children([*(partial(_rows, sample, owned) for sample in SAMPLES), *layers])
    _write(folder / "functions.jsonl", [row for rows in found for row in rows])
    _write(folder / "c_ops.jsonl", _c_ops(owned))
    _write(folder / "fused.jsonl", [*gradients.entries()])


def _write(target: Path, rows: list[Row]) -> None:
    text = "".join(json.dumps(row, separators=(", ", ": ")) + "\n" for row in rows)
    scratch = target.with_suffix(".tmp")
    scratch.write_text(text, encoding="utf-8")
    scratch.replace(target)
    print(f"{target.name}: {len(rows)} entries")


def _c_ops(owned: frozenset[str]) -> list[Row]:
    """Return the entries of the generated operators: of each what the first call did that it took."""
    operators = [calls for calls in c_ops.tries() if calls and calls[0].op not in owned]
    found: dict[str, list[Row]] = {}
    for turn in range(max(map(len, operators))):
        tried = [calls[turn] for calls in operators if len(calls) > turn and calls[0].op not in found]
        results = zip(tried, _in_children([partial(_c_op, one) for one in tried]), strict=True)
        found.update((one.op, rows) for one, rows in results if rows)
    return [row for calls in operators for row in found.get(calls[0].op, ())]


def _c_op(one: c_ops.Try) -> Iterator[Row]:
    names = list(one.sample.names or ())
    try:
        seen = inplace.seen(one.call, one.sample, names) if one.writes else _observe(one.call, one.sample, names)
    except Exception:  # noqa: BLE001 - it does not take these arguments
        return
    row = {"op": one.op, "args": one.args, **(seen or {}), **source()}
    if seen is not None and _is_told(row):
        yield row


def _is_told(row: Row) -> bool:
    """Return whether all that an entry speaks of are arguments that it names: of a former operator, the tensors."""
    try:
        op_of(row)
    except FactError:
        return False
    return True


def _owned(path: Path) -> frozenset[str]:
    rows = (json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip())
    return frozenset(spelling for row in rows for spelling in (row["op"], *row.get("same", ())))


def _in_children(works: Sequence[Callable[[], Iterable[Row]]]) -> list[list[Row]]:
    """Return what each work yields; nothing of one that kills the process even where it is the first in it."""
    found: list[list[Row]] = []
    while len(found) < len(works):
        found.extend(_in_child(works[len(found) :]) or [[]])
    return found


def _in_child(works: Sequence[Callable[[], Iterable[Row]]]) -> list[list[Row]]:
    """Return what works yield, until one kills the process; each starts with the same random numbers."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        with os.fdopen(writer, "w", encoding="utf-8") as stream:
            for work in works:
                paddle.seed(0)
                print(json.dumps(list(work())), file=stream, flush=True)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, encoding="utf-8") as stream:
        found = [json.loads(line) for line in stream]
    os.waitpid(child, 0)
    return found


def _rows(sample: Sample, owned: frozenset[str]) -> Iterator[Row]:
    """Yield the entries of one name: the function, with its methods, and its form in place."""
    spellings = [f"{home}.{sample.name}" for home in _HOMES if found(f"{home}.{sample.name}") is not None]
    spellings += [f"paddle.Tensor.{operator}" for operator in OPERATORS.get(sample.name, ())]
    free = [spelling for spelling in spellings if spelling not in owned]
    names = names_of(spellings[0], sample) if spellings else []
    seen = _observe(found(spellings[0]), sample, names) if spellings else None
    for spelling in spellings:
        if seen is not None and _takes_out(spelling, sample):
            row: Row = {"op": spelling, "if": "passed(out)", "args": [*names, "*args", "out", "**kwargs"]}
            row |= {"writes": [{"to": "out", "counted": False}], "grads": [], "returns": [{"is": "out"}]}
            yield row | source()
    if seen is not None and free:
        row = {"op": free[0]}
        row |= {"same": free[1:]} if free[1:] else {}
        length = seen["returns"][0].get("length")
        function = found(spellings[0])
        listed = [*names, *_spelled(_parameters(function)[len(names) :])]
        for guard, other in _turned(function, lambda options: partial(function, **options), sample, names, seen):
            yield row | {"if": guard, "args": listed} | other | source()
        arguments = arguments_of([*names, f"{length}=None"] if length else names)
        yield row | {"args": arguments} | seen | source()
    yield from inplace.entries(sample, owned)


def _turned(
    function: Callable[..., Any],
    bound: Callable[[Row], Callable[..., Any]],
    sample: Sample,
    names: list[str],
    seen: Row,
) -> Iterator[tuple[str, Row]]:
    """
    Yield what is seen with flags of a function turned, with the guard for it, where that is something else.

    Flags are `bound` before the call; those that the sample passes, and whether it is in place, are left out. Of those
    that change something, all together come first, then fewer.
    """
    flags = {one.name: one.default for one in _parameters(function)[len(names) :] if isinstance(one.default, bool)}
    found: dict[str, Row] = {}
    for name, default in flags.items():
        other = None if name == "inplace" else _observe(bound({name: not default}), sample, names)
        if other is not None and _effects(other) != _effects(seen):
            found[name] = other
    for count in range(len(found), 0, -1):
        for turned in combinations(found, count):
            options = {name: not flags[name] for name in turned}
            row = found[turned[0]] if count == 1 else _observe(bound(options), sample, names)
            if row is not None:
                yield " and ".join(f"not {name}" if flags[name] else name for name in turned), row


def _effects(row: Row) -> object:
    """Return what a call keeps, writes and returns, without sizes."""
    results = [item for fact in row["returns"] for item in (fact.get("items") or [fact.get("item") or fact])]
    kinds = [(fact["is"], fact.get("of"), fact.get("dtype")) for fact in results]
    return row.get("saves"), row.get("writes"), row.get("grads"), kinds


def _parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    try:
        return list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return []


def _spelled(parameters: Iterable[inspect.Parameter]) -> Iterator[str]:
    """Yield parameters as an entry lists them."""
    for one in parameters:
        plain = one.default is None or isinstance(one.default, bool | int | float | str)
        bare = one.default is inspect.Parameter.empty
        yield one.name if bare else f"{one.name}={one.default!r}" if plain else f"{one.name}=None"


def _takes_out(spelling: str, sample: Sample) -> bool:
    """Return whether a function writes its result into `out=`, behind the version counter."""
    given = sample.arguments()
    target = given[0].clone()
    try:
        found(spelling)(*given, out=target)
    except Exception:  # noqa: BLE001 - whatever it is, it takes no `out`
        return False
    written = target.dtype != given[0].dtype or not np.array_equal(target.numpy(), given[0].numpy())
    return written and target.inplace_version == 0


def _layer(name: str) -> Iterator[Row]:
    """Yield the entry of a layer that has no parameters."""
    cls = found(f"paddle.nn.{name}")
    if cls is None:
        return

    def made(options: Row) -> Callable[..., Any]:
        return cast("Callable[..., Any]", cls(*LAYERS[name][1], **options))

    sample = Sample(name, shape=LAYERS[name][0])
    seen = _observe(made({}), sample, ["x"])
    if seen is None:
        return
    row = {"op": f"paddle.nn.{name}", "init": [*_spelled(_parameters(cls.__init__)[1:])], "args": ["x", "*args"]}
    for guard, other in _turned(cls, made, sample, ["x"], seen):
        yield row | {"if": guard} | other | source()
    yield row | seen | source()


def _observe(call: Callable[..., Any], sample: Sample, names: list[str]) -> Row | None:
    """Return what a call keeps and returns, as seen; None when it cannot be called like this."""
    try:
        saves = kept_arguments(call, sample, names)
        inputs = sample.arguments()
        given = dict(zip(names, inputs, strict=False))
        result = call(*inputs)
        writes = [{"to": names[0], "counted": True, "checks": ["leaf"]}] if inputs[0].inplace_version else []
        single = not isinstance(result, list | tuple)
        outputs = [result] if single else list(result)
        kept = (position for position in range(len(outputs)) if _keeps_output(call, sample, position))
        saves += [{"of": f"out{position}"} for position in kept]
        kinds = [_kind(output, inputs[0], names[0]) for output in outputs]
        for kind, shape in zip(kinds, _shapes(call, sample, names, given, outputs), strict=True):
            kind.update({"shape": shape} if shape and kind["is"] == "fresh" else {})
    except Exception as error:  # noqa: BLE001 - whatever it is, there is no fact then
        print(f"no fact of {sample.name}: {type(error).__name__}: {str(error)[:80]!r}")
        return None
    returns = kinds if single else [_several(kinds, call, sample)]
    plain = {} if any(not output.stop_gradient for output in outputs) else {"grads": []}
    return {
        **plain,
        **({"writes": writes} if writes else {}),
        **({"saves": saves} if saves else {}),
        "returns": returns,
    }


def _shapes(
    call: Callable[..., Any], sample: Sample, names: list[str], given: Row, outputs: list[paddle.Tensor]
) -> list[str]:
    """Return the shape of each result, as the sample tells it; what it tells by accident, other sizes refute."""
    told = [[(shapes(given, output.shape), output.shape, -1)] for output in outputs]
    first = [common(one) for one in told]
    if not any(first) or not hasattr(call, "__code__"):  # an operator of Paddle's core ends the process on wrong sizes
        return first
    for values, results in _others(call, sample, names, len(outputs)):
        for one, output in zip(told, results, strict=True):
            one.append((shapes(values, output.shape), output.shape, -1))
    agreed = zip(first, told, strict=True)
    return [text if all(text in texts for texts, _, _ in one) else common(one) for text, one in agreed]


def _others(
    call: Callable[..., Any], sample: Sample, names: list[str], count: int
) -> Iterator[tuple[Row, list[paddle.Tensor]]]:
    """Yield the arguments and results of a call on tensors of other sizes, where it takes them."""
    for sizes in _SIZES:
        for turned in (sizes, (*sizes[:-2], *reversed(sizes[-2:]))):
            tensors = [sample.made(turned if position else sizes) for position in range(sample.tensors)]
            given = [*tensors, *sample.others()]
            try:
                result = call(*given)
            except Exception:  # noqa: BLE001 - whatever it is, it takes no such tensors
                continue
            outputs = list(result) if isinstance(result, list | tuple) else [result]
            if len(outputs) == count and all(isinstance(output, paddle.Tensor) for output in outputs):
                yield dict(zip(names, given, strict=False)), outputs


def _several(kinds: list[Row], call: Callable[..., Any], sample: Sample) -> Row:
    """Return a tuple of results; alike ones may be any number, or as many as the argument after the tensors says."""
    if len(kinds) < _ALIKE or any(kind != kinds[0] for kind in kinds):
        return {"is": "tuple", "items": kinds}
    counted = sample.rest[:1] == (len(kinds),)
    names = sample.names or tuple(inspect.signature(call).parameters) if counted else ()
    length = names[sample.tensors] if counted else None
    return {"is": "list", "item": kinds[0], "length": length}


def _keeps_output(call: Callable[..., Any], sample: Sample, position: int) -> bool:
    result = call(*sample.arguments())
    outputs = result if isinstance(result, list | tuple) else [result]
    return raises(lambda: bump(outputs[position]), result)


def _kind(output: paddle.Tensor, source: paddle.Tensor, name: str) -> Row:
    if output is source:
        return {"is": name}
    before = source.inplace_version
    bump(output)
    if source.inplace_version != before:
        return {"is": "view", "of": name}
    if "float" in str(output.dtype) or output.dtype == source.dtype:
        return {"is": "fresh"}
    kind = next((kind for kind in ("bool", "complex") if kind in str(output.dtype)), "int")
    return {"is": "fresh", "dtype": kind}


if __name__ == "__main__":
    assert BINARY
    main(Path(sys.argv[1]))
