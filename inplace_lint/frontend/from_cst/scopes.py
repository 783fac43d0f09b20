"""Which names a piece of syntax binds and reads."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

CONSTANTS: dict[str, object] = {"True": True, "False": False, "None": None, "__debug__": True}


def bound(body: cst.CSTNode) -> frozenset[str]:
    """Name what the statements of a body bind in their own scope, global and nonlocal names left out."""
    found: set[str] = set()
    elsewhere: set[str] = set()
    waiting: list[cst.CSTNode] = [body]
    while waiting:
        node = waiting.pop()
        if isinstance(node, cst.Global | cst.Nonlocal):
            elsewhere.update(item.name.value for item in node.names)
        found.update(_bindings(node))
        waiting.extend(child for child in _inside(node))
    return frozenset(found - elsewhere)


def _inside(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """List the children whose bindings belong to the same scope."""
    if isinstance(node, cst.FunctionDef | cst.ClassDef):
        yield from node.decorators
        return
    if isinstance(node, cst.Lambda | cst.BaseParenthesizableWhitespace | cst.TrailingWhitespace | cst.EmptyLine):
        return
    yield from node.children


def _bindings(node: cst.CSTNode) -> Iterator[str]:
    match node:
        case cst.AssignTarget(target=target) | cst.AnnAssign(target=target) | cst.AugAssign(target=target):
            yield from targets(target)
        case cst.For(target=target):
            yield from targets(target)
        case cst.NamedExpr(target=target):
            yield from targets(target)
        case cst.AsName(name=name):
            yield from targets(name)
        case cst.FunctionDef(name=name) | cst.ClassDef(name=name):
            yield name.value
        case cst.ImportAlias(asname=None, name=name):
            yield dotted(name).partition(".")[0]
        case cst.MatchAs(name=cst.Name(value=value)) | cst.MatchStar(name=cst.Name(value=value)):
            yield value
        case cst.MatchMapping(rest=cst.Name(value=value)):
            yield value
        case cst.Del(target=target):
            yield from targets(target)
        case _:
            pass


def targets(node: cst.CSTNode) -> Iterator[str]:
    """List the names that a target binds."""
    match node:
        case cst.Name(value=value):
            yield value
        case cst.Tuple(elements=elements) | cst.List(elements=elements):
            for element in elements:
                yield from targets(element.value)
        case cst.StarredElement(value=value):
            yield from targets(value)
        case _:
            pass


def dotted(node: cst.CSTNode | None) -> str:
    """Spell a dotted name; empty for anything else."""
    match node:
        case cst.Name(value=value):
            return value
        case cst.Attribute(value=value, attr=attr):
            inner = dotted(value)
            return f"{inner}.{attr.value}" if inner else ""
        case _:
            return ""


def names_in(node: cst.CSTNode) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """List the names that an expression or a pattern reads, and those that it binds, each sorted."""
    reads: set[str] = set()
    waiting: list[cst.CSTNode] = [node]
    while waiting:
        inner = waiting.pop()
        match inner:
            case cst.Name(value=name):
                reads.update(() if name in CONSTANTS else (name,))
            case cst.Attribute(value=value) | cst.Arg(value=value):
                waiting.append(value)
            case cst.MatchAs(pattern=part) | cst.MatchKeywordElement(pattern=part):
                waiting.extend(() if part is None else (part,))
            case cst.MatchMapping(elements=elements):
                waiting.extend(elements)
            case cst.MatchStar():
                pass
            case _:
                waiting.extend(inner.children)
    return tuple(sorted(reads)), tuple(sorted(bound(node)))
