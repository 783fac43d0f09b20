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

from msgspec.structs import replace

from inplace_lint.effects import may_write
from inplace_lint.effects.may_write import Effects, FileEffects, Target
from inplace_lint.effects.summary import Definition, writing_by_name
from inplace_lint.effects.write_evidence import names_method
from inplace_lint.ir.nodes import ImportFrom
from inplace_lint.workspace.module import Module
from inplace_lint.workspace.module_store import Followed, Project


def file_effects(project: Project, main: Module) -> FileEffects:
    """Return what the definitions of a file may write, closed over all files that they lead to."""
    statements = [item for item in main.outline.items if item.kind == "statement"]
    meanings = {item.slice: _meaning(project, main, item) for item in statements}
    named = {item.name: item for item in main.outline.items if item.name}
    uses = {
        name: (may_write.read_names(item) & named.keys()).union(main.users_by_method(item)) - {name}
        for name, item in named.items()
    }
    waiting = [target for meaning in meanings.values() for targets in meaning.values() for target in targets]
    waiting.extend((main.path, name) for name in named)
    started = tuple(waiting)
    new: dict[Target, Effects] = {}
    while waiting:
        target = waiting.pop()
        if target not in new and target not in project.summaries:
            with project.asked.computing(target):
                new[target] = found = _effects(project, target)
            waiting.extend(found.leads_to)
    may_write.close(project.summaries, new)
    project.asked.reuse_all(started, lambda target: project.summaries[target].effects.leads_to)
    return FileEffects(main.outline, named, uses, meanings, project.summaries)


def bases_of(project: Project, main: Module, item: Definition) -> Iterator[Definition]:
    """Yield the classes of the project that a class derives from, itself left out, each once."""
    waiting = [(main.path, base) for base in item.bases]
    seen = {(main.path, item.name)}
    while waiting:
        for path, name in _named(project, *waiting.pop()):
            module = project.module(path)
            if module is None or (path, name) in seen:
                continue
            seen.add((path, name))
            for base in module.items(name):
                if base.kind == "class":
                    yield base
                    waiting.extend((path, above) for above in base.bases)


def _named(project: Project, path: str, dotted: str) -> Iterator[Target]:
    """Yield the definitions that a name in a file means, which may be one of a module: `layers.Block`."""
    first, _, rest = dotted.partition(".")
    definitions, modules = _followed(project, (path, first))
    yield from (target for module in modules for target in _named(project, module, rest)) if rest else definitions


def _effects(project: Project, target: Target) -> Effects:
    """Return what the definitions of a name do, as far as their text says."""
    module = project.module(target[0])
    items = () if module is None else module.items(target[1])
    if module is not None and project.own_writers:
        items = writing_by_name(module.outline._replace(items=tuple(items)), project.own_writers).items
    found = Effects()
    for item in items:
        assert module is not None
        own = may_write.effects(item, _meaning(project, module, item))
        if item.kind == "statement":
            more = _filling(project, module, target[1])
        else:
            more = ((module.path, name) for name in module.users_by_method(item))
        own = replace(own, runs=own.runs.union(more))
        # What a file changes that never names a framework is no tensor, unless a method of tensors changes it.
        is_known = module.mentions or _names_methods(item)
        if item.kind == "statement" or not is_known:
            makes = own.makes and is_known  # `ACT = partial(nn.ReLU, inplace=True)` is run by who reads `ACT`
            own = replace(own.without_own_writes(), writes=makes, makes=makes)
        found = found.joined(own) if len(items) > 1 else own
    return found


def _filling(project: Project, module: Module, name: str) -> Iterator[Target]:
    """Yield what is put into what a name is bound to, as into a registry."""
    for item in module.fills(name):
        if item.name:
            yield module.path, item.name
        else:
            yield from (target for targets in _meaning(project, module, item).values() for target in targets)


def _names_methods(item: Definition) -> bool:
    """Check whether a definition names a method that writes a tensor: `x.mul_`."""
    return any(map(names_method, item.attributes.union(*(method.attributes for method in item.methods))))


def _meaning(project: Project, module: Module, item: Definition) -> dict[str, tuple[Target, ...]]:
    """Return the definitions that the names in an item mean."""
    found: dict[str, tuple[Target, ...]] = {}
    if item.kind == "statement" and not item.calls and not item.reads:
        return found
    attributes = item.attributes.union(*(method.attributes for method in item.methods))
    imported, own = module.names_in(item)
    found = {name: tuple(_meant(project, (module.path, name), attributes)) for name in imported}
    return {**found, **{name: ((module.path, name),) for name in own}}


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
                waiting.extend((path, name) for name in (attributes if module.stars else attributes & module.names))


def _followed(project: Project, start: Target) -> Followed:
    """Return the definitions and the modules that a name means, through as many files as it takes."""
    known = project.followed.get(start)
    if known is not None:
        project.asked.reuse((start,))
        return known
    with project.asked.computing((start,)):
        found = project.followed[start] = _follow(project, start)
    return found


def _follow(project: Project, start: Target) -> Followed:
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
        items, imported = module.items(target[1]), module.imports(target[1])
        if items and (not imported or any(item.kind != "statement" for item in items)):  # `except ImportError: def f`
            definitions.append(target)
        if imported or not items or module.imports_inside(target[1]):
            exporters, inner = _imports(project, module, target[1])
            waiting.extend(exporters)
            modules.extend(inner)
    return tuple(definitions), tuple(modules)


def _imports(project: Project, module: Module, name: str) -> tuple[list[Target], list[str]]:
    """Return the names of other files that an imported name may stand for, and the modules."""
    names: list[Target] = []
    modules: list[str] = []
    for node, original in (*module.imports(name), *module.imports_inside(name)):
        level = node.level if isinstance(node, ImportFrom) else 0
        if not isinstance(node, ImportFrom) and node.module != original:  # `import pkg.ops` binds `pkg`
            modules.extend(filter(None, [project.resolve(module.path, node.module, 0)]))
        path = project.resolve(module.path, node.module if isinstance(node, ImportFrom) else original, level)
        inner = path
        if isinstance(node, ImportFrom):
            inner = (
                project.part(module.path, node.module, original, level)
                if path is None
                else project.submodule(path, original)
            )
        if inner is not None:
            modules.append(inner)
        if isinstance(node, ImportFrom) and path is not None:
            names.append((path, original))
    for star in () if module.items(name) else module.stars:
        path = project.resolve(module.path, star.module, star.level)
        if path is not None and project.may_bind(path, name):
            names.append((path, name))
    return names, modules
