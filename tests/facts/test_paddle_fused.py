"""What the gradients of Paddle's operators take, as its headers say, against what is seen to be kept."""

from __future__ import annotations

import json

import pytest

from tests.facts.tables import FOLDER

paddle = pytest.importorskip("paddle")

from generators.paddle_facts import gradients  # noqa: E402 - it imports Paddle
from generators.paddle_facts.trying import bump, raises  # noqa: E402

TABLE = FOLDER.parent / "paddle" / "c_ops.jsonl"
OTHERWISE = {"as_strided"}  # its argument has another name in the header


def seen():
    """Yield each operator that has a gradient, with the arguments that it was seen to keep."""
    for line in TABLE.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        home, _, name = row["op"].rpartition(".")
        if home == "paddle._C_ops" and gradients.has_gradient(name) and name not in OTHERWISE:
            yield name, {save["of"] for save in row.get("saves", ()) if not save["of"].startswith("out")}


def test_what_is_seen_to_be_kept_is_taken():
    kept = dict(seen())
    assert sum(map(bool, kept.values())) > 100
    assert {name for name, found in kept.items() if not found <= gradients.taken(name)} == set()


def test_a_fused_norm_that_runs_here_keeps_what_is_told():
    """One of the operators runs on a CPU, up to the kernel of its gradient."""

    def trained():
        given = [paddle.rand([3, 4]), paddle.rand([4])]
        for one in given:
            one.stop_gradient = False
        return [one * 1.0 for one in given]

    (row,) = [one for one in gradients.entries() if one["op"].endswith(".fused_rms_norm")]
    assert [save["of"] for save in row["saves"]] == ["x", "norm_weight"]
    for position in range(2):
        given = trained()
        out = paddle.incubate.nn.functional.fused_rms_norm(*given, None, 1e-5, 1)[0]
        assert raises(lambda at=position, given=given: bump(given[at]), out)
