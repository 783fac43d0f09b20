"""
The outline of a file: its top-level items, with the names that each binds, reads and calls, and its evidence of writes.

It costs one `ast.parse` and one walk. All other analyses ask it which parts of the file are worth lowering.
"""

from __future__ import annotations

import ast
import gc
import warnings
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from inplace_lint.core.span import Slice
from inplace_lint.effects import swaps
from inplace_lint.effects.collect import Words, gather, gather_ir
from inplace_lint.effects.local_types import Kinds, members, receiver
from inplace_lint.effects.write_evidence import INITIALISERS, spelled
from inplace_lint.ir import nodes as ir

_NONE = frozenset[str]()
PROPERTY_PARTS = frozenset({"deleter", "getter", "setter"})


class Definition(NamedTuple):
    """
    One top-level item, or one method of a class.

    `kind` is function, class or statement. `binds` are the names that it binds at its level. `reads`, `calls` and
    `attributes` are the names in it, nested ones included: bare names loaded, dotted callees, attribute names.

    What may write: `writes` if anything in it may write in place, `writes_shared` if that may be what others hold, and
    `makes` if it makes something that writes whenever that is run. `kept` are the names that it does more with than
    call them, `kept_attributes` the attributes; of a class those outside of its methods. `runs_made`: it calls a
    variable that it binds. `sets` are the attributes that a method sets on its instance, of a class those that its body
    binds, of a function names of the module, `gets` those that a method reads. `swaps` are the attributes of frameworks
    that it sets, by their full names; a dot at the end stands for any. `outside` are those that it sets on other
    objects than its instance, "" for any. `imports` are those inside of a function or method.
    """

    kind: str
    name: str
    qualname: str
    slice: Slice
    binds: tuple[str, ...]
    reads: frozenset[str]
    calls: frozenset[str]
    attributes: frozenset[str]
    writes: bool
    bases: tuple[str, ...] = ()
    decorators: tuple[str, ...] = ()
    methods: tuple[Definition, ...] = ()
    writes_shared: bool = False
    makes: bool = False
    kept: frozenset[str] = frozenset()
    kept_attributes: frozenset[str] = frozenset()
    runs_made: bool = False
    sets: frozenset[str] = frozenset()
    gets: frozenset[str] = frozenset()
    swaps: frozenset[str] = frozenset()
    outside: frozenset[str] = frozenset()
    imports: tuple[ir.ImportName | ir.ImportFrom, ...] = ()

    @property
    def member(self) -> str:
        """The name of a method within its class; for a part of a property, with that part: `size.setter`."""
        parts = (decorator.rpartition(".")[2] for decorator in self.decorators)
        return next((f"{self.name}.{part}" for part in parts if part in PROPERTY_PARTS), self.name)


class Outline(NamedTuple):
    """
    What is known of a file before anything of it is lowered.

    `mentions` are those of the given packages whose names occur in the file. `imports` are all import statements
    outside functions.
    """

    path: str
    mentions: tuple[str, ...]
    items: tuple[Definition, ...]
    lines: int
    imports: tuple[ir.ImportName | ir.ImportFrom, ...]


def outline(path: str, source: str, roots: Sequence[str]) -> Outline:
    """
    Return the outline of a file.

    Raises: SyntaxError when `ast` of the running Python refuses it.
    """
    return outlined(path, source, roots)[0]


def outlined(path: str, source: str, roots: Sequence[str]) -> tuple[Outline, Names]:
    """Return the outline of a file, and the names of the module with which an item of it is read."""
    tree = parse(path, source)
    imports = tuple(_imports(tree.body))
    names = Names(tree, imports, roots)
    made = Outline(
        path=path,
        mentions=mentions(source, roots),
        items=tuple(_with_inner(tree, names, [*_merged([definition(path, node, names) for node in tree.body])])),
        lines=source.count("\n") + 1,
        imports=imports,
    )
    return made, names


def all_run(known: Outline) -> Outline:
    """Return an outline by which all functions and classes may write, so that each of them is run."""
    return known._replace(items=tuple(_run(item) for item in known.items))


def _run(item: Definition) -> Definition:
    if item.kind == "statement":
        return item
    methods = tuple(_run(method) for method in item.methods)
    return item._replace(writes=True, writes_shared=True, makes=item.kind == "class", methods=methods)


def writing_by_name(known: Outline, names: frozenset[str]) -> Outline:
    """Return an outline in which whatever uses one of these names may write; an import may give it another name."""
    if not names:
        return known
    pairs = (pair for node in known.imports if isinstance(node, ir.ImportFrom) for pair in node.names)
    spelled = names.union(alias for name, alias in pairs if name in names and alias)
    return known._replace(items=tuple(_told(item, spelled) for item in known.items))


def _told(item: Definition, names: frozenset[str]) -> Definition:
    if names.isdisjoint(item.reads) and names.isdisjoint(item.attributes):
        return item
    if item.kind != "class":
        return item._replace(writes=True, writes_shared=True, makes=True)
    return item._replace(writes=True, methods=tuple(_told(method, names) for method in item.methods))


class Names:
    """The names of a module, as far as what they mean decides whether something is a write."""

    def __init__(
        self, tree: ast.Module, imports: Sequence[ir.ImportName | ir.ImportFrom], frameworks: Sequence[str]
    ) -> None:
        kinds = Kinds()
        self._imports, self._frameworks = imports, frameworks
        self._own: set[str] = set()
        for node in tree.body:
            match node:
                case ast.Assign([ast.Name(name)], value) | ast.AnnAssign(ast.Name(name), _, ast.AST() as value):
                    kinds.assign(ast.Name(name), value)
                    kinds.stores[name] = kinds.stores.get(name, 0) + 1
                case ast.FunctionDef(name) | ast.ClassDef(name):
                    self._own.add(name)
                case _:
                    pass
        self._containers = {name for name in kinds.known if kinds.of(name) in {"container", "containers"}}
        self._harmless: set[str] = set()
        self._assigned = frozenset(kinds.stores)
        for statement in imports:
            if isinstance(statement, ir.ImportFrom):
                root, last = statement.module.partition(".")[0], statement.module.rpartition(".")[2]
                if statement.level or root not in frameworks or last in INITIALISERS:
                    self._harmless.update(alias or name for name, alias in statement.names)

    def write(self, words: Words) -> bool:
        """
        Return whether something in a piece of the module may write in place.

        A helper that is defined in this file or in another of the project has a summary of its own, what initialises
        parameters does so before anything is saved, and the items of a registry are no tensors.
        """
        return words.writes or self._touches(words)

    def write_shared(self, words: Words) -> bool:
        """Return whether something in a piece of the module may write what others hold."""
        return words.writes_shared or self._touches(words)

    def make(self, words: Words) -> bool:
        """Return whether something in a piece of the module may make something that writes."""
        return words.makes or bool(words.flagged - self._own - self._harmless)

    def swaps(self, words: Words) -> frozenset[str]:
        """Return the attributes of frameworks that a piece of the module sets."""
        return swaps.meant(words.swaps, (*self._imports, *_imports(words.imports)), self._frameworks)

    def _touches(self, words: Words) -> bool:
        helpers = words.helpers | words.flagged
        return bool(words.fills - self._containers) or bool(
            (helpers - self._own - self._harmless) | (words.initialised & self._assigned)
        )


def outline_of(path: str, source: str, code: ir.Code, roots: Sequence[str]) -> Outline:
    """
    Return the outline of a file that only LibCST can read: one item, which is the whole file.

    Its functions and classes are then run as the statements of the module define them.
    """
    words = gather_ir(code.body)
    item = _of_words(words, "statement", "", code.slice)
    imports = tuple(node for node in code.body if isinstance(node, ir.ImportName | ir.ImportFrom))
    return Outline(path, mentions(source, roots), (item,), source.count("\n") + 1, imports)


def mentions(source: str, roots: Sequence[str]) -> tuple[str, ...]:
    """Return the packages whose names occur in the source."""
    return tuple(root for root in roots if root in source)


def parse(path: str, source: str) -> ast.Module:
    """
    Return the tree of a source.

    Raises: SyntaxError when `ast` of the running Python refuses it.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Python's warnings about the syntax of a file are no output of the tool
            return ast.parse(source, path)
    except (RecursionError, MemoryError, ValueError) as error:
        msg = f"cannot be parsed: {str(error) or type(error).__name__}"
        raise SyntaxError(msg, (path, 1, 1, None)) from error
    finally:
        if was_on:
            gc.enable()


def _first_line(node: ast.stmt) -> int:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
    return node.lineno


def definition(path: str, node: ast.stmt, names: Names, owner: ast.ClassDef | None = None) -> Definition:
    """Return the outline of an item, or of a method of the class `owner`."""
    words = Words(instance="" if owner is None else receiver(node))
    kind, name = "statement", ""
    bases: tuple[str, ...] = ()
    methods: tuple[Definition, ...] = ()
    if isinstance(node, ast.ClassDef):
        kind, name = "class", node.name
        bases = tuple(spelled(base.value if isinstance(base, ast.Subscript) else base) for base in node.bases)
        for part in (*node.decorator_list, *node.bases, *node.keywords):
            gather(part, words)
        methods = _methods(path, node, names, words)
    else:
        gather(node, words)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            kind, name = "function", node.name
    if words.filled_members:
        attributes = {} if owner is None else members(owner)
        if any(attributes.get(member) not in kinds for member, kinds in words.filled_members.items()):
            words.write()
    words.sets.update(_bound_in(node) if isinstance(node, ast.ClassDef) else ())
    slice_ = Slice(path, _first_line(node), node.end_lineno or node.lineno, "class" if kind == "class" else "statement")
    decorators = getattr(node, "decorator_list", ()) if kind != "statement" else ()
    return _of_words(words, kind, name, slice_)._replace(
        qualname=name if owner is None else f"{owner.name}.{name}",
        binds=(name,) if name else words.binds,
        writes=names.write(words) or any(method.writes for method in methods),
        bases=bases,
        decorators=tuple(spelled(decorator) for decorator in decorators),
        methods=methods,
        writes_shared=names.write_shared(words),
        makes=names.make(words),
        swaps=names.swaps(words) if words.swaps else _NONE,
        outside=swaps.outside(words.swaps, words.instance) if words.swaps else _NONE,
        imports=tuple(_imports(words.imports)) if kind == "function" else (),
    )


def _bound_in(node: ast.ClassDef) -> Iterator[str]:
    """Yield the names to which the body of a class assigns something."""
    for inner in node.body:
        match inner:
            case ast.Assign([ast.Name(name)]) | ast.AnnAssign(ast.Name(name), _, ast.expr()):
                yield name
            case _:
                pass


def _of_words(words: Words, kind: str, name: str, slice_: Slice) -> Definition:
    """Return the outline of an item as far as the names in it tell."""
    return Definition(
        kind=kind,
        name=name,
        qualname=name,
        slice=slice_,
        binds=words.binds,
        reads=frozenset(words.reads),
        calls=frozenset(words.calls),
        attributes=frozenset(words.attributes),
        writes=words.writes,
        writes_shared=words.writes_shared,
        makes=words.makes,
        kept=frozenset(words.kept),
        kept_attributes=frozenset(words.kept_attributes),
        runs_made=words.runs_made,
        sets=frozenset(words.sets),
        gets=frozenset(words.gets),
    )


def _methods(path: str, node: ast.ClassDef, names: Names, words: Words) -> tuple[Definition, ...]:
    """
    Return the methods that can be slices of their own: those that share no line with anything else.

    The names of everything in the class are added to `words`.
    """
    spans = [(_first_line(inner), inner.end_lineno or inner.lineno) for inner in node.body]
    header = node.lineno
    found: list[Definition] = []
    for position, inner in enumerate(node.body):
        first, last = spans[position]
        near = (*spans[max(position - 1, 0) : position], *spans[position + 1 : position + 2])
        alone = first > header and all(last < other[0] or first > other[1] for other in near)
        if alone and isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef):
            method = definition(path, inner, names, node)
            words.add(Words((), set(method.reads), set(method.calls), set(method.attributes)))
            if method.swaps:
                words.swaps.update(f"={name}" for name in method.swaps)
            found.append(method)
        else:
            own = Words()
            gather(inner, own)
            words.add(own)
    return tuple(found)


def _merged(items: list[Definition]) -> Iterator[Definition]:
    """Return the items, with those that share a line joined to one statement."""
    waiting: Definition | None = None
    for item in items:
        if waiting is not None and item.slice.first <= waiting.slice.last:
            waiting = _joined(waiting, item)
            continue
        if waiting is not None:
            yield waiting
        waiting = item
    if waiting is not None:
        yield waiting


def _with_inner(tree: ast.Module, names: Names, items: list[Definition]) -> Iterator[Definition]:
    """Yield the items, and after a statement the definitions in it: these are run as its slice defines them."""
    compound = {node.lineno: node for node in tree.body if isinstance(node, ast.If | ast.Try | ast.With)}
    for item in items:
        yield item
        if item.slice.first in compound:
            for node in _definitions([compound[item.slice.first]]):
                inner = definition(item.slice.path, node, names)
                methods = tuple(method._replace(slice=item.slice) for method in inner.methods)
                yield inner._replace(slice=item.slice, methods=methods)


def _definitions(body: Sequence[ast.stmt]) -> Iterator[ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef]:
    """Yield the functions and classes that statements of a module define at its level."""
    for node in body:
        match node:
            case ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef():
                yield node
            case ast.If() | ast.Try() | ast.With():
                yield from _definitions(_blocks(node))
            case _:
                pass


def _joined(one: Definition, other: Definition) -> Definition:
    slice_ = Slice(one.slice.path, one.slice.first, max(one.slice.last, other.slice.last))
    names = {field: getattr(one, field) | getattr(other, field) for field in _JOINED}
    flags = {field: getattr(one, field) or getattr(other, field) for field in ("writes", "writes_shared", "makes")}
    return Definition("statement", "", "", slice_, one.binds + other.binds, **names, **flags)


_JOINED = ("reads", "calls", "attributes", "kept", "kept_attributes", "swaps", "outside")


def _blocks(node: ast.If | ast.Try | ast.With) -> list[ast.stmt]:
    """Return the statements of all blocks of a statement."""
    handlers = [inner for handler in getattr(node, "handlers", ()) for inner in handler.body]
    return [*node.body, *handlers, *getattr(node, "orelse", ()), *getattr(node, "finalbody", ())]


def _imports(body: Sequence[ast.stmt]) -> Iterator[ir.ImportName | ir.ImportFrom]:
    for node in body:
        match node:
            case ast.Import(names):
                for alias in names:
                    yield ir.ImportName(0, alias.name, alias.asname)
            case ast.ImportFrom(module, names, level):
                yield ir.ImportFrom(0, module or "", level, tuple((alias.name, alias.asname) for alias in names))
            case ast.If() | ast.Try():
                yield from _imports(_blocks(node))
            case _:
                pass
