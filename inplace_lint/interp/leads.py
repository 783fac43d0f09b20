"""
What leads to a write, across files: definitions by name, and the definitions that each of them uses.

An import is followed to the definition that it means. A name of a module (`blocks.bump`) is followed through the
attributes that stand in the code that uses it.
"""

from __future__ import annotations

from collections.abc import Iterator

from inplace_lint.interp.project import Module, Project
from inplace_lint.ir.nodes import ImportFrom
from inplace_lint.outline.outline import Definition

Named = tuple[str, str]


def imports_that_write(project: Project, main: Module) -> frozenset[str]:
    """Give the names that a file imports and whose definitions write, or use something that does."""
    starts = {name: _meant(project, main, name) for name in _imported_names(main)}
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


def _imported_names(main: Module) -> Iterator[str]:
    read = set[str]()
    for item in main.outline.items:
        read.update(item.reads)
        for method in item.methods:
            read.update(method.reads)
    yield from sorted(name for name in read if _is_imported(main, name) or (main.stars and not main.items(name)))


def _is_imported(module: Module, name: str) -> bool:
    return name in module.imported


def _writes(project: Project, named: Named) -> bool:
    module = project.module(named[0])
    return module is not None and any(
        item.writes or any(method.writes for method in item.methods)
        for item in module.items(named[1])
        if item.kind != "statement"
    )


def _uses(project: Project, named: Named) -> frozenset[Named]:
    """Give the definitions that one uses; remembered for all programs of a process."""
    known = project.uses.get(named)
    if known is None:
        module = project.module(named[0])
        found = () if module is None else module.items(named[1])
        assert module is not None or not found
        known = frozenset(used for item in found if module is not None for used in _used_by(project, module, item))
        project.uses[named] = known
    return known


def _used_by(project: Project, module: Module, item: Definition) -> Iterator[Named]:
    if item.kind == "statement" and not item.calls and not item.reads:
        return
    reads, attributes = set(item.reads), set(item.attributes)
    for method in item.methods:
        reads |= method.reads
        attributes |= method.attributes
    for name in reads:
        if name in module.imported or (module.stars and not module.items(name)):
            yield from _meant(project, module, name, attributes)
        elif name != item.name and module.items(name):
            yield module.path, name


def _meant(
    project: Project, module: Module, name: str, attributes: set[str] | None = None, depth: int = 0
) -> tuple[Named, ...]:
    """Give the definitions that an imported name means, through as many files as it takes."""
    found: list[Named] = []
    for node, original in module.imported.get(name, ()):
        if isinstance(node, ImportFrom):
            path = project.lookup.resolve(module.path, node.module, node.level)
            if path is None:
                continue
            inner = project.lookup.submodule(path, original)
            if inner is not None:
                found.extend(_through(project, inner, attributes, depth))
            found.extend(_exported(project, path, original, depth))
        else:
            path = project.lookup.resolve(module.path, original, 0)
            if path is not None:
                found.extend(_through(project, path, attributes, depth))
    if not found and not module.items(name):
        for star in module.stars:
            path = project.lookup.resolve(module.path, star.module, star.level)
            if path is not None:
                found.extend(_exported(project, path, name, depth))
    return tuple(found)


_DEEPEST = 6


def _exported(project: Project, path: str, name: str, depth: int) -> tuple[Named, ...]:
    module = project.module(path)
    if module is None or depth > _DEEPEST:
        return ()
    if name in module.imported or not module.items(name):
        return _meant(project, module, name, None, depth + 1)
    return ((path, name),)


def _through(project: Project, path: str, attributes: set[str] | None, depth: int) -> Iterator[Named]:
    """Give what stands in a module under the attributes that the code around asks for; all of it if that is unknown."""
    module = project.module(path)
    if module is None:
        return
    if attributes is None:
        yield from ((path, name) for name in module.by_name if name not in module.imported)
        return
    for name in attributes & (module.by_name.keys() | module.imported.keys()):
        yield from _exported(project, path, name, depth + 1)
