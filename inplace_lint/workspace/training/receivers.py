"""
What the variables and attributes of a file may be, by the classes that their only assignments call.

    self.kde = KernelDensity()      # `kde` is one of these, and
    def run(self, engine: Engine):  # `engine` is one of those
        self.kde.fit(x)             # so that this is no use of `Engine.fit`
        engine.fit(x)

Names decide, over the whole file: one that is anything else somewhere may be of any class.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Container, Iterator

from inplace_lint.workspace.training.uses import last_word

_ANY = ""
_LITERALS: dict[type, str] = {
    ast.Dict: "dict",
    ast.DictComp: "dict",
    ast.List: "list",
    ast.ListComp: "list",
    ast.Set: "set",
    ast.SetComp: "set",
    ast.Tuple: "tuple",
    ast.JoinedStr: "str",
}


class Receivers:
    """
    The names of the classes of which the variables of a file are, and the `bases` of the classes in it.

    `attributes` are those that it assigns; `functions` counts the definitions of each name. `holders` are the classes
    whose constructor makes something that may have parameters: it keeps an object of a class, or registers a part;
    `held` counts the definitions of each name that are methods of these.
    """

    def __init__(self, tree: ast.Module) -> None:
        self.attributes: set[str] = set()
        self._of: dict[str, set[str]] = {}
        self.bases: dict[str, frozenset[str]] = {}
        self.functions = Counter[str]()
        self.holders: set[str] = set()
        self.held = Counter[str]()
        for node in ast.walk(tree):
            self._visit(node)

    def classes_of(self, word: str) -> frozenset[str]:
        """Return the names of the classes of which a variable or attribute may be; none if it may be of any."""
        found = self._of.get(word, {_ANY})
        return frozenset() if _ANY in found else frozenset(found)

    def _visit(self, node: ast.AST) -> None:
        match node:
            case ast.Assign(targets, value):
                for target in targets:
                    self._bind(target, value)
            case ast.AnnAssign(target, annotation, value):
                self._bind(target, value)
                if value is None:
                    self._add(last_word(target), _named(annotation))
            case ast.For(target) | ast.AsyncFor(target) | ast.comprehension(target) | ast.NamedExpr(target):
                self._bind(target, None)
            case ast.withitem(_, ast.expr() as target):
                self._bind(target, None)
            case _:
                self._visit_definition(node)

    def _visit_definition(self, node: ast.AST) -> None:
        match node:
            case ast.ClassDef(name, bases):
                if _makes_parts(node):
                    self.holders.add(name)
                    self.held.update(part.name for part in node.body if bases and isinstance(part, ast.FunctionDef))
                self.bases[name] = self.bases.get(name, frozenset()).union(map(last_word, bases))
            case ast.arguments(positional_only, plain, vararg, keyword_only, _, kwarg):
                for one in (*positional_only, *plain, *keyword_only):
                    self._add(one.arg, _named(one.annotation))
                for packed, kind in ((vararg, "tuple"), (kwarg, "dict")):
                    if packed is not None:
                        self._add(packed.arg, kind)
            case ast.FunctionDef(name, decorator_list=decorators, returns=returns):
                self.functions[name] += 1
                if decorators:
                    self._add(name, _named(returns))  # a property is read as an attribute
            case _:
                pass

    def _bind(self, target: ast.expr, value: ast.expr | None) -> None:
        if isinstance(target, ast.Attribute):
            self.attributes.add(target.attr)
        if isinstance(target, ast.Name | ast.Attribute):
            self._add(last_word(target), *_made(value))
            return
        for node in ast.walk(target):
            if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store):
                self._add(last_word(node), _ANY)

    def _add(self, word: str, *made: str) -> None:
        self._of.setdefault(word, set()).update(made)


def _made(value: ast.expr | None) -> Iterator[str]:
    """Yield the names of the classes of which a value may be."""
    match value:
        case ast.Constant(None):
            pass
        case ast.Constant(known):
            yield type(known).__name__
        case ast.Call(ast.Name() | ast.Attribute() as function):
            yield last_word(function)
        case ast.IfExp(_, left, right):
            yield from (*_made(left), *_made(right))
        case _:
            yield _LITERALS.get(type(value), _ANY)


def _named(annotation: ast.expr | None) -> str:
    """Return the class that an annotation names; what else it may be is not a receiver of the same methods."""
    match annotation:
        case ast.Name() | ast.Attribute():
            return last_word(annotation)
        case ast.Constant(str(text)) if text.replace(".", "").isidentifier():
            return text.rpartition(".")[2]
        case ast.BinOp(left, ast.BitOr(), ast.Constant(None)):
            return _named(left)
        case ast.Subscript(ast.Name("Optional"), inner):
            return _named(inner)
        case ast.Subscript(ast.Name(name)) if name != "Union":
            return name
        case _:
            return _ANY


def _makes_parts(node: ast.ClassDef) -> bool:
    """Check whether the constructor of a class makes an object of a class, or calls a method that another class has."""
    methods = {part.name: part for part in node.body if isinstance(part, ast.FunctionDef)}
    inside = list(ast.walk(methods["__init__"])) if "__init__" in methods else []
    raised = [part.exc for part in inside if isinstance(part, ast.Raise)]
    calls = (part.func for part in inside if isinstance(part, ast.Call) and part not in raised)
    return any(last_word(func)[:1].isupper() or _is_inherited(func, methods) for func in calls)


def _is_inherited(func: ast.expr, methods: Container[str]) -> bool:
    """Check whether a callee is a method of `self` that the class does not define."""
    own = isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name) and func.value.id == "self"
    return own and last_word(func) not in methods
