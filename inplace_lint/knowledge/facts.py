"""
The op tables of one framework, looked up by canonical name.

Entries are indexed when the tables are read and parsed when first asked for: a run meets a few hundred of the
thousands that there are.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from inplace_lint.core.errors import FactError
from inplace_lint.knowledge.locate import rules_dir
from inplace_lint.knowledge.op import Op, op_of
from inplace_lint.knowledge.versions import admits


@dataclass(frozen=True, slots=True)
class Framework:
    """
    What is particular to a framework and not to one op: the content of its `framework.json`.

    `augmented` maps a binary token to the method that `x op= y` calls, or is without it where the statement rebinds;
    `binary` and `reflected` likewise. `requires_grad` is the attribute that says it, `negated` when it says the
    opposite. `canonical` maps module prefixes to the public name of what they hold, `kin` classes of libraries to the
    one of the framework that they derive from and behave like. `calls` is the method that runs when a module is called.
    `attributes` are the tensor attributes that are not methods. `autocast` are the ops whose operands autocast replaces
    by copies. `rebases`: a write through a view gives its base a new node. `says` are the framework's own words for
    each harm. `words` are the methods of a tensor that cures are written with: the one that gives a `copy`, one that
    gives the tensor without its history (`cut`), and the one that is to `assign` a parameter. `own_gradients`: the
    gradient of a leaf is itself a leaf that requires grad.
    `checks_custom`: what a custom function keeps is compared by version, and an input that it returns is a view; else
    nothing is compared, and returning an input writes it. `checks_checkpoint` likewise for inputs of a checkpoint.
    `counts_steps`: an optimizer's step counts as a write, `counts_loads`: so does loading a state.
    `distributions` are the names that it is installed by, `releases` its minor versions, the newest last. `errors` are
    the classes of errors that its checks raise, `tracers` the back ends of its compiler that run calls as they stand.
    `setters` are calls that set what they write to values of their argument, besides those that cut the history.
    `keeps_parameters`: a parameter cannot be set to a tensor.
    `fields` are the names under which results of several parts hold these, with their positions.
    """

    name: str
    title: str
    packages: tuple[str, ...]
    tensor: str
    module: str
    function: str
    calls: str
    augmented: Mapping[str, str]
    binary: Mapping[str, str]
    reflected: Mapping[str, str]
    unary: Mapping[str, str]
    compare: Mapping[str, str]
    requires_grad: str
    negated: bool
    canonical: Mapping[str, str]
    kin: Mapping[str, str]
    rebases: bool
    says: Mapping[str, str]
    attributes: tuple[str, ...]
    autocast: frozenset[str]
    words: Mapping[str, str]
    own_gradients: bool = False
    checks_custom: bool = True
    checks_checkpoint: bool = True
    counts_steps: bool = True
    counts_loads: bool = True
    distributions: tuple[str, ...] = ()
    releases: tuple[str, ...] = ()
    errors: frozenset[str] = frozenset()
    tracers: frozenset[str] = frozenset()
    setters: frozenset[str] = frozenset()
    keeps_parameters: bool = False
    fields: Mapping[str, int] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)


_FLAGS = frozenset(
    {
        "own_gradients",
        "checks_custom",
        "checks_checkpoint",
        "counts_steps",
        "counts_loads",
        "keeps_parameters",
        "rebases",
    }
)


@dataclass(slots=True)
class Facts:
    """The tables of one framework at one version, with those of `libraries` that are built on it."""

    framework: Framework
    version: str | None
    rows: Mapping[str, Sequence[Mapping[str, Any]]]
    libraries: frozenset[str] = frozenset()
    parsed: dict[str, tuple[Op, ...]] = field(default_factory=dict)

    def forms(self, name: str) -> tuple[Op, ...]:
        """Give the forms of an op in the order in which they are tried; empty without a fact for this version."""
        known = self.parsed.get(name)
        if known is None:
            rows = self.rows.get(name, ())
            known = tuple(op_of(row, name) for row in rows if admits(row.get("versions", ""), self.version))
            self.parsed[name] = known
        return known

    def canonical(self, name: str) -> str:
        """Give the public name of a framework object: `torch.nn.modules.conv.Conv2d` is `torch.nn.Conv2d`."""
        if name in self.rows:
            return name
        kin = self.framework.kin.get(name)
        if kin is not None:
            return kin
        for prefix, public in self.framework.canonical.items():
            if name.startswith(prefix):
                tail = name.rpartition(".")[2]
                if f"{public}.{tail}" in self.rows:
                    return f"{public}.{tail}"
        return name


@cache
def frameworks() -> tuple[str, ...]:
    """Name the frameworks that there are tables for, in alphabetical order."""
    return tuple(sorted(path.parent.name for path in (rules_dir() / "ops").glob("*/framework.json")))


def load(name: str, version: str | None = None) -> Facts:
    """
    Read the tables of a framework, those of Python added.

    Raises: `FactError` naming the file and line that is not JSON.
    """
    folder = rules_dir() / "ops" / name
    rows: dict[str, list[Mapping[str, Any]]] = {}
    libraries: set[str] = set()
    for path in (*sorted(folder.glob("*.jsonl"), key=_precedence), folder.parent / "libs" / f"{name}.jsonl"):
        for row in _rows(path) if path.is_file() else ():
            for spelling in (row["op"], *row.get("same", ())):
                rows.setdefault(spelling, []).append(row)
                if path.parent != folder:
                    libraries.add(spelling.partition(".")[0])
    framework = _framework(folder / "framework.json", version)
    libraries.update(spelling.partition(".")[0] for spelling in framework.kin)
    return Facts(framework, version, rows, frozenset(libraries))


def _precedence(path: Path) -> tuple[bool, str]:
    # Hand-written entries for what the interpreter itself does come before anything that was generated.
    return path.stem != "acts", path.name


def _rows(path: Path) -> Iterator[Mapping[str, Any]]:
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if line.strip():
            try:
                yield json.loads(line)
            except ValueError as error:
                msg = f"{path.name}:{number}: {error}"
                raise FactError(msg) from error


def _framework(path: Path, version: str | None = None) -> Framework:
    """Read what is particular to a framework at a version: a flag may be the range of versions in which it is set."""
    data = json.loads(path.read_text(encoding="utf-8"))
    for flag in _FLAGS & data.keys():
        if isinstance(data[flag], str):
            data[flag] = admits(data[flag], version)
    try:
        return Framework(
            **{
                **data,
                "packages": tuple(data["packages"]),
                "distributions": tuple(data["distributions"]),
                "releases": tuple(data["releases"]),
                "attributes": tuple(data["attributes"]),
                "autocast": frozenset(data["autocast"]),
                "errors": frozenset(data["errors"]),
                "tracers": frozenset(data.get("tracers", ())),
                "setters": frozenset(data["setters"]),
            }
        )
    except (TypeError, KeyError) as error:
        msg = f"{path.parent.name}/{path.name}: {error}"
        raise FactError(msg) from error


def framework(name: str) -> Framework:
    """
    Read what is particular to a framework, without its tables.

    Raises: `FactError` naming the file that is not as it should be.
    """
    return _framework(rules_dir() / "ops" / name / "framework.json")


def digest() -> str:
    """Give a digest of all op tables: it changes whenever any fact does."""
    total = hashlib.sha256()
    for path in sorted((rules_dir() / "ops").rglob("*.json*")):
        total.update(path.name.encode() + b"\0" + path.read_bytes())
    return total.hexdigest()
