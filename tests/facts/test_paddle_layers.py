"""Each hand-written fact about a layer of Paddle is tried on Paddle: which inputs and results are kept."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from tests.facts.test_paddle import FACTS

paddle = pytest.importorskip("paddle")

IMAGE, SERIES, ROWS = (2, 4, 4, 4), (2, 4, 4), (3, 4)
STATES = [(1, 2, 4), (1, 2, 4)]
# The arguments of a constructor, and the shapes of the tensors that a call gets.
LAYERS: dict[str, tuple[tuple[object, ...], list[object]]] = {
    "Linear": ((4, 4), [ROWS]),
    **{f"Conv{axes}D": ((4, 4, 1), [(2, 4, *[4] * axes)]) for axes in (1, 2, 3)},
    **{f"Conv{axes}DTranspose": ((4, 4, 1), [(2, 4, *[4] * axes)]) for axes in (1, 2, 3)},
    **{f"BatchNorm{axes}D": ((4,), [(2, 4, *[4] * axes)]) for axes in (1, 2, 3)},
    **{f"InstanceNorm{axes}D": ((4,), [(2, 4, *[4] * axes)]) for axes in (1, 2, 3)},
    "BatchNorm": ((4,), [IMAGE]),
    "LayerNorm": ((4,), [ROWS]),
    "GroupNorm": ((2, 4), [IMAGE]),
    "PReLU": ((), [ROWS]),
    "Bilinear": ((4, 4, 3), [ROWS, ROWS]),
    "LSTM": ((4, 4), [(2, 3, 4), STATES]),
    "GRU": ((4, 4), [(2, 3, 4), STATES[0]]),
    "SimpleRNN": ((4, 4), [(2, 3, 4), STATES[0]]),
    "LSTMCell": ((4, 4), [ROWS, [ROWS, ROWS]]),
    "GRUCell": ((4, 4), [ROWS, ROWS]),
    "SimpleRNNCell": ((4, 4), [ROWS, ROWS]),
    "RNN": (("GRUCell",), [(2, 3, 4), (2, 4)]),
    "BiRNN": (("GRUCell", "GRUCell"), [(2, 3, 4)]),
    "MultiHeadAttention": ((4, 2), [SERIES, SERIES, SERIES]),
    "TransformerEncoderLayer": ((4, 2, 8), [SERIES]),
    "TransformerEncoder": (("TransformerEncoderLayer", 2), [SERIES]),
    "TransformerDecoder": (("TransformerDecoderLayer", 2), [SERIES, SERIES]),
    "TransformerDecoderLayer": ((4, 2, 8), [SERIES, SERIES]),
    "Transformer": ((4, 2, 1, 1, 8), [SERIES, SERIES]),
    "CosineSimilarity": ((), [ROWS, ROWS]),
    "PairwiseDistance": ((), [ROWS, ROWS]),
    "Silu": ((), [ROWS]),
    "SiLU": ((), [ROWS]),
    "Identity": ((), [ROWS]),
}
INNER = {"GRUCell": (4, 4), "TransformerEncoderLayer": (4, 2, 8), "TransformerDecoderLayer": (4, 2, 8)}
# Those that need a group of processes, or targets and indices: the semantics pages run them.
ELSEWHERE = {"SyncBatchNorm", "Embedding", "MaxUnPool2D", "Dropout"}

OFF = ("time_major", "need_weights", "act ==")  # options that are off by default


def _facts() -> Iterator[object]:
    for line in FACTS.read_text(encoding="utf-8").splitlines():
        entry = json.loads(line)
        for name in (entry["op"], *entry.get("same", ())):
            short = name.rpartition(".")[2]
            if "init" in entry and short not in ELSEWHERE and not short.endswith("Loss"):
                yield pytest.param(short, entry, id=short, marks=pytest.mark.paddle)


@pytest.mark.parametrize(("name", "entry"), list(_facts()))
def test_a_layer_keeps_what_its_fact_says(name, entry):
    given, shapes = LAYERS[name]
    names = [argument.partition("=")[0] for argument in entry["args"]][: len(shapes)]
    kept = {save["of"] for save in entry.get("saves", ()) if not save.get("if", "").startswith(OFF)}
    seen = set()
    for position in range(len(names) + 1):
        paddle.seed(0)
        layer = made(name, given)
        inputs = [tensors(shape) for shape in shapes]
        result = layer(*inputs)
        outputs = list(flat(result))
        bumped = inputs[position] if position < len(names) else outputs[0]
        total = paddle.add_n([one.sum() for one in outputs])
        with paddle.no_grad():
            for tensor in flat(bumped):
                tensor.scale_(1.0)
        if is_refused(total):
            seen.add((*names, "out0")[position])
    assert seen == {one for one in kept if one in names or one == "out0"}


def made(name, given):
    return getattr(paddle.nn, name)(*(made(one, INNER[one]) if one in INNER else one for one in given))


def tensors(shape):
    if isinstance(shape, list):
        return tuple(map(tensors, shape))
    leaf = paddle.rand(shape)
    leaf.stop_gradient = False
    return leaf * 1.0


def flat(value):
    if isinstance(value, tuple | list):
        for one in value:
            yield from flat(one)
    else:
        yield value


def is_refused(total):
    try:
        total.backward()
    except RuntimeError as error:
        assert "modified by an inplace operation" in str(error)  # noqa: PT017 - it may also raise nothing
        return True
    return False
