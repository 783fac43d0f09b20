"""
What leads to a write, across files: definitions by name, and the definitions that each of them uses.

An import is followed to the definition that it means. A name of a module (`blocks.bump`) is followed through the
attributes that stand in the code that uses it.
"""

from __future__ import annotations

from collections.abc import Iterator

from inplace_lint.effects import may_write
from inplace_lint.effects.summary import Definition
from inplace_lint.ir.nodes import ImportFrom
from inplace_lint.workspace.module_store import Module, Project

Named = tuple[str, str]


def imports_that_write(project: Project, main: Module) -> may_write.Leading[str]:
    """Give the names that a file imports, or binds to what it imports, and whose definitions lead to a write."""
    starts = {name: tuple(_starts(project, main, name, attributes)) for name, attributes in _names_read(main).items()}
    new: dict[Named, may_write.Links[Named]] = {}
    waiting = [named for targets in starts.values() for named in targets]
    while waiting:
        named = waiting.pop()
        if named not in new and named not in project.followed:
            new[named] = link = _links(project, named)
            waiting.extend((*link.runs, *link.asks, *(name for run in link.members.values() for name in run.runs)))
    # What was followed before leads nowhere that was not followed as well.
    if new:
        project.leading = may_write.leading(new, project.leading)
        project.followed.update(new)
    leading = project.leading
    ways = {
        name: [leading.run[target] for target in targets if target in leading.run] for name, targets in starts.items()
    }
    return may_write.Leading(
        {name: min(found) for name, found in ways.items() if found},
        frozenset(name for name, targets in starts.items() if leading.make.intersection(targets)),
        {
            name: frozenset(member for target in targets for member in leading.members.get(target, ()))
            for name, targets in starts.items()
        },
        frozenset(name for name, targets in starts.items() if leading.touch.intersection(targets)),
    )


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
        for meant in _used_by(project, main, item).values():
            yield from (named for named in meant if named[0] != main.path)


def _links(project: Project, named: Named) -> may_write.Links[Named]:
    """Give what a definition does and leads to."""
    module = project.module(named[0])
    found: may_write.Links[Named] = may_write.Links()
    for item in module.items(named[1]) if module is not None else ():
        assert module is not None
        found = found.joined(_links_of(project, module, item))
    return found


def _links_of(project: Project, module: Module, item: Definition) -> may_write.Links[Named]:
    """Give what one item does: it writes no tensors if its file never names a framework, whatever else it changes."""
    own = may_write.links(item).meaning(_used_by(project, module, item))
    return own if item.kind != "statement" and module.outline.mentions else own.harmless()


def _used_by(project: Project, module: Module, item: Definition) -> dict[str, list[Named]]:
    """Give the definitions that the names in an item mean."""
    found: dict[str, list[Named]] = {}
    if item.kind == "statement" and not item.calls and not item.reads:
        return found
    attributes = set(item.attributes).union(*(method.attributes for method in item.methods))
    for name in may_write.reads(item):
        if name in module.imported or (module.stars and not module.items(name)):
            found[name] = list(_meant(project, module, name, attributes))
        elif name != item.name and module.items(name):
            found[name] = [(module.path, name)]
    return found


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
