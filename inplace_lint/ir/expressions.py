"""The expression nodes of the IR; use them through `nodes`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from typing_extensions import Self, dataclass_transform

    from inplace_lint.ir.nodes import Function

    @dataclass_transform(frozen_default=True)
    class Node:
        """What a type checker takes a node for: for unions of tuples that hold each other mypy takes a minute."""

        def __iter__(self) -> Iterator[object]: ...
        def __getitem__(self, fields: slice, /) -> tuple[Any, ...]: ...
        def _replace(self, **fields: object) -> Self: ...

else:
    Node = NamedTuple


class Const(Node):
    """A literal: number, string, bytes, True, False, None or `...`."""

    value: object


class Name(Node):
    """A read of a name; as a target, a binding of it."""

    at: int
    id: str


class Attr(Node):
    """`value.name`."""

    at: int
    value: Expr
    name: str


class Subscript(Node):
    """`value[key]`; several keys are one tuple `Sequence`."""

    at: int
    value: Expr
    key: Expr


class SliceExpr(Node):
    """`lower:upper:step` inside a subscript."""

    lower: Expr | None
    upper: Expr | None
    step: Expr | None


class Keyword(Node):
    """`name=value` in a call; `**value` has no name."""

    at: int
    name: str | None
    value: Expr


class Call(Node):
    """`func(*args, **keywords)` in source order; a starred argument is a `Starred`."""

    at: int
    func: Expr
    args: tuple[Expr, ...]
    keywords: tuple[Keyword, ...]


class Starred(Node):
    """`*value` in a call, a display or a target."""

    value: Expr


class Unary(Node):
    """`op` is one of `-`, `+`, `~`, `not`."""

    at: int
    op: str
    operand: Expr


class Binary(Node):
    """`op` is the token: `+ - * / // % ** @ & | ^ << >>`."""

    at: int
    op: str
    left: Expr
    right: Expr


class Compare(Node):
    """A chain `left op right op right …`; `ops` are tokens such as `<`, `==`, `is not`, `in`."""

    at: int
    left: Expr
    ops: tuple[str, ...]
    rights: tuple[Expr, ...]


class BoolOp(Node):
    """`and` or `or` over two or more values."""

    at: int
    op: str
    values: tuple[Expr, ...]


class IfExp(Node):
    """`then if test else orelse`."""

    at: int
    test: Expr
    then: Expr
    orelse: Expr


class Sequence(Node):
    """A display of `kind` list, tuple or set."""

    at: int
    kind: str
    items: tuple[Expr, ...]


class DictDisplay(Node):
    """`{key: value, **value}`; a `**` item has no key."""

    at: int
    items: tuple[tuple[Expr | None, Expr], ...]


class Clause(Node):
    """`for target in iter if condition …` of a comprehension."""

    target: Expr
    iter: Expr
    conditions: tuple[Expr, ...]


class Comprehension(Node):
    """`kind` is list, set, dict or generator; `key` only for dict."""

    at: int
    kind: str
    key: Expr | None
    element: Expr
    clauses: tuple[Clause, ...]


class Lambda(Node):
    """`lambda params: body`; the function's body is one `Return`."""

    at: int
    function: Function


class NamedExpr(Node):
    """`(name := value)`."""

    at: int
    target: Expr
    value: Expr


class Yield(Node):
    """`yield value`, or `yield from value`."""

    at: int
    value: Expr | None


class Format(Node):
    """
    An f-string or t-string: a string computed from `parts`.

    `template.format(*values of the parts)` is the string; the template is empty where it is not known.
    """

    at: int
    parts: tuple[Expr, ...]
    template: str = ""


class Unknown(Node):
    """An expression or a statement that the IR does not model: it reads `reads` and may bind `writes`."""

    at: int
    reason: str
    reads: tuple[str, ...]
    writes: tuple[str, ...]


Expr = (
    Const
    | Name
    | Attr
    | Subscript
    | SliceExpr
    | Call
    | Starred
    | Unary
    | Binary
    | Compare
    | BoolOp
    | IfExp
    | Sequence
    | DictDisplay
    | Comprehension
    | Lambda
    | NamedExpr
    | Yield
    | Format
    | Unknown
)
