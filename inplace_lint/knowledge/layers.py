"""
Layers of libraries: classes of which it is known that each tensor that a call of an instance returns is computed with
trained parameters of it, and nothing else.

    is_layer("torch", "dgl.nn.pytorch.GATConv")       # by its package and its name, wherever in the package it is
    is_layer("torch", "transformers.BertModel.from_pretrained")   # what makes an instance of such a class
    is_layer("torch", "torchvision.models.resnet18")  # or a function that does
    is_part("torch", "torchvision.models.resnet18", "layer1")   # an attribute that is one in all classes that have it
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache

from inplace_lint.core.errors import FactError
from inplace_lint.knowledge.locate import rules_dir
from inplace_lint.knowledge.schema import Schema, each, text

FILE = "ops/libs/layers.json"
_MAKES = "from_"  # the names of class methods that make an instance begin with it, by convention
_LIBRARY = Schema(
    "a library",
    {key: (key, text) for key in ("framework", "distribution", "release")}
    | {key: (key, each(text)) for key in ("layers", "parts")},
    ("framework", "distribution", "release", "layers"),
)


def is_layer(framework: str, name: str) -> bool:
    """
    Return whether the call of a dotted name makes a layer of a library on a framework.

    Raises: `FactError` naming the file and line of what does not follow the format.
    """
    package, _, rest = name.partition(".")
    owner, _, last = rest.rpartition(".")
    if last.startswith(_MAKES):
        last = owner.rpartition(".")[2]
    return bool(last) and last in layers_of(framework, package)


def is_part(framework: str, made: str, attribute: str) -> bool:
    """
    Return whether an attribute of what the call of a dotted name makes is a layer, too.

    Raises: `FactError` naming the file and line of what does not follow the format.
    """
    return attribute in _listed(framework, made.partition(".")[0]).get("parts", ())


def layers_of(framework: str, package: str) -> frozenset[str]:
    """
    Return the names of the layers of a package; none if nothing is known of it.

    Raises: `FactError` naming the file and line of what does not follow the format.
    """
    return _listed(framework, package).get("layers", frozenset())


@cache
def _listed(framework: str, package: str) -> Mapping[str, frozenset[str]]:
    """Return the names of the layers of a package and of the attributes that are some, each by its key in the file."""
    start = f'"{package}": '
    for at, line in enumerate((rules_dir() / FILE).read_text(encoding="utf-8").splitlines(), 1):
        if line.startswith(start):
            try:
                row = _LIBRARY.read(json.loads(line[len(start) :].rstrip(",")))
            except (FactError, json.JSONDecodeError) as error:
                msg = f"rules/{FILE}:{at}: {error}"
                raise FactError(msg) from error
            known = row["framework"] == framework
            return {key: frozenset(row[key]) for key in ("layers", "parts") if key in row} if known else {}
    return {}
