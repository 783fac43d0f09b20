"""
The argument lists of a public torch name: `max(input)`, `max(input, dim, keepdim=False)`, `max(input, other)`.

Python functions say theirs; for those in C++ the native signatures do. Signatures with the same names are one form.
Where two forms could take the same call, each gets a condition on the argument that tells them apart.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Any

import torch

from generators.torch_facts.native import Overload, Parameter, overloads, takes_out

PREFIXES = {
    "torch.Tensor.": "",
    "torch.nn.functional.": "",
    "torch._C._nn.": "",
    "torch.special.": "special_",
    "torch.linalg.": "linalg_",
    "torch.fft.": "fft_",
    "torch.": "",
}


@dataclass(frozen=True, slots=True)
class Form:
    """One argument list; `overloads` is empty for a function written in Python; `spread` is `*name` or empty."""

    parameters: tuple[Parameter, ...]
    overloads: tuple[Overload, ...] = ()
    condition: str = ""
    spread: str = ""
    rest: str = ""

    @property
    def first(self) -> str:
        """The name of the first argument."""
        return self.parameters[0].name if self.parameters else self.spread

    def texts(self) -> list[str]:
        """Return the arguments as the tables spell them."""
        texts: list[str] = []
        keyword = False
        for parameter in self.parameters:
            if parameter.keyword and not keyword:
                texts.append("*" + self.spread)
                keyword = True
            texts.append(parameter.name if parameter.default is None else f"{parameter.name}={parameter.default}")
        if self.spread and not keyword:
            texts.append("*" + self.spread)
        return [*texts, *(["**" + self.rest] if self.rest else [])]

    def bind(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[str] | None:
        """Bind the positional arguments of a call to names; None when the call does not fit this form."""
        positional = [parameter for parameter in self.parameters if not parameter.keyword]
        names = [parameter.name for parameter in positional[: len(args)]]
        if len(args) > len(positional):
            if not self.spread:
                return None
            names += [self.spread] * (len(args) - len(positional))
        known = {parameter.name for parameter in self.parameters}
        if set(kwargs) & set(names) or (not self.rest and not set(kwargs) <= known):
            return None
        given = {**dict(zip(names, args, strict=True)), **kwargs}
        if any(p.default is None and p.name not in given for p in self.parameters):
            return None
        if self.overloads and not any(_accepts(overload, given) for overload in self.overloads):
            return None
        return names


def resolve(name: str) -> Any:  # noqa: ANN401 - whatever torch has under that name
    """Return the object of that dotted name, or None."""
    try:
        return attrgetter(name.removeprefix("torch."))(torch)
    except AttributeError:
        return None


def native_name(name: str) -> str:
    """Return the name in `native_functions.yaml` of what a public name may be."""
    prefix = next(prefix for prefix in PREFIXES if name.startswith(prefix))
    return PREFIXES[prefix] + name.removeprefix(prefix)


def forms(name: str) -> tuple[Form, ...]:
    """Return the forms of a public name in the order in which they are to be tried; empty when nothing tells."""
    function = resolve(name)
    signature = python_signature(function, name)
    if signature is not None:
        return (signature,)
    method = name.startswith("torch.Tensor.")
    found: list[Form] = []
    for overload in overloads().get(native_name(name), ()):
        if overload.is_method if method else overload.is_function:
            _add(found, overload, method=method)
    found.sort(key=lambda form: (len(form.parameters), [p.name for p in form.parameters]))
    found = [_with_out(form, name) for form in found] if not method else [_spread(form) for form in found]
    # Of a value of which nothing is known, a number is likelier than a tensor.
    return tuple(sorted(_told_apart(found), key=lambda form: form.condition.startswith("tensor(")))


def python_signature(function: Callable[..., Any] | None, name: str) -> Form | None:
    """Return the form of a function that is written in Python."""
    tail = name.rpartition(".")[2]
    if not inspect.isfunction(function):
        return None
    hidden = getattr(torch.nn.functional, "_" + tail, None)
    if hidden is not None and {*inspect.signature(function).parameters} == {"args", "kwargs"}:
        # `boolean_dispatch` hides two functions; the one without indices has the public argument list.
        function = hidden
    parameters: list[Parameter] = []
    spread = rest = ""
    for entry in inspect.signature(function).parameters.values():
        if entry.kind is entry.VAR_POSITIONAL:
            spread = entry.name
        elif entry.kind is entry.VAR_KEYWORD:
            rest = entry.name
        else:
            keyword = entry.kind is entry.KEYWORD_ONLY
            parameters.append(Parameter(entry.name, "", default_text(entry.default), keyword))
    return Form(tuple(parameters), (), "", spread, rest)


def default_text(value: object) -> str | None:
    """Spell a default value as a Python literal; what has none is None."""
    if value is inspect.Parameter.empty:
        return None
    return repr(value) if isinstance(value, bool | int | float | str | tuple | list | None) else "None"


def _add(found: list[Form], overload: Overload, *, method: bool) -> None:
    parameters = overload.parameters
    if not method:
        parameters = tuple(replace(p, name="input") if p.name == "self" else p for p in parameters)
    names = [parameter.name for parameter in parameters]
    for index, form in enumerate(found):
        if [parameter.name for parameter in form.parameters] == names:
            pairs = zip(form.parameters, parameters, strict=True)
            merged = tuple(
                mine if mine.default is not None else replace(mine, default=other.default) for mine, other in pairs
            )
            found[index] = replace(form, parameters=merged, overloads=(*form.overloads, overload))
            return
    found.append(Form(parameters, (overload,)))


def _with_out(form: Form, name: str) -> Form:
    if native_name(name) not in takes_out():
        return form
    return replace(form, parameters=(*form.parameters, Parameter("out", "out", "None", keyword=True)))


def _spread(form: Form) -> Form:
    """Let `x.permute(0, 2, 1)` be spelled so: a lone list of ints may be given as several arguments."""
    positional = [parameter for parameter in form.parameters if not parameter.keyword]
    if len(positional) == 2 and positional[1].type in {"int[]", "SymInt[]", "int[1]", "int[1]?"}:  # noqa: PLR2004
        listed = replace(positional[1], default="None", keyword=True)
        keyword = [parameter for parameter in form.parameters if parameter.keyword]
        return replace(form, parameters=(positional[0], listed, *keyword), spread=listed.name)
    return form


def _told_apart(found: list[Form]) -> Iterator[Form]:
    for form in found:
        conditions = []
        for other in found:
            rival = _rival(form, other)
            if rival is not None and rival not in conditions:
                conditions.append(rival)
        yield replace(form, condition=" and ".join(conditions))


def _rival(form: Form, other: Form) -> str | None:
    """Return the guard that tells two forms apart when a positional call could be either."""
    if form is other or form.spread or other.spread:
        return None
    mine = [p for p in form.parameters if not p.keyword]
    theirs = [p for p in other.parameters if not p.keyword]
    fewest = max(sum(p.default is None for p in mine), sum(p.default is None for p in theirs))
    if fewest > min(len(mine), len(theirs)):
        return None
    for one, two in zip(mine[:fewest], theirs[:fewest], strict=False):
        if one.name != two.name and one.is_tensor != two.is_tensor:
            return f"tensor({one.name})" if one.is_tensor else f"not tensor({one.name})"
        if one.name != two.name and "bool" in {one.type, two.type}:
            # `x.var(False)` is not `x.var(0)`
            return f"bool({one.name})" if one.type == "bool" else None
    return None


def _accepts(overload: Overload, given: dict[str, Any]) -> bool:
    for parameter in overload.parameters:
        name = "input" if parameter.name == "self" and "self" not in given else parameter.name
        if name in given and not _fits(parameter.type, given[name]):
            return False
    return True


def _fits(kind: str, value: object) -> bool:
    if kind.endswith("?") or kind in {"option", "out"}:
        return value is None or _fits(kind[:-1], value) if kind.endswith("?") else True
    is_list = isinstance(value, list | tuple)
    if kind.startswith("Tensor"):
        if "[" in kind:
            return is_list and all(entry is None or isinstance(entry, torch.Tensor) for entry in value)  # type: ignore[attr-defined]
        return isinstance(value, torch.Tensor)
    if "[" in kind:
        return is_list or (not kind.endswith("[]") and _fits(kind.partition("[")[0], value))
    if kind in {"Scalar", "float"}:
        return isinstance(value, bool | int | float | complex)
    if kind in {"int", "SymInt"}:
        return isinstance(value, int) and not isinstance(value, bool)
    if kind == "bool":
        return isinstance(value, bool)
    if kind == "str":
        return isinstance(value, str)
    return not isinstance(value, torch.Tensor)
