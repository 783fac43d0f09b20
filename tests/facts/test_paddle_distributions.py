"""The facts about Paddle's distributions, compared with what the installed Paddle keeps."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

paddle = pytest.importorskip("paddle")

_TABLE = Path(__file__).parents[2] / "rules" / "ops" / "paddle" / "distributions.jsonl"
_ROWS = [json.loads(line) for line in _TABLE.read_text("utf-8").splitlines()]
_METHODS = [row for row in _ROWS if ".of." in row["op"] and not row["op"].endswith("kl_divergence")]
_GIVEN = {
    "high": [1.5, 1.6, 1.7],
    "low": [-1.5, -1.6, -1.7],
    "df": [3.0, 4.0, 5.0],
    "logits": [0.2, 0.3, 0.4],
    "covariance_matrix": [[1.0, 0.1, 0.1], [0.1, 1.0, 0.1], [0.1, 0.1, 1.0]],
}
_VALUES = {"Categorical": [1], "Bernoulli": [0.0, 1.0, 1.0], "Poisson": [1.0, 2.0, 0.0], "Geometric": [1.0, 2.0, 0.0]}


def _tensor(given: Any) -> Any:
    """Return a tensor of a history, so that it can be written."""
    leaf = paddle.to_tensor(given)
    leaf.stop_gradient = leaf.dtype != paddle.float32
    return leaf * 1


def _run(row: dict[str, Any], written: str | None) -> str:
    """Return how a backward through a method ends after what it was given, or returned, was written."""
    name, method = row["op"].split(".")[2], row["op"].rpartition(".")[2]
    fields = next(one["args"] for one in _ROWS if one["op"] == f"paddle.distribution.{name}")
    held = {one: _tensor(_GIVEN.get(one, [0.2, 0.3, 0.5])) for one in fields if "=" not in one}
    if name == "MultivariateNormal":
        held["covariance_matrix"] = _tensor(_GIVEN["covariance_matrix"])
    value = _tensor(_VALUES.get(name, [0.2, 0.3, 0.5]))
    takes = [one for one in row["args"] if "=" not in one]
    out = getattr(getattr(paddle.distribution, name)(**held), method)(*[value for _ in takes])
    if out.stop_gradient:
        return "no history"
    loss = (out * 2).sum()
    if written is not None:
        place = out if written == "out0" else held[written[5:]] if written.startswith("self.") else value
        place.add_(paddle.zeros_like(place))
    try:
        loss.backward()
    except (RuntimeError, OSError) as error:
        return "raises" if "modified by an inplace operation" in str(error) else str(error)
    return "ends"


@pytest.mark.parametrize("row", [pytest.param(row, id=row["op"].partition(".")[2]) for row in _METHODS])
def test_a_method_keeps_what_its_fact_says(row: dict[str, Any]) -> None:
    assert _run(row, None) == ("ends" if row["grads"] else "no history")
    kept = {one["of"] for one in row.get("saves", ())}
    for place in [*row["grads"], "out0"] if row["grads"] else []:
        if place != "value" or row["op"].split(".")[2] != "Categorical":
            assert _run(row, place) == ("raises" if place in kept else "ends"), place
