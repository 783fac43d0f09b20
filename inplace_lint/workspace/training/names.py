"""
What names tell by the facts of all frameworks: of methods and attributes of tensors, of functions, and of layers.

    cuts_history("detach")     # True
    describes("argmax")        # True: what it returns is not differentiable
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from inplace_lint.knowledge.facts import framework, frameworks, tables
from inplace_lint.knowledge.words import ViewKind

_WITHOUT_HISTORY = frozenset({ViewKind.DATA, ViewKind.DETACH})


@cache
def cuts_history(name: str) -> bool:
    """Check whether a method or attribute of tensors returns the tensor without its history, whatever is passed."""
    ops = (tables(known).forms(f"{framework(known).tensor}.{name}") for known in frameworks())
    returns = ([one.view for form in forms for one in form.returns] for forms in ops)
    return any(views and _WITHOUT_HISTORY.issuperset(views) for views in returns)


@cache
def layers_with_parameters() -> frozenset[str]:
    """Return the last names of the frameworks' layers that have parameters."""
    found = ((name, rows) for known in frameworks() for name, rows in tables(known).rows.items())
    return frozenset(name.rpartition(".")[2] for name, rows in found if any(map(_has_parameters, rows)))


def _has_parameters(row: Mapping[str, Any]) -> bool:
    return any(part.get("param") for part in row.get("state", {}).values())


@cache
def layers() -> frozenset[str]:
    """Return the last names of the frameworks' layers, which pass gradients on."""
    found = ((name, rows) for known in frameworks() for name, rows in tables(known).rows.items())
    return frozenset(name.rpartition(".")[2] for name, rows in found if any("init" in row for row in rows))


@cache
def trained_layers() -> frozenset[str]:
    """Return the last names of the layers that have parameters or keep the shape, and of losses that are one number."""
    found = ((name, row) for known in frameworks() for name, rows in tables(known).rows.items() for row in rows)
    return frozenset(name.rpartition(".")[2] for name, row in found if is_layer(row) or _is_number(row))


def is_layer(row: Mapping[str, Any]) -> bool:
    """Check whether a row is that of a layer which has parameters or keeps the shape."""
    return "init" in row and ("state" in row or any(shape.startswith("like(") for shape in _shapes(row)))


def _is_number(row: Mapping[str, Any]) -> bool:
    return "init" in row and "axes(0)" in _shapes(row)


def _shapes(row: Mapping[str, Any]) -> list[str]:
    return [one.get("shape", "") for one in row.get("returns", ())]


@cache
def chains() -> frozenset[str]:
    """Return the last names of the frameworks' containers whose parts are called one after the other."""
    return frozenset(name.rpartition(".")[2] for known in frameworks() for name in framework(known).chains)


@cache
def flags() -> frozenset[str]:
    """Return the names of the attributes that say whether a tensor requires grad."""
    return frozenset(framework(known).requires_grad for known in frameworks())


@cache
def arrays() -> frozenset[str]:
    """Return the packages of arrays, which have no gradient."""
    return frozenset().union(*(framework(known).arrays for known in frameworks()))


@cache
def is_of_tensor(name: str) -> bool:
    """Check whether tensors have a method of a name."""
    return any(tables(known).forms(f"{framework(known).tensor}.{name}") for known in frameworks())


@cache
def describes(name: str) -> bool:
    """Check whether tensors have a method or attribute of a name, and what it returns is not differentiable."""
    forms = [form for known in frameworks() for form in tables(known).forms(f"{framework(known).tensor}.{name}")]
    return bool(forms) and all(form.grads == () or any(one.kind == "value" for one in form.returns) for form in forms)


@cache
def is_factory(known: str, name: str) -> bool:
    """Check whether a function of a framework makes a leaf that requires no grad by default."""
    results = [form.returns[-1] for form in tables(known).forms(name) if form.returns]
    return bool(results) and all(one.leaf and one.rg is not None for one in results)
