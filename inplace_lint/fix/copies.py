"""
Fixes that copy: the written tensor before the write, or a kept tensor where it is kept.

    x = x.copy()          before `x[0] = 1`: other references to the old tensor keep its values
    s = sigmoid(h).copy() where backward keeps the result of `sigmoid`, and `s` is written later for others to see
    log.append(x.copy())
    [t.copy() for _ in range(n)]   for `[t] * n`

The method that copies is named in `framework.json`.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from inplace_lint.core.assumption import takes_for_tensor
from inplace_lint.core.event import Keeping, Site, Snapshot, Touch
from inplace_lint.core.finding import Edit
from inplace_lint.fix.context import Case
from inplace_lint.fix.plan import Plan
from inplace_lint.fix.syntax import Syntax, dotted, node_at, spelled, syntax_at

POSTFIX = (cst.Name, cst.Attribute, cst.Subscript, cst.Call)


_COLLECTING = {
    "list": "[item{copy} for item in {items}]",
    "tuple": "tuple(item{copy} for item in {items})",
    "dict": "{{name: item{copy} for name, item in {items}}}",
}


def copying(case: Case) -> str:
    """Return the call of the method that copies, to put behind an expression."""
    return f".{case.facts.framework.words['copy']}()"


def before_write(case: Case, syntax: Syntax, node: cst.CSTNode) -> Plan | None:
    """Bind the variable or attribute whose tensor is written to a copy, in a statement before the write."""
    met = case.met()
    owners = {tensor.owner for tensor in met}
    statement = syntax.statement(node)
    if len(owners) != 1 or "" in owners or statement is None:
        return None
    # Where the function runs alone, its argument may be anything: a call that gives it a tensor tells.
    if not any(tensor.certain for tensor in met) or any(tensor.array for tensor in met):
        return None
    (owner,) = owners
    text = f"{owner} = {owner}{copying(case)}"
    start = syntax.start(statement)
    if syntax.is_alone(statement):
        edit = syntax.insert(start, f"{text}{syntax.end_of_line(statement)}{syntax.indent_of(statement)}")
    else:
        edit = syntax.insert(start, f"{text}; ")
    return Plan((edit,), f"write into a copy: `{text}` before this line", frozenset({owner}), exact=True, copies=True)


def under_a_name(case: Case) -> Plan | None:
    """
    Bind a copy of an attribute to a local variable before it is written, and read that from there on.

    For a parameter that is to receive a gradient: it can be neither written nor set to another tensor.
    """
    write = case.draft.write.site.place
    syntax = syntax_at(case, write.slice)
    owners = {tensor.owner for tensor in case.met()}
    statement = syntax.statement(syntax.node(write))
    scope = syntax.scope(syntax.node(write))
    if len(owners) != 1 or statement is None or not isinstance(scope, cst.FunctionDef) or syntax.in_loop(statement):
        return None
    (owner,) = owners
    name = owner.rpartition(".")[2]
    if "." not in owner or not syntax.is_alone(statement) or syntax.is_used(scope, name):
        return None
    start = syntax.start(statement)
    reads = [node for node in syntax.within(scope) if dotted(node) == owner and syntax.start(node) >= start]
    if not _stays_read(syntax, reads, statement, scope):
        return None
    text = f"{name} = {owner}{copying(case)}"
    line = syntax.insert(start, f"{text}{syntax.end_of_line(statement)}{syntax.indent_of(statement)}")
    edits = (line, *(syntax.replace(node, name) for node in reads))
    return Plan(edits, f"write into a copy: `{text}` before this line, and use `{name}` from there on", exact=True)


def _stays_read(syntax: Syntax, reads: list[cst.CSTNode], statement: cst.CSTNode, scope: cst.CSTNode) -> bool:
    """Check that an attribute is read after a statement, only where the statement has run, and is not bound there."""
    block = syntax.parents[syntax.parents[statement]]
    if any(syntax.scope(node) is not scope or block not in syntax.above(node) for node in reads):
        return False
    if any(isinstance(syntax.parents[node], cst.AssignTarget | cst.AnnAssign | cst.Del) for node in reads):
        return False
    return any(syntax.start(node) >= syntax.end(statement) for node in reads)


def at_saves(case: Case) -> Plan | None:
    """
    Let backward keep a copy at each place that saves the written tensor.

    None if one place has no such form, or if the write, which stays, is wrong in another way as well.
    """
    if case.hides:
        return None
    edits, calls = list[Edit](), set[int]()
    for save in case.saves:
        found = list(_at_save(case, save))
        if not found:
            return None
        edits.extend(found)
        calls.update(edit.span.line for edit in found if save.built)
    if not edits or len({edit.span.path for edit in edits}) > 1:
        return None
    message = f"keep a copy for backward: `{copying(case)}` where it is saved"
    if len({save.site.place for save in case.saves}) > 1:
        message = f"keep copies for backward: `{copying(case)}` at each place where it is saved"
    if calls:  # where the container is called, not where its part was made
        message = f"keep copies for backward: `{copying(case)}` where it is saved, of a container in line {min(calls)}"
    certain = edits[0].span.path == case.span.path and not any(map(takes_for_tensor, case.draft.assumptions))
    return Plan(tuple(edits), message, exact=True, certain=certain)


def _at_save(case: Case, save: Touch) -> Iterator[Edit]:
    site = save.site.caller if save.built else save.site  # a part of a container keeps what the container is given
    if site is None or (save.built and save.part.startswith("out")) or site in callers(case.draft.write.site):
        return  # what the call was given a copy of is what it writes
    syntax, node = node_at(case, site.place)
    kept: list[cst.BaseExpression] = []
    if save.part.startswith("out"):
        is_one = isinstance(node, cst.Call | cst.BinaryOperation) and _gives_one(syntax, node)
        if isinstance(node, cst.BaseExpression) and is_one and case.is_fresh(save.op):
            kept = [node]
    elif isinstance(node, cst.BinaryOperation):
        kept = [side for side in (node.left, node.right) if spelled(side) == save.symbol]
    elif isinstance(node, cst.Call):
        kept = [arg.value for arg in node.args if spelled(arg.value) == save.symbol and not arg.star]
        if isinstance(node.func, cst.Attribute) and spelled(node.func.value) == save.symbol:
            kept.append(node.func.value)
    elif isinstance(node, cst.Subscript):
        statement = syntax.statement(node)
        kept = [statement.value] if isinstance(statement, cst.Assign) and save.symbol else []
    for part in kept if save.symbol or save.part.startswith("out") else ():
        yield from copied(syntax, part, copying(case))


def callers(site: Site) -> Iterator[Site]:
    """Yield the calls that led to a place, the nearest first."""
    while site.caller is not None:
        site = site.caller
        yield site


def where_returned(case: Case, site: Site) -> Plan | None:
    """Return a copy from a custom function, instead of the input itself, which counts as written or as a view."""
    syntax, node = node_at(case, site.place)
    if not isinstance(node, cst.Return) or not isinstance(node.value, cst.Name):
        return None
    text = f"return {node.value.value}{copying(case)}"
    return Plan(tuple(copied(syntax, node.value, copying(case))), f"return a copy: `{text}`", exact=True)


def _gives_one(syntax: Syntax, node: cst.CSTNode) -> bool:
    """Check whether the value of an expression is used as a whole."""
    around = syntax.parents[node]
    if isinstance(around, cst.Assign):
        return all(not isinstance(target.target, cst.Tuple | cst.List) for target in around.targets)
    return not isinstance(around, cst.Expr | cst.Attribute | cst.Subscript)


def copied(syntax: Syntax, node: cst.CSTNode, suffix: str) -> Iterator[Edit]:
    """Yield the edits that replace an expression by a copy of its value."""
    if isinstance(node, POSTFIX):
        yield syntax.insert(syntax.end(node), suffix)
    else:
        yield syntax.insert(syntax.start(node), "(")
        yield syntax.insert(syntax.end(node), f"){suffix}")


# -- kept values ----------------------------------------------------------------------------------------------


def where_kept(case: Case) -> Plan | None:
    """Keep a copy instead of the tensor itself."""
    event = case.event
    if not isinstance(event, Snapshot) or event.kept is None:
        return None
    syntax, node = node_at(case, event.kept)
    if event.how is Keeping.REPEATED:
        return _apart(case, syntax, node)
    if event.how is Keeping.STATE:
        return _of_state(case, syntax, node)
    collected = _collected(case, syntax, node)
    if collected is not None:
        return collected
    suffix = ".copy()" if event.array else copying(case)
    kept = _kept(syntax, node, case.draft.write.symbol)
    edits = tuple(edit for part in kept for edit in copied(syntax, part, suffix))
    return Plan(edits, f"store a copy: `{suffix}`", exact=True) if edits else None


def _kept(syntax: Syntax, node: cst.CSTNode, symbol: str) -> list[cst.BaseExpression]:
    """Return the expressions that a container keeps: the last argument, or the items of a display named `symbol`."""
    value: cst.BaseExpression | None = None
    if isinstance(node, cst.Call) and node.args:
        value = node.args[-1].value
    elif isinstance(node, cst.Subscript):
        statement = syntax.statement(node)
        value = statement.value if isinstance(statement, cst.Assign) else None
    elif isinstance(node, cst.Tuple | cst.List | cst.Dict):
        value = node
    elif isinstance(node, cst.ListComp):
        value = node.elt
    elif isinstance(node, cst.Attribute) and isinstance(syntax.parents[node], cst.Assign):
        value = node
    if isinstance(value, cst.Tuple | cst.List | cst.Dict):
        return [element.value for element in value.elements if dotted(element.value) == symbol != ""]
    return [value] if isinstance(value, POSTFIX) else []


def _collected(case: Case, syntax: Syntax, node: cst.CSTNode) -> Plan | None:
    """Copy each item that a built-in container is made of: `list(net.parameters())`."""
    form = _COLLECTING.get(dotted(node.func)) if isinstance(node, cst.Call) else None
    if (
        form is None
        or not isinstance(node, cst.Call)
        or len(node.args) != 1
        or node.args[0].keyword
        or node.args[0].star
    ):
        return None
    text = form.format(items=syntax.text(node.args[0].value), copy=f".detach(){copying(case)}")
    return Plan((syntax.replace(node, text),), f"store copies: `{text}`", exact=True)


def _apart(case: Case, syntax: Syntax, node: cst.CSTNode) -> Plan | None:
    """Rewrite `[t] * n` so that each item is a tensor of its own."""
    if not isinstance(node, cst.BinaryOperation):
        return None
    listed, times = (node.left, node.right) if isinstance(node.left, cst.List) else (node.right, node.left)
    if not isinstance(listed, cst.List) or len(listed.elements) != 1:
        return None
    item = listed.elements[0].value
    if not isinstance(item, POSTFIX):
        return None
    text = f"[{syntax.text(item)}{copying(case)} for _ in range({syntax.text(times)})]"
    return Plan((syntax.replace(node, text),), f"use `{text}`", exact=True)


def _of_state(case: Case, syntax: Syntax, node: cst.CSTNode) -> Plan | None:
    """Copy each tensor of a state."""
    if not isinstance(node, cst.Call):
        return None
    text = f"{{name: value{copying(case)} for name, value in {syntax.text(node)}.items()}}"
    return Plan((syntax.replace(node, text),), f"store a copy: `{text}`", exact=True)
