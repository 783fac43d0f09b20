"""
What a condition says of modes: that code runs in evaluation only, or only where no gradients are recorded.

    if not torch.is_grad_enabled(): ...       # the condition asks itself

    recording = torch.is_grad_enabled()
    due = not recording and step % 10 == 0
    if due: ...                               # a variable holds what was asked

A variable counts if its function assigns it once; a function or method, if it does nothing but return a condition.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import TypeAlias

from msgspec import Struct, field
from msgspec.structs import replace

from inplace_lint.knowledge.facts import framework, frameworks

Sides: TypeAlias = tuple[bool, bool]
_DEEPEST = 4  # variables that hold one another's conditions
_CALLED = "()"


class Conditions(Struct, frozen=True, dict=True):
    """The conditions that names stand for: what functions return, and what variables of the function at hand hold."""

    returned: Mapping[str, ast.expr] = field(default_factory=dict)
    held: Mapping[str, ast.expr] = field(default_factory=dict)

    def within(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> Conditions:
        """Return the conditions that names stand for in the body of a definition."""
        if isinstance(node, ast.ClassDef):
            own = {f"self.{name}": value for name, value in returned_by(node.body).items()}
            return Conditions({**self.returned, **own})
        return replace(self, held=_held_in(node))

    def hold_after(self, node: ast.If, of: Callable[[ast.expr], Sides]) -> bool:
        """Check whether what `of` looks for holds after a branch, since the other side of it leaves."""
        side, other = self.sides(node.test, of)
        return (other and _leaves(node.body)) or (side and _leaves(node.orelse))

    def leaves_with(self, node: ast.If, of: Callable[[ast.expr], Sides]) -> ast.expr | None:
        """
        Return the condition that from here on holds only where `of` does, since the branch leaves with it otherwise.

            if self.training and target is None:
                raise ValueError
            if target is None: ...          # so this is evaluation
        """
        match node.test:
            case ast.BoolOp(ast.And(), [left, right]) if _leaves(node.body):
                pairs = ((left, right), (right, left))
                return next((other for one, other in pairs if self.sides(one, of)[1]), None)
            case _:
                return None

    def sides(self, test: ast.expr, of: Callable[[ast.expr], Sides], depth: int = 0) -> Sides:
        """Return what `of` says of a condition by its parts, for where it is true and for where it is false."""
        match test:
            case ast.UnaryOp(ast.Not(), inner):
                side, other = self.sides(inner, of, depth)
                return other, side
            case ast.BoolOp(operator, values):
                sides, others = zip(*(self.sides(value, of, depth) for value in values), strict=True)
                is_and = isinstance(operator, ast.And)
                return (any(sides), all(others)) if is_and else (all(sides), any(others))
            case ast.NamedExpr(_, value):
                return self.sides(value, of, depth)
            case _:
                known = self._meant(test) if depth < _DEEPEST else None
                return of(test) if known is None else self.sides(known, of, depth + 1)

    def _meant(self, test: ast.expr) -> ast.expr | None:
        """Return the condition that a name, an attribute of `self`, an item or a call without arguments stands for."""
        if isinstance(test, ast.Subscript):
            return _item(self.held.get(_key(test.value)), test.slice)
        if isinstance(test, ast.Call):
            return None if test.args or test.keywords else self.returned.get(_key(test.func) + _CALLED)
        known = self.held.get(_key(test))
        is_before = known is not None and (known.lineno, known.col_offset) < (test.lineno, test.col_offset)
        return known if is_before else None


def _item(known: ast.expr | None, at: ast.expr) -> ast.expr | None:
    """Return an item of a dict that is written out."""
    if not isinstance(known, ast.Dict) or not isinstance(at, ast.Constant):
        return None
    pairs = zip(known.keys, known.values, strict=True)
    return next((value for key, value in pairs if isinstance(key, ast.Constant) and key.value == at.value), None)


def returned_by(body: Iterable[ast.stmt]) -> dict[str, ast.expr]:
    """Return what the functions of a body return that do nothing else, by their names as called."""
    found = {}
    for node in body:
        parts = [part for part in node.body if not _is_text(part)] if isinstance(node, ast.FunctionDef) else []
        if isinstance(node, ast.FunctionDef) and len(parts) == 1 and isinstance(parts[0], ast.Return):
            found[node.name + _CALLED] = parts[0].value
    return {name: value for name, value in found.items() if value is not None}


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _held_in(function: ast.FunctionDef | ast.AsyncFunctionDef) -> dict[str, ast.expr]:
    """Return what variables of a function hold that it assigns once; nothing if it turns gradients on."""
    times: Counter[str] = Counter()
    held: dict[str, ast.expr] = {}
    for node in ast.walk(function):
        match node:
            case ast.Call(called) if _last_word(called) in _setting():
                return {}
            case ast.Name(name, ast.Store() | ast.Del()) | ast.arg(name):
                times[name] += 1
            case ast.Attribute(_, _, ast.Store()):
                times[_key(node)] += 1
            case ast.Subscript(owner, _, ast.Store()):
                times[_key(owner)] += 1
            case ast.Assign([target], value) | ast.AnnAssign(target, _, ast.expr() as value):
                if isinstance(target, ast.Name) or node in function.body:
                    held[_key(target)] = value
            case ast.NamedExpr(target, value):
                held[_key(target)] = value
            case _:
                pass
    return {name: value for name, value in held.items() if name and times[name] == 1}


def _key(node: ast.expr) -> str:
    """Return the text of a variable or of an attribute of `self`; nothing for anything else."""
    match node:
        case ast.Name(name):
            return name
        case ast.Attribute(ast.Name("self"), name):
            return f"self.{name}"
        case _:
            return ""


def _last_word(node: ast.expr) -> str:
    """Return the last part of a dotted name; nothing for what is no name."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def without_sign(test: ast.expr) -> tuple[str, bool]:
    """Return a condition as text, without the negation that it may be of, and whether it is none."""
    match test:
        case ast.UnaryOp(ast.Not(), inner):
            text, side = without_sign(inner)
            return text, not side
        case ast.Compare(left, [ast.IsNot()], right):
            return ast.dump(ast.Compare(left, [ast.Is()], right)), False
        case _:
            return ast.dump(test), True


def in_evaluation(test: ast.expr) -> Sides:
    """Return whether a condition, where it is true and where it is false, holds in evaluation only."""
    match test:
        case ast.Attribute(_, "training"):
            return False, True
        case ast.Compare(_, [ast.Eq() | ast.NotEq() as operator], [ast.Constant(word)]) if word in _inferring():
            return isinstance(operator, ast.Eq), isinstance(operator, ast.NotEq)
        case _:
            return without_gradients(test)


@cache
def _inferring() -> frozenset[object]:
    """Return the words by which a function is asked to infer: `mode == "predict"`."""
    return frozenset(word for known in frameworks() for word in framework(known).infers)


def without_gradients(test: ast.expr) -> Sides:
    """Return whether a condition, where it is true and where it is false, holds only with gradients off."""
    if not isinstance(test, ast.Call):
        return False, False
    name, (inferring, recording) = _last_word(test.func), _asking()
    return name in inferring, name in recording


def asks_for_modes(text: bytes) -> bool:
    """Check whether a file has a name of a function that asks for a mode."""
    return any(word.encode() in text for words in _asking() for word in words)


@cache
def _asking() -> tuple[frozenset[str], frozenset[str]]:
    """Return the last words of the functions that ask for inference mode, and of those that ask for gradients."""
    known = [framework(name) for name in frameworks()]
    inferring = frozenset(name.rpartition(".")[2] for one in known for name in one.inferring)
    return inferring, frozenset(name.rpartition(".")[2] for one in known for name in one.recording)


@cache
def _setting() -> frozenset[str]:
    """Return the last words of what may turn gradients on, after which what was asked before says nothing."""
    return frozenset(name.rpartition(".")[2] for known in frameworks() for name in framework(known).enabling)


def _leaves(body: Sequence[ast.stmt]) -> bool:
    """Check whether statements end in one after which nothing of their block runs."""
    return bool(body) and isinstance(body[-1], ast.Return | ast.Raise | ast.Continue | ast.Break)
