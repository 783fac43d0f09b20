"""
Writes the list of layers: `python -m generators.layer_facts rules/ops/libs/layers.json dgl=FOLDER…`.

A folder holds the sources of a package, as an unpacked wheel does; libraries that are not named keep their entries. One
that is imported to be read (`base` in `libraries.jsonl`), or was read by a person (`known` alone), needs no folder.
"""

from __future__ import annotations

import ast
import importlib
import json
import shutil
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from generators.layer_facts.seen import layers

LIBRARIES = Path(__file__).with_name("libraries.jsonl")


def main(target: Path, asked: list[str]) -> int:
    """Write the entries of the libraries that are asked for; return 2 if one is not in `libraries.jsonl`."""
    known = {row["package"]: row for row in map(json.loads, LIBRARIES.read_text(encoding="utf-8").splitlines())}
    entries = json.loads(target.read_text(encoding="utf-8")) if target.exists() else {}
    for one in asked:
        package, _, folder = one.partition("=")
        row = known.get(package)
        if row is None:
            print(f"{package}: not in {LIBRARIES.name}", file=sys.stderr)
            return 2
        is_derived = "base" in row
        found = (derived(package, row["base"], row.get("but", ())), []) if is_derived else layers_of(Path(folder), row)
        said = {key: row[key] for key in ("framework", "distribution", "release")}
        names, parts = found
        entries[package] = {**said, "layers": names, **({"parts": parts} if parts else {})}
        print(f"{package}: {len(names)} layers")
    lines = [f"{json.dumps(package)}: {json.dumps(entries[package])}" for package in sorted(entries)]
    target.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    return 0


def sentence() -> str:
    """Return the libraries with their releases, for the documentation."""
    rows = map(json.loads, LIBRARIES.read_text(encoding="utf-8").splitlines())
    return ", ".join(f"{row['distribution']} {row['release']}" for row in rows)


def layers_of(folder: Path, row: Mapping[str, Any]) -> tuple[list[str], list[str]]:
    """
    Return the layers of a package, or of the parts of it that are named by `only`, and which attributes are layers.

    A `part` is run without the rest of the package: what is given to it, such as a graph, may be of any class then. Of
    a package with functions that make layers these are listed instead: what it has `registered` by a decorator, and
    what is `known` from reading it; with `only` the classes there as well.
    """
    if "known" in row:
        made = {*row["known"], *(registered(folder, row["registered"]) if "registered" in row else ())}
        seen, parts = layers(folder, row["framework"], row["only"]) if "only" in row else ([], [])
        return sorted(made.union(seen)), parts
    if "part" not in row:
        return layers(folder, row["framework"], row.get("only", ()))
    with TemporaryDirectory() as alone:
        copied = shutil.copytree(folder / row["part"], Path(alone) / "part")
        return layers(copied, row["framework"], ())


def registered(folder: Path, decorator: str) -> Iterator[str]:
    """Yield the names of the functions of a package that have a decorator."""
    for path in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.FunctionDef):
                found = (one.func if isinstance(one, ast.Call) else one for one in node.decorator_list)
                if any(isinstance(one, ast.Name) and one.id == decorator for one in found):
                    yield node.name


def derived(package: str, bases: list[str], left_out: list[str]) -> list[str]:
    """Return the names of a package's classes that derive from one of these, but for those with a word left out."""
    module = importlib.import_module(package)
    kinds = tuple(getattr(importlib.import_module(base.rpartition(".")[0]), base.rpartition(".")[2]) for base in bases)
    named = ((name, getattr(module, name, None)) for name in dir(module))
    return sorted(
        name
        for name, thing in named
        if isinstance(thing, type) and issubclass(thing, kinds) and not any(word in name for word in left_out)
    )


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
