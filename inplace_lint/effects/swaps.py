"""
Which attributes of a framework's modules and classes a piece of code sets: what they name then is something else.

    F.relu = leaky                              # "torch.nn.functional.relu"
    setattr(torch.Tensor, "add_", add)          # also `mock.patch.object`, and `monkeypatch.setattr`
    with mock.patch("torch.sigmoid", soft): ...
    for name in names:
        setattr(F, name, quiet)                 # "torch.nn.functional.": any of it
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from inplace_lint.effects.write_evidence import spelled
from inplace_lint.ir import nodes as ir
from inplace_lint.knowledge.facts import framework, frameworks

SETTERS = frozenset({"setattr", "object", "patch"})  # the last words of the calls that set an attribute
_SET = re.compile(r"^[ \t]*(\w+)(?:\.\w+)+[ \t]*=(?!=)|\b(?:setattr|object|patch)\(\s*[\"']?(\w+)", re.MULTILINE)
_IMPORT = re.compile(r"^[ \t]*(?:from|import)[ \t][^\n]*", re.MULTILINE)
_WORD = re.compile(r"\w+")
_LISTED = re.compile(r"(?:(?<![\w\])])[\[({]|,)\s*[\"'](\w+)[\"'](?=\s*[,\])}:])")


def may_set(source: str, roots: Iterable[str]) -> bool:
    """Return whether a text may set an attribute of a framework, or hook all modules, by its words alone."""
    if any(True for _ in hooks_in(source)):
        return True
    found = {spelled or named for spelled, named in _SET.findall(source)}
    if found <= {"self", "cls"}:
        return False
    lines = [line for line in _IMPORT.findall(source) if any(root in line for root in roots)]
    return not found.isdisjoint({*roots, *(word for line in lines for word in _WORD.findall(line))})


def hooks_in(source: str) -> Iterator[str]:
    """Yield the functions in a text by which a program changes what each module of a framework returns."""
    return (hook for name in frameworks() for hook in framework(name).global_hooks if hook in source)


def by_call(node: ast.Call) -> Iterator[str]:
    """Yield the attribute that one of the `SETTERS` sets, as it is spelled: a text after `=`, any after a last dot."""
    match node.args:
        case [ast.Constant(str(name)), *_]:
            yield f"={name}"
        case [ast.Name() | ast.Attribute() as owner, ast.Constant(str(name)), *_]:
            yield f"{spelled(owner)}.{name}"
        case [ast.Name() | ast.Attribute() as owner, _, _]:
            yield f"{spelled(owner)}."
        case _:
            pass


def listed(source: str) -> list[str]:
    """Return the words that stand in a list, tuple, set or dict of texts: `for name in ["empty", "zeros"]`."""
    return _LISTED.findall(source)


def meant(
    found: Iterable[str], imports: Iterable[ir.ImportName | ir.ImportFrom], roots: Sequence[str]
) -> frozenset[str]:
    """Return the full names of those attributes that belong to a framework, as the imports say."""
    known: Mapping[str, str] | None = None
    names = set[str]()
    for target in found:
        root, dot, rest = target.partition(".")
        if root[:1] == "=":
            if root[1:] in roots:
                names.add(target[1:])
            continue
        if known is None:
            known = dict(_imported(imports, roots))
        if dot and root in known:
            names.add(f"{known[root]}.{rest}")
    return frozenset(names)


def outside(found: Iterable[str], instance: str) -> frozenset[str]:
    """Return the names of attributes that are set on other objects than the instance of a method; "" for any."""
    parts = (target.rpartition(".") for target in found)
    return frozenset(name for owner, dot, name in parts if dot and owner != instance)


def _imported(imports: Iterable[ir.ImportName | ir.ImportFrom], roots: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the names that imports bind to parts of a framework, each with the dotted name of that."""
    for node in imports:
        top = node.module.partition(".")[0]
        if top not in roots:
            continue
        if isinstance(node, ir.ImportName):
            yield (top, top) if node.alias is None else (node.alias, node.module)
        elif not node.level:
            for name, alias in node.names:
                yield alias or name, f"{node.module}.{name}"
