"""
The entries of `torch.nn` modules: constructor arguments, parameters and buffers, and what a call of the module does.

A module is called with its own state as arguments (`torch.func.functional_call`), so that its parameters and buffers
are observed like any tensor; their names are `self.weight`. Guards may speak of constructor arguments and of `train`.
"""

from __future__ import annotations

import inspect
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import torch
from torch.testing._internal.common_modules import module_db

from generators.shapes import common_state, of_state
from generators.torch_facts import entries as build
from generators.torch_facts.entries import VERSION, Row
from generators.torch_facts.forms import Form, default_text, resolve
from generators.torch_facts.functions import attempt, python_value
from generators.torch_facts.guards import separate
from generators.torch_facts.handmade import MODULES
from generators.torch_facts.native import Parameter
from generators.torch_facts.probe import Call, Observation
from generators.torch_facts.samples import turned

ENOUGH = 14
_TURNS = "batch_first"  # the argument of a module that has the batch before the time
_FUNCTIONS = "torch.nn.functional."
_PLAIN = inspect.Parameter.POSITIONAL_OR_KEYWORD
State = tuple[dict[str, object], dict[str, torch.Tensor]]


@dataclass(frozen=True, slots=True)
class Sample:
    """How to make a module and how to call it."""

    init: tuple[Sequence[Any], Mapping[str, Any]]
    forward: tuple[Sequence[Any], Mapping[str, Any]]


def entries(owned: Mapping[str, object], undecided: list[str]) -> list[Row]:
    """Return one entry for each module class of `torch.nn` that no override owns."""
    rows = []
    for name in sorted(dir(torch.nn)):
        cls = getattr(torch.nn, name)
        if inspect.isclass(cls) and issubclass(cls, torch.nn.Module) and _is_wanted(name, cls, owned):
            row = _entry(name, cls, undecided)
            if row is not None:
                rows.append(row)
    return rows


def with_bases(row: Row) -> Row:
    """
    Say of a module which classes of `torch.nn` it derives from, beside that of all modules.

    And which of its arguments it repeats: `Conv2d(8, 8, 3)` has a kernel size of `(3, 3)`.
    """
    cls = resolve(row["op"]) if "init" in row and row["op"].startswith("torch.nn.") else None
    if not inspect.isclass(cls) or not issubclass(cls, torch.nn.Module):
        return row
    bases = [base for base in cls.__mro__[1:] if issubclass(base, torch.nn.Module) and base is not torch.nn.Module]
    names = [f"torch.nn.{one.__name__}" if _is_public(one) else f"{one.__module__}.{one.__name__}" for one in bases]
    repeats = _repeated(cls)
    return row | ({"derives": names} if names else {}) | ({"repeats": repeats} if repeats else {})


def _repeated(cls: type[torch.nn.Module]) -> dict[str, int]:
    """Return the arguments of a module that become attributes of equal numbers where they are one, with their count."""
    options = {name: one.default for name, one in inspect.signature(cls).parameters.items() if one.kind is _PLAIN}
    given = {name: 1 if default is inspect.Parameter.empty else default for name, default in options.items()}
    try:
        made = cls(**given)
    except (TypeError, ValueError, RuntimeError):
        return {}
    pairs = [(name, value, getattr(made, name, None)) for name, value in given.items() if type(value) is int]
    return {
        name: len(found) for name, value, found in pairs if isinstance(found, tuple) and found == (value,) * len(found)
    }


def _is_public(cls: type[torch.nn.Module]) -> bool:
    return getattr(torch.nn, cls.__name__, None) is cls


def _entry(name: str, cls: type[torch.nn.Module], undecided: list[str]) -> Row | None:
    init, forward = init_of(cls), parameters(cls.forward)
    states: list[State] = []
    seen = list(_observations(name, cls, states))
    if not seen:
        return None
    row: Row = {"op": f"torch.nn.{name}", "init": init.texts(), "args": forward.texts()}
    called = [p.name for p in forward.parameters]
    # An argument of the call hides one of the constructor with the same name.
    names = [p.name for p in init.parameters if p.name not in called] + called
    state = _state(states, names)
    inner = _inner(name, cls, init)
    if state or inner:
        row["state"] = {**state, **inner}
    params = {f"self.{key}" for key, value in state.items() if value.get("param")}
    grads = _grads(seen, params)
    if grads is not None:
        row["grads"] = grads and grads + [
            f"self.{key}" for key, part in inner.items() if not part["is"].startswith(_FUNCTIONS)
        ]
    names.append("train")
    row |= build.effects(row["op"], forward, seen, names, undecided)
    if _TURNS in names and _is_turned(cls, forward):
        row["returns"] = [fact for returned in row["returns"] for fact in (_turned(returned), returned)]
    if issubclass(cls, torch.nn.RNNBase):
        row["returns"] = [_packed(row["returns"][-1]), *row["returns"]]
    row["source"] = "probe"
    row["probed"] = [VERSION]
    return row


def _is_turned(cls: type[torch.nn.Module], forward: Form) -> bool:
    """Return whether the first result of a module is not contiguous if the batch comes first (seen by running)."""
    given = [torch.ones(3, 2, 4) for one in forward.parameters if not one.default]
    result = cls(4, 2, **{_TURNS: True})(*given)
    return not (result if isinstance(result, torch.Tensor) else result[0]).is_contiguous()


def _turned(returned: Row) -> Row:
    """Return what a module returns if the batch is the first axis: its first result is not contiguous."""
    first, *others = returned["items"]
    guard = f"{_TURNS} and ({returned['if']})" if "if" in returned else _TURNS
    return {**returned, "items": [{**first, "turned": True}, *others], "if": guard}


def _packed(returned: Row) -> Row:
    """Return what a recurrent layer returns for a packed sequence: its output is one too, of data and three indices."""
    indices = [{"is": "fresh", "dtype": "int"}] * 3
    packed = {"is": "tuple", "items": [{"is": "fresh"}, *indices]}
    return {"is": "tuple", "if": "not tensor(input)", "items": [packed, *returned["items"][1:]]}


def init_of(cls: type[torch.nn.Module]) -> Form:
    """Return the argument list of a constructor; recurrent layers hide theirs behind `*args`."""
    if not issubclass(cls, torch.nn.RNNBase):
        return parameters(cls.__init__)
    hidden = parameters(torch.nn.RNNBase.__init__).parameters[1:]
    if cls is torch.nn.RNN:
        hidden = (*hidden[:3], Parameter("nonlinearity", "", "'tanh'"), *hidden[3:])
    return Form(hidden)


def parameters(function: Callable[..., Any]) -> Form:
    """Return the argument list of a method, without self."""
    found: list[Parameter] = []
    spread = rest = ""
    for entry in list(inspect.signature(function).parameters.values())[1:]:
        if entry.kind is entry.VAR_POSITIONAL:
            spread = entry.name
        elif entry.kind is entry.VAR_KEYWORD:
            rest = entry.name
        else:
            keyword = entry.kind is entry.KEYWORD_ONLY
            found.append(Parameter(entry.name, "", default_text(entry.default), keyword))
    return Form(tuple(found), (), "", spread, rest)


def samples(name: str, *, train: bool) -> Iterator[Sample]:
    """Yield ways to make and call a module, as torch's own tests do, or as written by hand."""
    for init, forward in MODULES.get(name, ()):
        yield Sample(init(), forward())
    for info in module_db:
        if info.name == f"nn.{name}":
            torch.manual_seed(0)
            options = {"device": "cpu", "dtype": torch.float32, "requires_grad": True, "training": train}
            for made in islice(info.module_inputs_func(info, **options), 24):
                if made.forward_input is not None:
                    constructed, called = made.constructor_input, made.forward_input
                    yield Sample((constructed.args, constructed.kwargs), (called.args, called.kwargs))
                    yield Sample(
                        (constructed.args, {**constructed.kwargs, "bias": False}), (called.args, called.kwargs)
                    )


def _observations(name: str, cls: type[torch.nn.Module], states: list[State]) -> Iterator[Observation]:
    for train in (True, False):
        count = 0
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for sample in _unlike(_with_flags(cls, list(samples(name, train=train)))):
                call = call_of(cls, sample, train=train)
                if call is None or count == ENOUGH:
                    continue
                states.append((dict(call.extra), _parts(call)))
                seen = attempt(call)
                if seen is not None:
                    count += 1
                    yield seen


def _with_flags(cls: type[torch.nn.Module], found: list[Sample]) -> list[Sample]:
    """Add samples with flags of the constructor and of the call that no sample passes."""
    made = turned([(tuple(one.init[0]), dict(one.init[1])) for one in found], init_of(cls).parameters)
    called = turned(
        [(tuple(one.forward[0]), dict(one.forward[1])) for one in found], parameters(cls.forward).parameters
    )
    return [
        *found,
        *(Sample(init, found[number].forward) for number, init in made),
        *(Sample(found[number].init, forward) for number, forward in called),
    ]


def _unlike(found: list[Sample]) -> list[Sample]:
    """Put samples with unlike constructor arguments first."""
    groups: dict[str, list[Sample]] = {}
    for sample in found:
        groups.setdefault(_settings(sample), []).append(sample)
    return [group[turn] for turn in range(ENOUGH) for group in groups.values() if turn < len(group)]


def _settings(sample: Sample) -> str:
    args, kwargs = sample.init
    named = [(key, value) for key, value in kwargs.items() if isinstance(value, bool | str)]
    inputs, options = sample.forward
    return str((named, [value for value in args if isinstance(value, bool | str)], len(inputs), sorted(options)))


def call_of(cls: type[torch.nn.Module], sample: Sample, *, train: bool) -> Call | None:
    """Return the call of a new module whose state is passed as arguments; None if it cannot be made."""
    args, kwargs = sample.init
    if kwargs.get("inplace"):
        return None
    torch.manual_seed(0)
    try:
        module = cls(*args, **kwargs).train(train)
    except (TypeError, ValueError, RuntimeError, AssertionError):
        return None
    everything = {**dict(module.named_parameters()), **dict(module.named_buffers())}
    # Inner modules keep their own, and so do the layers of a recurrent module behind its first: their facts are the
    # same, and nobody writes them one by one.
    state = {name: value for name, value in everything.items() if not re.search(r"[.]|_l[1-9]", name)}
    form, called = init_of(cls), parameters(cls.forward)
    names = [p.name for p in called.parameters if not p.keyword]
    inputs, keywords = sample.forward
    names = [names[i] if i < len(names) else called.spread for i in range(len(inputs))]

    def run(*values: Any, **options: Any) -> object:  # noqa: ANN401 - whatever a module takes
        return torch.func.functional_call(
            module, dict(zip(state, values[len(inputs) :], strict=True)), tuple(values[: len(inputs)]), options
        )

    defaults = {p.name: python_value(p.default) for p in (*form.parameters, *called.parameters)}
    given = {**defaults, **dict(zip(form.bind(args, kwargs) or (), args, strict=False)), **kwargs}
    values = [t.detach().requires_grad_(isinstance(t, torch.nn.Parameter)) for t in state.values()]
    names += ["self." + key for key in state]
    return Call(run, (*inputs, *values), keywords, names, frozenset(), {**given, "train": train})


def _parts(call: Call) -> dict[str, torch.Tensor]:
    """Return the direct parameters (which require grad) and buffers that a call passes."""
    return {name[5:]: value for name, value in zip(call.names, call.args, strict=True) if name.startswith("self.")}


def _state(states: Sequence[State], names: Sequence[str]) -> dict[str, Row]:
    found: dict[str, Row] = {}
    for part in dict.fromkeys(key for _, parts in states for key in parts):
        cases = [(features, part in parts) for features, parts in states]
        made = [(features, parts[part]) for features, parts in states if part in parts]
        row: Row = {"param": True} if made[0][1].requires_grad else {"buffer": True}
        row |= {} if made[0][1].is_floating_point() else {"dtype": str(made[0][1].dtype)[6:]}
        shape = common_state([of_state(features, value.shape) for features, value in made])
        row |= {"shape": shape} if shape else {}
        if not all(held for _, held in cases):
            guard = separate(cases, names)
            if guard is None:
                continue
            row["if"] = guard
        found[part] = row
    return found


def _inner(name: str, cls: type[torch.nn.Module], init: Form) -> dict[str, Row]:
    """Return the modules that a constructor sets, with the arguments that it passes on, and functions by default."""
    found: dict[str, list[tuple[str, dict[str, set[str]]]]] = {}
    count = 0
    for sample in samples(name, train=True):
        args, kwargs = sample.init
        try:
            module = cls(*args, **kwargs)
        except (TypeError, ValueError, RuntimeError, AssertionError):
            continue
        count += 1
        given = {p.name: python_value(p.default) for p in init.parameters}
        given |= {**dict(zip(init.bind(args, kwargs) or (), args, strict=False)), **kwargs}
        for part, child in module.named_children():
            public = _public(type(child))
            is_own = part not in given or isinstance(given[part], int | float)
            if public and is_own and not isinstance(child, torch.nn.ModuleList):
                found.setdefault(part, []).append((public, _passed(child, given)))
    parts: dict[str, Row] = {}
    for part, seen in found.items():
        if len(seen) == count and len({one for one, _ in seen}) == 1:
            passed = _common([one for _, one in seen])
            parts[part] = {"is": seen[0][0], **({"with": passed} if passed else {})}
    for entry in inspect.signature(cls.__init__).parameters.values():
        function = getattr(torch.nn.functional, getattr(entry.default, "__name__", ""), None)
        if function is not None and function is entry.default:
            parts[entry.name] = {"is": f"{_FUNCTIONS}{function.__name__}"}
    return parts


def _public(cls: type[torch.nn.Module]) -> str:
    """Return the name of the class of `torch.nn` that a class is, or is derived from without more arguments."""
    return next((f"torch.nn.{one.__name__}" for one in cls.__mro__ if getattr(torch.nn, one.__name__, None) is one), "")


def _passed(child: torch.nn.Module, given: Mapping[str, object]) -> dict[str, set[str]]:
    """Return which arguments of the outer constructor have the value of an argument of the inner one."""
    found: dict[str, set[str]] = {}
    for param in init_of(type(child)).parameters:
        value = getattr(child, param.name, None)
        if param.name == "bias":
            value = isinstance(value, torch.Tensor) or isinstance(getattr(child, "in_proj_bias", None), torch.Tensor)
        if isinstance(value, int | float) and param.default != "None":
            found[param.name] = {name for name, one in given.items() if type(one) is type(value) and one == value}
    return found


def _common(seen: Sequence[Mapping[str, set[str]]]) -> dict[str, str]:
    """Return the argument that is passed on in all cases, for each where it is one or has the same name."""
    shared = {key: set.intersection(*(one.get(key, set()) for one in seen)) for key in seen[0]}
    sure = {key: {key} if key in names else names for key, names in shared.items()}
    return {key: next(iter(names)) for key, names in sure.items() if len(names) == 1}


def _grads(seen: Sequence[Observation], params: set[str]) -> list[str] | None:
    flows = {name for one in seen for name in one.flows if not name.startswith("self.") or name in params}
    tensors = {name for one in seen for name in one.tensors if not name.startswith("self.")}
    if not flows and not any(one.floats for one in seen):
        return []
    return None if flows == tensors | params else sorted(flows)


def _is_wanted(name: str, cls: type[torch.nn.Module], owned: Mapping[str, object]) -> bool:
    # A lazy module has no parameters until it is called, so nothing can be said of it.
    return f"torch.nn.{name}" not in owned and not issubclass(cls, torch.nn.modules.lazy.LazyModuleMixin)
