"""Schemas of operators are read as PyTorch reads them; what is refused here is refused there."""

from __future__ import annotations

import random
import subprocess
import sys

import pytest
import torch

from inplace_lint.knowledge.operator_schema import Parameter, SchemaError, read, read_apart

WHOLE = (
    "f(Tensor(a!) x, int[2] y=1, *, float? z=None) -> Tensor(a!)",
    "f(Tensor[] xs, str m='abc') -> (Tensor a, int b)",
    "f(Tensor(a! -> *) x, SymInt[]? s=None, ScalarType t=float) -> ()",
    "ns::f.over(Tensor? x, Dict(str, Tensor) d) -> Tensor[]",
    "f(Scalar x=-1, bool b=True, (int, Tensor) p) -> ...",
)
PARSE = torch._C.parse_schema  # noqa: SLF001 - nothing public parses one
ALL = "import torch; print(*torch._C._jit_get_all_schemas(), sep='\\n')"
CHARACTERS = "()[]{},=*?!|:.-> aTx1'\""


def test_what_a_schema_says_of_its_arguments_and_results() -> None:
    found = read("n::f(Tensor(a!) x, int[2] k=[1, 1], *, Tensor(b)[] ys, (int, Tensor)? p=None) -> (Tensor(a!), int n)")
    assert found.name == "n::f"
    assert found.parameters == (
        Parameter("x", "Tensor", "a", writes=True),
        Parameter("k", "int[2]", optional=True),
        Parameter("ys", "Tensor[]", "b", keyword=True),
        Parameter("p", "(int,Tensor)?", keyword=True, optional=True),
    )
    assert found.results == (Parameter("", "Tensor", "a", writes=True), Parameter("n", "int"))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("bad schema", "expected `(`, not `schema`"),
        ("f", "expected `(`, not the end"),
        ("f(Tensor x", "expected `)`, not the end"),
        ("f(Tensor(a! x) -> ()", "expected `)`, not `x`"),
        ("f(Tensor) -> ()", "expected a name, not `)`"),
        ("f(Tensor x,) -> ()", "expected a type, not `)`"),
        ("f(Tensr x) -> ()", "expected a type, not `Tensr`"),
        ("f(Tensor x=) -> ()", "expected a value, not `)`"),
        ("f(Tensor x) Tensor", "expected `->`, not `Tensor`"),
        ("f(Tensor x) -> (Tensor", "expected `)`, not the end"),
        ("f(Tensor x) -> Tensor; g()", "expected the end, not `;`"),
    ],
)
def test_what_does_not_parse_is_said_and_refused_by_pytorch(text: str, problem: str) -> None:
    with pytest.raises(SchemaError) as told:
        read(text)
    assert str(told.value) == problem
    with pytest.raises(RuntimeError):
        PARSE(text)


@pytest.mark.parametrize("text", ["(Tensor x)->Tensor", "(Tensor x,\n Tensor y) -> Tensor", " (Tensor x) -> Tensor"])
def test_a_schema_apart_from_its_name_is_spaced_as_pytorch_asks_for(text: str) -> None:
    assert read(text, named=False).results
    with pytest.raises(SchemaError, match="in one line"):
        read_apart(text)
    with pytest.raises(ValueError, match="expected schema to look like"):
        torch.library.define("operator_schema_apart::f", text)


def test_all_schemas_of_pytorch_are_read() -> None:
    # In a process of its own: other tests register operators, and load libraries that do.
    done = subprocess.run([sys.executable, "-c", ALL], capture_output=True, text=True, check=True)
    schemas = done.stdout.splitlines()
    assert len([read(one) for one in schemas]) > 3000


def test_what_is_refused_is_refused_by_pytorch() -> None:
    picks, refused = random.Random(0), 0
    for _ in range(3000):
        text = picks.choice(WHOLE)
        for _ in range(picks.choice([1, 1, 1, 2, 3])):
            at, kind = picks.randrange(len(text)), picks.randrange(3)
            text = text[:at] + ("" if kind == 0 else picks.choice(CHARACTERS)) + text[at + (kind != 1) :]
        try:
            read(text)
        except SchemaError:
            refused += 1
            with pytest.raises(RuntimeError):
                PARSE(text)
    assert refused > 1000
