"""
Collect the names in a piece of syntax, and the evidence that something in it writes in place.

    def f(x, parts):
        parts += x           # `parts` may be a tensor: evidence of a write
        return g(x).add_(1)  # reads `g` and `x`, calls `g` and `g.add_`, which writes
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from msgspec import Struct, field

from inplace_lint.core.annotations import written
from inplace_lint.effects import swaps, write_evidence
from inplace_lint.effects.local_types import NO_TENSORS, Kinds
from inplace_lint.effects.locality import is_own
from inplace_lint.ir import nodes as ir
from inplace_lint.ir.scopes import scope_of
from inplace_lint.ir.walk import walk


class Words(Struct):
    """
    What was collected so far.

    Sure evidence: `writes` if something may be written in place, `writes_shared` if others may hold it too, `makes` if
    something is made that writes whenever it is run. What decides on the rest is what a name stands for: `fills` are
    names of the module whose items are set, `helpers` bare names that are called and end like in-place ops, `flagged`
    those that are called with a flag, and `filled_members` attributes of the `instance` that are added to, or whose
    items are set, with the kinds for which that is no write.

    `kept` are the bare names that are loaded other than to be called at once, `kept_attributes` the attributes; what
    annotations, `super` and `isinstance` name is not kept.
    `runs_made`: a variable that is bound here is called. `initialised` are names of the module that are, or hold,
    functions which fill new parameters: if they are imported, not assigned. `sets` are the attributes of the `instance`
    that are assigned, of a function the names of the module. `swaps` are other attributes that are, as they are
    spelled. `imports` are the statements that import.
    """

    binds: tuple[str, ...] = ()
    reads: set[str] = field(default_factory=set)
    calls: set[str] = field(default_factory=set)
    attributes: set[str] = field(default_factory=set)
    writes: bool = False
    fills: set[str] = field(default_factory=set)
    helpers: set[str] = field(default_factory=set)
    writes_shared: bool = False
    makes: bool = False
    kept: set[str] = field(default_factory=set)
    kept_attributes: set[str] = field(default_factory=set)
    runs_made: bool = False
    flagged: set[str] = field(default_factory=set)
    filled_members: dict[str, frozenset[str]] = field(default_factory=dict)
    initialised: set[str] = field(default_factory=set)
    sets: set[str] = field(default_factory=set)
    gets: set[str] = field(default_factory=set)
    swaps: set[str] = field(default_factory=set)
    instance: str = ""
    imports: list[ast.Import | ast.ImportFrom] = field(default_factory=list)

    def write(self) -> None:
        """Note evidence of a write to what others may hold."""
        self.writes = self.writes_shared = True

    def write_to(self, target: ast.AST) -> None:
        """Note evidence of a write to a target or its items; for an attribute of `self`, its kind decides later."""
        match target:
            case ast.Attribute(ast.Name(holder), name) if holder == self.instance:
                self.filled_members[name] = frozenset({"container", "containers"})
            case ast.Subscript(ast.Attribute(ast.Name(holder), name)) if holder == self.instance:
                self.filled_members.setdefault(name, frozenset({"containers"}))
            case _:
                self.write()

    def add(self, other: Words) -> None:
        """Add what another piece of syntax has, except for the names that it binds."""
        self.reads |= other.reads
        self.calls |= other.calls
        self.attributes |= other.attributes
        self.writes = self.writes or other.writes
        self.fills |= other.fills
        self.helpers |= other.helpers
        self.writes_shared = self.writes_shared or other.writes_shared
        self.makes = self.makes or other.makes
        self.kept |= other.kept
        self.kept_attributes |= other.kept_attributes
        self.flagged |= other.flagged
        self.filled_members |= other.filled_members
        self.initialised |= other.initialised
        self.swaps |= other.swaps


_NAMES = frozenset({ast.Name, ast.Attribute})
_NESTED = frozenset({ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef})


def gather(root: ast.AST, words: Words) -> None:
    """Add the names below a node of `ast`, and the evidence of writes."""
    walk = _Walk(root, words)
    walk.run([root])
    at_once = words.writes_shared
    words.writes_shared = False
    before = walk.count()
    for function in walk.nested:
        walk.run(_children(function))
    # A function inside of another one writes whenever it is called, which may be at any time.
    words.makes = words.makes or words.writes_shared or walk.count() > before
    words.writes_shared = words.writes_shared or at_once
    walk.conclude()


class _Walk:
    """One walk over a piece of syntax. Functions inside of functions are put into `nested`, for a walk of their own."""

    def __init__(self, root: ast.AST, words: Words) -> None:
        self.root = root
        self.words = words
        self.kinds = Kinds()
        self.binds: dict[str, None] = {}
        self.called: set[ast.AST] = set()
        self.nested: list[ast.AST] = []
        self.texts: set[str] = set()
        self.later = False

    def run(self, waiting: list[ast.AST]) -> None:
        """Add the names and the evidence below the nodes."""
        self.later = bool(self.nested)
        special = write_evidence.KINDS
        while waiting:
            node = waiting.pop()
            kind = type(node)
            if kind is ast.Name:
                self._name(node)  # type: ignore[arg-type]
            elif kind is ast.Attribute:
                self._attribute(node)  # type: ignore[arg-type]
                waiting.append(node.value)  # type: ignore[attr-defined]
            elif kind is ast.Constant:
                self._text(node.value)  # type: ignore[attr-defined]
            else:
                if kind is ast.Call:
                    self._call(node)  # type: ignore[arg-type]
                elif kind in _ANNOTATED:
                    self.called.update(_annotation(node, waiting))
                elif kind is ast.Global and not self.words.instance:
                    self.words.sets.update(node.names)  # type: ignore[attr-defined]
                if kind in special:
                    write_evidence.note(node, self.words, self.binds, self.kinds)
                if kind in _NESTED and node is not self.root and not self.later:
                    self.nested.append(node)
                else:
                    waiting += _children(node)

    def _text(self, value: object) -> None:
        if type(value) is str and value.isidentifier():
            self.texts.add(value)

    def _call(self, node: ast.Call) -> None:
        self.called.update(write_evidence.run_at_once(node))
        func = node.func
        word = func.attr if type(func) is ast.Attribute else func.id if type(func) is ast.Name else ""
        if word in swaps.SETTERS:
            self.words.swaps.update(swaps.by_call(node))

    def _name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load):
            self.words.reads.add(node.id)
            if self.later or node not in self.called:
                self.words.kept.add(node.id)
        else:
            self.binds[node.id] = None
            self.kinds.stores[node.id] = self.kinds.stores.get(node.id, 0) + 1

    def _attribute(self, node: ast.Attribute) -> None:
        self.words.attributes.add(node.attr)
        if isinstance(node.value, ast.Name) and node.value.id == self.words.instance:
            (self.words.sets if type(node.ctx) is ast.Store else self.words.gets).add(node.attr)
        elif type(node.ctx) is ast.Store and type(node.value) in _NAMES:
            self.words.swaps.add(write_evidence.spelled(node))
        kept = self.later or node not in self.called
        if kept:
            self.words.kept_attributes.add(node.attr)
        if kept and write_evidence.names_method(node.attr):
            self.words.write()
            self.words.makes = True
        if node.attr == "data":
            self.words.write()

    def count(self) -> int:
        """Return how many names there are of which it is not decided yet whether they are written."""
        kinds, words = self.kinds, self.words
        return len(kinds.filled) + len(kinds.grown) + len(kinds.written) + len(words.helpers) + len(words.flagged)

    def conclude(self) -> None:
        """Decide which of the names that may hold tensors are written."""
        kinds, words = self.kinds, self.words
        if not _BY_TEXT.isdisjoint(words.reads) or ("sys" in words.reads and "modules" in words.attributes):
            words.reads |= self.texts
            words.kept |= self.texts
        words.binds = tuple(self.binds)
        words.runs_made = not words.calls.isdisjoint(kinds.stores)
        filled = {name for name in kinds.filled if kinds.of(name) not in NO_TENSORS}
        words.fills |= {name for name in filled if name not in kinds.stores and name not in kinds.parameters}
        local = kinds.stores.keys() | kinds.parameters
        words.initialised |= kinds.initialised - local - self.binds.keys()
        written = (filled - words.fills) | kinds.grown_tensors() | kinds.written | (kinds.initialised & local)
        words.writes = words.writes or bool(written)
        # A write to what only the function itself holds makes no difference to its callers.
        own = (kinds.may_be_fresh(name) and not self.nested and is_own(self.root, name) for name in written)
        if not all(own):
            words.write()


_BY_TEXT = frozenset({"globals", "eval"})  # they look names up that a text says
_ANNOTATED = {
    ast.arg: "annotation",
    ast.AnnAssign: "annotation",
    ast.FunctionDef: "returns",
    ast.AsyncFunctionDef: "returns",
}


def _annotation(node: ast.AST, waiting: list[ast.AST]) -> Iterator[ast.AST]:
    """Yield the nodes of what annotates a parameter, a variable or the result of a function; a text as it is read."""
    given = getattr(node, _ANNOTATED[type(node)])
    annotation = written(given)
    if annotation is None:
        return iter(())
    if annotation is not given:
        waiting.append(annotation)
    return ast.walk(annotation)


# The fields of each node type that can hold nodes with names in them; filled as types are met.
_FIELDS: dict[type, tuple[str, ...]] = {}
_NAMELESS = frozenset({"ctx", "op", "ops", "type_ignores", "type_comment", "kind", "conversion", "level", "simple"})


def _children(node: ast.AST) -> list[ast.AST]:
    kind = type(node)
    names = _FIELDS.get(kind)
    if names is None:
        names = _FIELDS[kind] = tuple(name for name in node._fields if name not in _NAMELESS)
    found: list[ast.AST] = []
    for name in names:
        value = getattr(node, name, None)
        if type(value) is list:
            found += [item for item in value if isinstance(item, ast.AST)]
        elif isinstance(value, ast.AST):
            found.append(value)
    return found


def gather_ir(body: Sequence[ir.Stmt]) -> Words:
    """Return the names in lowered statements. All of them count as kept, since calls are not told apart here."""
    binds, _ = scope_of(tuple(body))
    words = Words(tuple(sorted(binds)))
    for node in walk(body):
        match node:
            case ir.Name(_, name):
                words.reads.add(name)
            case ir.Attr(_, _, name):
                words.attributes.add(name)
            case _:
                pass
    words.calls = words.reads | words.attributes
    words.kept, words.kept_attributes = words.reads, words.attributes
    words.writes = words.writes_shared = words.makes = write_evidence.lowered_may_write(body)
    return words
