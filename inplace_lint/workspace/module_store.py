"""The files of a project that were read so far, with the outline and the lowered code of each."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from inplace_lint.core.span import Slice
from inplace_lint.effects.may_write import Summaries, Target
from inplace_lint.effects.summary import Definition, Outline, outline
from inplace_lint.frontend.lower import lower
from inplace_lint.ir.nodes import ClassDef, Code, FunctionDef, ImportFrom, ImportName
from inplace_lint.workspace.import_resolver import Lookup
from inplace_lint.workspace.star_exports import Bound, bound

Followed = tuple[tuple[Target, ...], tuple[str, ...]]  # the definitions and the modules that a name means
_A_LINE = 350  # bytes of a lowered line, seen in transformers


@dataclass(slots=True)
class Stopwatch:
    """The seconds spent on something so far."""

    seconds: float = 0.0


@dataclass(slots=True)
class Tally:
    """An estimate of the bytes that everything that was read so far takes."""

    size: int = 0


@dataclass(slots=True)
class Module:
    """
    One source file: its outline, and the code lowered from it so far.

    `lowering` is the time that this took, `kept` the memory; both are shared by all files of a project. `owners` has
    the only class of the file with a method of a name; empty if there are several.
    """

    path: str
    source: str
    outline: Outline
    codes: dict[Slice, Code] = field(default_factory=dict)
    by_name: dict[str, list[Definition]] = field(default_factory=dict)
    methods: dict[Slice, tuple[Slice, ...]] = field(default_factory=dict)
    stars: tuple[ImportFrom, ...] = ()
    imported: dict[str, list[tuple[ImportName | ImportFrom, str]]] = field(default_factory=dict)
    lowering: Stopwatch = field(default_factory=Stopwatch)
    kept: Tally = field(default_factory=Tally)
    owners: dict[str, str] = field(default_factory=dict)
    _fills: dict[str, list[Definition]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for item in self.outline.items:
            for name in item.binds:
                self.by_name.setdefault(name, []).append(item)
            self.methods[item.slice] = tuple(method.slice for method in item.methods)
            for method in item.methods:
                owner = self.owners.setdefault(method.name, item.name)
                self.owners[method.name] = owner if owner == item.name else ""
        for node in self.outline.imports:
            for name, original in _bound(node):
                self.imported.setdefault(name, []).append((node, original))
        self.stars = tuple(
            node
            for node in self.outline.imports
            if isinstance(node, ImportFrom) and any(name == "*" for name, _ in node.names)
        )

    def weight(self) -> int:
        """Estimate the bytes that it takes: its text, four a character for the outline, and what a line becomes."""
        return sys.getsizeof(self.source) + 4 * len(self.source) + sum(map(_weight, self.codes))

    def code(self, slice_: Slice) -> Code:
        """Return the lowered form of a slice; each is parsed once."""
        known = self.codes.get(slice_)
        if known is None:
            start = time.perf_counter()
            known = self.codes[slice_] = lower(self.source, slice_, self.holes(slice_))
            self.lowering.seconds += time.perf_counter() - start
            self.kept.size += _weight(slice_)
        return known

    def holes(self, slice_: Slice) -> tuple[Slice, ...]:
        """Return the methods of a class that are slices of their own."""
        return self.methods.get(slice_, ()) if slice_.kind == "class" else ()

    def class_node(self, slice_: Slice, name: str) -> ClassDef | None:
        """Return the definition node of a class slice."""
        return next((node for node in self.code(slice_).body if isinstance(node, ClassDef) and node.name == name), None)

    def function_node(self, slice_: Slice, name: str) -> FunctionDef | None:
        """Return the definition node of a function slice."""
        body = self.code(slice_).body
        return next((node for node in body if isinstance(node, FunctionDef) and node.name == name), None)

    def fills(self, name: str) -> list[Definition]:
        """Return the top-level items that put something into the object that a name is bound to, as registries do."""
        known = self._fills.get(name)
        if known is None:
            known = self._fills[name] = [
                item
                for item in self.outline.items
                if name not in item.binds
                and (
                    any(self._fills_by(decorator, name) for decorator in item.decorators)
                    or (item.kind == "statement" and any(self._fills_by(call, name) for call in item.calls))
                    or (item.kind == "statement" and name in item.reads and (item.writes or _only_sets(item)))
                )
            ]
        return known

    def _fills_by(self, callee: str, name: str) -> bool:
        """Return whether a call may fill what a name is bound to: a method of it, or a function that reads the name."""
        if callee.startswith(f"{name}."):
            return True
        return any(item.kind == "function" and name in item.reads for item in self.by_name.get(callee, ()))

    def items(self, name: str) -> Sequence[Definition]:
        """Return the top-level items that bind a name, in source order."""
        return self.by_name.get(name, ())


def _weight(slice_: Slice) -> int:
    return _A_LINE * (slice_.last - slice_.first + 1)


def _only_sets(item: Definition) -> bool:
    """Return whether a statement binds and calls nothing, as `REGISTRY["name"] = Class` does not."""
    return not item.binds and not item.calls


@dataclass(slots=True)
class Project:
    """
    The files in reach of the file under analysis, kept for all files that one process analyzes.

    `read` returns the text of a path, or None where there is no such file or it is no text. `summaries` and `followed`
    are the results of `workspace.call_graph` so far.
    """

    lookup: Lookup
    read: Callable[[str], str | None]
    modules: dict[str, Module | None] = field(default_factory=dict)
    summaries: Summaries = field(default_factory=dict)
    followed: dict[Target, Followed] = field(default_factory=dict)
    lowering: Stopwatch = field(default_factory=Stopwatch)
    kept: Tally = field(default_factory=Tally)
    _shared: dict[str, frozenset[str] | None] = field(default_factory=dict)
    _bound: dict[str, Bound | None] = field(default_factory=dict)

    def add(self, module: Module) -> None:
        """Add a file that was read already."""
        self._keep(module.path, module)

    def module(self, path: str) -> Module | None:
        """Return a file of the project; None for one that cannot be read or parsed."""
        if path not in self.modules:
            self._keep(path, self._load(path))
        return self.modules[path]

    def _keep(self, path: str, module: Module | None) -> None:
        old = self.modules.get(path)
        self.kept.size -= 0 if old is None else old.weight()
        if module is not None:
            module.lowering, module.kept = self.lowering, self.kept
            self.kept.size += module.weight()
        self.modules[path] = module

    def weight(self) -> int:
        """Estimate the bytes that all that was read takes; it is asked for with each file, so it is no sum over all."""
        return self.kept.size

    def lighten(self) -> None:
        """Drop what was read. Only between two files under analysis, since an analysis relies on what it has read."""
        self.modules.clear()
        self.summaries.clear()
        self.followed.clear()
        self.kept = Tally()

    def may_bind(self, path: str, name: str) -> bool:
        """
        Return whether a module may have a variable: by a statement of its own, or through `import *`.

        The text decides, so that for packages that import all of hundreds of modules not each of these is parsed for a
        name.
        """
        if path not in self._shared:
            self._shared[path] = self._bound_through_stars(path)
        names = self._shared[path]
        return names is None or name in names

    def _bound_through_stars(self, path: str) -> frozenset[str] | None:
        """Return what a module and all modules behind its `import *` may bind; None where these are not known."""
        names, seen = set[str](), {path}
        waiting = [path]
        while waiting:
            here = waiting.pop()
            found = self._bound_by_text(here)
            if found is None:
                continue
            targets = [self.lookup.resolve(here, *star) for star in found.stars or ()]
            if found.stars is None or None in targets:
                return None
            names.update(found.names)
            waiting += {target for target in targets if target is not None} - seen
            seen.update(waiting)
        return frozenset(names)

    def _bound_by_text(self, path: str) -> Bound | None:
        if path not in self._bound:
            source = self.read(path)
            self._bound[path] = None if source is None else bound(source)
        return self._bound[path]

    def _load(self, path: str) -> Module | None:
        source = self.read(path)
        if source is None:
            return None
        try:
            return Module(path, source, outline(path, source, sorted(self.lookup.frameworks)))
        except SyntaxError:
            # IMPRECISE: what only LibCST reads, or nothing, is reported where it is checked itself; here it is unknown.
            return None


def _bound(node: ImportName | ImportFrom) -> Iterator[tuple[str, str]]:
    """Return the names that an import binds, each with what it means there."""
    if isinstance(node, ImportFrom):
        yield from ((alias or name, name) for name, alias in node.names if name != "*")
    else:
        top = node.module.partition(".")[0]
        yield (top, top) if node.alias is None else (node.alias, node.module)


def alone() -> Project:
    """Return a project of no files but those that are added."""
    return Project(Lookup(lambda _: False), lambda _: None)
