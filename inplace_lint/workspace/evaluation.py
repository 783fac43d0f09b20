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
    if not torch.is_grad_enabled():
        weight = taps(positions)      # here as well, and where a variable holds that condition

    class Solve(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a, b):
            return solve(a, b)        # and `solve`: the function has a backward of its own
"""

from __future__ import annotations

import ast
import builtins
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

from inplace_lint.core.remembered import remembered
from inplace_lint.effects.mode_conditions import (
    Conditions,
    asks_for_modes,
    in_evaluation,
    returned_by,
    without_gradients,
)
from inplace_lint.knowledge.facts import framework, frameworks
from inplace_lint.workspace.import_graph import Graph

_DEEPEST = 4  # functions that call each other, from the one that is asked for outwards
_RECORDS_NOTHING = "forward"  # the method of a custom function that runs with gradients off
_MOST = 200  # files with a name, which are parsed; a name that more of them have is no name of one thing


class _Use(NamedTuple):
    """
    A use of a name: the function around it, whether that is a method, and whether it runs in evaluation only.

    A `bare` name is no method. `unrecorded`: no gradients are recorded there; `unsure`: a context or decorator around
    it may see to that. `called`: it is a call; else the function is handed on. `quoted`: there is only its name,
    which something may look up. `around` is the class that the use is in; `own`: it is of an attribute of `self`, and
    that class has a method of this name.
    """

    user: str
    member: bool
    evaluates: bool
    bare: bool = False
    unrecorded: bool = False
    unsure: bool = False
    called: bool = True
    quoted: bool = False
    around: str = ""
    own: bool = False


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
        if not name or name.startswith("__") or name in _trained():
            return False
        paths = self.graph.mentioning(path, name)
        uses = [
            use for user in paths[:_MOST] for use in self._uses(user, name) if not (use.quoted or (member and use.bare))
        ]
        return 0 < len(paths) <= _MOST and bool(uses) and all(self._evaluates(path, use, depth) for use in uses)

    @remembered
    def records(self, path: str, owner: str, name: str, depth: int = 0) -> bool | None:
        """
        Check whether somebody may call a function, or a method of a class, `owner`, where gradients are recorded.

        True if the project does, or nothing in it uses them; None if it hands them on, to what may call them anywhere.
        """
        if name in {*_trained(), "__call__"}:
            return not self._is_called_unrecorded(path, owner)
        paths = self.graph.mentioning(path, name)
        uses = [use for user in paths[:_MOST] for use in self._uses(user, name) if _may_be_of(owner, use)]
        if len(paths) > _MOST or not uses:
            return True
        found = {self._records(path, use, depth) for use in uses}
        return True if True in found else None if None in found else False

    def _is_called_unrecorded(self, path: str, name: str) -> bool:
        """Check whether the project calls variables that it assigns objects of a class to, and all of them so."""
        paths = self.graph.mentioning(path, name)[:_MOST]
        names = {bound for user in paths for bound in self._walked(user).made.get(name, ())}
        uses = [use for user in paths for bound in names for use in self._uses(user, bound)]
        return bool(uses) and all(use.called and self._records(path, use, 0) is False for use in uses)

    def _records(self, path: str, use: _Use, depth: int) -> bool | None:
        if use.unrecorded:
            return False
        certain = use.called and not use.unsure
        if not use.user or use.user.startswith("__") or use.user in _trained() or depth >= _DEEPEST:
            return True if certain else None
        above = self.records(path, use.around if use.member else "", use.user, depth + 1)
        return above if certain or above is False else None

    def uses(self, path: str, file: str, user: str, name: str) -> bool:
        """Check whether a function in a file uses the functions of a name, which `path` defines, in evaluation only."""
        found = [use for use in self._uses(file, name) if use.user == user and not use.quoted]
        return bool(found) and all(self._evaluates(path, use, 0) for use in found)

    def _evaluates(self, path: str, use: _Use, depth: int) -> bool:
        return use.evaluates or (depth < _DEEPEST and self.runs(path, use.user, member=use.member, depth=depth + 1))

    def _uses(self, path: str, name: str) -> tuple[_Use, ...]:
        if self.trees.of(path) is None:
            return (_Use("", member=False, evaluates=False),)  # what cannot be read may train
        return tuple(use for use in self._walked(path).uses.get(name, ()) if use.user != name)

    @remembered
    def _walked(self, path: str) -> _Walk:
        tree, walk = self.trees.of(path), _Walk()
        body = [] if tree is None else tree.body
        if asks_for_modes(self.graph.text(path)):
            walk.asks, walk.held = True, Conditions(returned_by(body))
        walk.block(body)
        return walk


@dataclass
class _Walk:
    """A walk over a file for the uses of all names, and for those that are assigned what a call of a name `made`."""

    uses: dict[str, list[_Use]] = field(default_factory=dict)
    made: dict[str, set[str]] = field(default_factory=dict)
    user: str = ""
    member: bool = False
    evaluates: bool = False
    unrecorded: bool = False
    unsure: bool = False
    in_class: bool = False
    in_function: bool = False
    around: str = ""
    methods: frozenset[str] = frozenset()
    held: Conditions = field(default_factory=Conditions)
    asks: bool = False
    packages: dict[str, str] = field(default_factory=dict)

    def block(self, body: Sequence[ast.AST], *, evaluates: bool = False, unrecorded: bool = False) -> None:
        """Walk statements that follow each other; what follows a branch that training leaves is evaluation."""
        before = self.evaluates, self.unrecorded
        self.evaluates |= evaluates
        self.unrecorded |= unrecorded
        for node in body:
            self.node(node)
            if isinstance(node, ast.If):
                self.evaluates |= self.held.hold_after(node, in_evaluation)
                self.unrecorded |= self.held.hold_after(node, without_gradients)
        self.evaluates, self.unrecorded = before

    def _branches(self, node: ast.If | ast.IfExp) -> None:
        self.node(node.test)
        evaluates = self.held.sides(node.test, in_evaluation)
        unrecorded = self.held.sides(node.test, without_gradients)
        for part, side, off in zip((node.body, node.orelse), evaluates, unrecorded, strict=True):
            self.block(part if isinstance(part, list) else [part], evaluates=side, unrecorded=off)

    def node(self, node: ast.AST) -> None:
        """Walk a statement or an expression."""
        match node:
            case ast.If() | ast.IfExp():
                self._branches(node)
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                self._definition(node)
            case ast.With() | ast.AsyncWith():
                self._with(node)
            case ast.Import() | ast.ImportFrom():
                self._import(node)
            case ast.Assign(targets, ast.Call(ast.Name(name) | ast.Attribute(_, name)) as value):
                self._made_by(name, targets)
                self._part([*targets, value])
            case _:
                self._expression(node)

    def _with(self, node: ast.With | ast.AsyncWith) -> None:
        for item in node.items:
            self.node(item.context_expr)
        before, contexts = (self.unrecorded, self.unsure), [item.context_expr for item in node.items]
        stops = any(map(_stops, contexts))
        self.unrecorded |= stops
        self.unsure |= not all(map(self._is_known, contexts))
        self.block(node.body, evaluates=stops)
        self.unrecorded, self.unsure = before

    def _is_known(self, node: ast.expr) -> bool:
        """Check whether a context or decorator is of Python, a framework, or what leaves gradients as they are."""
        while isinstance(node, ast.Attribute | ast.Call):
            node = node.func if isinstance(node, ast.Call) else node.value
        if not isinstance(node, ast.Name):
            return False
        top = self.packages.get(node.id, "")
        return top in _neutral() or (not top and hasattr(builtins, node.id))

    def _import(self, node: ast.Import | ast.ImportFrom) -> None:
        whole = "" if isinstance(node, ast.Import) else "." if node.level else node.module or "."
        for name in node.names:
            top = (whole or name.name).partition(".")[0] or "."
            self.packages[name.asname or (name.name if whole else top)] = top

    def _made_by(self, name: str, targets: Sequence[ast.expr]) -> None:
        bound = self.made.setdefault(name, set())
        for target in targets:
            if isinstance(target, ast.Attribute | ast.Name):
                bound.add(target.attr if isinstance(target, ast.Attribute) else target.id)

    def _expression(self, node: ast.AST) -> None:
        """Walk an expression, or a statement that is nothing but its parts."""
        match node:
            case ast.Compare(ast.Attribute() as left, [ast.Is() | ast.IsNot()], [right]):
                self.node(_innermost(left))
                self.node(right)
            case ast.Call(ast.Attribute(owner, attribute, ast.Load()), arguments, keywords):
                self._use(attribute, own=_is_self(owner))
                self._part([_innermost(owner), *arguments, *keywords])
            case ast.Call(ast.Name(name), arguments, keywords):
                self._use(name, bare=True)
                self._part([*arguments, *keywords])
            case ast.Constant(str(word)) if self.user and word.isidentifier():
                self._use(word, called=False, quoted=True)
            case ast.Attribute(_, attribute, context):
                if isinstance(context, ast.Load):
                    self._use(attribute, called=False, own=_is_self(node.value))
                # What has attributes is no function: `self.decode.threshold` does not call a method `decode`.
                self.node(_innermost(node))
            case ast.Name(name, ast.Load()):
                self._use(name, bare=True, called=False)
            case _:
                for _, part in ast.iter_fields(node):
                    self._part(part)

    def _use(
        self, name: str, *, bare: bool = False, called: bool = True, quoted: bool = False, own: bool = False
    ) -> None:
        own = own and name in self.methods
        here, modes = (self.user, self.member, self.evaluates), (self.unrecorded, self.unsure)
        self.uses.setdefault(name, []).append(_Use(*here, bare, *modes, called, quoted, self.around, own))

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
        before = {name: getattr(self, name) for name in _OF_BODIES}
        if isinstance(node, ast.ClassDef):
            self.in_class, self.in_function, self.around = True, any(map(_is_custom_function, node.bases)), node.name
            self.methods = frozenset(part.name for part in node.body if isinstance(part, ast.FunctionDef))
        else:
            stopped = any(map(_stops, node.decorator_list)) or (self.in_function and node.name == _RECORDS_NOTHING)
            self.user, self.member, self.in_class, self.evaluates = node.name, self.in_class, False, stopped
            self.unrecorded, self.unsure = stopped, not all(map(self._is_known, node.decorator_list))
            self.in_function = False
        if self.asks:
            self.held = self.held.within(node)
        self.block(node.body)
        for name, value in before.items():
            setattr(self, name, value)


# What a body is walked with, and what follows it is not.
_OF_BODIES = (
    "user",
    "member",
    "in_class",
    "in_function",
    "evaluates",
    "unrecorded",
    "unsure",
    "around",
    "methods",
    "held",
)


def _may_be_of(owner: str, use: _Use) -> bool:
    """Check whether a use of a name may be of the method of a class; of a function if there is no class."""
    return not (use.bare if owner else use.own) and (not use.own or use.around == owner)


def _is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"


def _innermost(node: ast.expr) -> ast.expr:
    """Return that of which a chain of attributes is asked."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node


def _last_word(node: ast.expr) -> str:
    """Return the last part of a dotted name; nothing for what is no name."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _stops(node: ast.expr) -> bool:
    """Check whether a context manager or decorator is one in which no gradients are recorded, by its name."""
    return _last_word(node.func if isinstance(node, ast.Call) else node) in _unrecorded()


def _is_custom_function(base: ast.expr) -> bool:
    """Check whether a base is a framework's class of custom functions, by the name that the class has there."""
    return _last_word(base) in {framework(known).function.rpartition(".")[2] for known in frameworks()}


@cache
def _neutral() -> frozenset[str]:
    """Return the packages whose contexts and decorators are known by name, or leave gradients as they are."""
    known = [framework(name) for name in frameworks()]
    return frozenset(sys.stdlib_module_names).union(*((*one.packages, *one.arrays, *one.neutral) for one in known))


@cache
def _trained() -> frozenset[str]:
    """Return the names of the methods that a call of a module runs."""
    return frozenset(framework(known).calls for known in frameworks())


@cache
def _unrecorded() -> frozenset[str]:
    """Return the names of the modes without gradients: those that the frameworks' messages and cures spell out."""
    known = [framework(name) for name in frameworks()]
    spelled = [text for one in known for text in (one.says.get("no_grad", ""), one.words.get("infer", "")) if text]
    return frozenset(text.removesuffix("()").rpartition(".")[2] for text in spelled)
