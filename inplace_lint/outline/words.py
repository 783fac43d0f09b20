"""The names in a piece of syntax, and whether something in it may write in place."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field

from inplace_lint.ir import nodes as ir
from inplace_lint.ir.scopes import scope_of

_WRITING_KEYWORDS = frozenset({"inplace", "out", "max_norm", "fused"})
_WRITING_CALLS = frozenset({"backward", "step", "load_state_dict", "autograd"})
_NOT_WRITES = frozenset({"requires_grad_"})


@dataclass(slots=True)
class Words:
    """What was gathered so far."""

    binds: tuple[str, ...] = ()
    reads: set[str] = field(default_factory=set)
    calls: set[str] = field(default_factory=set)
    attributes: set[str] = field(default_factory=set)
    writes: bool = False


_SPECIAL = frozenset(
    {ast.AugAssign, ast.Subscript, ast.Call, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.alias}
)


def gather(root: ast.stmt, words: Words) -> None:
    """Add the names below a statement of `ast`."""
    binds: dict[str, None] = {}
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
            _special(node, words, binds)
        waiting += _children(node)
    words.binds = tuple(binds)


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


def _special(node: ast.AST, words: Words, binds: dict[str, None]) -> None:
    match node:
        case ast.AugAssign():
            words.writes = True
        case ast.Subscript(_, _, ctx) if not isinstance(ctx, ast.Load):
            words.writes = True
        case ast.Call():
            _call(node, words)
        case ast.FunctionDef(name) | ast.AsyncFunctionDef(name) | ast.ClassDef(name):
            binds[name] = None
        case ast.alias(name, alias):
            binds[alias if alias is not None else name.partition(".")[0]] = None
        case _:
            pass


def _call(node: ast.Call, words: Words) -> None:
    name = spelled(node.func)
    words.calls.add(name)
    words.writes = words.writes or _is_writing(name.rpartition(".")[2])
    for keyword in node.keywords:
        if keyword.arg in _WRITING_KEYWORDS and not (
            isinstance(keyword.value, ast.Constant) and keyword.value.value in {False, None}
        ):
            words.writes = True
    if any(isinstance(argument, ast.Constant) and argument.value is True for argument in node.args):
        words.writes = True


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
