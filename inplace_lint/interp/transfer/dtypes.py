"""
Dtypes of results: the class (`float`, `int`, `bool`, `complex`), and which floating one where that is certain.

    h = self.fc(x)                    # float32, as the parameters are
    v = h.to(torch.float32).pow(2)    # `to` gives h itself, and `pow` keeps it

The floating dtype of parameters and of new tensors is the framework's default, unless the program asks for another.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from inplace_lint.domain import origins, traits
from inplace_lint.domain.heap import ListObject, Tensor
from inplace_lint.domain.values import NONE, Const, Dotted, Ref, Sym, Three, Tuple, Value
from inplace_lint.interp.control import path_condition
from inplace_lint.ir import nodes as ir
from inplace_lint.knowledge.words import ValueKind

if TYPE_CHECKING:
    from inplace_lint.domain.state import State
    from inplace_lint.interp.context import Context
    from inplace_lint.interp.transfer.binding import Binding
    from inplace_lint.knowledge.framework import Framework
    from inplace_lint.knowledge.op import ReturnFact


class Kind(NamedTuple):
    """A class of dtypes, and the name of the dtype where it is certain."""

    kind: str
    exact: str = ""


UNKNOWN = Kind("unknown")
WHOLE = frozenset({"int", "bool"})  # dtypes without a gradient
_LOWER = "lower"  # the dtype that autocast computes in
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


def of_new(binding: Binding, framework: Framework, fact: ReturnFact, operands: list[Tensor]) -> Kind:
    """Return the dtype of a new result: a requested one, that of its fact, or what the operands are promoted to."""
    requested = of_request(binding)
    if requested is not None:
        return requested
    if fact.dtype == "other":
        asked = binding.tensor("other")
        return UNKNOWN if asked is None else Kind(asked.dtype, asked.exact)
    if fact.dtype == "float" and fact.leaf:
        return default(binding.state, framework.default_dtype)
    if fact.dtype not in {"same", "fraction", "count"}:
        own = named(Const(binding.op.name))  # `Tensor.half` is called like its dtype
        return own if own is not None and own.kind == fact.dtype else Kind(fact.dtype)
    common = _common(binding, framework, operands)
    if common.kind not in WHOLE or fact.leaf:
        return common
    if fact.dtype == "fraction":
        return default(binding.state, framework.default_dtype)
    others = [binding.values[name] for name in binding.given if not binding.tensors(name)]
    if fact.dtype == "count":
        return Kind("int")
    if all(isinstance(value, Const) and not isinstance(value.value, float) for value in others):
        whole = any(type(value.value) is int for value in others if isinstance(value, Const))
        return UNKNOWN if whole and common.kind == "bool" else common
    return Kind("float") if any(isinstance(v, Const) and isinstance(v.value, float) for v in others) else UNKNOWN


def _common(binding: Binding, framework: Framework, operands: list[Tensor]) -> Kind:
    """Return the dtype that the operands are promoted to: floating if any of them is."""
    kinds = {tensor.dtype for tensor in operands}
    if len(kinds) == 1 and "float" not in kinds:
        return Kind(kinds.pop())
    kind = next((kind for kind in ("complex", "float", "unknown") if kind in kinds), "int" if kinds else "unknown")
    floats = {tensor.exact for tensor in operands if tensor.dtype in {"float", "unknown"}}
    if kind == "float" and binding.op.name in framework.autocast:
        if binding.state.modes.autocast:
            return Kind(kind, _LOWER)
        floats = floats - {""} or floats  # outside of autocast these refuse operands of different dtypes
    return Kind(kind, floats.pop() if kind == "float" and len(floats) == 1 else "")


def of_view(binding: Binding, fact: ReturnFact, source: Tensor) -> Kind:
    """Return the dtype of a view; a cast to whole numbers that gives the tensor itself shows that this holds such."""
    own = Kind(source.dtype, source.exact) if fact.dtype == "same" else Kind(fact.dtype)
    found = of_request(binding) or own
    if fact.kind == "maybe" and found.kind in WHOLE:
        binding.state.set_trait(traits.WHOLE_NUMBERS, source.storage, True)
    return found


def of_request(binding: Binding) -> Kind | None:
    """
    Return the dtype that a `dtype` argument requests, or one in the place of a shape; None if there is none.

    One that a text chose is unknown: `DTYPES[header["dtype"]]` is that of the path, which the data may never take.
    """
    given = [binding.values[name] for name in ("dtype", "args") if name in binding.given]
    flat = [item for value in given for item in (value.items if isinstance(value, Tuple) else (value,))]
    sizes = binding.values.get("shape")
    asked = [size for size in sizes.items if isinstance(size, Dotted)] if isinstance(sizes, Tuple) else []
    for value in (*flat, *asked):
        kind = named(value)
        if kind is not None:
            chosen = isinstance(binding.exprs.get("dtype"), ir.Name | ir.Subscript)
            return UNKNOWN if chosen and path_condition.takes_text(binding.state) else kind
    return UNKNOWN if any(_may_be_dtype(binding.state, value) for value in flat) else None


def named(value: Value) -> Kind | None:
    """Return the dtype that a value is, or spells; None for anything else."""
    spelled = value.name if isinstance(value, Dotted) else value.value if isinstance(value, Const) else ""
    return _DTYPES.get(str(spelled).rpartition(".")[2])


def of_tensor(state: State, value: Value) -> Kind | None:
    """Return the class of dtypes where a value is the `dtype` of a tensor of which it is known."""
    match state.symbols.key(value) if isinstance(value, Sym) else None:
        case (origins.DTYPE, Ref() as of):
            return _known(state, of)
        case _:
            return None


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


def _may_be_dtype(state: State, value: Value) -> bool:
    """Check whether an argument may request a dtype: a tensor requests its own, sizes request none."""
    if isinstance(value, Sym):
        return value.kind not in {"number", "sequence"}
    return not isinstance(value, Const | Tuple) and not isinstance(state.object(value), ListObject)


def keeps(binding: Binding, name: str) -> Three:
    """Return whether a conversion asks for what a tensor is already, so that it gives the tensor itself."""
    tensor = binding.tensor(name)
    if tensor is None:
        return None
    own = Const(binding.op.name)  # `Tensor.half` is called like its dtype
    given = [binding.values[other] for other in binding.given - {name}]
    given += [own] if named(own) is not None else []
    flat = [item for value in given for item in (value.items if isinstance(value, Tuple) else (value,))]
    answers = {_asks_for(binding, tensor, item) for item in flat if item not in {NONE, Const(False)}}
    return False if False in answers else None if None in answers else True


def _asks_for(binding: Binding, tensor: Tensor, value: Value) -> Three:
    """Return whether a value asks for the dtype that a tensor has; an unknown floating dtype is taken as usual."""
    kind = _spoken(binding.state, value)
    if kind is None or "unknown" in {kind.kind, tensor.dtype}:
        return None
    if kind.kind != tensor.dtype:
        return False
    usual = (
        default(binding.state, "float32").exact
        if kind.kind == "float" and binding.state.modes.autocast is False
        else ""
    )
    asked, has = kind.exact or usual, tensor.exact or usual
    return asked == has if asked and has else None


def _spoken(state: State, value: Value) -> Kind | None:
    """Return the dtype that an argument asks for: one that it names, that of a tensor, or the `dtype` of one."""
    match state.symbols.key(value) if isinstance(value, Sym) else None:
        case (origins.DTYPE, Ref() as of):
            tensor = state.tensor(of)
        case _:
            tensor = state.tensor(value)
    return named(value) if tensor is None else Kind(tensor.dtype, tensor.exact)


def convert(state: State, leaves: list[Ref], arguments: list[Value], kind: Kind | None) -> None:
    """Convert floating tensors to a dtype: the one of a method's name, or one that an argument may be."""
    for value in arguments:
        if kind is None and not (isinstance(value, Const) or _is_device(state, value)):
            kind = named(value) or Kind("float")
    for ref in leaves if kind is not None and kind.kind == "float" else ():
        tensor = state.tensor(ref)
        if tensor is not None and kind is not None and tensor.dtype == "float":
            state.put(ref, replace(tensor, exact=kind.exact))


def _is_device(state: State, value: Value) -> bool:
    match state.symbols.key(value) if isinstance(value, Sym) else None:
        case (_, str(name), *_):
            return name.rpartition(".")[2] == "device"
        case _:
            return False
