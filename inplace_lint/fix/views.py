"""
Fixes of writes through one of several views that a function returned: each view is taken by a call of its own.

    for row in rows:              for row in [rows[i] for i in range(len(rows))]:
    x, y = boxes.unbind(-1)       x, y = [boxes[..., i] for i in range(boxes.shape[-1])]

Autograd refuses writes to views that were returned together, and allows writes to a view taken alone. No value changes.
"""

from __future__ import annotations

import libcst as cst

from inplace_lint.core.event import Refused
from inplace_lint.fix.context import Case
from inplace_lint.fix.plan import Plan
from inplace_lint.fix.syntax import Syntax, is_plain, syntax_at

_ITERATION = "__iter__"
_COUNTERS = ("i", "j", "k", "n")


def one_by_one(case: Case) -> Plan | None:
    """Take each of several views alone; None where they do not come from iterating over an axis of a plain tensor."""
    event = case.event
    if not isinstance(event, Refused) or event.origin is None:
        return None
    syntax = syntax_at(case, event.origin.place.slice)
    iterated = case.draft.write.producer.endswith(_ITERATION)
    node = _made(syntax, syntax.node(event.origin.place), iterated=iterated)
    found = None if node is None else _run_through(case, syntax, node)
    if node is None or found is None or isinstance(syntax.scope(node), cst.ClassDef):
        return None  # a comprehension in a class body does not see the names of the class
    whole, axis = found
    counter = next((name for name in _COUNTERS if name not in _names(whole)), None)
    if counter is None or not isinstance(whole, cst.Name | cst.Attribute | cst.Subscript) or not is_plain(whole):
        return None
    name = syntax.text(whole)
    before, after = (":, " * axis, "") if axis >= 0 else ("..., ", ", :" * (-1 - axis))
    length = f"len({name})" if axis == 0 else f"{name}.shape[{axis}]"
    text = f"[{name}[{before}{counter}{after}] for {counter} in range({length})]"
    message = f"take one view at a time: `{text}`"
    certain = event.origin.place.slice.path == case.span.path and _is_used_up(syntax, node)
    return Plan((syntax.replace(node, text),), message, exact=True, certain=certain)


def _made(syntax: Syntax, node: cst.CSTNode, *, iterated: bool) -> cst.BaseExpression | None:
    """Return the expression that makes the views: the iterable of a loop, what is unpacked, or a call."""
    match node:
        case cst.For():
            return node.iter
        case cst.Tuple() | cst.List():
            statement = syntax.statement(node)
            return statement.value if isinstance(statement, cst.Assign) else None
        case cst.Call() if iterated:  # enumerate(rows), reversed(rows)
            return node.args[0].value if len(node.args) == 1 and not node.args[0].star else None
        case cst.Call():
            return node
        case _:
            return None


def _run_through(case: Case, syntax: Syntax, node: cst.BaseExpression) -> tuple[cst.BaseExpression, int] | None:
    """Return the tensor whose items the views are, and along which axis."""
    owner, _, name = case.draft.write.producer.rpartition(".")
    if name == _ITERATION:
        return node, 0
    if not isinstance(node, cst.Call) or name != case.facts.framework.words.get("items"):
        return None
    given = list(node.args)
    if owner == case.facts.framework.tensor:
        whole = node.func.value if isinstance(node.func, cst.Attribute) else None
    else:
        whole = given.pop(0).value if given else None
    if whole is None or len(given) > 1 or any(argument.star for argument in given):
        return None
    axis = _whole_number(syntax.text(given[0].value)) if given else 0
    return None if axis is None else (whole, axis)


def _whole_number(text: str) -> int | None:
    digits = text.removeprefix("-")
    return int(text) if digits.isdecimal() and len(digits) == 1 else None


def _is_used_up(syntax: Syntax, node: cst.CSTNode) -> bool:
    """Check whether the views are iterated over or unpacked at once, so that nothing else refers to their container."""
    around = syntax.parents[node]
    if isinstance(around, cst.For):
        return around.iter is node
    if isinstance(around, cst.Arg):
        return True
    return isinstance(around, cst.Assign) and all(
        isinstance(target.target, cst.Tuple | cst.List) for target in around.targets
    )


def _names(node: cst.CSTNode) -> set[str]:
    return {node.value} if isinstance(node, cst.Name) else {name for child in node.children for name in _names(child)}
