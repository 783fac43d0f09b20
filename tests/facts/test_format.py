"""Every line of the torch tables follows the format of `rules/ops/README.md`, and names what torch has."""

from __future__ import annotations

from collections.abc import Iterator
from operator import attrgetter
from typing import Any

import pytest

from inplace_lint.knowledge.guard import atoms
from inplace_lint.knowledge.op import Op, ReturnFact, op_of
from tests.facts.tables import AREAS, rows

KEYS = {
    "op", "same", "if", "init", "derives", "repeats",
    "state", "args", "becomes", "writes", "saves", "grads", "hands", "returns",
    "history", "versions", "source", "probed", "device", "calls",
}  # fmt: skip
RETURN_KEYS = {
    "is", "if", "dtype", "shape", "leaf", "rg", "of", "kind", "contiguous", "follows", "turned", "moves", "item",
    "items", "length",
}  # fmt: skip
CHECKS = {
    "leaf", "leaf_view", "multi_view", "no_grad_view", "inference", "overlap", "expanded", "operands", "shape", "cast",
    "fraction", "broadcast", "operand", "apart", "resize", "mixed", "leaf_always",
    "recorded",
}  # fmt: skip
ATOMS = {
    "", "rg", "passed", "same", "contiguous", "dense", "ndim", "float", "int", "bool", "tensor", "basic", "whole",
    "dtype",
    "matrix", "views", "keeps", "sums", "kept_by_einsum", "kept_by_matmul",
    "centred", "rows",
}  # fmt: skip
# Names that only a build with that device, or an optional part, has.
OPTIONAL = (
    "torch.npu.",
    "torch._dynamo.",
    "torch.onnx.",
    "torch.distributed.",
    "torch.cuda.",
    "torch.utils.model_zoo.",
)


@pytest.mark.parametrize("area", AREAS)
def test_every_entry_has_only_known_keys_and_a_source(area: str) -> None:
    for row in rows(area):
        assert set(row) <= KEYS, row["op"]
        assert row["source"], row["op"]
        for fact in row.get("returns", ()):
            assert set(fact) <= RETURN_KEYS, row["op"]
        for write in row.get("writes", ()):
            assert set(write.get("checks", ())) <= CHECKS, row["op"]


@pytest.mark.parametrize("area", AREAS)
def test_every_entry_parses_and_its_guards_speak_of_its_arguments(area: str) -> None:
    for row in rows(area):
        op = op_of(row)
        names = {argument.name for argument in (*op.args, *(op.init or ()))} | {"train", "autocast"}
        names |= {f"self.{part.name}" for part in op.state}
        for guard in _guards(op):
            for atom in atoms(guard):
                assert atom.name in ATOMS, f"{op.name}: {atom}"
                assert {name if name in names else _owner(name) for name in atom.args} <= names, f"{op.name}: {atom}"


@pytest.mark.parametrize("area", AREAS)
def test_saves_writes_grads_and_returns_name_arguments(area: str) -> None:
    for row in rows(area):
        op = op_of(row)
        names = {argument.name for argument in op.args} | {f"self.{part.name}" for part in op.state}
        told = [save.of for save in op.saves if not save.of[3:].isdigit()] + [write.to for write in op.writes]
        told += [*(op.grads or ()), *(fact.of for fact in _flat(op.returns) if fact.of)]
        assert {name if name in names else _owner(name) for name in told} <= names, (op.name, set(told) - names)


def _owner(name: str) -> str:
    """Return the argument, or the part of a module, that a name is of: `self.encoder` of `self.encoder.norm.weight`."""
    owner, _, rest = name.partition(".")
    return f"self.{rest.partition('.')[0]}" if owner == "self" and "." in rest else owner


@pytest.mark.parametrize("area", AREAS)
def test_every_name_is_found_in_the_installed_torch(area: str) -> None:
    torch = pytest.importorskip("torch")
    absent = []
    for row in rows(area):
        for name in (row["op"], *row.get("same", ()), *(one["op"] for one in row.get("becomes", ()))):
            try:
                attrgetter(name.removeprefix("torch."))(torch)
            except AttributeError:
                if not name.startswith(OPTIONAL):
                    absent.append(name)
    assert not absent


def test_no_spelling_stands_in_two_ops() -> None:
    owner: dict[str, str] = {}
    for area in AREAS:
        for row in rows(area):
            for name in (row["op"], *row.get("same", ())):
                assert owner.setdefault(name, row["op"]) == row["op"], name


def _guards(op: Op) -> Iterator[Any]:
    yield op.condition
    for part in (*op.state, *op.becomes, *op.writes, *op.saves, *_flat(op.returns)):
        yield part.condition


def _flat(facts: tuple[ReturnFact, ...]) -> list[ReturnFact]:
    return [one for fact in facts for one in (fact, *_flat(fact.items))]
