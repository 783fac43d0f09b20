"""
The form in which the outline of a file is kept for later runs: JSON without the path, since it is kept by the bytes.

The outlines of all files that one file reaches take longer to make than most files take to be analyzed.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from inplace_lint.core.span import Slice
from inplace_lint.effects.summary import Definition, Outline, mentions
from inplace_lint.ir import nodes as ir

_SETS = ("reads", "calls", "attributes", "kept", "kept_attributes", "sets", "gets", "swaps", "outside")
_WORDS = ("kind", "name", "qualname", "writes", "writes_shared", "makes", "runs_made")
_LISTS = ("binds", "bases", "decorators")


def outline_out(outline: Outline) -> str:
    """Return the form of an outline."""
    return json.dumps(
        [outline.lines, _imports_out(outline.imports), [_item_out(item) for item in outline.items]],
        separators=(",", ":"),
    )


def outline_in(form: str, path: str, source: str, roots: Sequence[str]) -> Outline:
    """
    Return the outline of a file that has these contents, of its form.

    Raises: ValueError or TypeError for what is none.
    """
    lines, imports, items = json.loads(form)
    return Outline(
        path=path,
        mentions=mentions(source, roots),
        items=tuple([_item_in(path, item) for item in items]),
        lines=lines,
        imports=tuple([_import_in(*node) for node in imports]),
    )


def _imports_out(imports: Sequence[ir.ImportName | ir.ImportFrom]) -> list[list[Any]]:
    return [
        [node.module, node.alias] if isinstance(node, ir.ImportName) else [node.module, node.level, node.names]
        for node in imports
    ]


def _item_out(item: Definition) -> list[Any]:
    sets = [sorted(getattr(item, name)) for name in _SETS]
    others = [getattr(item, name) for name in (*_WORDS, *_LISTS)]
    methods = [_item_out(method) for method in item.methods]
    return [item.slice[1:], sets, others, methods, _imports_out(item.imports)]


def _item_in(path: str, row: Sequence[Any]) -> Definition:
    (first, last, kind), sets, others, methods, imports = row
    fields: dict[str, Any] = dict(zip(_WORDS, others, strict=False))
    fields |= {name: tuple(known) for name, known in zip(_LISTS, others[len(_WORDS) :], strict=True)}
    fields |= {name: frozenset(known) for name, known in zip(_SETS, sets, strict=True)}
    parts = tuple([_item_in(path, method) for method in methods])
    fields["imports"] = tuple([_import_in(*node) for node in imports])
    return Definition(slice=Slice(path, first, last, kind), methods=parts, **fields)


def _import_in(module: str, *rest: Any) -> ir.ImportName | ir.ImportFrom:  # noqa: ANN401 - the parsing edge
    if len(rest) == 1:
        return ir.ImportName(0, module, rest[0])
    level, names = rest
    return ir.ImportFrom(0, module, level, tuple([(name, alias) for name, alias in names]))
