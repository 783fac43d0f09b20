"""Fixes by the mode in which a tensor is written or made, or by the method that assigns a parameter."""

from __future__ import annotations

import libcst as cst

from inplace_lint.core.event import Refused
from inplace_lint.core.span import Place
from inplace_lint.fix.context import Case
from inplace_lint.fix.plan import Plan
from inplace_lint.fix.rewrites import apart
from inplace_lint.fix.syntax import Syntax, node_at, syntax_at
from inplace_lint.ir.nodes import ImportFrom


def without_grad(case: Case) -> Plan | None:
    """Wrap the statement that writes in a `with` block under which nothing is recorded."""
    place = case.draft.place
    syntax = syntax_at(case, place.slice)
    statement = syntax.statement(syntax.node(place))
    mode = in_scope(case, case.facts.framework.says.get("no_grad", ""))
    if statement is None or not mode or not syntax.is_alone(statement) or not _only_writes(syntax, place, statement):
        return None
    indent, text = syntax.indent_of(statement), f"with {mode}:"
    edit = syntax.insert(syntax.start(statement), f"{text}{syntax.end_of_line(statement)}{indent}{syntax.indent}")
    return Plan((edit,), f"wrap the write in `{text}`", exact=True)


def _only_writes(syntax: Syntax, place: Place, statement: cst.BaseSmallStatement) -> bool:
    """Check that a statement computes nothing else that gradients may flow through later."""
    if any(isinstance(node, cst.NamedExpr) for node in syntax.within(statement)):
        return False
    node = syntax.node(place)
    if isinstance(statement, cst.AugAssign) or node is statement or isinstance(syntax.parents[node], cst.AssignTarget):
        return True
    value = statement.value if isinstance(statement, cst.Expr | cst.Assign | cst.AnnAssign) else None
    while isinstance(value, cst.Call) and value is not node:
        value = value.func.value if isinstance(value.func, cst.Attribute) else None
    return value is node


def without_inference(case: Case) -> Plan | None:
    """Make a tensor under the mode that records nothing, instead of the one whose tensors stay without gradients."""
    framework = case.facts.framework
    old, new = (in_scope(case, name) for name in (framework.words.get("infer", ""), framework.says.get("no_grad", "")))
    site = case.event.origin if isinstance(case.event, Refused) else None
    while site is not None and old and new:
        syntax, made = node_at(case, site.place)
        spelled = {old, old.removesuffix("()")}
        for mode in (one for around in syntax.above(made) for one in _modes_of(around)):
            if site.place.slice.path == case.span.path and syntax.text(mode) in spelled:
                text = new if syntax.text(mode) == old else new.removesuffix("()")
                return Plan((syntax.replace(mode, text),), f"use `{new}` instead of `{old}`", exact=True)
        site = site.caller
    return None


def _modes_of(node: cst.CSTNode) -> list[cst.BaseExpression]:
    """Return the expressions that set the mode in which a block or a function runs."""
    if isinstance(node, cst.With):
        return [item.item for item in node.items]
    return [one.decorator for one in node.decorators] if isinstance(node, cst.FunctionDef) else []


def in_scope(case: Case, expression: str) -> str:
    """Spell `package.name` or `package.name()` by what the file has imported; empty if it has imported neither."""
    package, _, name = expression.partition(".")
    call = "()" if name.endswith("()") else ""
    module = case.context.module(case.span.path)
    for bound, imports in module.imported().items():
        for node, original in imports:
            if not isinstance(node, ImportFrom) and original == package:
                return f"{bound}.{name}"
            if isinstance(node, ImportFrom) and node.module == package and f"{original}{call}" == name:
                return f"{bound}{call}"
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
