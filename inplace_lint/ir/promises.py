"""
What the annotation of a parameter promises: a kind of value, a class, a container of numbers or of tensors.

    def forward(self, x: Tensor, sizes: Sequence[int], feats: dict[str, Tensor], rope: Rope | None = None): ...
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet

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
    "ndarray": "array",
    "NDArray": "array",
    "UntypedStorage": "array",
    "TypedStorage": "array",
    "Path": "str",
    "Image": "sequence",
    "Iterable": "sequence",
    "Mapping": "sequence",
}


def named(annotation: ir.Expr | None) -> str:
    """Return the name that an annotation is, in a module or not, beside None, or that is written in it as a text."""
    inner = beside_none(annotation)
    match annotation if inner is None else inner:
        case ir.Name(_, name) | ir.Const(str() as name):
            return name
        case ir.Attr(_, value, name) if outer := named(value):
            return f"{outer}.{name}"
        case _:
            return ""


def class_named(annotation: ir.Expr | None) -> str:
    """Return the name of the class from which an argument derives that is a class: `type[Norm]`; empty for others."""
    inner = beside_none(annotation)
    match annotation if inner is None else inner:
        case ir.Subscript(_, ir.Name(_, "type" | "Type") | ir.Attr(_, _, "Type"), index):
            return named(index)
        case _:
            return ""


def kind_of(annotation: ir.Expr | None) -> str:
    """Return the kind of value that an annotation names; empty if it is none of those known."""
    inner = beside_none(annotation)
    match annotation if inner is None else inner:
        case ir.Name(_, name) | ir.Attr(_, _, name):
            return _KINDS.get(name, "")
        case ir.Const(str() as text):
            return _KINDS.get(text.rpartition(".")[2].partition("[")[0], "")
        case ir.Subscript(_, value, index):
            kind, items = kind_of(value), index.items if isinstance(index, ir.Sequence) else (index,)
            return "array" if kind == "sequence" and any(kind_of(item) == "array" for item in items) else kind
        case _:
            return ""


def holds_numbers(annotation: ir.Expr | None) -> bool:
    """Check whether an annotation names a container of numbers, such as `Sequence[int]`: its items have no gradient."""
    kinds = _kinds_of_items(annotation)
    return bool(kinds) and kinds <= {"number", "flag"}


def holds_tensors(annotation: ir.Expr | None) -> bool:
    """Check whether an annotation names a container of tensors, such as `dict[str, Tensor]`."""
    kinds = _kinds_of_items(annotation)
    return "tensor" in kinds and kinds <= {"tensor", "str"}


def _kinds_of_items(annotation: ir.Expr | None) -> AbstractSet[str]:
    """Return the kinds of what the container has that an annotation names, keys among them; none for anything else."""
    inner = beside_none(annotation)
    match annotation if inner is None else inner:
        case ir.Subscript(_, outer, index) if kind_of(outer) == "sequence":
            items = index.items if isinstance(index, ir.Sequence) else (index,)
            return {kind_of(item) for item in items if not (isinstance(item, ir.Const) and item.value is ...)}
        case _:
            return frozenset()


def beside_none(annotation: ir.Expr | None) -> ir.Expr | None:
    """Return what an annotation allows beside None; None where it does not allow that."""
    match annotation:
        case ir.Subscript(_, ir.Name(_, "Optional") | ir.Attr(_, _, "Optional"), inner):
            return inner
        case ir.Binary(_, "|", inner, ir.Const(None)):
            return inner
        case _:
            return None
