"""The names in a piece of syntax, and whether something in it may write in place."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field

from inplace_lint.ir import nodes as ir
from inplace_lint.ir.scopes import scope_of
from inplace_lint.outline.kinds import Kinds, kind_of

_WRITING_KEYWORDS = frozenset({"inplace", "out", "max_norm", "fused"})
_WRITING_CALLS = frozenset(
    {
        "backward",
        "step",
        "load_state_dict",
        "autograd",
        "increment",
        "set_value",
        "assign",
        "clear_grad",
        "inference_mode",
    }
)
_FLAG = "requires_grad_"
_NOT_WRITES = frozenset({_FLAG})
INITIALISERS = frozenset({"init"})  # modules of functions that give new parameters their values


@dataclass(slots=True)
class Words:
    """
    What was gathered so far.

    `writes` is sure evidence. `fills` are names of the module whose items are set, `helpers` bare names that are called
    and end like in-place ops: what these stand for decides whether that is a write.
    """

    binds: tuple[str, ...] = ()
    reads: set[str] = field(default_factory=set)
    calls: set[str] = field(default_factory=set)
    attributes: set[str] = field(default_factory=set)
    writes: bool = False
    fills: set[str] = field(default_factory=set)
    helpers: set[str] = field(default_factory=set)

    def add(self, other: Words) -> None:
        """Take in what another piece has, but for what it binds."""
        self.reads |= other.reads
        self.calls |= other.calls
        self.attributes |= other.attributes
        self.writes = self.writes or other.writes
        self.fills |= other.fills
        self.helpers |= other.helpers


_SPECIAL = frozenset(
    {
        ast.AugAssign,
        ast.Subscript,
        ast.Call,
        ast.FunctionDef,
        ast.AsyncFunctionDef,
        ast.ClassDef,
        ast.alias,
        ast.Assign,
        ast.AnnAssign,
        ast.arg,
    }
)


def gather(root: ast.AST, words: Words) -> None:
    """Add the names below a node of `ast`."""
    binds: dict[str, None] = {}
    kinds = Kinds()
    waiting: list[ast.AST] = [root]
    while waiting:
        node = waiting.pop()
        kind = type(node)
        if kind is ast.Name:
            assert isinstance(node, ast.Name)
            if isinstance(node.ctx, ast.Load):
                words.reads.add(node.id)
            else:
                binds[node.id] = None
                kinds.stores[node.id] = kinds.stores.get(node.id, 0) + 1
            continue
        if kind is ast.Attribute:
            assert isinstance(node, ast.Attribute)
            words.attributes.add(node.attr)
            words.writes = words.writes or node.attr == "data"
            waiting.append(node.value)
            continue
        if kind is ast.Constant:
            continue
        if kind in _SPECIAL:
            _special(node, words, binds, kinds)
        waiting += _children(node)
    words.binds = tuple(binds)
    words.writes = words.writes or kinds.grow_tensors()
    for name in kinds.filled:
        if name in kinds.stores or name in kinds.parameters:
            words.writes = words.writes or kinds.of(name) != "container"
        else:
            words.fills.add(name)


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


def _special(node: ast.AST, words: Words, binds: dict[str, None], kinds: Kinds) -> None:
    match node:
        case ast.AugAssign():
            _augmented(node, words, kinds)
        case ast.Subscript():
            _subscript(node, words, kinds)
        case ast.Call():
            _call(node, words)
        case ast.FunctionDef(name) | ast.AsyncFunctionDef(name) | ast.ClassDef(name):
            binds[name] = None
        case ast.alias(name, alias):
            binds[alias if alias is not None else name.partition(".")[0]] = None
        case ast.Assign(targets, value):
            for target in targets:
                kinds.assign(target, value)
        case ast.AnnAssign(target, _, ast.expr() as value):
            kinds.assign(target, value)
        case ast.arg(name):
            kinds.parameters.add(name)
        case _:
            pass


def _augmented(node: ast.AugAssign, words: Words, kinds: Kinds) -> None:
    if isinstance(node.target, ast.Name):
        kinds.stores[node.target.id] = kinds.stores.get(node.target.id, 0) - 1  # not one of its own
        kinds.grown.append((node.target.id, kind_of(node.value)))
    else:
        words.writes = True


def _subscript(node: ast.Subscript, words: Words, kinds: Kinds) -> None:
    if not isinstance(node.ctx, ast.Store) or _is_text(node.slice):
        return
    if isinstance(node.value, ast.Name):
        kinds.filled.add(node.value.id)
    else:
        words.writes = True


def _is_text(key: ast.AST) -> bool:
    """Say whether an index is a string: what it indexes is no tensor."""
    return isinstance(key, ast.JoinedStr) or (isinstance(key, ast.Constant) and isinstance(key.value, str))


def _call(node: ast.Call, words: Words) -> None:
    name = spelled(node.func)
    words.calls.add(name)
    holder, _, last = name.rpartition(".")
    if _is_writing(last) or (last == _FLAG and _frees(node)):
        if isinstance(node.func, ast.Name):
            words.helpers.add(last)
        elif holder.rpartition(".")[2] not in INITIALISERS:
            words.writes = True
    # A custom function of autograd: where it returns its argument, some frameworks take that for a write.
    if last == "apply" and holder.rpartition(".")[2][:1].isupper():
        words.writes = True
    for keyword in node.keywords:
        if keyword.arg in _WRITING_KEYWORDS and not (
            isinstance(keyword.value, ast.Constant) and keyword.value.value in {False, None}
        ):
            words.writes = True
    if any(isinstance(argument, ast.Constant) and argument.value is True for argument in node.args):
        words.writes = True


def _frees(call: ast.Call) -> bool:
    """Say whether a variable is told that it needs no gradient, which one with a history refuses."""
    values = [*call.args, *(keyword.value for keyword in call.keywords)]
    named = isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Name)
    return named and len(values) == 1 and isinstance(values[0], ast.Constant) and values[0].value is False


def _is_writing(name: str) -> bool:
    """Say whether a call of this last name may write in place."""
    return name in _WRITING_CALLS or (name.endswith("_") and not name.startswith("__") and name not in _NOT_WRITES)


def spelled(node: ast.AST) -> str:
    """Spell a dotted expression; of a call's result or an item only what follows it."""
    match node:
        case ast.Name(name):
            return name
        case ast.Attribute(value, name):
            return f"{spelled(value)}.{name}"
        case ast.Call(func):
            return spelled(func)
        case _:
            return ""


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
            return name == "data" or _is_writing(name)
        case ir.Keyword(_, name, value):
            return name in _WRITING_KEYWORDS and not (isinstance(value, ir.Const) and not value.value)
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
                words.writes = words.writes or name == "data" or _is_writing(name)
            case ir.AugAssign():
                words.writes = True
            case ir.Keyword(_, name, _) if name in _WRITING_KEYWORDS:
                words.writes = True
            case ir.Assign(_, targets) if any(isinstance(target, ir.Subscript) for target in targets):
                words.writes = True
            case _:
                pass
        if isinstance(node, tuple):
            waiting.extend(field for field in node if isinstance(field, tuple))
    words.calls = set(words.reads) | words.attributes
    return words
