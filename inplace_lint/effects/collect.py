"""The names in a piece of syntax, and whether something in it may write in place."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field

from inplace_lint.effects import write_evidence
from inplace_lint.effects.local_types import NO_TENSORS, Kinds
from inplace_lint.effects.locality import is_own
from inplace_lint.ir import nodes as ir
from inplace_lint.ir.scopes import scope_of


@dataclass(slots=True)
class Words:
    """
    What was gathered so far.

    `writes` is sure evidence. `fills` are names of the module whose items are set, `helpers` bare names that are called
    and end like in-place ops, `flagged` those that are called with a flag: what these stand for decides whether that is
    a write. `outward`: something is written that others may hold, too. `makes`: something is made that writes whenever
    it is run. `kept` are the bare names that are loaded other than to be called at once, `kept_members` the attributes.
    `filled_members` are attributes of the `instance` that are added to, or whose items are set, with the kinds for
    which that is no write. `runs_made`: a variable that is bound here is called. `initialised` are names of the module
    that are, or hold, functions which fill new parameters: if they are imported, not assigned.
    """

    binds: tuple[str, ...] = ()
    reads: set[str] = field(default_factory=set)
    calls: set[str] = field(default_factory=set)
    attributes: set[str] = field(default_factory=set)
    writes: bool = False
    fills: set[str] = field(default_factory=set)
    helpers: set[str] = field(default_factory=set)
    outward: bool = False
    makes: bool = False
    kept: set[str] = field(default_factory=set)
    kept_members: set[str] = field(default_factory=set)
    runs_made: bool = False
    flagged: set[str] = field(default_factory=set)
    filled_members: dict[str, frozenset[str]] = field(default_factory=dict)
    initialised: set[str] = field(default_factory=set)
    instance: str = ""

    def write(self) -> None:
        """Note evidence of a write to what others may hold."""
        self.writes = self.outward = True

    def write_to(self, target: ast.AST) -> None:
        """Note evidence of a write to a target or its items: of an attribute of `self`, what it is decides."""
        match target:
            case ast.Attribute(ast.Name(holder), name) if holder == self.instance:
                self.filled_members[name] = frozenset({"container", "containers"})
            case ast.Subscript(ast.Attribute(ast.Name(holder), name)) if holder == self.instance:
                self.filled_members.setdefault(name, frozenset({"containers"}))
            case _:
                self.write()

    def add(self, other: Words) -> None:
        """Take in what another piece has, but for what it binds."""
        self.reads |= other.reads
        self.calls |= other.calls
        self.attributes |= other.attributes
        self.writes = self.writes or other.writes
        self.fills |= other.fills
        self.helpers |= other.helpers
        self.outward = self.outward or other.outward
        self.makes = self.makes or other.makes
        self.kept |= other.kept
        self.kept_members |= other.kept_members
        self.flagged |= other.flagged
        self.filled_members |= other.filled_members
        self.initialised |= other.initialised


_NESTED = frozenset({ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef})


def gather(root: ast.AST, words: Words) -> None:
    """Add the names below a node of `ast`."""
    walk = _Walk(root, words)
    walk.run([root])
    at_once = words.outward
    words.outward = False
    before = walk.count()
    for function in walk.nested:
        walk.run(_children(function))
    # What a function inside of another one does, it does whenever it is called.
    words.makes = words.makes or words.outward or walk.count() > before
    words.outward = words.outward or at_once
    walk.conclude()


class _Walk:
    """One walk over a piece of syntax; functions inside of functions wait in `nested` for a walk of their own."""

    def __init__(self, root: ast.AST, words: Words) -> None:
        self.root = root
        self.words = words
        self.kinds = Kinds()
        self.binds: dict[str, None] = {}
        self.called: set[ast.AST] = set()
        self.nested: list[ast.AST] = []
        self.later = False

    def run(self, waiting: list[ast.AST]) -> None:
        """Add all that stands below the nodes."""
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
            elif kind is not ast.Constant:
                if kind is ast.Call:
                    self.called.update(write_evidence.run_at_once(node))  # type: ignore[arg-type]
                if kind in special:
                    write_evidence.note(node, self.words, self.binds, self.kinds)
                if kind in _NESTED and node is not self.root and not self.later:
                    self.nested.append(node)
                else:
                    waiting += _children(node)

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
        if self.later or node not in self.called:
            self.words.kept_members.add(node.attr)
        if node.attr == "data":
            self.words.write()

    def count(self) -> int:
        """Count what may turn out to be a write."""
        kinds, words = self.kinds, self.words
        return len(kinds.filled) + len(kinds.grown) + len(kinds.written) + len(words.helpers) + len(words.flagged)

    def conclude(self) -> None:
        """Decide what is a write of the names that may hold tensors."""
        kinds, words = self.kinds, self.words
        words.binds = tuple(self.binds)
        words.runs_made = not words.calls.isdisjoint(kinds.stores)
        filled = {name for name in kinds.filled if kinds.of(name) not in NO_TENSORS}
        words.fills |= {name for name in filled if name not in kinds.stores and name not in kinds.parameters}
        local = kinds.stores.keys() | kinds.parameters
        words.initialised |= kinds.initialised - local - self.binds.keys()
        written = (filled - words.fills) | kinds.grown_tensors() | kinds.written | (kinds.initialised & local)
        words.writes = words.writes or bool(written)
        # What only the function itself holds is no business of those that call it.
        own = (kinds.may_be_fresh(name) and not self.nested and is_own(self.root, name) for name in written)
        if not all(own):
            words.write()


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


def may_write(body: Sequence[ir.Stmt]) -> bool:
    """Say whether something in lowered statements may write tensors: what counts by a number does not."""
    waiting: list[object] = list(body)
    while waiting:
        node = waiting.pop()
        if _is_evidence(node):
            return True
        if isinstance(node, tuple):
            waiting.extend(field for field in node if isinstance(field, tuple))
    return False


def _is_evidence(node: object) -> bool:
    match node:
        case ir.AugAssign(_, _, target, value):
            return not (isinstance(target, ir.Name) and isinstance(value, ir.Const))
        case ir.Attr(_, _, name):
            return name == "data" or write_evidence.is_writing(name)
        case ir.Keyword(_, name, value):
            return name in write_evidence.WRITING_KEYWORDS and not (isinstance(value, ir.Const) and not value.value)
        case ir.Assign(_, targets):
            return any(isinstance(target, ir.Subscript) and not _is_key(target.key) for target in targets)
        case _:
            return False


def _is_key(key: ir.Expr) -> bool:
    return isinstance(key, ir.Format) or (isinstance(key, ir.Const) and isinstance(key.value, str))


def gather_ir(body: Sequence[ir.Stmt]) -> Words:
    """Give the names in lowered statements."""
    binds, _ = scope_of(tuple(body))
    words = Words(tuple(sorted(binds)))
    waiting: list[object] = list(body)
    while waiting:
        node = waiting.pop()
        match node:
            case ir.Name(_, name):
                words.reads.add(name)
            case ir.Attr(_, _, name):
                words.attributes.add(name)
                words.writes = words.writes or name == "data" or write_evidence.is_writing(name)
            case ir.AugAssign():
                words.writes = True
            case ir.Keyword(_, name, _) if name in write_evidence.WRITING_KEYWORDS:
                words.writes = True
            case ir.Assign(_, targets) if any(isinstance(target, ir.Subscript) for target in targets):
                words.writes = True
            case _:
                pass
        if isinstance(node, tuple):
            waiting.extend(field for field in node if isinstance(field, tuple))
    words.calls = set(words.reads) | words.attributes
    words.outward = words.makes = words.writes
    words.kept, words.kept_members = words.reads, words.attributes
    return words
