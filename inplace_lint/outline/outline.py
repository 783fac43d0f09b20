"""
The outline of a file: its top-level items, what each binds, reads and calls, and whether it may write in place.

It costs one `ast.parse` and one walk. The rest of the analysis asks it which slices are worth parsing with LibCST.
"""

from __future__ import annotations

import ast
import gc
import hashlib
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from inplace_lint.ir import nodes as ir
from inplace_lint.outline.words import Words, gather, gather_ir, spelled
from inplace_lint.span import Slice


class Definition(NamedTuple):
    """
    One top-level item, or one method of a class.

    `kind` is function, class or statement. `binds` are the names that it binds at its level. `reads`, `calls` and
    `attributes` are the names in it, nested ones included: bare names loaded, dotted callees, attribute names.
    `writes` says that something in it may write in place.
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


class Outline(NamedTuple):
    """
    What is known of a file without LibCST.

    `mentions` are those of the asked-for packages whose names stand in the file. `imports` are all import statements
    outside functions.
    """

    path: str
    digest: str
    mentions: tuple[str, ...]
    items: tuple[Definition, ...]
    lines: int
    imports: tuple[ir.ImportName | ir.ImportFrom, ...]


def outline(path: str, source: str, roots: Sequence[str]) -> Outline:
    """
    Give the outline of a file.

    Raises: SyntaxError when `ast` of the running Python refuses it.
    """
    tree = _parse(path, source)
    items = tuple(_merged([_definition(path, node) for node in tree.body]))
    return Outline(
        path=path,
        digest=digest(source),
        mentions=mentions(source, roots),
        items=items,
        lines=source.count("\n") + 1,
        imports=tuple(_imports(tree.body)),
    )


def outline_of(path: str, source: str, code: ir.Code, roots: Sequence[str]) -> Outline:
    """
    Give the outline of a file that only LibCST could read: one item, which is the whole file.

    Its functions and classes are then run as the module's own statements define them.
    """
    words = gather_ir(code.body)
    item = Definition(
        "statement",
        "",
        "",
        code.slice,
        words.binds,
        frozenset(words.reads),
        frozenset(words.calls),
        frozenset(words.attributes),
        words.writes,
    )
    imports = tuple(node for node in code.body if isinstance(node, ir.ImportName | ir.ImportFrom))
    return Outline(path, digest(source), mentions(source, roots), (item,), source.count("\n") + 1, imports)


def digest(source: str) -> str:
    """Give a digest of a file's content."""
    return hashlib.sha256(source.encode("utf-8", "surrogatepass")).hexdigest()


def mentions(source: str, roots: Sequence[str]) -> tuple[str, ...]:
    """Name the packages whose names stand in the source."""
    return tuple(root for root in roots if root in source)


def _parse(path: str, source: str) -> ast.Module:
    was_on = gc.isenabled()
    gc.disable()
    try:
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


def _definition(path: str, node: ast.stmt, owner: str = "") -> Definition:
    words = Words()
    gather(node, words)
    first, last = _first_line(node), node.end_lineno or node.lineno
    kind, name = "statement", ""
    bases: tuple[str, ...] = ()
    decorators: tuple[str, ...] = ()
    methods: tuple[Definition, ...] = ()
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        kind, name = "function", node.name
        decorators = tuple(spelled(decorator) for decorator in node.decorator_list)
    elif isinstance(node, ast.ClassDef):
        kind, name = "class", node.name
        decorators = tuple(spelled(decorator) for decorator in node.decorator_list)
        bases = tuple(spelled(base) for base in node.bases)
        methods = _methods(path, node)
    return Definition(
        kind=kind,
        name=name,
        qualname=f"{owner}{name}",
        slice=Slice(path, first, last, "class" if kind == "class" else "statement"),
        binds=(name,) if name else words.binds,
        reads=frozenset(words.reads),
        calls=frozenset(words.calls),
        attributes=frozenset(words.attributes),
        writes=words.writes,
        bases=bases,
        decorators=decorators,
        methods=methods,
    )


def _methods(path: str, node: ast.ClassDef) -> tuple[Definition, ...]:
    """List the methods that can be slices of their own: those that share no line with anything else."""
    spans = [(_first_line(inner), inner.end_lineno or inner.lineno) for inner in node.body]
    header = node.lineno
    found: list[Definition] = []
    for position, inner in enumerate(node.body):
        if not isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        first, last = spans[position]
        others = [span for number, span in enumerate(spans) if number != position]
        if first > header and all(last < other[0] or first > other[1] for other in others):
            found.append(_definition(path, inner, f"{node.name}."))
    return tuple(found)


def _merged(items: list[Definition]) -> Iterator[Definition]:
    """Make one statement of items that share a line."""
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


def _joined(one: Definition, other: Definition) -> Definition:
    slice_ = Slice(one.slice.path, one.slice.first, max(one.slice.last, other.slice.last))
    return Definition(
        "statement",
        "",
        "",
        slice_,
        one.binds + other.binds,
        one.reads | other.reads,
        one.calls | other.calls,
        one.attributes | other.attributes,
        one.writes or other.writes,
    )


def _imports(body: Sequence[ast.stmt]) -> Iterator[ir.ImportName | ir.ImportFrom]:
    for node in body:
        match node:
            case ast.Import(names):
                for alias in names:
                    yield ir.ImportName(0, alias.name, alias.asname)
            case ast.ImportFrom(module, names, level):
                yield ir.ImportFrom(0, module or "", level, tuple((alias.name, alias.asname) for alias in names))
            case ast.If(_, inner, orelse):
                yield from _imports([*inner, *orelse])
            case ast.Try(inner, handlers, orelse, final):
                yield from _imports([*inner, *(s for h in handlers for s in h.body), *orelse, *final])
            case _:
                pass
