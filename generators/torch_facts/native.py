"""
Reads what the torch wheel says of itself: `native_functions.yaml` and `derivatives.yaml`, through torchgen's loaders.

An `Overload` is one C++ signature: its Python argument list, what it writes, what it is a view of, and what the
derivative formula of each argument keeps. It does not know what composite functions do; only running them tells.
"""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Parameter:
    """One argument: `type` as in the schema (`Tensor`, `int[]`, `Scalar?`); `default` as Python text, or None."""

    name: str
    type: str
    default: str | None
    keyword: bool = False

    @property
    def is_tensor(self) -> bool:
        """Whether only a tensor, or tensors, can be passed."""
        return self.type.startswith("Tensor")


@dataclass(frozen=True, slots=True)
class Overload:
    """One signature; `saves` maps an argument to the arguments of which one must require grad (empty: any)."""

    name: str
    full: str
    module: str
    is_function: bool
    is_method: bool
    parameters: tuple[Parameter, ...]
    writes: tuple[str, ...] = ()
    view_of: tuple[str, ...] = ()
    results: int = 1
    saves: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    keeps_results: tuple[int, ...] = ()
    copies_self: bool = False
    has_formula: bool = False
    differentiable: tuple[str, ...] = ()


@lru_cache(maxsize=1)
def overloads() -> dict[str, tuple[Overload, ...]]:
    """
    Return the overloads of each base name in Python (`add`, `special_expit`), `out=` and named-tensor ones left out.

    `nn` functions are under their bare name too (`gelu`), `linalg_*`, `fft_*`, `special_*` under the full one.
    """
    found: dict[str, list[Overload]] = {}
    for function, formula in _functions():
        overload = _overload(function, formula)
        if overload is not None:
            found.setdefault(overload.name, []).append(overload)
    return {name: tuple(entries) for name, entries in found.items()}


def _functions() -> Iterator[tuple[Any, Any]]:
    """Pair each native function with its derivative information, if it has any."""
    torchgen = importlib.import_module("torchgen")
    packaged = Path(torchgen.__file__ or "").parent / "packaged"
    # The wheel ships tools/autograd below torchgen/packaged, where imports do not look.
    sys.path.insert(0, str(packaged))
    try:
        load = importlib.import_module("autograd.load_derivatives").load_derivatives
        parse = importlib.import_module("torchgen.gen").parse_native_yaml
    finally:
        sys.path.remove(str(packaged))
    native, tags = packaged / "ATen/native/native_functions.yaml", packaged / "ATen/native/tags.yaml"
    infos, _ = load(str(packaged / "autograd/derivatives.yaml"), str(native), str(tags))
    by_name: dict[str, Any] = {}
    for schema, per_key in infos.items():
        info = per_key.get("Default") or next(iter(per_key.values()))
        by_name[str(info.func.func.name)] = info
        by_name.setdefault("like " + str(schema.signature()), info)
    for function in parse(str(native), str(tags)).native_functions:
        name = str(function.func.name)
        info = by_name.get(name) or by_name.get("like " + str(function.func.signature()))
        yield function, info if info is not None and info.has_derivatives else None


def _overload(function: Any, formula: Any) -> Overload | None:  # noqa: ANN401 - an object of torchgen
    schema = function.func
    arguments = schema.arguments
    if arguments.out or any("Dimname" in str(argument.type) for argument in arguments.flat_all):
        return None
    variants = {str(variant).rpartition(".")[2] for variant in function.variants}
    tensors = [argument.name for argument in arguments.flat_all if argument.type.is_tensor_like()]
    positional = [*arguments.pre_self_positional, *([arguments.self_arg.argument] if arguments.self_arg else ())]
    positional += arguments.post_self_positional
    keyword = [*arguments.pre_tensor_options_kwarg_only, *arguments.post_tensor_options_kwarg_only]
    parameters = [_parameter(argument, keyword=False) for argument in positional]
    parameters += [_parameter(argument, keyword=True) for argument in keyword]
    if arguments.tensor_options is not None:
        options = ("dtype", "layout", "device", "pin_memory")
        parameters += [Parameter(name, "option", "None", keyword=True) for name in options]
    return Overload(
        name=str(schema.name.name),
        full=str(schema.name),
        module=function.python_module or "",
        is_function="function" in variants,
        is_method="method" in variants,
        parameters=tuple(parameters),
        writes=tuple(a.name for a in arguments.flat_all if a.annotation and a.annotation.is_write),
        view_of=tuple(a.name for a in arguments.flat_all if a.annotation and not a.annotation.is_write),
        results=len(schema.returns),
        **({} if formula is None else _kept(formula, schema, tensors)),
    )


def _parameter(argument: Any, *, keyword: bool) -> Parameter:  # noqa: ANN401 - an object of torchgen
    text = None if argument.default is None else _literal(argument.default)
    return Parameter(argument.name, str(argument.type), text, keyword)


def _literal(text: str) -> str:
    if re.fullmatch(r"-?[\d.e+-]+|True|False|None|\[.*\]|'.*'|\".*\"", text):
        return text.replace('"', "'")
    return "1" if text == "Mean" else "None"


def _kept(formula: Any, schema: Any, tensors: list[str]) -> dict[str, Any]:  # noqa: ANN401 - an object of torchgen
    """Mirror torchgen `save_variables` and `guard_for`: what is stored, and for the sake of whose gradient."""
    named = {
        _name(saved): saved
        for saved in formula.all_saved_inputs
        if "Tensor" in str(saved.nctype.type) and "TensorGeometry" not in str(saved.nctype.type)
    }
    saves: dict[str, tuple[str, ...]] = {
        name: _for_whom(name, saved, formula, schema) for name, saved in named.items() if name in tensors
    }
    inplace = str(schema.name.name).endswith("_")
    copies_self = inplace and saves.pop("self", None) is not None
    results = [str(_name(saved)) for saved in formula.all_saved_outputs]
    returned = [entry.name for entry in schema.returns]
    kept = {
        int(match.group(1) or 0)
        if (match := re.fullmatch(r"result(\d*)", name))
        else returned.index(name)
        if name in returned
        else 0
        for name in results
    }
    return {
        "saves": saves,
        "keeps_results": tuple(sorted(kept)),
        "copies_self": copies_self,
        "has_formula": True,
        "differentiable": tuple(sorted({name for entry in formula.derivatives for name in entry.var_names})),
    }


def _name(saved: Any) -> str:  # noqa: ANN401 - an object of torchgen
    return str(getattr(saved.nctype.name, "name", saved.nctype.name))


def _for_whom(name: str, saved: Any, formula: Any, schema: Any) -> tuple[str, ...]:  # noqa: ANN401 - an object of torchgen
    everyone = {entry for derivative in formula.derivatives for entry in derivative.var_names}
    lists = any(a.type.is_list_like() for a in schema.arguments.flat_all if a.type.is_tensor_like())
    users = [derivative for derivative in formula.derivatives if saved in derivative.saved_inputs]
    if lists or "backward" in formula.name or len(everyone) <= 1 or len(users) != 1:
        return ()
    if "OptionalCType" in repr(saved.nctype.type):
        return ()
    (user,) = users
    if len(user.var_names) == 1:
        return tuple(user.var_names)
    match = re.search(rf"wrap_opt_if\({name},(.*?)\)", user.formula)
    if match is None:
        return ()
    return tuple(user.var_names[int(index)] for index in re.findall(r"grad_input_mask\[(\d+)\]", match.group(1)))


@lru_cache(maxsize=1)
def takes_out() -> frozenset[str]:
    """Return the base names that have an `out=` form in Python."""
    return frozenset(
        str(function.func.name.name)
        for function, _ in _functions()
        if function.func.arguments.out and "generated" not in function.tags
    )
