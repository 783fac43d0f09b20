"""
The edits that make one operation of a source file an in-place one, and the text with one of them made.

An edit is named by its kind and the place of the expression or statement that it changes, so that a mutant can be
stored without any text of the library. The edited text has the lines of the original.

| kind | before | after |
|---|---|---|
| augmented | `x = x + y` | `x += y` |
| reused | `z = x + y`, `return x + y` | `x += y; z = x`, `x += y; return x` |
| arithmetic | `f(x + y)` | `f((x).add_(y))` |
| method | `x.sigmoid()` | `x.sigmoid_()` |
| function | `torch.exp(x)`, `paddle.add(x, y)` | `(x).exp_()`, `(x).add_(y)` |
| functional | `F.relu(x)`, `self.relu(x)` | `F.relu_(x)` |
| flag | `nn.ReLU()`, `F.dropout(x, 0.1)` | `nn.ReLU(inplace=True)`, `F.dropout(x, 0.1, inplace=True)` |
| item | `x = f(x)` | `x[...] = f(x)` |
| clone | `x.clone()` | `x` |
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

_OPERATORS: dict[type[ast.operator], tuple[str, str]] = {
    ast.Add: ("+", "add_"),
    ast.Sub: ("-", "subtract_"),
    ast.Mult: ("*", "mul_"),
    ast.Div: ("/", "divide_"),
    ast.Pow: ("**", "pow_"),
}
_PADDLE_METHODS = {"mul_": "multiply_"}
_METHODS = frozenset(
    (
        "abs add addcdiv addcmul addmm ceil clamp clip cos cosh cumprod cumsum digamma div divide erf exp expm1 "
        "flatten floor fmod index_add index_copy index_fill index_put lerp lgamma log log10 log1p log2 logit "
        "masked_fill masked_scatter mul multiply neg pow reciprocal relu remainder renorm reshape round rsqrt "
        "scale scatter scatter_add sigmoid sign sin sinh softmax sqrt square squeeze sub subtract t tan tanh "
        "transpose tril triu unsqueeze where"
    ).split()
)
_FUNCTIONAL = frozenset("elu hardtanh leaky_relu relu rrelu selu softmax tanh threshold".split())
_FLAGGED = frozenset(
    (
        "alpha_dropout celu dropout dropout2d elu feature_alpha_dropout hardsigmoid hardswish hardtanh leaky_relu mish "
        "relu relu6 rrelu selu silu threshold"
    ).split()
)
_MODULES = frozenset(name.replace("_", "") for name in _FLAGGED) | {"swish"}
_FRAMEWORKS = ("torch", "paddle")
_FUNCTIONAL_NAMES = ("F", "nn.functional", "torch.nn.functional", "paddle.nn.functional")

Place = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class Edit:
    """
    One way to edit a file.

    `changes` are the stretches of bytes to replace, as (from, to, new). `written` is the place of the expression whose
    value is written to, or is the module that then writes; `function` the qualified name of the function around it.
    `turn` counts the edits of this kind that begin at the same place, as in `x.clamp(0).log()`.
    """

    kind: str
    line: int
    column: int
    last_line: int
    function: str
    written: Place
    changes: tuple[tuple[int, int, str], ...]
    turn: int = 0


def edits(source: bytes) -> list[Edit]:
    """Return each edit of what functions do in a file, in the order of the text."""
    finder = _Finder(source)
    finder.visit(ast.parse(source))
    turns: dict[tuple[str, int, int], int] = {}
    found = []
    for edit in finder.found:
        key = (edit.kind, edit.line, edit.column)
        found.append(replace(edit, turn=turns.setdefault(key, 0)))
        turns[key] += 1
    return found


def apply(source: bytes, kind: str, line: int, column: int, turn: int) -> bytes:
    """Return the text with one edit made. Raises: LookupError, where there is none of this name."""
    for edit in edits(source):
        if (edit.kind, edit.line, edit.column, edit.turn) == (kind, line, column, turn):
            return made(source, edit)
    raise LookupError(f"no {kind} edit at {line}:{column}")


def made(source: bytes, edit: Edit) -> bytes:
    """Return the text with an edit made that was found in it."""
    for start, end, new in sorted(edit.changes, reverse=True):
        source = source[:start] + new.encode() + source[end:]
    return source


def place(node: ast.expr | ast.stmt) -> Place:
    """Return where a node begins and ends."""
    assert node.end_lineno is not None and node.end_col_offset is not None  # noqa: PT018 - both or none
    return node.lineno, node.col_offset, node.end_lineno, node.end_col_offset


class _Finder(ast.NodeVisitor):
    def __init__(self, source: bytes) -> None:
        self.source = source
        self.found: list[Edit] = []
        self.paddle = b"import paddle" in source or b"from paddle" in source
        self._starts = [0]
        for line in source.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))
        self._scopes: list[str] = []
        self._functions = 0
        self._written: set[int] = set()  # the operations that became `+=`

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._scopes.append(node.name)
        self.generic_visit(node)
        self._scopes.pop()

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._scopes.append(node.name)
        self._functions += 1
        for statement in node.body:
            self.visit(statement)
        self._functions -= 1
        self._scopes.pop()

    def visit_Assign(self, node: ast.Assign) -> None:
        match node:
            case ast.Assign(targets=[ast.Name(name) as target], value=ast.Call() as value):
                before = [item for item in ast.walk(value) if isinstance(item, ast.Name) and item.id == name]
                if before:
                    self._add("item", node, before[0], [(*self._after(target), "[...]")])
            case ast.Assign(targets=[target], value=ast.BinOp() as value):
                self._augmented(node, value, self._text(target))
            case _:
                pass
        self.generic_visit(node)

    def visit_Return(self, node: ast.Return) -> None:
        if isinstance(node.value, ast.BinOp):
            self._augmented(node, node.value, None)
        self.generic_visit(node)

    def _augmented(self, statement: ast.stmt, value: ast.BinOp, target: str | None) -> None:
        """Add the edit of `target = left + right`, or of `return left + right` (no target)."""
        written = self._text(value.left)
        simple = isinstance(value.left, ast.Name | ast.Attribute | ast.Subscript)
        if type(value.op) not in _OPERATORS or not simple or statement.lineno != statement.end_lineno:
            return
        same = target == written
        if not same and not isinstance(value.left, ast.Name):
            return
        (start, end), right = self._span(statement), self._span(value.right)
        after = "" if same else f"; return {written}" if target is None else f"; {target} = {written}"
        operator, _ = _OPERATORS[type(value.op)]
        changes = [(start, right[0], f"{written} {operator}= ("), (right[1], end, f"){after}")]
        self._add("augmented" if same else "reused", statement, value.left, changes)
        if not self.paddle:  # where an operator with `=` makes a new tensor, the method is another edit
            self._written.add(id(value))

    def visit_BinOp(self, node: ast.BinOp) -> None:
        (start, end), left, right = self._span(node), self._span(node.left), self._span(node.right)
        constant = isinstance(node.left, ast.Constant | ast.JoinedStr | ast.List | ast.Tuple)
        if type(node.op) in _OPERATORS and not constant and id(node) not in self._written:
            _, method = _OPERATORS[type(node.op)]
            method = _PADDLE_METHODS.get(method, method) if self.paddle else method
            changes = [(start, left[0], "("), (left[1], right[0], f").{method}("), (right[1], end, ")")]
            self._add("arithmetic", node, node.left, changes)
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        match node:
            case ast.Call(func=ast.Attribute(value=owner, attr="clone"), args=[], keywords=[]):
                self._add("clone", node, owner, [(self._span(owner)[1], self._span(node)[1], "")])
            case ast.Call(func=ast.Attribute(value=owner, attr=name)) if ast.unparse(owner) in _FUNCTIONAL_NAMES:
                self._functional(node, name, ast.unparse(owner))
            case ast.Call(func=ast.Attribute(value=ast.Name(owner), attr=name), args=[first, *_]) if (
                owner in _FRAMEWORKS
            ):
                self._function(node, name, first)
            case ast.Call(func=ast.Attribute(value=owner, attr=name) as function) if (
                name in _METHODS and self._text(owner) != "self"
            ):
                self._add("method", node, owner, [(*self._after(function), "_")])
            case ast.Call(func=ast.Attribute(attr=name), args=[_]) if name in ("relu", "act", "activation"):
                self._functional(node, "relu" if "relu" in name else "", "F")
        if _name(node.func)[:1].isupper() and _name(node.func).lower() in _MODULES:
            self._flag(node, node)
        self.generic_visit(node)

    def _function(self, node: ast.Call, name: str, first: ast.expr) -> None:
        """Add the edit of `torch.name(first, …)` into `(first).name_(…)`."""
        rest = [*node.args[1:], *(keyword.value for keyword in node.keywords)]
        if name not in _METHODS or isinstance(first, ast.Starred | ast.List | ast.Tuple):
            return
        (start, end), (first_start, first_end) = self._span(node), self._span(first)
        comma = self.source.find(b",", first_end, end)
        changes = [(start, first_start, "("), (first_end, comma + 1 if rest else first_end, f").{name}_(")]
        if not rest and self.source[first_end : end - 1].strip():
            return  # a comma, or a comment
        self._add("function", node, first, changes)

    def _functional(self, node: ast.Call, name: str, owner: str) -> None:
        """Add the edits of `F.name(x)`, or of `self.name(x)`, which is called through `F` then."""
        if not node.args:
            return
        if name in _FUNCTIONAL and (owner != "F" or b" as F" in self.source):
            self._add("functional", node, node.args[0], [(*self._span(node.func), f"{owner}.{name}_")])
        if name in _FLAGGED and _name(node.func) == name and ast.unparse(node.func).startswith(owner):
            self._flag(node, node.args[0])

    def _flag(self, node: ast.Call, written: ast.expr) -> None:
        if self.paddle or any(keyword.arg in (None, "inplace") for keyword in node.keywords):
            return
        inner = [*node.args, *(keyword.value for keyword in node.keywords)]
        close = self._span(node)[1] - 1
        tail = self.source[max(self._span(item)[1] for item in inner) : close] if inner else b""
        if not tail.strip():
            self._add("flag", node, written, [(close, close, f"{', ' if inner else ''}inplace=True")])

    def _add(
        self, kind: str, node: ast.expr | ast.stmt, written: ast.expr, changes: Sequence[tuple[int, int, str]]
    ) -> None:
        """Add an edit, unless it would take a line away or stands outside of functions."""
        whole = all(b"\n" not in self.source[start:end] for start, end, _ in changes)
        if self._functions and whole:
            line, column, last_line, _ = place(node)
            function = ".".join(self._scopes)
            self.found.append(Edit(kind, line, column, last_line, function, place(written), tuple(changes)))

    def _span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        line, column, last_line, last_column = place(node)
        return self._starts[line - 1] + column, self._starts[last_line - 1] + last_column

    def _after(self, node: ast.expr) -> tuple[int, int]:
        end = self._span(node)[1]
        return end, end

    def _text(self, node: ast.expr) -> str:
        start, end = self._span(node)
        return self.source[start:end].decode()


def _name(function: ast.expr) -> str:
    match function:
        case ast.Name(name) | ast.Attribute(attr=name):
            return name
        case _:
            return ""


class _Watcher(ast.NodeTransformer):
    def __init__(self, numbers: Mapping[Place, Sequence[int]]) -> None:
        self.numbers = numbers

    def visit(self, node: ast.AST) -> ast.AST:
        new = self.generic_visit(node)
        if not isinstance(new, ast.expr) or not isinstance(getattr(new, "ctx", ast.Load()), ast.Load):
            return new
        for number in self.numbers.get(place(new), ()):
            watch = ast.copy_location(ast.Name("__watch__", ast.Load()), new)
            new = ast.copy_location(ast.Call(watch, [ast.copy_location(ast.Constant(number), new), new], []), new)
        return new


def watched(source: bytes, found: Iterable[tuple[int, Edit]]) -> ast.Module:
    """Return the file's tree, in which each value that an edit writes to passes through `__watch__(number, value)`."""
    numbers: dict[Place, list[int]] = {}
    for number, edit in found:
        numbers.setdefault(edit.written, []).append(number)
    tree = ast.parse(source)
    _Watcher(numbers).visit(tree)  # changes the tree itself
    return tree
