"""
The kinds of values that variables are bound to, as far as the text of one function tells.

    n, parts, out = 0, [], {}       # a number and two containers: `n += 1` writes no tensor
"""

from __future__ import annotations

import ast

from msgspec import Struct, field

from inplace_lint.effects.locality import is_fresh

USED_AS_CONTAINER = frozenset({"append", "extend", "get", "insert", "items", "keys", "pop", "setdefault", "update"})
NO_TENSORS = frozenset({"text", "container", "containers"})
_ANNOTATED = {
    **dict.fromkeys(("bool", "float", "int"), "number"),
    "str": "text",
    **dict.fromkeys(
        ("Dict", "List", "Mapping", "MutableMapping", "OrderedDict", "Set", "dict", "list", "set"), "container"
    ),
}
_MAKERS = frozenset({"dict", "list", "set", "OrderedDict", "defaultdict", "deque", "Counter", "state_dict"})


class Kinds(Struct):
    """
    The variables of one piece of code, nested functions included.

    `stores` counts the bindings of each variable, `known` those to a value of one kind, a parameter's first.
    `filled` are variables whose items are set, `grown` the augmented assignments with what is added,
    `written` those of which a method that writes was called. `containers` are used as only lists and dicts can be.
    `initialised` are those of whose `init` a function was called, or that are it by their names: if they are imported.
    """

    stores: dict[str, int] = field(default_factory=dict)
    known: dict[str, list[str]] = field(default_factory=dict)
    parameters: set[str] = field(default_factory=set)
    filled: set[str] = field(default_factory=set)
    grown: list[tuple[str, str]] = field(default_factory=list)
    written: set[str] = field(default_factory=set)
    containers: set[str] = field(default_factory=set)
    initialised: set[str] = field(default_factory=set)

    def assign(self, target: ast.AST, value: ast.AST) -> None:
        """Add what a target is bound to."""
        if isinstance(target, ast.Name):
            self.known.setdefault(target.id, []).append(kind_of(value))
        elif isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
            for inner, part in zip(target.elts, value.elts, strict=True):
                self.assign(inner, part)

    def declare(self, parameter: ast.arg | ast.arguments) -> None:
        """Add a parameter, of the kind that its annotation names; one that takes all other keywords is a dict."""
        if isinstance(parameter, ast.arguments):
            if parameter.kwarg is not None:
                self.known.setdefault(parameter.kwarg.arg, []).insert(0, "container")
            return
        self.parameters.add(parameter.arg)
        kind = _kind_named(parameter.annotation)
        if kind:
            self.known.setdefault(parameter.arg, []).insert(0, kind)

    def of(self, name: str) -> str:
        """
        Return the kind that all bindings of a variable have; empty for any other.

        Kinds are number, text, container, containers for one of these, and fresh.
        """
        if name in self.containers and self.stores.get(name, 0) <= 1:
            return "container"
        known = self.known.get(name, [])
        if not known or len(known) != self.stores.get(name, 0) + (name in self.parameters):
            return ""
        return known[0] if len(set(known)) == 1 else ""

    def may_be_fresh(self, name: str) -> bool:
        """Return whether a variable is bound to a fresh tensor at all."""
        return "fresh" in self.known.get(name, ())

    def grown_tensors(self) -> set[str]:
        """Return the variables that may be tensors and are written by an augmented assignment."""
        return {
            name
            for name, kind, added in ((name, self.of(name), added) for name, added in self.grown)
            if not {kind, added} & NO_TENSORS and not kind == added == "number"
        }


def kind_of(value: ast.AST) -> str:
    """Return the kind of value that an expression is, from its form."""
    match value:
        case ast.Constant(bool() | int() | float()) | ast.Call(ast.Name("len" | "int" | "float")):
            return "number"
        case ast.Constant(str()) | ast.JoinedStr():
            return "text"
        case ast.Call(ast.Attribute(_, "setdefault"), [_, default]):
            return kind_of(default)
        case ast.Call(ast.Name("defaultdict") | ast.Attribute(_, "defaultdict"), [ast.Name(inner)]) if inner in _MAKERS:
            return "containers"
        case ast.Call(ast.Name(name) | ast.Attribute(_, name)) if name in _MAKERS:
            return "container"
        case ast.List() | ast.Tuple() | ast.Dict() | ast.Set() | ast.ListComp() | ast.DictComp() | ast.SetComp():
            return "container"
        case _:
            return "fresh" if is_fresh(value) else ""


def _kind_named(annotation: ast.AST | None) -> str:
    """Return the kind that an annotation names."""
    match annotation:
        case ast.Name(name) | ast.Attribute(_, name):
            return _ANNOTATED.get(name, "")
        case ast.Subscript(ast.Name("Optional") | ast.Attribute(_, "Optional"), inner):
            return _kind_named(inner)
        case ast.Subscript(value):
            return _kind_named(value)
        case _:
            return ""


def members(node: ast.ClassDef) -> dict[str, str]:
    """Return the kinds of the attributes that a class sets to values of one kind only."""
    found: dict[str, set[str]] = {}
    for method in node.body:
        instance = receiver(method)
        for inner in ast.walk(method) if instance else ():
            if isinstance(inner, ast.Assign | ast.AnnAssign) and inner.value is not None:
                for target in inner.targets if isinstance(inner, ast.Assign) else (inner.target,):
                    match target:
                        case ast.Attribute(ast.Name(holder), name) if holder == instance:
                            found.setdefault(name, set()).add(kind_of(inner.value))
                        case _:
                            pass
    return {name: next(iter(kinds)) for name, kinds in found.items() if len(kinds) == 1}


def receiver(node: ast.AST) -> str:
    """Return the name of the first parameter of a function: that of the instance, if the function is a method."""
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return ""
    return next((param.arg for param in (*node.args.posonlyargs, *node.args.args)), "")
