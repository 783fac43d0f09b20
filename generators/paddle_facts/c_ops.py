"""
Paddle's generated operators, `paddle._C_ops.NAME`, as the headers of the wheel declare them, and how each is tried.

    PADDLE_API Tensor& scale_(Tensor& x, const Scalar& scale = 1.0, bool bias_after_scale = true);

Python passes the same arguments in the same order, and a wrong number of them ends the process. `paddle._legacy_C_ops`
takes the tensors alone, then names and values of what is not at its default.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import paddle

from generators.paddle_facts.samples import SAMPLES, Sample

HOME, LEGACY = "paddle._C_ops", "paddle._legacy_C_ops"
_HEADER = "include/paddle/phi/api/include/api.h"
_DECLARED = re.compile(r"^PADDLE_API (?P<result>[^(]+?) (?P<name>\w+)\((?P<parameters>.*)\);$", re.MULTILINE)
_COMMA = re.compile(r", (?![^<{(]*[>})])")
_OUTPUT = "predefined_out"
_GUESSES: dict[str, Any] = {
    "Scalar": 0.5,
    "float": 0.5,
    "double": 0.5,
    "int": 0,
    "int64_t": 0,
    "bool": False,
    "IntArray": [1],
    "vector<int>": [0],
    "vector<int64_t>": [0],
    "DataType": "float64",
}
# Operators that take other arguments than the function of their name.
_OTHERS = {
    sample.name: sample
    for sample in (
        Sample("index_add", (paddle.to_tensor([0]), paddle.ones([1, 3]))),
        Sample("put_along_axis", (paddle.to_tensor([[0]]), paddle.full([1, 1], 0.5), 0)),
        Sample("masked_fill", (paddle.to_tensor([[True, False, True]] * 3), paddle.full([1], 0.5))),
        Sample("increment", shape=(1,)),
        Sample("exponential", (1.0,)),
        Sample("dropout", (None, 0.5, False, "upscale_in_train")),
    )
}
_LITERALS: dict[str, Any] = {"true": True, "false": False, "{}": [], "paddle::none": None}


@dataclass(frozen=True)
class Parameter:
    """A parameter of an operator; a tensor that is not constant is written. `default` is ... where there is none."""

    name: str
    type: str
    written: bool
    default: Any

    @property
    def spelled(self) -> str:
        """The parameter as an entry lists it."""
        plain = self.default is None or isinstance(self.default, bool | int | float | str)
        return self.name if self.default is ... else f"{self.name}={self.default if plain else None!r}"


@dataclass(frozen=True)
class Try:
    """A call of an operator: what is called, the arguments of its entry, the sample to call it on, and its tensors."""

    op: str
    call: Callable[..., Any]
    args: list[str]
    sample: Sample
    writes: bool


def tries() -> Iterator[list[Try]]:
    """Yield for each operator the calls to try, in order, in both modules that have it."""
    known = {sample.name: sample for sample in reversed(SAMPLES)} | _OTHERS
    header = Path(str(paddle.__file__)).parent / _HEADER
    for match in _DECLARED.finditer(header.read_text(encoding="utf-8")):
        name, parameters = match["name"], [_parameter(one) for one in _COMMA.split(match["parameters"]) if one]
        parameters = [one for one in parameters if one.name != _OUTPUT]
        tensors = [one.type == "Tensor" for one in parameters]
        writes = [one.written for one in parameters]
        if tensors[:1] != [True] or any(writes[1:]):
            continue
        samples = list(_samples(parameters, known.get(name.removesuffix("_"))))
        for home in (HOME, LEGACY):
            call = getattr(getattr(paddle, home.partition(".")[2]), name, None)
            if call is not None:
                yield [_try(home, name, call, parameters, sample) for sample in samples]


def _try(home: str, name: str, call: Callable[..., Any], parameters: list[Parameter], sample: Sample) -> Try:
    given = call if home == HOME else _by_name(call, parameters)
    tensors = [one.name for one in parameters if one.type == "Tensor"]
    args = [one.spelled for one in parameters] if home == HOME else [*tensors, "*args"]
    named = replace(sample, name=name, names=tuple(one.name for one in parameters))
    return Try(f"{home}.{name}", given, args, named, parameters[0].written)


def _by_name(call: Callable[..., Any], parameters: list[Parameter]) -> Callable[..., Any]:
    """Return the function that passes what is no tensor by name, unless it is the default."""

    def legacy(*values: Any) -> Any:  # noqa: ANN401 - tensors and attributes
        tensors, named = list[Any](), list[Any]()
        for parameter, value in zip(parameters, values, strict=True):
            if parameter.type in {"Tensor", "optional<Tensor>"}:
                tensors.append(value)
            elif value != parameter.default:
                named += [parameter.name, value]
        return call(*tensors, *named)

    return legacy


def _parameter(text: str) -> Parameter:
    declared, _, default = text.partition(" = ")
    typed, _, name = declared.rpartition(" ")
    short = re.sub(r"paddle::|std::|experimental::|^const |&", "", typed)
    return Parameter(name, short, short == "Tensor" and not typed.startswith("const"), _literal(default))


def _literal(text: str) -> Any:  # noqa: ANN401 - any default
    """Return the value of a default; ... where there is none, or one that Python does not spell."""
    if text in _LITERALS:
        return _LITERALS[text]
    if text.startswith('"'):
        return text.strip('"')
    if text.startswith("{") and text.endswith("}"):
        return [_literal(one.strip()) for one in text[1:-1].split(",")]
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text.removesuffix("f"))
    except ValueError:
        return ...


def _samples(parameters: list[Parameter], known: Sample | None) -> Iterator[Sample]:
    """Yield the calls to try: as the function of that name is called, then with guesses in place of what is missing."""
    if known is not None:
        yield from _filled(parameters, known)
    leading = next((at for at, one in enumerate(parameters) if one.type != "Tensor"), len(parameters))
    yield from _filled(parameters, Sample("", (), leading))


def _filled(parameters: list[Parameter], sample: Sample) -> Iterator[Sample]:
    given = sample.tensors + len(sample.rest)
    rest = [one.default if one.default is not ... else _guess(one) for one in parameters[given:]]
    if ... not in rest and given <= len(parameters):
        types = [one.type for one in parameters[sample.tensors : given]]
        pairs = zip(sample.rest, types, strict=True)
        told = [getattr(paddle, one) if typed == "DataType" and isinstance(one, str) else one for one, typed in pairs]
        yield replace(sample, rest=(*told, *rest))


def _guess(parameter: Parameter) -> Any:  # noqa: ANN401 - any argument
    if parameter.type.startswith("optional"):
        return None
    if parameter.type == "DataType":
        return paddle.float64
    return _GUESSES.get(parameter.type, ...)
