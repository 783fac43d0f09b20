"""
Targets: what can be run to reach a flagged line, as far as the text of a file shows; nothing is imported here.

The order is that of trust: what the user named, what the program itself runs, functions without parameters, and last
calls with made-up arguments. A function or class is taken to reach every name that it mentions.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from enum import IntEnum

from msgspec import Struct

_OWN = re.compile(r"^(main|run|demo|train\w*|test_\w*)$")
_MOST_CALLS = 6
_MOST_AROUND = 4
_MOST_ELSEWHERE = 4


class Way(IntEnum):
    """How a target is run, the most reliable first."""

    PROBE = 0
    OWN = 1
    CALL = 2
    MADE_UP = 3


class Target(Struct, frozen=True):
    """
    One thing to run in one process.

    `kind` is probe, module, main, call, class or function; `name` is what to call, `method` the method of a class to
    call instead of the object.
    """

    path: str
    way: Way
    kind: str
    name: str = ""
    method: str = ""

    @property
    def words(self) -> str:
        """The target in words."""
        if self.kind == "module":
            return "importing the file"
        if self.kind == "main":
            return "the file as a program"
        return f"`{self.name}`" if self.way is Way.PROBE else f"`{self.name}()`"


class TopLevelNames:
    """The top-level names of a file, and which of them each mentions."""

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self.tree = ast.parse(text)
        self.parts: dict[str, ast.stmt] = {}
        for node in self.tree.body:
            for name in _bound(node):
                self.parts[name] = node
        self._mentions = {name: _mentioned(node) for name, node in self.parts.items()}

    def owner(self, line: int) -> str:
        """Return the top-level name whose statement holds a line; empty where there is none."""
        for name, node in self.parts.items():
            first = min([node.lineno, *(item.lineno for item in getattr(node, "decorator_list", ()))])
            if first <= line <= (node.end_lineno or node.lineno):
                return name
        return ""

    def method(self, name: str, line: int) -> str:
        """Return the method of a class that holds a line."""
        node = self.parts.get(name)
        for part in node.body if isinstance(node, ast.ClassDef) else ():
            if isinstance(part, ast.FunctionDef) and part.lineno <= line <= (part.end_lineno or part.lineno):
                return part.name
        return ""

    def reaching(self, wanted: str) -> list[str]:
        """Return the names that reach a name, the nearest first."""
        found = [wanted]
        for name in found:
            found.extend(other for other, words in self._mentions.items() if name in words and other not in found)
        return found

    def is_run_by_import(self, names: Sequence[str]) -> bool:
        """Check whether a statement other than a definition mentions one of the names, or holds the line itself."""
        defined = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)
        loose = [node for node in self.tree.body if not isinstance(node, defined)]
        decorators = [mark for node in self.tree.body for mark in getattr(node, "decorator_list", ())]
        words = frozenset[str]().union(*(_mentioned(node) for node in (*loose, *decorators)))
        return not names or not isinstance(self.parts[names[0]], defined) or not words.isdisjoint(names)

    def has_main(self) -> bool:
        """Check whether the file tests its `__name__`."""
        tests = [node.test for node in self.tree.body if isinstance(node, ast.If)]
        return any(isinstance(name, ast.Name) and name.id == "__name__" for test in tests for name in ast.walk(test))


def targets_of(
    outline: TopLevelNames, line: int, probe: str | None, callers: Sequence[TopLevelNames]
) -> Iterator[Target]:
    """Yield the targets that may reach a line of a file, in order."""
    path = outline.path
    if probe is not None:
        yield Target(path, Way.PROBE, "probe", probe)
    owner = outline.owner(line)
    reaching = outline.reaching(owner) if owner else []
    if outline.is_run_by_import(reaching):
        yield Target(path, Way.OWN, "module")
    if outline.has_main():
        yield Target(path, Way.OWN, "main")
    yield from _calls(outline, reaching)
    yield from _made_up(outline, reaching, owner, outline.method(owner, line))
    elsewhere: list[Target] = []
    for caller in callers:
        names = [name for name in caller.reaching(owner) if name in caller.parts] if owner else []
        if names:
            elsewhere.extend((*_calls(caller, names), *_made_up(caller, names, "", "")))
    elsewhere.sort(key=lambda target: target.way)
    yield from elsewhere[:_MOST_ELSEWHERE]


def _calls(outline: TopLevelNames, reaching: Sequence[str]) -> Iterator[Target]:
    """Yield functions without parameters: those that reach the line, then those with a usual name."""
    free = [name for name, node in outline.parts.items() if isinstance(node, ast.FunctionDef) and _is_free(node)]
    own = [name for name in free if _OWN.match(name)]
    leading = [name for name in reaching if name in free and name not in own]
    chosen = [*(name for name in own if name in reaching), *leading, *(name for name in own if name not in reaching)]
    for name in chosen[:_MOST_CALLS]:
        yield Target(outline.path, Way.CALL, "call", name)


def _made_up(outline: TopLevelNames, reaching: Sequence[str], owner: str, method: str) -> Iterator[Target]:
    """Yield the class or function around the line, then those that reach it; of many the first ones and the last."""
    made = [name for name in reaching if _is_made_up(outline.parts.get(name))]
    chosen = made if len(made) <= _MOST_AROUND else [*made[: _MOST_AROUND - 1], made[-1]]
    for name in chosen:
        if isinstance(outline.parts[name], ast.FunctionDef):
            yield Target(outline.path, Way.MADE_UP, "function", name)
            continue
        yield Target(outline.path, Way.MADE_UP, "class", name)
        plain = method not in {"", "forward", "__call__"} and not method.startswith("__")
        if name == owner and plain:
            yield Target(outline.path, Way.MADE_UP, "class", name, method)


def _is_made_up(node: ast.stmt | None) -> bool:
    return isinstance(node, ast.ClassDef) or (isinstance(node, ast.FunctionDef) and not _is_free(node))


def probe_for(path: str, root: str, probes: Mapping[str, str]) -> str | None:
    """Return the probe that the configuration names for a file, by its path below the root of the configuration."""
    inside = path[len(root) :].lstrip("/\\").replace("\\", "/") if path.startswith(root) else path
    return probes.get(inside)


def _bound(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return [target.id for target in targets if isinstance(target, ast.Name)]


def _mentioned(node: ast.AST) -> frozenset[str]:
    """Return the names in a statement, with those in its strings, as of `globals()["fit"]` or a registry."""
    return frozenset(name for part in ast.walk(node) for name in _names_of(part))


def _names_of(part: ast.AST) -> Iterator[str]:
    if isinstance(part, ast.Name):
        yield part.id
    elif isinstance(part, ast.Attribute):
        yield part.attr
    elif isinstance(part, ast.Constant) and isinstance(part.value, str) and part.value.isidentifier():
        yield part.value


def _is_free(node: ast.FunctionDef) -> bool:
    """Check whether a function can be called without arguments."""
    given = len(node.args.defaults)
    positional = len(node.args.posonlyargs) + len(node.args.args)
    return positional == given and all(item is not None for item in node.args.kw_defaults)
