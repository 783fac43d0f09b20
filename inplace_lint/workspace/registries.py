"""
What other files put into an object of a module, as into a registry.

    LAYERS = {}                         # in registry.py, with `def register(name): ...`, which fills it

    @register("gated")                  # in blocks.py
    class Gated(nn.Module): ...

    LAYERS["gated"]                     # in net.py, an import of which runs blocks.py as well

Only items are found that name a key, so that a look-up does not run all that was ever registered.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from itertools import islice

from inplace_lint.effects.may_write import Target
from inplace_lint.effects.reachability import reachable
from inplace_lint.effects.summary import Definition
from inplace_lint.workspace.claims import Question
from inplace_lint.workspace.module import Module
from inplace_lint.workspace.module_store import Project
from inplace_lint.workspace.top_level import ANY, FEW, hashes, texts

Item = tuple[str, Definition]
_WORD = re.compile(r"\w+")
_DICT = r"(?:\s*:[^=\n]+)?\s*=\s*(?:\{\s*\}|(?:[\w.]+\.)?(?:dict|OrderedDict)\(\))"
_HAS = re.compile(rf"^(?: {{1,4}}|\t)\w+{_DICT}", re.MULTILINE)  # of a class, not of its methods
_MADE = re.compile(rf"^\w+(?:{_DICT}|(?:\s*:[^=\n]+)?\s*=\s*(?P<callee>[\w.]+)\()")


def is_one(project: Project, target: Target) -> bool:
    """Return whether a name of a module stands for an empty dict, a class that has one, or an instance of a class."""
    if target not in project.registries:
        module = project.module(target[0])
        items = () if module is None else module.items(target[1])
        project.registries[target] = module is not None and any(_makes_one(project, module, item) for item in items)
    return project.registries[target]


def _makes_one(project: Project, module: Module, item: Definition) -> bool:
    if item.kind == "class":
        return _HAS.search(module.text(item.slice)) is not None
    made = _MADE.search(module.text(item.slice)) if item.kind == "statement" else None
    if made is None or made["callee"] is None:
        return made is not None
    definitions, _ = project.follow((module.path, made["callee"].partition(".")[0]))
    return any(item.kind == "class" for path, name in definitions for item in _items(project, path, name))


def _items(project: Project, path: str, name: str) -> Sequence[Definition]:
    module = project.module(path)
    return () if module is None else module.items(name)


def filling(project: Project, registry: Target, main: str, key: str = "") -> Sequence[Item]:
    """
    Return the top-level items that may put something under a key into what the name of a module is bound to.

    They are in other files that an import of `main` runs. Without a key it may be any text in `main` that looks like
    one; of a small registry, and where it is `ANY`, all are returned, and of a larger one none for `ANY`. It is not
    certain that an item has a key: it has all words of it, in small or in capital letters, since registries often take
    the names of classes in small letters.
    """
    project.asked.add(main, Question.FILLED, "\n".join((*registry, key)))
    known = project.filled.get((registry, main, key))
    if known is None:
        with project.asked.apart():
            known = project.filled[registry, main, key] = list(_found(project, registry, main, key))
    return known


def _found(project: Project, registry: Target, main: str, key: str) -> Iterator[Item]:
    path, name = registry
    home = project.module(path)
    names = set() if home is None else _fillers(home, name)
    filling = hashes(" ".join(names))
    top_levels, run = project.unparsed.top_levels, project.unparsed.imports.run_with(main)
    files = [one for one in sorted(run) if one != path and not filling.isdisjoint(top_levels.words(one))]
    if key not in {"", ANY}:
        wanted = {_words(key)}
    elif _is_small(project, files, names):
        wanted = {frozenset[str]()}  # all have these
    else:
        wanted = set() if key == ANY else set(map(_words, texts(project.source(main) or "")))
    hashed = {hashes(" ".join(words)): words for words in wanted}
    single = {word: words for key, words in hashed.items() if len(key) == 1 for word in key}
    for other in files:
        words = top_levels.words(other)
        here = [single[word] for word in single.keys() & words]
        here.extend(text for key, text in hashed.items() if len(key) != 1 and key <= words)
        module = project.module(other) if here else None
        if module is not None:
            putting = (item for item in module.outline.items if _fills(project, other, item, path, names))
            yield from ((other, item) for item in putting if _names_one(item, module, here))


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.lower()))


def _is_small(project: Project, files: Iterable[str], names: AbstractSet[str]) -> bool:
    """Return whether files put few things into a registry, as far as their text tells."""
    put = (first for path in files for first, _ in project.unparsed.top_levels.put_elsewhere(path) if first in names)
    return len([*islice(put, FEW + 1)]) <= FEW


def _fillers(home: Module, name: str) -> set[str]:
    """Return a name of a module, and the names of what reads it there, directly or through others."""
    items = home.outline.items
    users: dict[str, set[str]] = {bound: set() for item in items for bound in item.binds}
    for item in items:
        for read in item.reads & users.keys():
            users[read].update(item.binds)
    return reachable({name}, users)


def _names_one(item: Definition, module: Module, keys: Sequence[frozenset[str]]) -> bool:
    """Return whether a statement, or the decorators and the name of a function or class, have the words of a key."""
    text = module.text(item.slice)
    if item.kind != "statement":
        defined = re.search(rf"^\s*(?:async\s+def|def|class)\s+{re.escape(item.name)}\b", text, re.MULTILINE)
        text = text if defined is None else text[: defined.end()]
    words = _words(text)
    return any(key <= words for key in keys)


def _fills(project: Project, path: str, item: Definition, home: str, names: AbstractSet[str]) -> bool:
    """Return whether an item calls or decorates by, or as a statement stores into, one of the names of a module."""
    callees = {*item.decorators, *(item.calls | item.reads if item.kind == "statement" else ())}
    return any(_means(project, path, callee, home, names) for callee in callees)


def _means(project: Project, path: str, dotted: str, home: str, names: AbstractSet[str]) -> bool:
    """Return whether a dotted name starts with one of the names of the module at `home`."""
    first, _, rest = dotted.partition(".")
    definitions, modules = project.follow((path, first))
    if any(found == home and name in names for found, name in definitions):
        return True
    return bool(rest) and any(_means(project, module, rest, home, names) for module in modules)
