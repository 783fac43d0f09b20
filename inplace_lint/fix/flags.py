"""
Fixes that set `inplace=False` where the flag is spelled, or leave it out where it is not taken.

    nn.ReLU(inplace=True)     a keyword
    nn.ReLU(True)             a position
    def __init__(self, inplace=True)    a default: other callers may rely on it, so the fix is never safe
    F.relu(x, inplace=True)   as a statement, its result becomes x
"""

from __future__ import annotations

import libcst as cst

from inplace_lint.core.finding import Edit
from inplace_lint.fix.context import Case
from inplace_lint.fix.plan import Plan
from inplace_lint.fix.rewrites import without
from inplace_lint.fix.syntax import Syntax, dotted, node_at, syntax_at
from inplace_lint.interp.checkers.alias_query import WrittenTensor


def cleared(case: Case) -> Plan | None:
    """Turn the flag off; where the result of a call is dropped, bind it to the variable that was written."""
    flag = case.draft.write.flag
    met = case.met()
    if flag is None or not met:
        return None
    syntax = syntax_at(case, flag.slice)
    found = _off(syntax, syntax.node(flag))
    if found is None:
        return None
    edit, literal = found
    edits: list[Edit] = [edit]
    binds: set[str] = set()
    for tensor in met:
        more = _bind(case, tensor)
        if more is None:
            return None
        edits.extend(more[0])
        binds |= more[1]
    if len({one.span.path for one in edits}) > 1:
        return None
    certain = literal and edit.span.path == case.span.path
    return Plan(tuple(edits), "set `inplace=False`", frozenset(binds), exact=True, certain=certain)


def set_on(case: Case) -> Plan | None:
    """Make the call at the place of the finding write in place, by a keyword that it does not have yet."""
    syntax, node = node_at(case, case.draft.place)
    if not isinstance(node, cst.Call):
        return None
    if node.args:
        last = node.args[-1]
        edit = syntax.replace(last, f"{syntax.text(last).rstrip().removesuffix(',')}, inplace=True")
    elif (whole := syntax.text(node)).endswith("()"):
        edit = syntax.replace(node, f"{whole[:-1]}inplace=True)")
    else:
        return None
    return Plan((edit,), "set `inplace=True`")


def left_out(case: Case) -> Plan | None:
    """Leave out the argument that asks a call to write in place, which it does not take."""
    write = case.draft.write
    syntax, node = node_at(case, write.site.place)
    if not isinstance(node, cst.Call):
        return None
    given = next((arg for arg in node.args if arg.keyword is not None and arg.keyword.value == write.symbol), None)
    if given is None:
        return None
    edits = [without(syntax, node, given)]
    if isinstance(syntax.parents[node], cst.Expr):  # what is dropped was to be written
        written = dotted(node.args[0].value)
        if not written or node.args[0] is given:
            return None
        edits.append(syntax.insert(syntax.start(node), f"{written} = "))
    return Plan(tuple(edits), "leave it out", exact=True)


def _off(syntax: Syntax, node: cst.CSTNode) -> tuple[Edit, bool] | None:
    """Return the edit that turns a flag off, and whether the flag is the literal `True` in a call."""
    match node:
        case cst.Arg():
            return syntax.replace(node.value, "False"), _is_true(node.value)
        case cst.Attribute():  # module.inplace = True
            statement = syntax.statement(node)
            value = statement.value if isinstance(statement, cst.Assign) else None
            return None if value is None or not _is_true(value) else (syntax.replace(value, "False"), True)
        case cst.Param(default=cst.Name(value="True") as default):
            return syntax.replace(default, "False"), False
        case cst.Call():
            plain = [arg.value for arg in node.args if arg.keyword is None and not arg.star]
            true = [value for value in plain if _is_true(value)]
            if len(true) == 1:
                return syntax.replace(true[0], "False"), True
            return (syntax.replace(plain[0], "False"), False) if len(plain) == 1 and not true else None
        case _:
            return None


def _is_true(node: cst.CSTNode) -> bool:
    return isinstance(node, cst.Name) and node.value == "True"


def _bind(case: Case, tensor: WrittenTensor) -> tuple[tuple[Edit, ...], frozenset[str]] | None:
    """Return the names that the result of a call is bound to, with the edit that binds it where it is dropped."""
    syntax, node = node_at(case, tensor.call)
    statement = syntax.statement(node)
    if isinstance(statement, cst.Assign):
        return (), frozenset(dotted(target.target) for target in statement.targets) - {""}
    if not isinstance(statement, cst.Expr) or statement.value is not node:
        return (), frozenset()
    written = node.args[0].value if isinstance(node, cst.Call) and node.args else None
    if written is None or not tensor.owner or dotted(written) != tensor.owner:
        return None
    return (syntax.insert(syntax.start(statement), f"{tensor.owner} = "),), frozenset({tensor.owner})
