"""
What a function does next with a variable, from its text: whether it may still read it after a statement.

    items.append(x)
    x[mask] = 0         # nothing reads `x` after this: it is written for `items`
    x = step(items)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import Enum, auto

from inplace_lint.ir import nodes as ir

_LATER = (ir.FunctionDef, ir.ClassDef, ir.Lambda, ir.Comprehension)  # they run their code later, or more than once
_SIMPLE = (ir.Assign, ir.AugAssign, ir.ExprStmt, ir.Return)


class Use(Enum):
    """The next thing that happens to a variable: it is read, set without being read, or neither."""

    READ = auto()
    SET = auto()
    NONE = auto()


def after(body: Sequence[ir.Stmt], at: int, name: str) -> Use:
    """Return the next use of a variable after the node with an ordinal: `READ` if it is not certainly another one."""
    here = next((number for number, statement in enumerate(body) if _has_node(statement, at)), None)
    if here is None:
        return Use.NONE
    loop = body[here]
    if isinstance(loop, ir.Try | ir.Match | ir.FunctionDef | ir.ClassDef | ir.Unknown):
        return Use.READ
    inner = next((block for block in _blocks(loop) if any(_has_node(part, at) for part in block)), ())
    found = after(inner, at, name)
    if isinstance(loop, ir.For | ir.While) and found is not Use.READ:
        # The next turn, or what follows the loop.
        head = loop.test if isinstance(loop, ir.While) else loop.target
        found = Use.READ if _names(head, name) or _first(inner, name) is Use.READ else Use.NONE
    return _first(body[here + 1 :], name) if found is Use.NONE else found


def beside(body: Sequence[ir.Stmt], at: int, name: str) -> bool:
    """Return whether a variable may be read in the statement around the node with an ordinal, or after that."""
    statement = _innermost(body, at)
    return (statement is not None and _names(statement, name)) or after(body, at, name) is Use.READ


def dies(body: Sequence[ir.Stmt], at: int, name: str) -> bool:
    """
    Return whether certainly nothing reads the value of a variable once the node with an ordinal was evaluated.

    The statement around that node reads it within the node alone, once at most (`y = h; f(y)` overwrites `h` too, which
    the node does not read), and sets it or is followed by nothing that reads it.
    """
    if any(isinstance(node, _LATER) and _names(node, name) for node in walk(body)):
        return False
    statement = _innermost(body, at)
    if statement is None or isinstance(statement, ir.AugAssign):
        return False
    binds = isinstance(statement, ir.Assign) and any(_is_name(target, name) for target in statement.targets)
    part = statement.value if binds and isinstance(statement, ir.Assign) else statement
    reads = _reads(part, name)
    inner = next((node for node in walk(part) if getattr(node, "at", None) == at), None)
    return reads <= 1 and reads == _reads(inner, name) and (binds or after(body, at, name) is not Use.READ)


def drops(body: Sequence[ir.Stmt], at: int, *, whole: bool = False) -> bool:
    """
    Return whether the node with an ordinal is only a part of what variables are set to that nothing reads.

    `whole`: it is all that they are set to.
    """
    statement = _innermost(body, at)
    if not isinstance(statement, ir.Assign) or (whole and getattr(statement.value, "at", None) != at):
        return False
    names = names_set(body, at)
    return len(names) == len(statement.targets) and all(after(body, at, name) is not Use.READ for name in names)


def names_set(body: Sequence[ir.Stmt], at: int) -> list[str]:
    """Return the variables that the assignment around the node with an ordinal sets."""
    statement = _innermost(body, at)
    targets = statement.targets if isinstance(statement, ir.Assign) else ()
    return [target.id for target in targets if isinstance(target, ir.Name)]


def _reads(node: object, name: str) -> int:
    return sum(isinstance(part, ir.Name) and part.id == name for part in walk(node))


def _innermost(body: Sequence[ir.Stmt], at: int) -> ir.Stmt | None:
    """Return the simple statement that contains a node; None where a statement that has others contains it itself."""
    here = next((statement for statement in body if _has_node(statement, at)), None)
    if here is None or not isinstance(here, ir.If | ir.For | ir.While | ir.With):
        return here if isinstance(here, _SIMPLE) else None
    return next((found for block in _blocks(here) if (found := _innermost(block, at)) is not None), None)


def _first(body: Sequence[ir.Stmt], name: str) -> Use:
    """Return what statements do first with a variable; one that is only set before a jump may not be."""
    for statement in body:
        if isinstance(statement, ir.Assign) and any(_is_name(target, name) for target in statement.targets):
            return Use.READ if _names(statement.value, name) else Use.SET
        if isinstance(statement, ir.For) and _names(statement.target, name):
            return Use.READ if _names(statement.iter, name) else Use.SET
        if _names(statement, name):
            return Use.READ
        if any(isinstance(node, ir.Jump) for node in walk(statement)):
            return Use.NONE
    return Use.NONE


def _is_name(target: ir.Expr, name: str) -> bool:
    return isinstance(target, ir.Name) and target.id == name


def _blocks(statement: ir.Stmt) -> Iterator[Sequence[ir.Stmt]]:
    match statement:
        case ir.If() | ir.For() | ir.While():
            yield from (statement.body, statement.orelse)
        case ir.With():
            yield statement.body
        case _:
            return


def _names(node: object, name: str) -> bool:
    """Check whether a variable is named, apart from comprehensions that have one of their own with this name."""
    own = [
        part
        for part in walk(node)
        if isinstance(part, ir.Comprehension) and any(_reads(clause.target, name) for clause in part.clauses)
    ]
    apart = sum(_reads(part, name) - _reads(part.clauses[0].iter, name) for part in own)
    return _reads(node, name) > apart


def _has_node(node: object, at: int) -> bool:
    return any(getattr(part, "at", None) == at for part in walk(node))


def walk(node: object) -> Iterator[object]:
    """Yield a node and all nodes in it."""
    waiting = [node]
    while waiting:
        part = waiting.pop()
        if isinstance(part, tuple):
            yield part
            waiting.extend(part)
