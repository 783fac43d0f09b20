"""
Dtypes of results: the class (`float`, `int`, `bool`, `complex`), and which floating one where that is certain.

    h = self.fc(x)                    # float32, as the parameters are
    v = h.to(torch.float32).pow(2)    # `to` gives h itself, and `pow` keeps it

The floating dtype of parameters and of new tensors is the framework's default, unless the program asks for another.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from inplace_lint.domain import origins, traits
from inplace_lint.domain.heap import ListObject, Tensor
from inplace_lint.domain.values import Const, Dotted, Ref, Sym, SymId, Three, Tuple, Value
from inplace_lint.knowledge.words import ValueKind

if TYPE_CHECKING:
    from inplace_lint.domain.state import State
    from inplace_lint.interp.context import Context


class Kind(NamedTuple):
    """A class of dtypes, and the name of the dtype where it is certain."""

    kind: str
    exact: str = ""


UNKNOWN = Kind("unknown")
WHOLE = frozenset({"int", "bool"})  # dtypes without a gradient
_FLOATS = {"float": "float32", "half": "float16", "double": "float64", "float16": "", "float32": "", "float64": ""}
_DTYPES = {
    **{name: Kind("float", exact or name) for name, exact in _FLOATS.items()},
    "bfloat16": Kind("float", "bfloat16"),
    **{name: Kind("int", name) for name in ("int8", "int16", "int32", "int64", "uint8")},
    "short": Kind("int", "int16"),
    "int": Kind("int", "int32"),
    "long": Kind("int", "int64"),
    **dict.fromkeys(("complex64", "complex128", "cfloat", "cdouble"), Kind("complex")),
    "bool": Kind("bool"),
}
_NAMES = {"BFloat16": "bfloat16", "Byte": "uint8", "Char": "int8"}  # of tensors: `x.type("torch.FloatTensor")`
_NAMES |= {name.title(): name for name in ("float", "half", "double", "short", "int", "long", "bool")}
_DTYPES |= {f"{name}Tensor": _DTYPES[dtype] for name, dtype in _NAMES.items()}


def of_storage(state: State, tensor: Tensor) -> str:
    """Return the class of dtypes of what is written, where certain: that of a cast which is a view of it counts."""
    if state.has_trait(traits.WHOLE_NUMBERS, tensor.storage):
        return "int"
    return tensor.dtype if tensor.sure else ""


_FORMATS = {"float16": (5, 10), "bfloat16": (8, 7), "float32": (8, 23), "float64": (11, 52)}  # exponent and mantissa
_WIDTHS = {"float16": 16, "bfloat16": 16, "float32": 32, "float64": 64}


def widens(floating: str, other: str, usual: str) -> bool:
    """Return whether an operand of dtype `other` promotes one of dtype `floating`; an unknown one is taken as usual."""
    mine, its = floating or usual, other or usual
    return mine != its and _WIDTHS.get(its, 0) >= _WIDTHS.get(mine, 0)


def default(state: State, name: str) -> Kind:
    """Return the dtype of new floating tensors; `name` is the framework's default."""
    return Kind("float", "" if state.has_trait(traits.OTHER_DEFAULT, None) else name)


def named(value: Value) -> Kind | None:
    """Return the dtype that a value is, or spells; None for anything else."""
    spelled = value.name if isinstance(value, Dotted) else value.value if isinstance(value, Const) else ""
    return _DTYPES.get(str(spelled).rpartition(".")[2])


def of_tensor(state: State, value: Value) -> Kind | None:
    """Return the class of dtypes where a value is the `dtype` of a tensor of which it is known."""
    match state.symbols.key(value) if isinstance(value, Sym) else None:
        case (origins.DTYPE, Ref() | Sym() as of):
            return _known(state, of)
        case (origins.ATTRIBUTE, int(number), str(name)) if name == _ATTRIBUTE:
            return _known(state, Sym(SymId(number)))
        case _:
            return None


_ATTRIBUTE = "dtype"  # of tensors


def limits(state: State, value: Value) -> dict[str, Value] | None:
    """Return the limits of a dtype that is known, by the names that IEEE 754 and integers have for them."""
    kind = named(value) or of_tensor(state, value)
    exact = "" if kind is None else kind.exact
    if kind is not None and kind.kind == "int" and exact:
        bits, signed = int(exact.lstrip("uint")), exact.startswith("i")
        top = 2 ** (bits - signed) - 1
        return {"bits": Const(bits), "max": Const(top), "min": Const(-top - 1 if signed else 0)}
    if exact not in _FORMATS:
        return None
    exponent, mantissa = _FORMATS[exact]
    step, most = 2.0**-mantissa, 2 ** (exponent - 1) - 1
    largest, normal = (2 - step) * 2.0**most, Const(2.0 ** (1 - most))
    found = {"bits": Const(1 + exponent + mantissa), "eps": Const(step), "max": Const(largest), "min": Const(-largest)}
    return {**found, "tiny": normal, "smallest_normal": normal}


def equals(state: State, value: Value, name: Value) -> Three:
    """
    Return whether a value is the `dtype` of a tensor and equals the one named, where its class decides that.

    Of several floating or whole ones it may be any: who uses a module may convert it.
    """
    found = of_tensor(state, value)
    kind = named(name) if found is not None and isinstance(name, Dotted) else None
    if found is None or kind is None:
        return None
    return True if kind.kind == found.kind == "bool" else None if kind.kind == found.kind else False


def is_of(state: State, value: Value, asked: str) -> Three:
    """Return whether a tensor is of a dtype of the class that a kind of value asks for: `floating`, `complex`."""
    kind = _known(state, value)
    return None if kind is None else kind.kind == _ASKED[ValueKind(asked)]


def _known(state: State, value: Value) -> Kind | None:
    tensor = state.tensor(value)
    return None if tensor is None or not tensor.sure or tensor.dtype == "unknown" else Kind(tensor.dtype, tensor.exact)


def attribute(context: Context, kind: Kind | None, name: str) -> Const | None:
    """Return an attribute of a dtype, where that says whether it is floating or complex; None for all others."""
    if kind is None:
        return None
    facts = context.default()
    forms = facts.forms(f"{facts.framework.packages[0]}.dtype.{name}")
    asked = _ASKED.get(forms[0].returns[0].value) if forms else None
    return None if asked is None else Const(kind.kind == asked)


_ASKED = {ValueKind.FLOATING: "float", ValueKind.COMPLEX: "complex"}


def of_literal(state: State, value: Value | None) -> str | None:
    """Return the class of dtypes of a number, or of nested lists of numbers; None where it is unknown."""
    if isinstance(value, Const):
        return type(value.value).__name__
    if isinstance(value, Sym):
        return "int" if _is_whole(state, value) else None
    inner = state.object(value) if isinstance(value, Ref) else value
    if not isinstance(inner, ListObject | Tuple) or not inner.exact:
        return None
    kinds = {of_literal(state, item) for item in inner.items}
    return next((kind for kind in ("complex", "float", "int", "bool") if kind in kinds and None not in kinds), None)


def _is_whole(state: State, value: object) -> bool:
    """Check whether a number is certainly whole: a size, a length, or computed from such without a division."""
    if isinstance(value, Const):
        return type(value.value) is int
    match state.symbols.key(value) if isinstance(value, Sym) and value.kind == "number" else None:
        case (origins.ITEM, Sym() as inner, _):
            of = state.symbols.key(inner)
            return isinstance(of, tuple) and of[0] is origins.SHAPE
        case (origins.SHAPE, *_) | (origins.BUILTIN, "len", *_):
            return True
        case (origins.BINARY, "+" | "-" | "*" | "//" | "%", left, right):
            return _is_whole(state, left) and _is_whole(state, right)
        case _:
            return False
