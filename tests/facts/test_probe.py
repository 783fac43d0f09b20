"""
Facts against the real torch: calls are built from the facts alone, and what they did is compared.

By default every seventh op of an area is called; `-m facts_all` calls all of them, by each of their spellings.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import pytest

from tests.facts.tables import AREAS, rows

torch = pytest.importorskip("torch")

from inplace_lint.knowledge.op import op_of  # noqa: E402
from tests.facts import building  # noqa: E402 - needs torch
from tests.facts.checking import problems  # noqa: E402

# What a call built from the facts alone cannot show.
UNSHOWN = {
    "torch.Tensor.grad": "is None before the first backward",
    "torch.Tensor.resize_": "writes only what does not require grad, and only if the size changes",
    "torch.resize_as_": "writes only what does not require grad, and only if the size changes",
    "torch.matmul": "keeps operands by their shapes, which a condition of a fact here does not know",
    "torch.einsum": "keeps operands by their shapes, which a condition of a fact here does not know",
    "torch.Tensor.float": "returns itself if it has that dtype, which a condition of a fact here does not know",
    "torch.kron": "keeps what backward does not compare",
}
EVERY = 7
# The least share of entries that a call must be built for, so that the test cannot pass by calling nothing.
BUILT = 0.8


@pytest.mark.parametrize("area", AREAS)
def test_a_sample_of_facts_agrees_with_torch(area: str) -> None:
    _agree(area, EVERY)


@pytest.mark.facts_all
@pytest.mark.parametrize("area", AREAS)
def test_all_facts_agree_with_torch(area: str) -> None:
    _agree(area, 1)


@pytest.mark.cuda
@pytest.mark.parametrize("area", AREAS)
def test_facts_that_differ_on_a_gpu_are_listed(area: str) -> None:
    """What fails here, and not on a CPU, wants an entry of its own with `device`."""
    with torch.device("cuda"):
        _agree(area, 1, other="cpu")


def _agree(area: str, every: int, other: str = "cuda") -> None:
    torch.set_num_threads(1)
    chosen = [row for index, row in enumerate(_callable(area, other)) if index % every == 0]
    built = 0
    wrong: list[str] = []
    for row in chosen:
        found = _problems(row, row["op"])
        built += found is not None
        wrong += [f"{row['op']}({', '.join(row['args'])}): {text}" for text in found or ()]
        for spelling in row.get("same", ()) if every == 1 and found is not None else ():
            wrong += [f"{spelling}({', '.join(row['args'])}): {text}" for text in _problems(row, spelling) or ()]
    assert not wrong, "\n".join(wrong)
    assert built >= BUILT * len(chosen), f"only {built} of {len(chosen)} could be called"


def _callable(area: str, other: str) -> Iterator[dict[str, Any]]:
    """Give the entries that can be called; those for the `other` device cannot."""
    unknown = {"is": "value", "kind": "unknown"}
    for row in rows(area):
        # Plain Python functions (`source` "python") set seeds and threads of this very process.
        shows = row["returns"][0] != unknown and row["source"] != "python"
        if shows and row.get("device") != other and row["op"] not in UNSHOWN:
            yield row


def _problems(row: dict[str, Any], spelling: str) -> list[str] | None:
    op = op_of(row)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        again = building.repeatable(op, spelling)
        return None if again is None else list(problems(op, again))
