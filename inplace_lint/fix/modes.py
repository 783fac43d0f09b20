"""Fixes of writes that autograd is not to record: `no_grad`, or the method that assigns a parameter."""

from __future__ import annotations

import libcst as cst

from inplace_lint.fix.context import Case
from inplace_lint.fix.plan import Plan
from inplace_lint.fix.rewrites import apart
from inplace_lint.fix.syntax import node_at, syntax_at
from inplace_lint.ir.nodes import ImportFrom


def without_grad(case: Case) -> Plan | None:
    """Wrap the statement that writes in a `with` block under which nothing is recorded."""
    place = case.draft.place
    syntax = syntax_at(case, place.slice)
    statement = syntax.statement(syntax.node(place))
    mode = _in_scope(case, case.facts.framework.says.get("no_grad", ""))
    if statement is None or not mode or not syntax.is_alone(statement):
        return None
    indent, text = syntax.indent_of(statement), f"with {mode}:"
    edit = syntax.insert(syntax.start(statement), f"{text}{syntax.end_of_line(statement)}{indent}{syntax.indent}")
    return Plan((edit,), f"wrap the write in `{text}`", exact=True)


def _in_scope(case: Case, expression: str) -> str:
    """Spell `package.name()` by the names that the file has imported; empty if it has imported neither."""
    package, _, name = expression.partition(".")
    module = case.context.module(case.span.path)
    for bound, imports in module.imported().items():
        for node, original in imports:
            if not isinstance(node, ImportFrom) and original == package:
                return f"{bound}.{name}"
            if isinstance(node, ImportFrom) and node.module == package and f"{original}()" == name:
                return f"{bound}()"
    return ""


def assigned(case: Case) -> Plan | None:
    """Assign a parameter by the method of the framework, instead of binding its name to a new tensor."""
    syntax, node = node_at(case, case.draft.place)
    word = case.facts.framework.words.get("assign", "")
    found = apart(syntax, node) if isinstance(node, cst.AugAssign) else None
    if found is None or not word or not isinstance(node, cst.AugAssign):
        return None
    target, _, shown = found
    value = syntax.text(node.value)
    token = shown[len(target) :].split()[0]
    right = value if isinstance(node.value, cst.Name | cst.Attribute | cst.Call | cst.BaseNumber) else f"({value})"
    text = f"{target}.{word}({target} {token} {right})"
    return Plan((syntax.replace(node, text),), f"use `{target}.{word}({shown})`", exact=True)
