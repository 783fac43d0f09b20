"""Reads the entries that people wrote: `*.jsonl` in this folder, with `#` comments."""

from __future__ import annotations

import inspect
import json
from functools import lru_cache
from pathlib import Path
from typing import Any

import torch

from generators.torch_facts.forms import python_signature


def acts() -> list[str]:
    """Return the names that the interpreter handles itself: `acts.jsonl` beside the tables says what they do."""
    path = Path(__file__).parents[2] / "rules/ops/torch/acts.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    return [spelling for row in rows for spelling in (row["op"], *row.get("same", ()))]


@lru_cache(maxsize=1)
def inplace_forms() -> dict[str, tuple[str, str]]:
    """Give, for what takes an `inplace` flag, the operation that it then is and the guard under which it is."""
    text = (Path(__file__).parent / "inplace.json").read_text(encoding="utf-8")
    return {name: (op, guard) for name, (op, guard) in json.loads(text).items()}


def with_inplace(row: dict[str, Any]) -> dict[str, Any]:
    """Add to an entry what its `inplace` flag makes of it."""
    if row["op"] not in inplace_forms():
        return row
    op, guard = inplace_forms()[row["op"]]
    return {**row, "becomes": [{"if": guard, "op": op}]}


@lru_cache(maxsize=1)
def padded() -> dict[str, str]:
    """
    Give the guards under which convolutions keep their input and no padded copy (seen by running all ways to pad).

    Samples do not vary what they depend on.
    """
    guards: dict[str, str] = json.loads((Path(__file__).parent / "padded.json").read_text(encoding="utf-8"))
    return guards


def with_padded_saves(row: dict[str, Any]) -> dict[str, Any]:
    """Guard the save of an input of which a convolution may keep a padded copy."""
    if row["op"] not in padded():
        return row
    guard = {"of": "input", "if": padded()[row["op"]]}
    return {**row, "saves": [guard if save["of"] == "input" else save for save in row["saves"]]}


@lru_cache(maxsize=1)
def strided() -> dict[str, dict[str, str]]:
    """
    Give the guards under which ops keep an input and no copy of it, by op and argument (seen by running all layouts).

    Norms and linear layers copy what is not contiguous. Attention and recurrent layers project the rows of (time,
    batch, features), which they copy where these do not lie in this order. Samples are all contiguous.
    """
    path = Path(__file__).parent / "strided.json"
    guards: dict[str, dict[str, str]] = json.loads(path.read_text(encoding="utf-8"))
    return guards


def with_strided_saves(row: dict[str, Any]) -> dict[str, Any]:
    """Guard the saves of inputs that are kept only where they lie in memory as the op reads them."""
    guards = strided().get(row["op"], {})
    return {**row, "saves": [_guarded(save, guards.get(save["of"])) for save in row["saves"]]} if guards else row


@lru_cache(maxsize=1)
def settled() -> frozenset[str]:
    """
    Give the ops whose result is contiguous in whatever order their input lies in memory, on every device.

    On a CPU that is seen by running; of these, those are listed whose kernels for CUDA make their results so, too.
    """
    return frozenset(json.loads((Path(__file__).parent / "settled.json").read_text(encoding="utf-8")))


def with_settled_results(row: dict[str, Any]) -> dict[str, Any]:
    """Keep that results are contiguous for the ops of which it holds on every device."""
    if row["op"] in settled():
        return row
    returns = [{k: v for k, v in fact.items() if (k, v) != ("contiguous", True)} for fact in row["returns"]]
    return {**row, "returns": returns}


def _guarded(save: dict[str, Any], guard: str | None) -> dict[str, Any]:
    if guard is None:
        return save
    return {**save, "if": f"({save['if']}) and {guard}" if "if" in save else guard}


@lru_cache(maxsize=1)
def factors() -> frozenset[str]:
    """
    Give the ops that multiply by a weight (seen by running): only the gradient of the input depends on its values.

    The weight was changed between forward and backward, and the gradients of weight and bias stayed as they were.
    """
    path = Path(__file__).parent / "factors.json"
    return frozenset(json.loads(path.read_text(encoding="utf-8")))


@lru_cache(maxsize=1)
def unused() -> dict[str, dict[str, str | bool]]:
    """
    Give the arguments of which backward only asks for the sizes (seen by running), each with a guard for other cases.

    Their values were replaced between forward and backward, and the gradients stayed as they were.
    """
    path = Path(__file__).parent / "unused.json"
    arguments: dict[str, dict[str, str | bool]] = json.loads(path.read_text(encoding="utf-8"))
    return arguments


def with_used_saves(row: dict[str, Any]) -> dict[str, Any]:
    """Say when backward uses the value of a weight or an argument that it keeps."""
    used = unused().get(row["op"], {})
    if row["op"] in factors():
        used = {"weight": "rg(input)", "self.weight": "rg(input)", **used}
    if not used:
        return row
    saves = [{**save, "used": used[save["of"]]} if save["of"] in used else save for save in row["saves"]]
    return {**row, "saves": saves}


@lru_cache(maxsize=1)
def views() -> dict[str, list[str]]:
    """
    Give the arguments of which backward keeps a view (seen by running).

    They were given other memory between forward and backward, and the gradients stayed as they were.
    """
    arguments: dict[str, list[str]] = json.loads((Path(__file__).parent / "views.json").read_text(encoding="utf-8"))
    return arguments


def with_kept_views(row: dict[str, Any]) -> dict[str, Any]:
    """Say of which arguments backward keeps a view."""
    kept = views().get(row["op"], [])
    if not kept or "saves" not in row:
        return row
    return {**row, "saves": [{**save, "view": True} if save["of"] in kept else save for save in row["saves"]]}


def with_reduced_result(row: dict[str, Any]) -> dict[str, Any]:
    """Say of a loss that what it reduces to has no axes; what older arguments ask for stays open."""
    arguments = (*row.get("init", ()), *row.get("args", ()))
    returns = row.get("returns", [])
    if "reduction='mean'" not in arguments or [one["is"] for one in returns] != ["fresh"]:
        return row
    older = [f"not passed({name})" for name in ("size_average", "reduce") if f"{name}=None" in arguments]
    guard = " and ".join(["reduction != 'none'", *older])
    open_ = {key: value for key, value in returns[0].items() if key != "shape"}
    return {**row, "returns": [{**open_, "shape": "axes(0)", "if": guard}, open_]}


def initialisers() -> list[dict[str, Any]]:
    """Return the entries of `torch.nn.init`: each writes its tensor under no-grad, so nothing is recorded."""
    rows: list[dict[str, Any]] = []
    for name in sorted(dir(torch.nn.init)):
        function = getattr(torch.nn.init, name)
        if name.endswith("_") and not name.startswith("_") and inspect.isfunction(function):
            form = python_signature(function, f"torch.nn.init.{name}")
            assert form is not None
            write = {"to": form.first, "counted": True, "checks": ["inference", "overlap"]}
            row = {"op": f"torch.nn.init.{name}", "args": form.texts(), "grads": [], "writes": [write]}
            row |= {"returns": [{"is": form.first}], "history": "keep_old", "source": f"torch/nn/init.py: {name}"}
            rows.append(row)
    return rows


def entries() -> list[dict[str, Any]]:
    """Return the hand-written entries in the order of the files."""
    rows = initialisers()
    for path in sorted(Path(__file__).parent.glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            if line.strip() and not line.startswith("#"):
                rows.append(json.loads(line))
    return rows
