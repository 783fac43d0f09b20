"""
Fixes that compute the same without the write.

    x += y            x = x + y
    x.op_(a)          x = x.op(a)
    y = x.op_()       x = y = x.op()    where `x` is read later, else y = x.op()
    F.op_(x)          x = F.op(x)
    op(a, out=x)      x = op(a)
    x[i] = v          x = x.copy() before it

The facts say whether there is an op without the underscore.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import libcst as cst

from inplace_lint.core.finding import Edit
from inplace_lint.fix import copies
from inplace_lint.fix.context import Case
from inplace_lint.fix.plan import Plan
from inplace_lint.fix.syntax import Syntax, dotted, is_plain, node_at
from inplace_lint.frontend.from_ast.operators import OPERATORS
from inplace_lint.frontend.from_cst.expressions import BINARY

_STRENGTH: tuple[tuple[str, ...], ...] = (("|",), ("^",), ("&",), ("<<", ">>"), ("+", "-"), ("*", "/", "//", "%", "@"))
_POWER = len(_STRENGTH) + 1
_ATOMS = (cst.Name, cst.Attribute, cst.Subscript, cst.Call, cst.BaseNumber, cst.BaseString, cst.Ellipsis, cst.Await)
_DISPLAYS = (cst.BaseList, cst.BaseSet, cst.BaseDict, cst.GeneratorExp, cst.ListComp)
_LONGEST = 60


def rewritten(case: Case) -> Plan | None:
    """Return a plan for the same computation without the write; None where there is no such form."""
    write = case.draft.write
    syntax, node = node_at(case, write.site.place)
    match node:
        case cst.AugAssign():
            return _of_augmented(case, syntax, node)
        case cst.Subscript():
            return copies.before_write(case, syntax, node)
        case cst.Call():
            return _of_call(case, syntax, node)
        case _:
            return None


def result_of(case: Case) -> Plan | None:
    """Return a plan for a call whose result is used, without its write: what it wrote keeps its old value."""
    write = case.draft.write
    syntax, node = node_at(case, write.site.place)
    if not isinstance(node, cst.Call) or not isinstance(node.func, cst.Attribute) or not case.partner(write.op):
        return None
    if isinstance(syntax.parents[node], cst.Expr) or not node.func.attr.value.endswith("_"):
        return None
    edit = syntax.replace(node.func.attr, node.func.attr.value[:-1])
    return Plan(
        (edit,), f"use `{_edited(syntax, node, _short(syntax.text(node)), edit)}`", _targets(syntax.parents[node])
    )


def exchanged(case: Case) -> Plan | None:
    """Bind a variable to the tensor that the call would turn its tensor into: the argument, or one without history."""
    syntax, node = node_at(case, case.draft.place)
    word = case.facts.framework.words.get("cut", "")
    if not isinstance(node, cst.Call) or not isinstance(syntax.parents[node], cst.Expr) or not word:
        return None
    if not isinstance(node.func, cst.Attribute) or not isinstance(node.func.value, cst.Name):
        return None
    if len(node.args) != 1 or node.args[0].star:
        return None
    name, given = syntax.text(node.func.value), node.args[0].value
    is_flag = isinstance(given, cst.Name) and given.value == "False"
    text = f"{name} = {name}.{word}()" if is_flag else f"{name} = {syntax.text(given)}"
    return Plan((syntax.replace(node, text),), f"use `{_short(text)}`", frozenset({name}))


# -- augmented assignments ---------------------------------------------------------------------------------------------


def _of_augmented(case: Case, syntax: Syntax, node: cst.AugAssign) -> Plan | None:
    in_container = bool(case.met()) and all(tensor.item for tensor in case.met())
    if isinstance(node.target, cst.Subscript) and not in_container:
        return copies.before_write(case, syntax, node)
    found = apart(syntax, node) if is_plain(node.target) else None
    if found is None:
        return None
    target, edits, shown = found
    return Plan(edits, f"use `{target} = {shown}`", frozenset({target}), owns=in_container)


def apart(syntax: Syntax, node: cst.AugAssign) -> tuple[str, tuple[Edit, ...], str] | None:
    """Return the target of `target op= value`, edits to `target = target op value`, and the right side of that."""
    target, end = syntax.text(node.target), syntax.end(node.target)
    gap = syntax.between(end, syntax.start(node.value))
    token = gap.partition("=")[0].strip().strip("\\").strip()
    if not token or f"{token}=" not in gap:
        return None
    before, _, after = gap.partition(f"{token}=")
    start = syntax.after(end, before)
    stop = syntax.after(start, f"{token}=")
    spaced = f"{'' if before else ' '}= {target} {token}{'' if after else ' '}"
    edits = [Edit(syntax.located.stretch(start, stop), spaced)]
    value = syntax.text(node.value)
    if _needs_parentheses(node.value, token):
        edits.extend((syntax.insert(syntax.start(node.value), "("), syntax.insert(syntax.end(node.value), ")")))
        value = f"({value})"
    elif node.value.lpar:
        value = f"({value})"
    return target, tuple(edits), f"{target} {token} {_short(value)}"


def _needs_parentheses(value: cst.BaseExpression, token: str) -> bool:
    """Check whether a value needs parentheses on the right of an operator."""
    if getattr(value, "lpar", ()) or isinstance(value, (*_ATOMS, *_DISPLAYS)):
        return False
    mine = _POWER if token == "**" else next(at for at, tokens in enumerate(_STRENGTH) if token in tokens)  # noqa: S105
    if isinstance(value, cst.UnaryOperation) and not isinstance(value.operator, cst.Not):
        return False
    if isinstance(value, cst.BinaryOperation):
        other = OPERATORS[BINARY[type(value.operator)]]
        if other == "**":
            return False  # it groups from the right
        return next(at for at, tokens in enumerate(_STRENGTH) if other in tokens) <= mine
    return True


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST and "\n" not in text and "\r" not in text else "..."


# -- calls -------------------------------------------------------------------------------------------------------------


def _of_call(case: Case, syntax: Syntax, node: cst.Call) -> Plan | None:
    out = next(
        (arg for arg in node.args if arg.keyword is not None and arg.keyword.value == case.draft.write.part), None
    )
    if out is not None and case.is_optional(case.draft.write.op, case.draft.write.part):
        edits = [without(syntax, node, out)]
        return _bound(case, syntax, node, out.value, edits)
    if isinstance(node.func, cst.Attribute) and _is_method(case, node.func):
        return _of_chain(case, syntax, node)
    name = node.func.attr if isinstance(node.func, cst.Attribute) else None
    if name is None or not case.partner(case.draft.write.op) or not name.value.endswith("_") or not node.args:
        return copies.before_write(case, syntax, node)
    written = node.args[0]
    if written.star or (written.keyword is not None and written.keyword.value != case.draft.write.part):
        return None
    edits = [syntax.replace(name, name.value[:-1])]
    return _bound(case, syntax, node, written.value, edits)


def _is_method(case: Case, func: cst.Attribute) -> bool:
    """Check whether the written tensor is the receiver, and not an argument of a function in a module."""
    receiver = dotted(func.value)
    return not receiver or receiver == case.draft.write.symbol


def without(syntax: Syntax, node: cst.Call, out: cst.Arg) -> Edit:
    """Return the edit that removes an argument with the comma before it, or after it if it is the first."""
    at = next(position for position, arg in enumerate(node.args) if arg is out)
    if at > 0:
        return syntax.erase(syntax.end(node.args[at - 1].value), _end_of(syntax, out))
    if len(node.args) > 1:
        return syntax.erase(syntax.start(out), syntax.start(node.args[1]))
    return syntax.erase(syntax.start(out), _end_of(syntax, out))


def _end_of(syntax: Syntax, argument: cst.Arg) -> tuple[int, int]:
    return max(syntax.end(argument.value), syntax.end(argument))


def _of_chain(case: Case, syntax: Syntax, node: cst.Call) -> Plan | None:
    """Rewrite `x.a_(…).b_(…)` as a whole, whichever of its calls the finding is at."""
    links = list(_chain(syntax, node))
    tensor = case.facts.framework.tensor
    if any(not case.partner(f"{tensor}.{_method(link)}") for link in links):
        return copies.before_write(case, syntax, node)
    edits = [syntax.replace(_name(link), _method(link)[:-1]) for link in links]
    first = links[0].func
    assert isinstance(first, cst.Attribute)
    return _bound(case, syntax, links[-1], first.value, edits)


def _chain(syntax: Syntax, node: cst.Call) -> Iterator[cst.Call]:
    """Yield the calls of a chain that write the same tensor, the innermost first."""
    inner = node
    while (below := _receiver(inner)) is not None and _method(below).endswith("_"):
        inner = below
    found: cst.Call | None = inner
    while found is not None:
        yield found
        around = syntax.parents.get(found)
        call = syntax.parents.get(around) if isinstance(around, cst.Attribute) else None
        found = call if isinstance(call, cst.Call) and call.func is around and _method(call).endswith("_") else None


def _receiver(node: cst.Call) -> cst.Call | None:
    inner = node.func.value if isinstance(node.func, cst.Attribute) else None
    return inner if isinstance(inner, cst.Call) else None


def _name(node: cst.Call) -> cst.Name:
    assert isinstance(node.func, cst.Attribute)
    return node.func.attr


def _method(node: cst.Call) -> str:
    return node.func.attr.value if isinstance(node.func, cst.Attribute) else ""


def _bound(
    case: Case, syntax: Syntax, node: cst.Call, written: cst.BaseExpression, edits: Sequence[Edit]
) -> Plan | None:
    """Return the plan of a call and, where the written variable is read later, the assignment of the result to it."""
    around = syntax.parents[node]
    symbol = dotted(written) or (syntax.text(written) if _is_item(case, written) else "")
    is_statement = isinstance(around, cst.Expr)
    owners = {tensor.owner for tensor in case.met()} - {""}
    if owners and symbol not in owners and (is_statement or _any_live(syntax, node, owners)):
        return copies.before_write(case, syntax, node)  # a part of the tensor is written
    shown = _short(syntax.text(node))
    for edit in edits:
        shown = _edited(syntax, node, shown, edit)
    if is_statement or (isinstance(around, cst.Assign) and symbol and _any_live(syntax, node, {symbol})):
        if not symbol:
            return copies.before_write(case, syntax, node) if owners else None
        statement = syntax.statement(node)
        if statement is None:
            return None
        targets = _targets(around)
        if symbol in targets:
            return Plan(tuple(edits), f"use `{symbol} = {shown}`", targets, owns=True)
        start = syntax.insert(syntax.start(statement), f"{symbol} = ")
        owns = _is_item(case, written)
        return Plan((start, *edits), f"use `{symbol} = {shown}`", frozenset({symbol}) | targets, owns=owns)
    if symbol and not _is_apart(syntax, node) and _any_live(syntax, node, {symbol}):
        return copies.before_write(case, syntax, node)  # what reads the variable later expects the write
    return None if _is_dropped(syntax, node) else Plan(tuple(edits), f"use `{shown}`", _targets(around), owns=True)


def _is_apart(syntax: Syntax, node: cst.CSTNode) -> bool:
    """Check whether a call is in a lambda or a comprehension, whose variables are read nowhere else."""
    around: cst.CSTNode = node
    while isinstance(around, cst.BaseExpression | cst.Arg | cst.Element | cst.CompFor):
        if isinstance(around, cst.Lambda | cst.BaseComp):
            return True
        around = syntax.parents[around]
    return False


def _is_dropped(syntax: Syntax, node: cst.CSTNode) -> bool:
    """Check whether what a call in a list, or on a side of a condition, returns is the value of nothing."""
    around = syntax.parents[node]
    while isinstance(around, cst.ListComp | cst.IfExp | cst.Tuple | cst.List | cst.Element | cst.BooleanOperation):
        around = syntax.parents[around]
    return isinstance(around, cst.Expr)


def _is_item(case: Case, written: cst.BaseExpression) -> bool:
    """Check whether the written tensor is an item of a list or dict that an assignment can set."""
    met = case.met()
    return isinstance(written, cst.Subscript) and is_plain(written) and bool(met) and all(one.item for one in met)


def _targets(node: cst.CSTNode) -> frozenset[str]:
    if isinstance(node, cst.Assign):
        return frozenset(dotted(target.target) for target in node.targets) - {""}
    return frozenset()


def _any_live(syntax: Syntax, node: cst.CSTNode, names: set[str]) -> bool:
    statement = syntax.statement(node)
    assigned = _targets(statement) if statement is not None else frozenset()
    return any("." in name or syntax.is_live(name, statement or node) for name in names - assigned) or bool(
        names & assigned
    )


def _edited(syntax: Syntax, node: cst.CSTNode, shown: str, edit: Edit) -> str:
    """Return the text of a call on one line after an edit; edits before it have moved it by the change in length."""
    old = syntax.span(node)
    if shown == "..." or edit.span.line != old.line or edit.span.end_line != old.line:
        return shown
    grown = len(syntax.text(node)) - len(shown)
    start, end = edit.span.column - old.column - grown, edit.span.end_column - old.column - grown
    return shown[:start] + edit.content + shown[end:]
