"""
Operators that have kernels for GPUs only: what backward keeps, by the tensors that their gradients take.

    class  FusedRmsNormExtGradOp ... { ...        // in the headers of the wheel
      pir::Value x() { return operand_source(0); }

Nothing of it is run. Of operators that do run, what is seen to be kept is always taken, as
`tests/facts/test_paddle_fused.py` shows; what is taken for its sizes only is not kept, and is not listed here.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import paddle

from generators.paddle_facts.trying import found

_HEADER = "include/paddle/fluid/pir/dialect/operator/ir/pd_op.h"
_OPERATOR = re.compile(r'return "pd_op\.(?P<name>\w+)"; \}(?P<body>.*?)^\};', re.DOTALL | re.MULTILINE)
_OPERAND = re.compile(r"pir::Value (\w+)\(\) \{ return operand_source")
_RESULT = re.compile(r"pir::Value (\w+)\(\) \{ return result")
_FUSED, _ATTENTION = "paddle.incubate.nn.functional", "paddle.nn.functional"


class Fused(NamedTuple):
    """
    A function that calls an operator, how its arguments are named there, and which of the results it returns.

    An argument that may be taken for its sizes only has no name.
    """

    op: str
    operator: str
    operands: Mapping[str, str] = MappingProxyType({})
    results: tuple[str, ...] | str = "out"
    same: tuple[str, ...] = ()


_QKV = {"query": "q", "key": "k", "value": "v"}
FUSED = (
    Fused(f"{_FUSED}.fused_rms_norm_ext", "fused_rms_norm_ext", results=("y", "invvar")),
    Fused(
        f"{_FUSED}.fused_rms_norm", "fused_rms_norm_quant", {"bias": "", "residual": "", "norm_bias": ""},
        ("out", "residual_out"),
    ),
    Fused(f"{_FUSED}.fast_rms_norm", "fast_rms_norm", results=("y", "invvar")),
    Fused(f"{_FUSED}.fast_ln", "fast_ln", results=("y", "mean", "invvar")),
    Fused(f"{_ATTENTION}.rms_norm", "rms_norm", {"input": "x", "weight": "scale"}, "y"),
    Fused(
        f"{_FUSED}.fused_rotary_position_embedding",
        "fused_rotary_position_embedding",
        results=("out_q", "out_k", "out_v"),
    ),
    Fused(f"{_FUSED}.fused_partial_rope", "fused_partial_rope"),
    Fused(f"{_FUSED}.moe_combine", "moe_combine", results="y"),
    Fused(f"{_FUSED}.fused_dot_product_attention", "fused_dot_product_attention", {**_QKV, "attn_mask": "bias"}),
    Fused(
        f"{_ATTENTION}.flashmask_attention", "flashmask_attention", _QKV,
        same=(f"{_ATTENTION}.flash_attention.flashmask_attention",),
    ),
    Fused(f"{_ATTENTION}.flash_attention.flash_attention", "flash_attn", _QKV, ("out", "")),
    Fused(f"{_ATTENTION}.flash_attention.flash_attn_unpadded", "flash_attn_unpadded", _QKV, ("out", "")),
    Fused("paddle.incubate.softmax_mask_fuse_upper_triangle", "fused_softmax_mask_upper_triangle", {"x": "X"}, "Out"),
)  # fmt: skip


@lru_cache(maxsize=1)
def _operators() -> dict[str, str]:
    header = Path(str(paddle.__file__)).parent / _HEADER
    return {match["name"]: match["body"] for match in _OPERATOR.finditer(header.read_text(encoding="utf-8"))}


def has_gradient(operator: str) -> bool:
    """Return whether there is an operator of this name, and one for its gradient."""
    return {operator, f"{operator}_grad"} <= _operators().keys()


def taken(operator: str) -> frozenset[str]:
    """Return the operands and results of an operator that its gradient takes."""
    body = _operators()[operator]
    known = {*_OPERAND.findall(body), *_RESULT.findall(body)}
    return frozenset(known & {*_OPERAND.findall(_operators()[f"{operator}_grad"])})


def entries() -> Iterator[dict[str, Any]]:
    """Yield the entries of the functions that call such operators."""
    for one in FUSED:
        kept = taken(one.operator)
        parameters = inspect.signature(found(one.op)).parameters.values()
        results = (one.results,) if isinstance(one.results, str) else one.results
        named = [each.name for each in parameters if one.operands.get(each.name, each.name) in kept]
        saves = [
            {"of": name, "if": f"dense({name})"} for name in named
        ]  # of others a copy is kept, as of most operators
        saves += [{"of": f"out{at}"} for at, name in enumerate(results) if name in kept]
        items = [{"is": "fresh"} if name else {"is": "value"} for name in results]
        yield {
            "op": one.op,
            **({"same": [*one.same]} if one.same else {}),
            "args": [_spelled(each) for each in parameters],
            "saves": saves,
            "returns": items if isinstance(one.results, str) else [{"is": "tuple", "items": items}],
            "source": f"pd_op.h: {one.operator}_grad",
        }


def _spelled(parameter: inspect.Parameter) -> str:
    default = parameter.default
    plain = default is None or isinstance(default, bool | int | float | str)
    bare = default is inspect.Parameter.empty
    return parameter.name if bare else f"{parameter.name}={default if plain else None!r}"
