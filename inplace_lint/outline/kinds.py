"""What variables are bound to, as far as the text of one function tells: numbers and containers are no tensors."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

_MAKERS = frozenset({"dict", "list", "set", "OrderedDict", "defaultdict", "deque", "Counter"})


@dataclass(slots=True)
class Kinds:
    """
    The variables of one piece of code, nested functions included.

    `stores` counts the bindings of each variable, `known` those to a value of one kind. `filled` are variables whose
    items are set, `grown` the augmented assignments with the kind of what is added.
    """

    stores: dict[str, int] = field(default_factory=dict)
    known: dict[str, list[str]] = field(default_factory=dict)
    parameters: set[str] = field(default_factory=set)
    filled: set[str] = field(default_factory=set)
    grown: list[tuple[str, str]] = field(default_factory=list)

    def assign(self, target: ast.AST, value: ast.AST) -> None:
        """Note what a target is bound to."""
        if isinstance(target, ast.Name):
            self.known.setdefault(target.id, []).append(kind_of(value))
        elif isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
            for inner, part in zip(target.elts, value.elts, strict=True):
                self.assign(inner, part)

    def of(self, name: str) -> str:
        """Give the kind that all bindings of a variable have: number, text, container; empty for any other."""
        known = self.known.get(name, [])
        if name in self.parameters or not known or len(known) != self.stores.get(name, 0):
            return ""
        return known[0] if len(set(known)) == 1 else ""

    def grow_tensors(self) -> bool:
        """Say whether an augmented assignment to a variable may write a tensor: not to a count, a text or a list."""
        return any(
            kind not in {"text", "container"} and not kind == added == "number"
            for kind, added in ((self.of(name), added) for name, added in self.grown)
        )


def kind_of(value: ast.AST) -> str:
    """Give the kind of value that an expression is, from its form."""
    match value:
        case ast.Constant(bool() | int() | float()) | ast.Call(ast.Name("len" | "int" | "float")):
            return "number"
        case ast.Constant(str()) | ast.JoinedStr():
            return "text"
        case ast.Call(ast.Name(name) | ast.Attribute(_, name)) if name in _MAKERS:
            return "container"
        case ast.List() | ast.Dict() | ast.Set() | ast.ListComp() | ast.DictComp() | ast.SetComp():
            return "container"
        case _:
            return ""
