"""
Which functions of a project run in evaluation only, by where they are called: in branches that training leaves, and
where no gradients are recorded.

    def forward(self, x):
        out = self.head(x)
        if self.training:
            return self.loss(out)
        return self.decode(out)       # `decode` runs in evaluation only, and so does what only `decode` calls

    with torch.no_grad():
        weight = taps(positions)      # so does `taps`

    class Solve(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a, b):
            return solve(a, b)        # and `solve`: the function has a backward of its own
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

from inplace_lint.core.remembered import remembered
from inplace_lint.knowledge.facts import framework, frameworks
from inplace_lint.workspace.import_graph import Graph

_DEEPEST = 4  # functions that call each other, from the one that is asked for outwards
_RECORDS_NOTHING = "forward"  # the method of a custom function that runs with gradients off
_MOST = 200  # files with a name, which are parsed; a name that more of them have is no name of one thing


class _Use(NamedTuple):
    """
    A use of a name: the function around it, whether that is a method, and whether it runs in evaluation only.

    A `bare` name is no method.
    """

    user: str
    member: bool
    evaluates: bool
    bare: bool = False


@dataclass
class Trees:
    """The syntax trees of the files that a graph knows; each is parsed once."""

    graph: Graph

    @remembered
    def of(self, path: str) -> ast.Module | None:
        """Return the tree of a file; None if it cannot be parsed."""
        try:
            return ast.parse(self.graph.text(path))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None


@dataclass
class Evaluation:
    """What the files that a graph knows run in evaluation only, found on demand."""

    graph: Graph
    trees: Trees

    @remembered
    def runs(self, path: str, name: str, *, member: bool, depth: int = 0) -> bool:
        """
        Check whether all that uses functions, or methods, of a name runs in evaluation; false if nothing does.

        The files that may use the one at `path` are looked at.
        """
        if name in {word for known in frameworks() for word in framework(known).infers}:
            return True
        if not name or name.startswith("__") or name in {framework(known).calls for known in frameworks()}:
            return False
        paths = self.graph.mentioning(path, name)
        uses = [use for user in paths[:_MOST] for use in self._uses(user, name) if not (member and use.bare)]
        return 0 < len(paths) <= _MOST and bool(uses) and all(self._evaluates(path, use, depth) for use in uses)

    def uses(self, path: str, file: str, user: str, name: str) -> bool:
        """Check whether a function in a file uses the functions of a name, which `path` defines, in evaluation only."""
        found = [use for use in self._uses(file, name) if use.user == user]
        return bool(found) and all(self._evaluates(path, use, 0) for use in found)

    def _evaluates(self, path: str, use: _Use, depth: int) -> bool:
        return use.evaluates or (depth < _DEEPEST and self.runs(path, use.user, member=use.member, depth=depth + 1))

    def _uses(self, path: str, name: str) -> tuple[_Use, ...]:
        known = self._all_uses(path)
        if known is None:
            return (_Use("", member=False, evaluates=False),)  # what cannot be read may train
        return tuple(use for use in known.get(name, ()) if use.user != name)

    @remembered
    def _all_uses(self, path: str) -> dict[str, list[_Use]] | None:
        tree = self.trees.of(path)
        if tree is None:
            return None
        walk = _Walk()
        walk.block(tree.body)
        return walk.uses


@dataclass
class _Walk:
    """A walk over a file for the uses of all names."""

    uses: dict[str, list[_Use]] = field(default_factory=dict)
    user: str = ""
    member: bool = False
    evaluates: bool = False
    in_class: bool = False
    in_function: bool = False

    def block(self, body: Sequence[ast.AST], *, evaluates: bool = False) -> None:
        """Walk statements that follow each other; what follows a branch that training leaves is evaluation."""
        before = self.evaluates
        self.evaluates = before or evaluates
        for node in body:
            self.node(node)
            if isinstance(node, ast.If):
                side, other = _sides(node.test)
                self.evaluates |= (other and _leaves(node.body)) or (side and _leaves(node.orelse))
        self.evaluates = before

    def _branches(self, node: ast.If | ast.IfExp) -> None:
        side, other = _sides(node.test)
        self.node(node.test)
        for part, evaluates in ((node.body, side), (node.orelse, other)):
            self.block(part if isinstance(part, list) else [part], evaluates=evaluates)

    def node(self, node: ast.AST) -> None:
        """Walk a statement or an expression."""
        match node:
            case ast.If() | ast.IfExp():
                self._branches(node)
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                self._definition(node)
            case ast.With() | ast.AsyncWith():
                for item in node.items:
                    self.node(item.context_expr)
                self.block(node.body, evaluates=any(_stops(item.context_expr) for item in node.items))
            case ast.Compare(ast.Attribute() as left, [ast.Is() | ast.IsNot()], [right]):
                self.node(_innermost(left))
                self.node(right)
            case ast.Attribute(_, attribute, context):
                if isinstance(context, ast.Load):
                    self._use(attribute)
                # What has attributes is no function: `self.decode.threshold` does not call a method `decode`.
                self.node(_innermost(node))
            case ast.Name(name, ast.Load()):
                self._use(name, bare=True)
            case _:
                for _, part in ast.iter_fields(node):
                    self._part(part)

    def _use(self, name: str, *, bare: bool = False) -> None:
        self.uses.setdefault(name, []).append(_Use(self.user, self.member, self.evaluates, bare))

    def _part(self, part: object) -> None:
        if isinstance(part, list) and part and isinstance(part[0], ast.stmt):
            self.block(part)
        elif isinstance(part, list):
            for inner in part:
                self._part(inner)
        elif isinstance(part, ast.AST):
            self.node(part)

    def _definition(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> None:
        for part in node.decorator_list:
            self.node(part)
        before = self.user, self.member, self.in_class, self.evaluates, self.in_function
        if isinstance(node, ast.ClassDef):
            self.in_class, self.in_function = True, any(map(_is_custom_function, node.bases))
        else:
            stopped = any(map(_stops, node.decorator_list)) or (self.in_function and node.name == _RECORDS_NOTHING)
            self.user, self.member, self.in_class, self.evaluates = node.name, self.in_class, False, stopped
            self.in_function = False
        self.block(node.body)
        self.user, self.member, self.in_class, self.evaluates, self.in_function = before


def _innermost(node: ast.expr) -> ast.expr:
    """Return that of which a chain of attributes is asked."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node


def _stops(node: ast.expr) -> bool:
    """Check whether a context manager or decorator is one in which no gradients are recorded, by its name."""
    called = node.func if isinstance(node, ast.Call) else node
    name = called.attr if isinstance(called, ast.Attribute) else called.id if isinstance(called, ast.Name) else ""
    return name in _unrecorded()


def _is_custom_function(base: ast.expr) -> bool:
    """Check whether a base is a framework's class of custom functions, by the name that the class has there."""
    name = base.attr if isinstance(base, ast.Attribute) else base.id if isinstance(base, ast.Name) else ""
    return name in {framework(known).function.rpartition(".")[2] for known in frameworks()}


@cache
def _unrecorded() -> frozenset[str]:
    """Return the names of the modes without gradients: those that the frameworks' messages and cures spell out."""
    known = [framework(name) for name in frameworks()]
    spelled = [text for one in known for text in (one.says.get("no_grad", ""), one.words.get("infer", "")) if text]
    return frozenset(text.removesuffix("()").rpartition(".")[2] for text in spelled)


def _sides(test: ast.expr) -> tuple[bool, bool]:
    """Return whether a condition, where it is true and where it is false, holds in evaluation only."""
    match test:
        case ast.Attribute(_, "training"):
            return False, True
        case ast.UnaryOp(ast.Not(), inner):
            side, other = _sides(inner)
            return other, side
        case ast.BoolOp(operator, values):
            sides, others = zip(*(_sides(value) for value in values), strict=True)
            is_and = isinstance(operator, ast.And)
            return (any(sides), all(others)) if is_and else (all(sides), any(others))
        case _:
            return False, False


def _leaves(body: Sequence[ast.stmt]) -> bool:
    """Check whether statements end in one after which nothing of their block runs."""
    return bool(body) and isinstance(body[-1], ast.Return | ast.Raise | ast.Continue | ast.Break)
