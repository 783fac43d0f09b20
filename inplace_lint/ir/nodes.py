"""
The node types of the IR: statements here, expressions in `expressions`, all of them as `ir.Name`, `ir.Assign`, ….

    x[0] += y    ->    AugAssign(at=0, op="+", target=Subscript(…), value=Name(at=3, id="y"))

`frontend` makes them and `interp` runs them. A node is a named tuple, so it pickles as a tuple and costs little. `at`
is an ordinal within the slice, never a position. What the IR does not model is `Unknown`, with the names it reads and
binds, so that the interpreter can forget what it knows of these and go on.
"""

from __future__ import annotations

from inplace_lint.core.span import Slice
from inplace_lint.ir.expressions import *  # noqa: F403 - `ir.Name` and `ir.Assign` are read from one module
from inplace_lint.ir.expressions import Expr, Keyword, Node, Unknown


class ExprStmt(Node):
    """An expression whose value is dropped."""

    at: int
    value: Expr


class Assign(Node):
    """`targets[0] = targets[1] = … = value`; an annotated assignment with a value is one too."""

    at: int
    targets: tuple[Expr, ...]
    value: Expr


class Declare(Node):
    """`target: annotation = value` or without a value: what a dataclass field or a typed name is made of."""

    at: int
    target: Expr
    annotation: Expr
    value: Expr | None


class AugAssign(Node):
    """`target op= value`; `op` is the binary token without `=`."""

    at: int
    op: str
    target: Expr
    value: Expr


class Delete(Node):
    """`del targets`."""

    at: int
    targets: tuple[Expr, ...]


class If(Node):
    """`if test: body else: orelse`; an `elif` is an `If` alone in `orelse`."""

    at: int
    test: Expr
    body: tuple[Stmt, ...]
    orelse: tuple[Stmt, ...]


class For(Node):
    """`for target in iter: body else: orelse`, `async for` too."""

    at: int
    target: Expr
    iter: Expr
    body: tuple[Stmt, ...]
    orelse: tuple[Stmt, ...]


class While(Node):
    """`while test: body else: orelse`."""

    at: int
    test: Expr
    body: tuple[Stmt, ...]
    orelse: tuple[Stmt, ...]


class WithItem(Node):
    """`context as target`."""

    context: Expr
    target: Expr | None


class With(Node):
    """`with items: body`, `async with` too."""

    at: int
    items: tuple[WithItem, ...]
    body: tuple[Stmt, ...]


class Handler(Node):
    """`except type as name: body`; `type` is None for a bare `except`."""

    type: Expr | None
    name: str | None
    body: tuple[Stmt, ...]


class Try(Node):
    """`try: body except …: else: orelse finally: finalbody`, `except*` too."""

    at: int
    body: tuple[Stmt, ...]
    handlers: tuple[Handler, ...]
    orelse: tuple[Stmt, ...]
    finalbody: tuple[Stmt, ...]


class Case(Node):
    """
    One `case` of a `match`.

    `test` is the pattern as an ordinary expression over the name of the subject; None for a pattern that always matches
    (`_`, a bare capture). `captures` assign what it captures then; `guard` is the `if`.
    """

    test: Expr | None
    captures: tuple[Assign, ...]
    guard: Expr | None
    body: tuple[Stmt, ...]


class Match(Node):
    """`match subject: cases`; the tests refer to the subject as `name`, which no Python name can equal."""

    at: int
    subject: Expr
    name: str
    cases: tuple[Case, ...]


class Return(Node):
    """`return value`."""

    at: int
    value: Expr | None


class Raise(Node):
    """`raise value`."""

    at: int
    value: Expr | None


class Assert(Node):
    """`assert test`."""

    at: int
    test: Expr


class Jump(Node):
    """`kind` is break, continue or pass."""

    kind: str


class Scope(Node):
    """`global names` or `nonlocal names`."""

    kind: str
    names: tuple[str, ...]


class ImportName(Node):
    """`import module` (binds its first part) or `import module as alias`."""

    at: int
    module: str
    alias: str | None


class ImportFrom(Node):
    """`from ..module import name as alias`; `level` counts the dots; `name` is `*` for a star import."""

    at: int
    module: str
    level: int
    names: tuple[tuple[str, str | None], ...]


class Param(Node):
    """`kind` is positional-only, plain, var-positional, keyword-only or var-keyword."""

    at: int
    name: str
    kind: str
    default: Expr | None
    annotation: Expr | None


class Function(Node):
    """A `def` or a lambda: `sha` identifies its source text; `local` are the names that its body binds."""

    qualname: str
    params: tuple[Param, ...]
    body: tuple[Stmt, ...]
    slice: Slice
    sha: str
    local: frozenset[str]
    is_async: bool
    is_generator: bool


class FunctionDef(Node):
    """`@decorators def name(…)`."""

    at: int
    name: str
    function: Function
    decorators: tuple[Expr, ...]
    returns: Expr | None


class ClassDef(Node):
    """`@decorators class name(*bases, **keywords): body`; in a slice of kind "class" the body lacks the methods."""

    at: int
    name: str
    bases: tuple[Expr, ...]
    keywords: tuple[Keyword, ...]
    body: tuple[Stmt, ...]
    decorators: tuple[Expr, ...]


Stmt = (
    ExprStmt
    | Assign
    | Declare
    | AugAssign
    | Delete
    | If
    | For
    | While
    | With
    | Try
    | Match
    | Return
    | Raise
    | Assert
    | Jump
    | Scope
    | ImportName
    | ImportFrom
    | FunctionDef
    | ClassDef
    | Unknown
)


class Code(Node):
    """A lowered slice: its statements, and how many ordinals they use."""

    slice: Slice
    body: tuple[Stmt, ...]
    size: int
