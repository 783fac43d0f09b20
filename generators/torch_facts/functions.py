"""The entries of functions and methods: each form of a public name is called and observed, equal ones are grouped."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import torch

from generators.torch_facts import hand
from generators.torch_facts.entries import Row, entry
from generators.torch_facts.forms import Form, forms, native_name, resolve
from generators.torch_facts.native import overloads
from generators.torch_facts.overlaps import asks_operands, with_out_checks
from generators.torch_facts.probe import Call, Observation, kind_of, observe, tensors_of
from generators.torch_facts.samples import Arguments, calls_of

# What Python's operators call; their facts are those of the named method.
OPERATORS = {
    "__add__": "add", "__sub__": "sub", "__mul__": "mul", "__truediv__": "div", "__div__": "div",
    "__floordiv__": "floor_divide", "__mod__": "remainder", "__pow__": "pow", "__matmul__": "matmul", "__neg__": "neg",
    "__abs__": "abs", "__invert__": "bitwise_not", "__eq__": "eq", "__ne__": "ne", "__lt__": "lt", "__le__": "le",
    "__gt__": "gt", "__ge__": "ge", "__and__": "bitwise_and", "__or__": "bitwise_or", "__xor__": "bitwise_xor",
    "__lshift__": "bitwise_left_shift", "__rshift__": "bitwise_right_shift", "__iadd__": "add_", "__isub__": "sub_",
    "__imul__": "mul_", "__itruediv__": "div_", "__idiv__": "div_", "__ifloordiv__": "floor_divide_",
    "__imod__": "remainder_", "__ipow__": "pow_", "__iand__": "bitwise_and_", "__ior__": "bitwise_or_",
    "__ixor__": "bitwise_xor_", "__ilshift__": "bitwise_left_shift_", "__irshift__": "bitwise_right_shift_",
}  # fmt: skip
PLACES = ("torch", "torch.Tensor", "torch.nn.functional", "torch._C._nn", "torch.special", "torch.linalg", "torch.fft")
ENOUGH = 14
MANY = 20


def entries(owned: Mapping[str, object], undecided: list[str]) -> list[Row]:
    """Return the entries of all public functions and methods that no override owns, grouped by `same`."""
    rows: dict[str, list[Row]] = {}
    for name in names():
        if name not in owned:
            found = rows_of(name, undecided)
            if found:
                rows[name] = found
    return list(_grouped(rows))


def names() -> list[str]:
    """List the public names that are functions of tensors, in a fixed order."""
    found: list[str] = []
    for place in PLACES:
        for attribute in sorted(dir(resolve(place) if place != "torch" else torch)):
            name = f"{place}.{attribute}"
            if _is_candidate(place, attribute, name):
                found.append(name)
    return found


def _is_candidate(place: str, attribute: str, name: str) -> bool:
    if attribute.startswith("_") or (place == "torch._C._nn" and name not in _behind_flags()):
        return False
    thing = resolve(name)
    if inspect.isclass(thing) or inspect.ismodule(thing) or not callable(thing):
        return False
    if place in {"torch.Tensor", "torch"} and inspect.isfunction(thing):
        module = getattr(thing, "__module__", "")
        return module in {"torch.functional", "torch._tensor"}
    if place == "torch.nn.functional" and inspect.isfunction(thing):
        return getattr(thing, "__module__", "") in {"torch.nn.functional", "torch._jit_internal"}
    return native_name(name) in overloads()


def _behind_flags() -> set[str]:
    """Return the private functions that `inplace=True` calls; the others have public names."""
    return {op for op, _ in hand.inplace_forms().values()}


def rows_of(name: str, undecided: list[str]) -> list[Row]:
    """Return one entry for each form of a name that could be observed or that has a derivative formula."""
    shapes = forms(name)
    if not shapes:
        return []
    function = resolve(name)
    tried = [(form, list(_observations(function, name, form, shapes))) for form in shapes]
    rows = []
    for form, seen in tried:
        known = form.overloads and (form.overloads[0].has_formula or native_is_plain(form))
        if seen or known:
            checks = _checks(function, name, form) if seen else ()
            row = with_out_checks(entry(name, form, seen, checks, undecided), bound(function, name, form, (form,)))
            rows.append(_with_dtypes(row, function, name, form) if seen else row)
    return rows


def _with_dtypes(row: Row, function: Callable[..., Any], name: str, form: Form) -> Row:
    """Note of a fresh result that it is floating where all operands are whole, or whole where they are booleans."""
    fresh = [fact for fact in row["returns"] if fact["is"] == "fresh" and "dtype" not in fact]
    if not fresh or name.endswith("_"):
        return row
    calls = list(bound(function, name, form, (form,)))[:6]
    kinds, counts = ({_kind_of(call, dtype) for call in calls} - {""} for dtype in (torch.long, torch.bool))
    word = "fraction" if kinds == {"float"} else "count" if kinds == counts == {"int"} and _has_floats(calls) else ""
    if not word:
        return row
    return {**row, "returns": [{**fact, "dtype": word} if fact in fresh else fact for fact in row["returns"]]}


def _kind_of(call: Call, dtype: torch.dtype) -> str:
    """Return the kind of the result of a call on tensors of a dtype; empty if it is refused, or no tensor."""
    args, kwargs, _ = Call(call.function, call.args, call.kwargs, call.names).make("")
    given = [_converted(value, dtype) for value in args]
    try:
        result = call.function(*given, **{key: _converted(value, dtype) for key, value in kwargs.items()})
    except (RuntimeError, TypeError, ValueError, IndexError, NotImplementedError):
        return ""
    return kind_of(result) if isinstance(result, torch.Tensor) else ""


def _has_floats(calls: Sequence[Call]) -> bool:
    tensors = (value for call in calls for value in (*call.args, *call.kwargs.values()))
    return any(isinstance(value, torch.Tensor) and value.dtype.is_floating_point for value in tensors)


def native_is_plain(form: Form) -> bool:
    """Return whether a form without a formula takes no tensor that could require grad, or writes one."""
    return bool(form.overloads[0].writes)


def _observations(function: Callable[..., Any], name: str, form: Form, shapes: Sequence[Form]) -> Iterator[Observation]:
    count = 0
    for call in bound(function, name, form, shapes):
        if count == ENOUGH:
            return
        seen = attempt(call)
        if seen is not None:
            count += 1
            yield seen


def attempt(call: Call) -> Observation | None:
    """Observe a call, or give None if it does not run or cannot be differentiated."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            torch.manual_seed(0)
            return observe(call)
        except (RuntimeError, TypeError, ValueError, NotImplementedError, IndexError, AttributeError, AssertionError):
            return None


def bound(function: Callable[..., Any], name: str, form: Form, shapes: Sequence[Form]) -> Iterator[Call]:
    """Yield the sample calls that bind to this form and to none before it."""
    written = {form.first} if name.endswith("_") and not name.endswith("__") else set()
    for args, kwargs in _with_numbers(spread_out(calls_of(name, tuple(shapes))), form):
        chosen = next((one for one in shapes if one.bind(args, kwargs) is not None), None)
        if chosen is form:
            extra = {p.name: python_value(p.default) for p in form.parameters if p.default is not None}
            given = dict(zip(form.bind(args, kwargs) or (), args, strict=True)) | kwargs
            defaults = {key: value for key, value in extra.items() if key not in given}
            yield Call(function, args, kwargs, form.bind(args, kwargs) or (), frozenset(written), defaults)


def _with_numbers(calls: Sequence[Arguments], form: Form) -> Iterator[Arguments]:
    """Add calls that pass a number where the form takes either a number or a tensor."""
    either = [
        position
        for position in range(1, 3)
        if {"Tensor", "Scalar"} <= {o.parameters[position].type for o in form.overloads if position < len(o.parameters)}
    ]
    for index, (args, kwargs) in enumerate(calls):
        yield args, kwargs
        for position in either:
            if index < len(either) * 3 and position < len(args) and isinstance(args[position], torch.Tensor):
                yield (*args[:position], 3 if index % 2 else 2.0, *args[position + 1 :]), kwargs


def spread_out(calls: Sequence[Arguments]) -> list[Arguments]:
    """Reorder samples so that the first few are unlike each other: by keyword names, then in turn."""
    groups: dict[object, list[Arguments]] = {}
    for args, kwargs in calls:
        rank = args[0].dim() if args and isinstance(args[0], torch.Tensor) else -1
        settings = tuple(sorted((key, str(v)) for key, v in kwargs.items() if isinstance(v, str | bool)))
        key = (len(args), tuple(sorted(kwargs)), settings, rank, tuple(isinstance(v, torch.Tensor) for v in args))
        groups.setdefault(key, []).append((args, kwargs))
    return [group[turn] for turn in range(3) for group in groups.values() if turn < len(group)]


def python_value(text: str | None) -> object:
    """Read a default value as the tables spell it."""
    return {"None": None, "True": True, "False": False}.get(text or "None", _number(text or ""))


def _number(text: str) -> object:
    for read in (int, float):
        try:
            return read(text)
        except ValueError:
            continue
    return text.strip("'\"")


def _checks(function: Callable[..., Any], name: str, form: Form) -> list[str]:
    """Ask which of its checks an in-place operation makes before it writes."""
    if not (name.endswith("_") and not name.endswith("__")):
        return []
    calls = list(bound(function, name, form, (form,)))[:6]
    if not any(_message(call, leaf=True).startswith("a leaf Variable") for call in calls):
        return ["inference"]
    checks = ["leaf", "leaf_view", "multi_view", "no_grad_view", "inference"]
    if any("single memory location" in _message(call, change=_expanded) for call in calls):
        checks.append("overlap")
    elif any("single memory location" in _refused_backward(call) for call in calls):
        checks.append("expanded")
    if asks_operands(list(bound(function, name, form, (form,)))[:MANY]):
        checks.append("operands")
    if any(len(tensors_of(call.args)) > 1 for call in calls):
        checks.append("shape")
    if any("can't be cast" in _message(call, change=_integral) for call in calls):
        checks.append("cast")
    if any("can't be cast" in _message(call, all_integral=True) for call in calls):
        checks.append("fraction")
    if any("broadcast shape" in _message(call, others=_widened) for call in calls):
        checks.append("broadcast")
    return checks


def _expanded(value: torch.Tensor) -> torch.Tensor:
    return value[:1].expand(max(2, value.size(0)), *value.shape[1:]) if value.dim() else value.expand(2)


def _converted(value: Any, dtype: torch.dtype) -> Any:  # noqa: ANN401 - arguments of any kind
    """Return an argument with floating tensors in it as those of another dtype, and whole numbers."""
    if isinstance(value, torch.Tensor):
        return value.detach().to(dtype) if value.dtype.is_floating_point else value
    if isinstance(value, list | tuple):
        return type(value)(_converted(item, dtype) for item in value)
    return int(value) + 1 if isinstance(value, float) else value


def _widened(value: Any) -> Any:  # noqa: ANN401 - arguments of any kind
    return value.detach().expand(2, *value.shape) if isinstance(value, torch.Tensor) else value


def _integral(value: torch.Tensor) -> torch.Tensor:
    return value.to(torch.long)


def _message(
    call: Call,
    *,
    leaf: bool = False,
    change: Callable[[torch.Tensor], torch.Tensor] | None = None,
    others: Callable[[Any], Any] | None = None,
    all_integral: bool = False,
) -> str:
    """Return the words in which a call is refused; `all_integral`: with whole numbers in the place of all others."""
    args, kwargs, _ = Call(call.function, call.args, call.kwargs, call.names).make(None if leaf else "")
    if not args or not isinstance(args[0], torch.Tensor):
        return ""
    # A float leaf is refused before anybody asks whether the operation is made for floats.
    first = args[0].detach().float().requires_grad_() if leaf else args[0].detach()
    if others is not None:
        args, kwargs = [args[0], *map(others, args[1:])], {key: others(value) for key, value in kwargs.items()}
    if all_integral:
        first, change = _converted(first, torch.long), None
        args = [_converted(value, torch.long) for value in args]
        kwargs = {key: _converted(value, torch.long) for key, value in kwargs.items()}
    try:
        call.function(first if change is None else change(first), *args[1:], **kwargs)
    except (RuntimeError, TypeError, ValueError, IndexError) as error:
        return str(error)
    return ""


def _refused_backward(call: Call) -> str:
    """Return the words in which backward refuses a call that wrote an expanded tensor."""
    args, kwargs, _ = Call(call.function, call.args, call.kwargs, call.names).make("")
    if not args or not isinstance(args[0], torch.Tensor) or not args[0].is_floating_point():
        return ""
    expanded = _expanded(args[0].detach().clone().requires_grad_() * 1)
    try:
        call.function(expanded, *args[1:], **kwargs)
        expanded.sum().backward()
    except (RuntimeError, TypeError, ValueError, IndexError) as error:
        return str(error)
    return ""


def _grouped(rows: Mapping[str, Sequence[Row]]) -> Iterator[Row]:
    """Join spellings whose forms are equal but for the name of the first argument."""
    homes: dict[str, str] = {}
    same: dict[str, list[str]] = {}
    for name, forms_ in rows.items():
        key = _key(name, forms_)
        home = homes.setdefault(key, name)
        same.setdefault(home, []).append(name)
    dunders: dict[str, list[str]] = {}
    for dunder, method in OPERATORS.items():
        if hasattr(torch.Tensor, dunder):
            dunders.setdefault(f"torch.Tensor.{method}", []).append(f"torch.Tensor.{dunder}")
    for home, spellings in same.items():
        others = [*spellings[1:], *(dunder for name in spellings for dunder in dunders.get(name, ()))]
        for row in rows[home]:
            yield {"op": home, **({"same": others} if others else {}), **{k: v for k, v in row.items() if k != "op"}}


def _key(name: str, forms_: Sequence[Row]) -> str:
    """Spell the forms of a name with its first argument unnamed; equal keys are spellings of one op."""
    texts = []
    for row in forms_:
        first = row["args"][0].partition("=")[0] if row["args"] else ""
        text = repr({k: v for k, v in _without_out(row).items() if k not in {"op", "source"}})
        for before, after in ("()", "(,", "''"):
            text = text.replace(f"{before}{first}{after}", f"{before}FIRST{after}")
        texts.append(text)
    return base_name(name) + "".join(texts)


def _without_out(row: Row) -> Row:
    """Leave out of an entry what it says of `out=`, which no method takes."""
    if "out=None" not in row["args"]:
        return row
    args = [text for text in row["args"] if text != "out=None"]
    writes = [write for write in row.get("writes", ()) if write["to"] != "out"]
    returns = [result for result in row["returns"] if result["is"] != "out"]
    kept = {**row, "args": args[:-1] if args[-1:] == ["*"] else args, "returns": returns}
    return {k: v for k, v in kept.items() if k != "writes"} | ({"writes": writes} if writes else {})


def base_name(name: str) -> str:
    """Return what the spellings of one op have in common."""
    tail = name.rpartition(".")[2]
    aliases = _aliases()
    return aliases.get(tail, tail)


def _aliases() -> dict[str, str]:
    from generators.torch_facts.samples import infos  # noqa: PLC0415 - reads torch's test package

    return {name.rpartition(".")[2]: found[0].name.rpartition(".")[2] for name, found in infos().items()}
