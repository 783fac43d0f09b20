"""
What leads to a write, across files: definitions by name, and the definitions that each of them uses.

An import is followed to the definition that it means. A name of a module (`blocks.bump`) is followed through the
attributes that stand in the code that uses it.
"""

from __future__ import annotations

from collections.abc import Iterator

from inplace_lint.interp import reach
from inplace_lint.interp.project import Module, Project
from inplace_lint.ir.nodes import ImportFrom
from inplace_lint.outline.outline import Definition

Named = tuple[str, str]


def imports_that_write(project: Project, main: Module) -> frozenset[str]:
    """Give the names that a file imports, or binds to what it imports, and whose definitions lead to a write."""
    starts = {name: tuple(_starts(project, main, name, attributes)) for name, attributes in _names_read(main).items()}
    edges: dict[Named, frozenset[Named]] = {}
    waiting = [named for targets in starts.values() for named in targets]
    while waiting:
        named = waiting.pop()
        if named not in edges:
            edges[named] = _uses(project, named)
            waiting.extend(edges[named])
    users: dict[Named, list[Named]] = {}
    for named, used in edges.items():
        for other in used:
            users.setdefault(other, []).append(named)
    writing = {named for named in edges if _writes(project, named)}
    waiting = list(writing)
    while waiting:
        for user in users.get(waiting.pop(), ()):
            if user not in writing:
                writing.add(user)
                waiting.append(user)
    return frozenset(name for name, targets in starts.items() if writing.intersection(targets))


def _names_read(main: Module) -> dict[str, set[str]]:
    """Give the names that code of a file reads and that it does not define, with the attributes near them."""
    found: dict[str, set[str]] = {}
    for item in main.outline.items:
        for part in (item, *item.methods):
            for name in part.reads:
                if all(known.kind == "statement" for known in main.items(name)):
                    found.setdefault(name, set()).update(part.attributes)
    return dict(sorted(found.items()))


def _starts(project: Project, main: Module, name: str, attributes: set[str]) -> Iterator[Named]:
    if name in main.imported or (main.stars and not main.items(name)):
        yield from _meant(project, main, name, attributes)
        return
    for item in main.items(name):
        yield from (named for named in _used_by(project, main, item) if named[0] != main.path)


def _writes(project: Project, named: Named) -> bool:
    """Say whether a definition may write tensors: not if its file never names a framework, whatever else it changes."""
    module = project.module(named[0])
    if module is None or not module.outline.mentions:
        return False
    return any(reach.writes(item) for item in module.items(named[1]) if item.kind != "statement")


def _uses(project: Project, named: Named) -> frozenset[Named]:
    """Give the definitions that one uses; remembered for all programs of a process."""
    known = project.uses.get(named)
    if known is None:
        module = project.module(named[0])
        items = module.items(named[1]) if module is not None else ()
        used = (_used_by(project, module, item) for item in items if module is not None)
        known = project.uses[named] = frozenset(other for others in used for other in others)
    return known


def _used_by(project: Project, module: Module, item: Definition) -> Iterator[Named]:
    if item.kind == "statement" and not item.calls and not item.reads:
        return
    attributes = set(item.attributes).union(*(method.attributes for method in item.methods))
    for name in reach.reads(item):
        if name in module.imported or (module.stars and not module.items(name)):
            yield from _meant(project, module, name, attributes)
        elif name != item.name and module.items(name):
            yield module.path, name


def _meant(project: Project, module: Module, name: str, attributes: set[str], depth: int = 0) -> tuple[Named, ...]:
    """
    Give the definitions that an imported name means, through as many files as it takes.

    If it is a module, they are those that the `attributes` near the name may mean.
    """
    found: list[Named] = []
    for node, original in module.imported.get(name, ()):
        if isinstance(node, ImportFrom):
            path = project.lookup.resolve(module.path, node.module, node.level)
            if path is None:
                continue
            inner = project.lookup.submodule(path, original)
            if inner is not None:
                found.extend(_through(project, inner, attributes, depth))
            found.extend(_exported(project, path, original, attributes, depth))
        else:
            path = project.lookup.resolve(module.path, original, 0)
            if path is not None:
                found.extend(_through(project, path, attributes, depth))
    if not found and not module.items(name):
        for star in module.stars:
            path = project.lookup.resolve(module.path, star.module, star.level)
            if path is not None and project.may_bind(path, name):
                found.extend(_exported(project, path, name, attributes, depth))
    return tuple(found)


_DEEPEST = 6


def _exported(project: Project, path: str, name: str, attributes: set[str], depth: int) -> tuple[Named, ...]:
    module = project.module(path)
    if module is None or depth > _DEEPEST:
        return ()
    if name in module.imported or not module.items(name):
        return _meant(project, module, name, attributes, depth + 1)
    return ((path, name),)


def _through(project: Project, path: str, attributes: set[str], depth: int) -> Iterator[Named]:
    """Give what stands in a module under the attributes that the code around asks for."""
    module = project.module(path)
    if module is None or depth > _DEEPEST:
        return
    names = attributes if module.stars else attributes & (module.by_name.keys() | module.imported.keys())
    for name in sorted(names):
        yield from _exported(project, path, name, attributes, depth + 1)
