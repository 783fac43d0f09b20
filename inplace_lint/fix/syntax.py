"""
The syntax around a place: parents, statements, names that are read later, and edits in the original text.

Edits replace as little text as possible, and all other bytes stay: a fix never prints a tree.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from functools import lru_cache

import libcst as cst

from inplace_lint.core.finding import Edit
from inplace_lint.core.span import Place, Slice, Span
from inplace_lint.fix.context import Case
from inplace_lint.frontend.positions import Located

_SCOPES = (cst.FunctionDef, cst.Lambda, cst.ClassDef)
_LOOPS = (cst.For, cst.While)
Where = tuple[int, int]


class Syntax:
    """A slice of a file as a tree with parents; `indent` is one level of it, `end_of_line` how its lines end."""

    def __init__(self, located: Located) -> None:
        self.located = located
        self.indent = located.module.default_indent
        self.parents: dict[cst.CSTNode, cst.CSTNode] = {}
        waiting: list[cst.CSTNode] = [located.module]
        while waiting:
            node = waiting.pop()
            for child in node.children:
                self.parents[child] = node
                waiting.append(child)

    def node(self, place: Place) -> cst.CSTNode:
        """Return the node that a place of this slice names."""
        node: cst.CSTNode = self.located.origins[place.at]
        return node

    def text(self, node: cst.CSTNode) -> str:
        """Return the source of a node, without parentheses around it."""
        return self.between(*self._ends(node))

    def between(self, start: Where, end: Where) -> str:
        """Return the source between two places of the slice."""
        span = self.located.stretch(start, end)
        return "".join(span.cut(self.located.lines))

    def end_of_line(self, node: cst.CSTNode) -> str:
        """Return the end of the line on which a node starts; for a last line without one, that of the first line."""
        lines = self.located.lines
        line = lines[self.located.span_of(node).line - 1]
        for text in (line, lines[0]):
            end = text[len(text.rstrip("\r\n")) :]
            if end:
                return end
        return "\n"

    def indent_of(self, node: cst.CSTNode) -> str:
        """Return the white space before the first thing on the line on which a node starts."""
        line = self.located.lines[self.located.span_of(node).line - 1]
        return line[: len(line) - len(line.lstrip())]

    def start(self, node: cst.CSTNode) -> Where:
        """Return the place where a node starts."""
        return self._ends(node)[0]

    def end(self, node: cst.CSTNode) -> Where:
        """Return the place where a node ends."""
        return self._ends(node)[1]

    def _ends(self, node: cst.CSTNode) -> tuple[Where, Where]:
        found = self.located.ranges[node]
        return (found.start.line, found.start.column), (found.end.line, found.end.column)

    def span(self, node: cst.CSTNode) -> Span:
        """Return the span of a node."""
        return self.located.span_of(node)

    # -- edits -------------------------------------------------------------------------------------------------------

    def replace(self, node: cst.CSTNode, content: str) -> Edit:
        """Return the edit that replaces a node by a text."""
        return Edit(self.span(node), content)

    def erase(self, start: Where, end: Where) -> Edit:
        """Return the edit that deletes the text between two places."""
        return Edit(self.located.stretch(start, end), "")

    def insert(self, where: Where, content: str) -> Edit:
        """Return the edit that inserts a text at a place."""
        return Edit(self.located.stretch(where, where), content)

    def after(self, where: Where, text: str) -> Where:
        """Return the place at the end of a text that starts at a place."""
        lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        return (where[0] + len(lines) - 1, len(lines[-1]) + (where[1] if len(lines) == 1 else 0))

    # -- what is around ----------------------------------------------------------------------------------------------

    def above(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """Yield the nodes around a node, from the inside out, itself first."""
        found: cst.CSTNode | None = node
        while found is not None:
            yield found
            found = self.parents.get(found)

    def statement(self, node: cst.CSTNode) -> cst.BaseSmallStatement | None:
        """Return the simple statement around a node; None inside a header, a lambda or a comprehension."""
        for around in self.above(node):
            if isinstance(around, cst.BaseSmallStatement):
                return around
            if isinstance(around, cst.Lambda | cst.BaseComp | cst.BaseCompoundStatement):
                return None
        return None

    def scope(self, node: cst.CSTNode) -> cst.CSTNode:
        """Return the function, class or module around a node."""
        return next(
            (around for around in self.above(node) if isinstance(around, _SCOPES) and around is not node),
            self.located.module,
        )

    def is_alone(self, statement: cst.BaseSmallStatement) -> bool:
        """Check whether a simple statement is the only one on its lines."""
        line = self.parents.get(statement)
        return isinstance(line, cst.SimpleStatementLine) and len(line.body) == 1

    def in_loop(self, node: cst.CSTNode) -> bool:
        """Check whether code of a function may run again within one call of it."""
        scope = self.scope(node)
        return any(
            isinstance(around, _LOOPS) for around in itertools.takewhile(lambda one: one is not scope, self.above(node))
        )

    def within(self, scope: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """Yield a node and all below it."""
        waiting = [scope]
        while waiting:
            node = waiting.pop()
            yield node
            waiting.extend(node.children)

    def is_used(self, scope: cst.CSTNode, name: str) -> bool:
        """Check whether code in a function spells a variable of this name."""
        return any(
            isinstance(node, cst.Name) and node.value == name and not self._is_part(node) for node in self.within(scope)
        )

    def _is_part(self, node: cst.Name) -> bool:
        """Check whether a name is that of an attribute or of a keyword, and of no variable."""
        parent = self.parents[node]
        if isinstance(parent, cst.Attribute):
            return parent.attr is node
        return isinstance(parent, cst.Arg) and parent.keyword is node

    def is_live(self, name: str, statement: cst.CSTNode) -> bool:
        """
        Check whether a local variable may be read after a statement.

        In a loop the whole loop may run after; what a nested function reads is read at any time; a variable of a module
        or class may be read from anywhere.
        """
        scope = self.scope(statement)
        if not isinstance(scope, cst.FunctionDef):
            return True
        since = min(self.end(statement), self._turn(name, statement, scope))
        return any(self.scope(found) is not scope or self.start(found) >= since for found in self._reads(scope, name))

    def is_looked_at(self, name: str, statement: cst.CSTNode, writes: Callable[[str], bool]) -> bool:
        """
        Check whether another statement of the function may read a local variable after this one.

        One that calls a method which `writes`, by its name, and drops the result does not.
        """
        scope = self.scope(statement)
        start, end = self.start(statement), self.end(statement)
        since = min(end, self._turn(name, statement, scope))
        reads = (found for found in self._reads(scope, name) if not start <= self.start(found) < end)
        return any(self.start(found) >= since and not self._is_written(found, writes) for found in reads)

    def _is_written(self, name: cst.Name, writes: Callable[[str], bool]) -> bool:
        """Check whether a variable is what the first method of a statement writes, whose result is dropped."""
        method, *around = itertools.islice(self.above(name), 1, None)
        if not isinstance(method, cst.Attribute) or method.value is not name or not writes(method.attr.value):
            return False
        return isinstance(next(node for node in around if not isinstance(node, cst.Attribute | cst.Call)), cst.Expr)

    def _turn(self, name: str, statement: cst.CSTNode, scope: cst.CSTNode) -> Where:
        """Return where the code starts that may run again in a loop; a loop over the variable itself rebinds it."""
        since = self.end(statement)
        for around in self.above(statement):
            if around is scope or (isinstance(around, cst.For) and name in self._bound_by(around)):
                break
            if isinstance(around, _LOOPS):
                since = self.start(around)
        return since

    def _bound_by(self, loop: cst.For) -> set[str]:
        found: set[str] = set()
        waiting: list[cst.CSTNode] = [loop.target]
        while waiting:
            node = waiting.pop()
            if isinstance(node, cst.Name):
                found.add(node.value)
            if isinstance(node, cst.Tuple | cst.List | cst.Element | cst.StarredElement):
                waiting.extend(node.children)
        return found

    def _reads(self, scope: cst.CSTNode, name: str) -> Iterator[cst.Name]:
        for node in self.within(scope):
            if isinstance(node, cst.Name) and node.value == name and self._is_read(node):
                yield node

    def _is_read(self, node: cst.Name) -> bool:
        parent = self.parents[node]
        if isinstance(parent, cst.Attribute):
            return parent.value is node
        if isinstance(parent, cst.Arg):
            return parent.value is node
        return not isinstance(parent, cst.AssignTarget | cst.Param | cst.Nonlocal | cst.Global)


@lru_cache(maxsize=8)
def _syntax_of(located: Located) -> Syntax:
    return Syntax(located)


def syntax_at(case: Case, slice_: Slice) -> Syntax:
    """Return the syntax of a slice."""
    return _syntax_of(case.locate(slice_))


def node_at(case: Case, place: Place) -> tuple[Syntax, cst.CSTNode]:
    """Return the syntax around a place, and the node there."""
    syntax = syntax_at(case, place.slice)
    return syntax, syntax.node(place)


def dotted(node: cst.CSTNode) -> str:
    """Spell a variable or a chain of attributes of one; empty for anything else."""
    parts: list[str] = []
    while isinstance(node, cst.Attribute) and not node.lpar:
        parts.append(node.attr.value)
        node = node.value
    return ".".join([node.value, *reversed(parts)]) if isinstance(node, cst.Name) and not node.lpar else ""


def spelled(node: cst.CSTNode) -> str:
    """Spell an expression as events do: `self.w`, `x[...]`, `f(...)`; empty for an operation."""
    match node:
        case cst.Name(value=name):
            return name
        case cst.Attribute(value=inner, attr=name):
            before = spelled(inner)
            return f"{before}.{name.value}" if before else ""
        case cst.Subscript(value=inner):
            before = spelled(inner)
            return f"{before}[...]" if before else ""
        case cst.Call(func=inner):
            before = spelled(inner)
            return f"{before}(...)" if before else ""
        case _:
            return ""


def is_plain(node: cst.CSTNode) -> bool:
    """Check whether an expression can be written twice: it calls nothing and binds nothing."""
    match node:
        case cst.Name() | cst.Integer() | cst.Float() | cst.SimpleString() | cst.Ellipsis():
            return True
        case cst.Attribute(value=inner) | cst.UnaryOperation(expression=inner) | cst.Index(value=inner):
            return is_plain(inner)
        case cst.BinaryOperation(left=left, right=right):
            return is_plain(left) and is_plain(right)
        case cst.Subscript(value=inner, slice=elements):
            return is_plain(inner) and all(is_plain(element.slice) for element in elements)
        case cst.Slice():
            return all(part is None or is_plain(part) for part in (node.lower, node.upper, node.step))
        case _:
            return False
