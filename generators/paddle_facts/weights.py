"""
Which parameters and buffers the layers of `hand.jsonl` keep for backward: the saves of `self` in their entries.

A person wrote what a call of a layer does otherwise; these are seen by running, those of the layers in it as well.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import paddle
from paddle import nn

from generators.paddle_facts.trying import Gradients, Row, bump, gradients, raises, used

_PLACE = re.compile(r"(?<=\.)\d+(?=\.)")
_ROWS, _SERIES, _IMAGE = (4, 4), (2, 3, 4), (2, 4, 5, 5)
Made = tuple[Callable[[], nn.Layer], tuple[tuple[int, ...], ...]]
MADE: dict[str, Made] = {
    "Linear": (lambda: nn.Linear(4, 4), (_ROWS,)),
    "Conv1D": (lambda: nn.Conv1D(3, 3, 2), (_SERIES,)),
    "Conv2D": (lambda: nn.Conv2D(4, 4, 2), (_IMAGE,)),
    "Conv1DTranspose": (lambda: nn.Conv1DTranspose(3, 3, 2), (_SERIES,)),
    "BatchNorm1D": (lambda: nn.BatchNorm1D(4), (_ROWS,)),
    "BatchNorm2D": (lambda: nn.BatchNorm2D(4), (_IMAGE,)),
    "BatchNorm3D": (lambda: nn.BatchNorm3D(4), ((2, 4, 2, 3, 3),)),
    "BatchNorm": (lambda: nn.BatchNorm(4), (_IMAGE,)),
    "LayerNorm": (lambda: nn.LayerNorm(4), (_ROWS,)),
    "GroupNorm": (lambda: nn.GroupNorm(2, 4), (_IMAGE,)),
    "InstanceNorm1D": (lambda: nn.InstanceNorm1D(3), (_SERIES,)),
    "Embedding": (lambda: nn.Embedding(4, 4), ()),
    "Bilinear": (lambda: nn.Bilinear(4, 4, 2), (_ROWS, _ROWS)),
    "LSTM": (lambda: nn.LSTM(4, 4, direction="bidirect"), (_SERIES,)),
    "GRU": (lambda: nn.GRU(4, 4, direction="bidirect"), (_SERIES,)),
    "LSTMCell": (lambda: nn.LSTMCell(4, 4), (_ROWS, _ROWS, _ROWS)),
    "GRUCell": (lambda: nn.GRUCell(4, 4), (_ROWS, _ROWS)),
    "SimpleRNNCell": (lambda: nn.SimpleRNNCell(4, 4), (_ROWS, _ROWS)),
    "MultiHeadAttention": (lambda: nn.MultiHeadAttention(4, 2), (_SERIES,)),
    "TransformerEncoderLayer": (lambda: nn.TransformerEncoderLayer(4, 2, 8), (_SERIES,)),
    "TransformerDecoderLayer": (lambda: nn.TransformerDecoderLayer(4, 2, 8), (_SERIES, _SERIES)),
    "TransformerEncoder": (lambda: nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 8), 2), (_SERIES,)),
    "TransformerDecoder": (
        lambda: nn.TransformerDecoder(nn.TransformerDecoderLayer(4, 2, 8), 2),
        (_SERIES, _SERIES),
    ),
    "Transformer": (lambda: nn.Transformer(4, 2, 1, 1, 8), (_SERIES, _SERIES)),
}


def rewrite(path: Path) -> None:
    """Put the saves of `self` into the entries of layers; other lines stay as they are."""
    lines = path.read_text(encoding="utf-8").splitlines()
    scratch = path.with_suffix(".tmp")
    scratch.write_text("".join(f"{_with_weights(line)}\n" for line in lines), encoding="utf-8")
    scratch.replace(path)


def _with_weights(line: str) -> str:
    row: Row = json.loads(line) if line.startswith("{") else {}
    name = row.get("op", "").removeprefix("paddle.nn.")
    if name not in MADE:
        return line
    own = [*_kept(row, *MADE[name])]
    saves = [one for one in row["saves"] if not one["of"].startswith("self.")]
    return json.dumps({**row, "saves": [*saves, *own]}, ensure_ascii=False)


def _kept(row: Row, make: Callable[[], nn.Layer], shapes: tuple[tuple[int, ...], ...]) -> Iterator[Row]:
    """Yield what a call keeps of the state or below it; `each` in a path stands for the layers of a list."""
    layer = make()
    values = [paddle.rand(list(shape)) for shape in shapes] or [paddle.to_tensor([0, 1])]
    names = [name.partition("=")[0] for name in row["args"]]
    inputs = [names[min(place, len(names) - 1)] for place in range(len(values))]
    seen = set[str]()
    for name, one in {**dict(layer.named_parameters()), **dict(layer.named_buffers())}.items():
        path = _PLACE.sub("each", name)
        if name.partition(".")[0] not in row["state"] or path in seen:
            continue
        seen.add(path)
        if raises(partial(bump, one), _called(layer, _trained(values))):
            yield {"of": f"self.{path}", **({} if one.stop_gradient else _use(layer, one, values, inputs))}


def _use(layer: nn.Layer, weight: paddle.Tensor, values: list[paddle.Tensor], inputs: list[str]) -> Row:
    """Say whether backward uses the value of a weight for nothing but the gradients of inputs, or for none."""
    weights = layer.parameters()

    def run(*, changed: bool) -> Gradients:
        given = _trained(values)
        before = weight.clone().detach()
        layer.clear_gradients()
        found = gradients(lambda: _called(layer, given), [*weights, *given], weight if changed else None)
        weight.set_value(before)
        return list(zip([*[""] * len(weights), *inputs], found, strict=True))

    return used(run(changed=False), run(changed=True), sure=True)


def _called(layer: nn.Layer, given: list[paddle.Tensor]) -> paddle.Tensor:
    """Call a layer; one step of a recurrent one takes its states together."""
    first, *others = given
    states = (others[0] if len(others) == 1 else tuple(others),) if isinstance(layer, nn.RNNCellBase) else others
    result = layer(first, *states)
    return result[0] if isinstance(result, tuple) else result


def _trained(values: list[paddle.Tensor]) -> list[paddle.Tensor]:
    """Return copies of inputs that require grad, if they can."""
    given = [one.clone() for one in values]
    for one in given:
        one.stop_gradient = not one.is_floating_point()
    return given
