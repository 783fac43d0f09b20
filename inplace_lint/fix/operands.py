"""
Fixes of what a write reads: a copy of an operand that shares its memory, a tensor in place of a number.

    x[1:] = x[:-1]        x[1:] = x[:-1].clone()
    index[index] = y      index[index.clone()] = y
    x.subtract_(1.0)      x.subtract_(paddle.full_like(x, 1.0))
"""

from __future__ import annotations

import libcst as cst

from inplace_lint.fix.context import Case
from inplace_lint.fix.copies import POSTFIX, copying
from inplace_lint.fix.copies import copied as copy_of
from inplace_lint.fix.modes import in_scope
from inplace_lint.fix.plan import Plan
from inplace_lint.fix.syntax import Syntax, dotted, is_plain, node_at


def copied(case: Case) -> Plan | None:
    """Let a write read a copy of the operand that shares its memory."""
    syntax, node = node_at(case, case.draft.write.site.place)
    statement = syntax.statement(node)
    value: cst.BaseExpression | None = None
    if isinstance(node, cst.AugAssign):
        value = node.value
    elif isinstance(node, cst.Subscript) and isinstance(statement, cst.Assign):
        value = _index(case, node) or statement.value
    elif isinstance(node, cst.Call):
        read = [arg.value for arg in node.args if _is_read(case, arg)]
        value = read[0] if len(read) == 1 and all(not arg.star for arg in node.args) else None
    if not isinstance(value, POSTFIX):
        return None
    text = f"{syntax.text(value)}{copying(case)}"
    return Plan(tuple(copy_of(syntax, value, copying(case))), f"read a copy: `{text}`", exact=True)


def _is_read(case: Case, argument: cst.Arg) -> bool:
    """Check whether an argument may be a tensor that the call reads, and not the one that it writes."""
    write = case.draft.write
    is_written = argument.keyword is not None and argument.keyword.value == write.part
    return isinstance(argument.value, POSTFIX) and not is_written and dotted(argument.value) != write.symbol


def _index(case: Case, node: cst.Subscript) -> cst.BaseExpression | None:
    """Return the index of an item that is the written tensor itself."""
    indices = [one.slice.value for one in node.slice if isinstance(one.slice, cst.Index)]
    return next((one for one in indices if dotted(one) and dotted(one) == case.draft.write.symbol), None)


def made_tensor(case: Case) -> Plan | None:
    """Pass a tensor like the written one, filled with the number that was passed."""
    syntax, node = node_at(case, case.draft.write.site.place)
    fill = in_scope(case, case.facts.framework.words.get("fill", ""))
    if not isinstance(node, cst.Call) or not isinstance(node.func, cst.Attribute) or len(node.args) != 1 or not fill:
        return None
    number, receiver = node.args[0].value, node.func.value
    met = case.met()
    keeps = isinstance(number, cst.Integer) or (bool(met) and all(tensor.floating for tensor in met))
    if node.args[0].star or not keeps or not is_plain(receiver):
        return None  # a fraction would be cut off in a tensor of whole numbers
    text = f"{fill}({syntax.text(receiver)}, {_whole(syntax, number)})"
    return Plan((syntax.replace(number, text),), f"pass a tensor: `{text}`", exact=True)


def _whole(syntax: Syntax, node: cst.BaseExpression) -> str:
    text = syntax.text(node)
    return f"({text})" if node.lpar else text
