"""The arguments that a root is run on, when nobody in the file says what they are."""

from __future__ import annotations

from collections.abc import Mapping

from inplace_lint.domain.state import State
from inplace_lint.domain.values import NONE, Value
from inplace_lint.interp.frame import Arguments
from inplace_lint.interp.program import Program
from inplace_lint.ir import nodes as ir

_KINDS = {
    "int": "number",
    "float": "number",
    "bool": "flag",
    "str": "str",
    "bytes": "str",
    "Tensor": "tensor",
    "List": "sequence",
    "list": "sequence",
    "Tuple": "sequence",
    "tuple": "sequence",
    "Sequence": "sequence",
    "Dict": "sequence",
    "dict": "sequence",
    "Callable": "callable",
    "LongTensor": "tensor",
    "FloatTensor": "tensor",
    "ndarray": "sequence",
    "Path": "str",
    "Image": "sequence",
    "Iterable": "sequence",
    "Mapping": "sequence",
}


def nothing() -> Arguments:
    """Give no arguments."""
    return Arguments()


def of_function(
    program: Program, state: State, function: ir.Function, defaults: Mapping[str, Value], skip: int
) -> Arguments:
    """Give the arguments of a function or `forward`: unknown ones, and defaults where they are plain constants."""
    return _arguments(program, state, function, defaults, skip, none_is_open=True)


def of_constructor(program: Program, state: State, function: ir.Function, defaults: Mapping[str, Value]) -> Arguments:
    """Give the arguments of a constructor: its defaults, and unknown ones where it has none."""
    return _arguments(program, state, function, defaults, 1, none_is_open=False)


def _arguments(
    program: Program,
    state: State,
    function: ir.Function,
    defaults: Mapping[str, Value],
    skip: int,
    *,
    none_is_open: bool,
) -> Arguments:
    keywords: list[tuple[str, Value]] = []
    positional: list[Value] = []
    for param in function.params[skip:]:
        if param.kind in {"var-positional", "var-keyword"}:
            continue
        value = _input(program, state, function, param, defaults.get(param.name), none_is_open)
        if param.kind == "positional-only":
            positional.append(value)
        else:
            keywords.append((param.name, value))
    return Arguments(tuple(positional), tuple(keywords))


def _input(
    program: Program,
    state: State,
    function: ir.Function,
    param: ir.Param,
    default: Value | None,
    none_is_open: bool,
) -> Value:
    kind = kind_of(param.annotation)
    if default is not None and not (default == NONE and none_is_open):
        return default
    if default == NONE and kind in {"number", "str", "flag"}:
        return NONE
    optional = default == NONE or _is_optional(param.annotation)
    if kind == "tensor" and optional:
        kind = "input"
    if kind == "flag":
        kind = ""
    elif not kind and none_is_open:
        kind = "input"
    return state.symbols.sym(("param", function.qualname, param.name), kind)


def kind_of(annotation: ir.Expr | None) -> str:
    """Give the kind of value that an annotation promises."""
    match annotation:
        case ir.Name(_, name) | ir.Attr(_, _, name):
            return _KINDS.get(name, "")
        case ir.Const(str() as text):
            return _KINDS.get(text.rpartition(".")[2].partition("[")[0], "")
        case ir.Subscript(_, ir.Name(_, "Optional") | ir.Attr(_, _, "Optional"), index):
            return kind_of(index)
        case ir.Subscript(_, value, _):
            return kind_of(value)
        case ir.Binary(_, "|", left, ir.Const(None)):
            return kind_of(left)
        case _:
            return ""


def _is_optional(annotation: ir.Expr | None) -> bool:
    match annotation:
        case ir.Subscript(_, ir.Name(_, "Optional") | ir.Attr(_, _, "Optional"), _) | ir.Binary(
            _, "|", _, ir.Const(None)
        ):
            return True
        case _:
            return False
