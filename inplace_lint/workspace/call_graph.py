"""
The graph on which is decided what may write: definitions by file and name, and the definitions that each one uses.

    from .layers import Block    # `Block` means the class of that name in layers.py, through re-exports if need be
    from . import blocks         # `blocks.bump` means `bump` in blocks.py: the attributes near a module's name tell

A class also uses a class of its file whose methods it names although it does not name the class itself: it was passed
an instance.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from dataclasses import replace

from inplace_lint.effects import may_write
from inplace_lint.effects.may_write import Effects, FileEffects, Target
from inplace_lint.effects.summary import Definition
from inplace_lint.ir.nodes import ImportFrom
from inplace_lint.workspace.module_store import Followed, Module, Project


def file_effects(project: Project, main: Module) -> FileEffects:
    """Return what the definitions of a file may write, closed over all files that they lead to."""
    statements = [item for item in main.outline.items if item.kind == "statement"]
    meanings = {item.slice: _meaning(project, main, item) for item in statements}
    named = {item.name: item for item in main.outline.items if item.name}
    uses = {
        name: (may_write.read_names(item) & named.keys()).union(_passed(main, item)) - {name}
        for name, item in named.items()
    }
    waiting = [target for meaning in meanings.values() for targets in meaning.values() for target in targets]
    waiting.extend((main.path, name) for name in named)
    new: dict[Target, Effects] = {}
    while waiting:
        target = waiting.pop()
        if target not in new and target not in project.summaries:
            new[target] = found = _effects(project, target)
            waiting.extend(found.leads_to)
    may_write.close(project.summaries, new)
    return FileEffects(main.outline, named, uses, meanings, project.summaries)


def _effects(project: Project, target: Target) -> Effects:
    """Return what the definitions of a name do, as far as their text says."""
    module = project.module(target[0])
    items = () if module is None else module.items(target[1])
    found = Effects()
    for item in items:
        assert module is not None
        own = may_write.effects(item, _meaning(project, module, item))
        own = replace(own, runs=own.runs.union((module.path, name) for name in _passed(module, item)))
        # A file that never names a framework writes no tensors, whatever else it changes.
        if item.kind == "statement" or not module.outline.mentions:
            own = own.without_own_writes()
        found = found.joined(own) if len(items) > 1 else own
    return found


def _passed(module: Module, item: Definition) -> set[str]:
    """Return the classes of a file that a class uses without naming them: it names methods that only these have."""
    if item.kind != "class":
        return set()
    return {owner for name in item.attributes if (owner := module.owners.get(name))} - {item.name}


def _meaning(project: Project, module: Module, item: Definition) -> dict[str, tuple[Target, ...]]:
    """Return the definitions that the names in an item mean."""
    found: dict[str, tuple[Target, ...]] = {}
    if item.kind == "statement" and not item.calls and not item.reads:
        return found
    attributes = item.attributes.union(*(method.attributes for method in item.methods))
    for name in may_write.read_names(item):
        if name in module.imported or (module.stars and not module.items(name)):
            found[name] = tuple(_meant(project, (module.path, name), attributes))
        elif name != item.name and module.items(name):
            found[name] = ((module.path, name),)
    return found


def _meant(project: Project, start: Target, attributes: AbstractSet[str]) -> Iterator[Target]:
    """Return the definitions that a name means; of a module's name those that the `attributes` near it may mean."""
    waiting = [start]
    opened: set[str] = set()
    while waiting:
        definitions, modules = _followed(project, waiting.pop())
        yield from definitions
        for path in modules:
            module = project.module(path)
            if module is not None and path not in opened:
                opened.add(path)
                known = module.by_name.keys() | module.imported.keys()
                waiting.extend((path, name) for name in (attributes if module.stars else attributes & known))


def _followed(project: Project, start: Target) -> Followed:
    """Return the definitions and the modules that a name means, through as many files as it takes."""
    known = project.followed.get(start)
    if known is not None:
        return known
    definitions: list[Target] = []
    modules: list[str] = []
    seen: set[Target] = set()
    waiting = [start]
    while waiting:
        target = waiting.pop()
        module = project.module(target[0])
        if target in seen or module is None:
            continue
        seen.add(target)
        if target[1] not in module.imported and module.items(target[1]):
            definitions.append(target)
        else:
            exporters, inner = _imports(project, module, target[1])
            waiting.extend(exporters)
            modules.extend(inner)
    project.followed[start] = found = (tuple(definitions), tuple(modules))
    return found


def _imports(project: Project, module: Module, name: str) -> tuple[list[Target], list[str]]:
    """Return the names of other files that an imported name may stand for, and the modules."""
    names: list[Target] = []
    modules: list[str] = []
    for node, original in module.imported.get(name, ()):
        level = node.level if isinstance(node, ImportFrom) else 0
        path = project.lookup.resolve(module.path, node.module if isinstance(node, ImportFrom) else original, level)
        inner = path
        if isinstance(node, ImportFrom):
            inner = (
                project.lookup.part(module.path, node.module, original, level)
                if path is None
                else project.lookup.submodule(path, original)
            )
        if inner is not None:
            modules.append(inner)
        if isinstance(node, ImportFrom) and path is not None:
            names.append((path, original))
    for star in () if module.items(name) else module.stars:
        path = project.lookup.resolve(module.path, star.module, star.level)
        if path is not None and project.may_bind(path, name):
            names.append((path, name))
    return names, modules
