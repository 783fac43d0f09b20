"""Each hand-written fact about Paddle is tried on Paddle: what is kept, what is written, what shares memory."""

from __future__ import annotations

import contextlib
import functools
import inspect
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from inplace_lint.knowledge.facts import framework
from tests.pages.examples import ROOT
from tests.pages.real import Outcome, Real

FACTS = ROOT / "rules" / "ops" / "paddle" / "hand.jsonl"

# What a call needs besides its first tensor `h` (3 x 3, or 2 x 4 x 4 x 4 for pooling); `k` is a second tensor like `h`.
REST = {
    **dict.fromkeys(("add", "subtract", "multiply", "divide", "matmul", "mm", "maximum", "minimum", "conv2d"), "k"),
    **dict.fromkeys(("add_", "subtract_", "sub_", "mul_", "multiply_"), "k"),
    **dict.fromkeys(("mse_loss", "l1_loss", "set_value", "copy_", "dot"), "k"),
    **dict.fromkeys(("__add__", "__radd__", "__sub__", "__rsub__", "__mul__", "__rmul__"), "k"),
    **dict.fromkeys(("__truediv__", "__matmul__"), "k"),
    **dict.fromkeys(("pow", "__pow__"), "k"),
    **dict.fromkeys(("__rtruediv__", "__rpow__"), "2.0"),
    "cosine_embedding_loss": "k, paddle.to_tensor([1, -1, 1])",
    "polar": "k",
    "repeat": "2, 1",
    **dict.fromkeys(("reshape", "reshape_"), "[9]"),
    **dict.fromkeys(("unsqueeze", "unsqueeze_", "squeeze", "squeeze_"), "0"),
    **dict.fromkeys(("scale", "scale_"), "2.0"),
    **dict.fromkeys(("clip", "clip_"), "0.0, 0.5"),
    **dict.fromkeys(("expand",), "[3, 3]"),
    "tile": "[2, 1]",
    "max_unpool2d": "paddle.arange(128, dtype='int32').reshape([2, 4, 4, 4]) % 64, 2",
    "flip": "[0]",
    "roll": "1",
    **dict.fromkeys(("transpose", "transpose_", "permute"), "[1, 0]"),
    **dict.fromkeys(("fill_", "constant_"), "0.5"),
    "linear": "k",
    "layer_norm": "[3], paddle.ones([3])",
    "group_norm": "3, 1e-05, paddle.ones([3]), paddle.ones([3])",
    "bilinear": "k, paddle.ones([2, 3, 3])",
    "geometric_": "0.5",
    "exponential_": "1.0",
    "cross_entropy": "paddle.to_tensor([0, 1, 2])",
    **dict.fromkeys(("max_pool2d", "avg_pool2d", "adaptive_avg_pool2d", "adaptive_max_pool2d"), "2"),
}
LISTS = frozenset({"concat", "cat", "concatenate", "stack", "hstack", "vstack", "row_stack", "column_stack", "dstack"})
# No tensor goes in or comes out, it is an item or an attribute, or memory is exchanged: the semantics pages run those.
ELSEWHERE = frozenset(
    {"rand", "randn", "zeros", "ones", "full", "to_tensor", "arange", "randint", "zeros_like", "ones_like"}
    | {"eye", "empty", "empty_like", "full_like", "linspace", "randperm", "uniform", "normal", "finfo", "iinfo"}
    | {"__and__", "__or__", "__xor__", "bitwise_and", "bitwise_or", "bitwise_xor"}
    | {
        "__iter__",
        "unbind",
        "T",
        "mT",
        "contiguous",
        "astype",
        "where",
        "einsum",
        "logical_and",
        "logical_or",
        "logical_xor",
    }
    | {"cpu", "cuda", "to", "float", "float32", "type_as"}
    | {"new_zeros", "new_ones", "new_empty", "new_full"}
    | {"shape", "ndim", "dtype", "size", "dim", "ndimension", "item", "tolist", "__len__"}
    | {
        "__getitem__",
        "__setitem__",
        "data",
        "increment",
        "add_n",
        "meshgrid",
        "dropout_",
        "where_",
        "embedding",
        "one_hot",
        "resize_",
        "set_",
        "as_complex",
        "as_real",
        "real",
        "imag",
        "svd",
        "batch_norm",
        "ctc_loss",
    }
    | {"searchsorted", "bincount", "tril_indices", "triu_indices", "standard_normal", "logspace", "range"}
    | {"is_tensor", "is_complex", "is_integer", "is_contiguous", "is_dense", "is_floating_point", "in_dynamic_mode"}
    | {"data_ptr", "element_size", "inplace_version"}
)

PRELUDE = """\
import paddle
import paddle.nn.functional as F
shape = [2, 4, 4, 4] if {wide} else [3, 3]
a, b = (paddle.rand(shape) * 0.5 + 0.25 for _ in range(2))
a.stop_gradient = b.stop_gradient = False
h, k = a * 1.0, b * 1.0
"""


@dataclass(frozen=True, slots=True)
class Fact:
    """One entry under one of its names."""

    name: str
    entry: dict[str, object]

    @property
    def call(self) -> str:
        """Spell a call of it on `h`."""
        short = self.name.rpartition(".")[2]
        if short in {"assign", "assign_out_"} and self.entry.get("writes"):
            return f"{self.name}({'k' if self.entry.get('if') == 'rg(x)' else 'k.detach()'}, h)"
        rest = "2.0" if self.entry.get("if") == "not tensor(y)" else REST.get(short, "")
        if self.name.startswith("paddle.Tensor."):
            return f"h.{short}({rest})"
        first = "[h, k]" if short in LISTS else "h"
        return f"{self.name}({', '.join(part for part in (first, rest) if part)})"

    def keeps(self, argument: int) -> bool:
        """Say whether the argument at this position is kept itself."""
        names = [str(name).partition("=")[0] for name in self.entry["args"]]
        kept = {save["of"] for save in self.entry.get("saves", ()) if not save.get("copy")}
        return argument < len(names) and names[argument] in kept

    @property
    def takes_second(self) -> bool:
        """Say whether the call gets `k` as well."""
        return "k" in REST.get(self.name.rpartition(".")[2], "") and "if" not in self.entry

    def copies(self, argument: int) -> bool:
        """Say whether a copy is kept of the argument at this position where it is not dense in memory."""
        name = str(self.entry["args"][argument]).partition("=")[0]
        return any(save["of"] == name and save.get("if") == f"dense({name})" for save in self.entry.get("saves", ()))

    @property
    def keeps_result(self) -> bool:
        return any(save["of"] == "out0" for save in self.entry.get("saves", ()))


def _facts(*, writing: bool) -> Iterator[object]:
    for number, line in enumerate(FACTS.read_text(encoding="utf-8").splitlines(), 1):
        entry = json.loads(line)
        for name in (entry["op"], *entry.get("same", ())):
            tried = "init" not in entry and name.rpartition(".")[2] not in ELSEWHERE
            if tried and bool(entry.get("writes")) is writing:
                yield pytest.param(Fact(name, entry), id=f"{number}-{name}", marks=pytest.mark.paddle)


@pytest.fixture(scope="module")
def paddle() -> Iterator[Real]:
    real = Real("paddle")
    yield real
    real.stop()


def _run(real: Real, folder: Path, fact: Fact, *statements: str) -> Outcome:
    program = folder / "probe.py"
    prelude = PRELUDE.format(wide="2d" in fact.name)
    program.write_text(prelude + "\n".join(statements) + "\n", encoding="utf-8")
    return real.run(program)


def _is_stale(outcome: Outcome) -> bool:
    assert outcome.verdict == "ran" or "modified by an inplace operation" in outcome.message, outcome
    return outcome.verdict == "raised"


@pytest.mark.parametrize("fact", list(_facts(writing=False)))
def test_what_is_kept_and_shared_is_kept_and_shared(fact: Fact, paddle: Real, tmp_path: Path) -> None:
    bump = "with paddle.no_grad():\n    {0}.scale_(2.0)"
    is_view = fact.entry["returns"][0]["is"] == "view"
    needs = f"y = {fact.call}"
    if fact.name != "paddle.Tensor.detach":
        first = _run(paddle, tmp_path, fact, needs, bump.format("h"), "(y.sum() + k.sum()).backward()")
        assert _is_stale(first) is fact.keeps(0)
        if fact.takes_second:
            second = _run(paddle, tmp_path, fact, needs, bump.format("k"), "(y.sum() + h.sum()).backward()")
            assert _is_stale(second) is fact.keeps(1)
        if not is_view:
            result = _run(paddle, tmp_path, fact, needs, bump.format("y"), "y.sum().backward()")
            assert _is_stale(result) is fact.keeps_result
    shares = f"assert (y.inplace_version == 1) is {is_view}"
    assert _run(paddle, tmp_path, fact, needs, bump.format("h"), shares).verdict == "ran"


@pytest.mark.parametrize("fact", [one for one in _facts(writing=False) if any(map(one.values[0].keeps, (0, 1)))])
def test_what_is_not_dense_is_kept_or_copied(fact: Fact, paddle: Real, tmp_path: Path) -> None:
    for position, name, other in ((0, "h", "k"), (1, "k", "h")):
        if not fact.keeps(position) or (name == "k" and not fact.takes_second):
            continue
        turn = f"{name} = paddle.transpose({name}, [*range({name}.ndim - 2), -1, -2])"
        bump = f"with paddle.no_grad():\n    {name}.scale_(2.0)"
        used = f"(y.sum() + {other}.sum()).backward()"
        outcome = _run(paddle, tmp_path, fact, turn, f"y = {fact.call}", bump, used)
        assert _is_stale(outcome) is not fact.copies(position)


@pytest.mark.parametrize("fact", list(_facts(writing=True)))
def test_what_is_written_is_written_and_counted(fact: Fact, paddle: Real, tmp_path: Path) -> None:
    (write,) = fact.entry["writes"]
    counted = _run(paddle, tmp_path, fact, fact.call, f"assert (h.inplace_version > 0) is {write['counted']}")
    assert counted.verdict == "ran", counted.message
    leaf = _run(paddle, tmp_path, fact, "h = a", fact.call)
    assert ("can't use inplace strategy" in leaf.message) is ("leaf" in write.get("checks", ()))
    if write["counted"]:
        again = _run(paddle, tmp_path, fact, f"y = {fact.call}", "y.scale_(2.0)", "(y.sum() + k.sum()).backward()")
        assert _is_stale(again) is fact.keeps_result


@pytest.mark.parametrize("table", ["hand.jsonl", "functions.jsonl"])
def test_what_is_kept_has_the_name_by_which_it_is_passed(table):
    wrong = []
    for row in map(json.loads, (FACTS.parent / table).read_text(encoding="utf-8").splitlines()):
        kept = {save["of"] for save in row.get("saves", ())} & {name.partition("=")[0] for name in row.get("args", ())}
        function = None if row["op"].startswith("paddle.Tensor.") or not kept else paddle_object(row["op"])
        if function is None or isinstance(function, type):
            continue
        with contextlib.suppress(ValueError):  # a builtin does not say what it takes
            parameters = inspect.signature(function).parameters.values()
            if not any(one.kind in {one.VAR_POSITIONAL, one.VAR_KEYWORD} for one in parameters):
                wrong += [(row["op"], name) for name in kept - {one.name for one in parameters}]
    assert not wrong


def paddle_object(dotted):
    return functools.reduce(getattr, dotted.split(".")[1:], pytest.importorskip("paddle"))


def test_the_layers_listed_under_a_module_are_those_that_it_defines():
    paddle = pytest.importorskip("paddle")
    for module, names in framework("paddle").listed.items():
        space = functools.reduce(getattr, module.split(".")[1:], paddle)
        layers = {name for name, one in vars(space).items() if isinstance(one, type) and one.__module__ == module}
        assert set(names) == layers
