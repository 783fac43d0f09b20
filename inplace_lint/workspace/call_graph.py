"""
The graph on which is decided what may write: definitions by file and name, and the definitions that each one uses.

    from .layers import Block    # `Block` means the class of that name in layers.py, through re-exports if need be
    from . import blocks         # `blocks.bump` means `bump` in blocks.py: the attributes near a module's name tell

A class also uses a class of its file whose methods it names although it does not name the class itself: it was passed
an instance.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet

from msgspec.structs import replace

from inplace_lint.effects import may_write
from inplace_lint.effects.may_write import Effects, FileEffects, Summaries, Target
from inplace_lint.effects.summary import Definition, writing_by_name
from inplace_lint.effects.write_evidence import names_method
from inplace_lint.workspace import registries
from inplace_lint.workspace.module import Module
from inplace_lint.workspace.module_store import Project


def file_effects(project: Project, main: Module) -> FileEffects:
    """Return what the definitions of a file may write, closed over all files that they lead to."""
    statements = [item for item in main.outline.items if item.kind == "statement"]
    meanings = {item.slice: _meaning(project, main, item) for item in statements}
    named = {item.name: item for item in main.outline.items if item.name}
    uses = {
        name: (may_write.read_names(item) & named.keys()).union(main.users_by_method(item)) - {name}
        for name, item in named.items()
    }
    started = [target for meaning in meanings.values() for targets in meaning.values() for target in targets]
    started.extend((main.path, name) for name in named)
    _summarise(project, started)
    known = _with_registered(project, main, named)
    return FileEffects(main.outline, named, uses, meanings, known)


def _summarise(project: Project, started: Sequence[Target]) -> None:
    """Add the summaries of definitions, and of all that they lead to, to those of the project."""
    waiting = [*started]
    new: dict[Target, Effects] = {}
    while waiting:
        target = waiting.pop()
        if target not in new and target not in project.summaries:
            with project.asked.computing(target):
                new[target] = found = _effects(project, target)
            waiting.extend(found.leads_to)
    may_write.close(project.summaries, new)
    project.asked.reuse_all(started, lambda target: project.summaries[target].effects.leads_to)


def _with_registered(project: Project, main: Module, named: Iterable[str]) -> Summaries:
    """
    Return the summaries by which whoever looks into a registry also runs what other files put into it.

    They hold for one file, for what leads to no write without them: its text says which keys it may ask for.
    """
    known = project.summaries
    waiting = [(main.path, name) for name in named if known[main.path, name].calls is None]
    seen = set(waiting)
    while waiting:
        more = known[waiting.pop()].effects.leads_to - seen
        seen |= more
        waiting.extend(more)
    filled = {
        target: frozenset(_put_into(project, target, main)) for target in seen if registries.is_one(project, target)
    }
    if not any(filled.values()):
        return known
    _summarise(project, [target for targets in filled.values() for target in targets])
    found = dict(project.summaries)
    new = {target: found[target].effects for target in seen}
    for registry, targets in filled.items():
        new[registry] = replace(new[registry], runs=new[registry].runs | targets)
    may_write.close(found, new)
    return found


def _put_into(project: Project, registry: Target, main: Module) -> Iterator[Target]:
    """Yield what other files may put into a registry under the texts of a file."""
    for path, item in registries.filling(project, registry, main.path):
        module = project.module(path)
        if module is not None:
            yield from _put_by(project, module, item)


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
    definitions, modules = project.follow((path, first))
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
        # What a file changes that never names a framework is no tensor, unless a method of tensors changes it, or a
        # class does whose base another file has.
        is_known = module.mentions or _names_methods(item) or _derives(module, item)
        if item.kind == "statement" or not is_known:
            makes = own.makes and is_known  # `ACT = partial(nn.ReLU, inplace=True)` is run by who reads `ACT`
            own = replace(own.without_own_writes(), writes=makes, makes=makes)
        found = found.joined(own) if len(items) > 1 else own
    return found


def _filling(project: Project, module: Module, name: str) -> Iterator[Target]:
    """Yield what is put into what a name is bound to, as into a registry."""
    for item in module.fills(name):
        yield from _put_by(project, module, item)


def _put_by(project: Project, module: Module, item: Definition) -> Iterator[Target]:
    if item.name:
        yield module.path, item.name
    else:
        yield from (target for targets in _meaning(project, module, item).values() for target in targets)


def _derives(module: Module, item: Definition) -> bool:
    """Check whether a class has a base that its file imports."""
    return any(module.imports(base.partition(".")[0]) for base in item.bases)


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
        definitions, modules = project.follow(waiting.pop())
        yield from definitions
        for path in modules:
            module = project.module(path)
            if module is not None and path not in opened:
                opened.add(path)
                waiting.extend((path, name) for name in (attributes if module.stars else attributes & module.names))
