"""
Turns observations of a form into one entry of the op tables.

What every call showed is a fact; what only some showed needs a guard that tells them apart. Where no guard does, the
majority is taken and the op is reported as undecided, so that a person can write an override.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import torch

from generators.shapes import common
from generators.torch_facts.forms import Form
from generators.torch_facts.guards import separate
from generators.torch_facts.native import Overload
from generators.torch_facts.probe import LIKE, Observation, Result, is_result

Row = dict[str, Any]
MANY = 3
_ELEMENTWISE = (*LIKE, "broadcast(")
_KEEPING = ("like(", "broadcast(", "ranked(", "axes(")  # what is written keeps its shape, or it is unknown
VERSION = torch.__version__.partition("+")[0]


def entry(name: str, form: Form, seen: Sequence[Observation], checks: Sequence[str], undecided: list[str]) -> Row:
    """Return the entry of one form; with no observation, what its derivative formulas predict."""
    row: Row = {"op": name}
    if form.condition:
        row["if"] = form.condition
    row["args"] = form.texts()
    if not seen:
        return {**row, **_predicted(form)}
    names = [parameter.name for parameter in form.parameters] + ([form.spread] if form.spread else [])
    order = {key: position for position, key in enumerate(names)}
    grads = _grads(seen, order)
    if grads is not None:
        row["grads"] = grads
    hands = _hands(seen, names, order, undecided, name)
    if hands:
        row["hands"] = hands
    row |= effects(name, form, seen, names, undecided, checks)
    row["source"] = source_of(form)
    row["probed"] = [VERSION]
    return row


def effects(
    name: str,
    form: Form,
    seen: Sequence[Observation],
    names: Sequence[str],
    undecided: list[str],
    checks: Sequence[str] = (),
) -> Row:
    """Return what calls write, keep and return, with guards over the named arguments."""
    row: Row = {}
    writes = _writes(form, seen, checks, names)
    if writes:
        row["writes"] = writes
    saves = _saves(form, seen, names, undecided, name)
    if saves:
        row["saves"] = saves
    told = [(one.features, _as_list(one.result, form)) for one in seen]
    row["returns"] = _with_out(form, _returns(told, names, undecided, name))
    return row


def source_of(form: Form) -> str:
    """Return where the facts of a form can be read."""
    formulas = [overload.full for overload in form.overloads if overload.has_formula]
    if formulas:
        return "derivatives.yaml: " + ", ".join(sorted(formulas))
    if form.overloads:
        return "native_functions.yaml: " + ", ".join(sorted(overload.full for overload in form.overloads)) + "; probe"
    return "probe"


def _grads(seen: Sequence[Observation], order: dict[str, int]) -> list[str] | None:
    """Return the arguments through which a gradient flows; None when these are all that are ever tensors."""
    flows = {name for one in seen for name in one.flows}
    # Without a sample that requires grad nothing is known of a result that could; a dtype decides then.
    if not flows and not any(one.floats for one in seen):
        return []
    tensors = {name for one in seen for name in one.tensors}
    return None if flows == tensors else sorted(flows, key=lambda name: order.get(name, 99))


def _hands(
    seen: Sequence[Observation], names: Sequence[str], order: dict[str, int], undecided: list[str], name: str
) -> list[Row]:
    """Return the arguments that are handed the gradient of the result."""
    rows: list[Row] = []
    for target in sorted({name for one in seen for name in one.hands}, key=lambda name: order.get(name, 99)):
        for how in ("same", "expanded"):
            cases = [(one.features, one.hands[target] == how) for one in seen if target in one.hands]
            guard = _where(cases, names, undecided, f"{name}: hands its gradient ({how}) to {target}")
            if guard is not None:
                expanded = {"expanded": True} if how == "expanded" else {}
                rows.append({"of": target, **expanded, **({"if": guard} if guard else {})})
    return rows


def _where(cases: Sequence[tuple[Any, bool]], names: Sequence[str], undecided: list[str], what: str) -> str | None:
    """Return the guard under which something holds, empty where it always does; None where it never does.

    Where no guard tells the cases apart, the majority decides, and `what` holds is reported as undecided.
    """
    share = sum(held for _, held in cases) / len(cases)
    guard = separate(cases, names) if 0 < share < 1 else None
    if guard is None and 0 < share < 1:
        undecided.append(f"{what} in {share:.0%} of {len(cases)} calls")
    return guard if guard is not None else "" if share >= 0.5 else None  # noqa: PLR2004 - the majority decides


def _writes(form: Form, seen: Sequence[Observation], checks: Sequence[str], names: Sequence[str]) -> list[Row]:
    rows: list[Row] = []
    for counted in (True, False):
        told = [(one, one.writes if counted else one.unseen) for one in seen]
        for target in dict.fromkeys(name for _, written in told for name in written):
            cases = [(one.features, target in written) for one, written in told if target in one.tensors]
            row: Row = {"to": target, "counted": counted}
            if counted:
                row["checks"] = list(checks)
            guard = None if all(held for _, held in cases) else separate(cases, names)
            if guard:
                row["if"] = guard
            rows.append(row)
    if any(parameter.type == "out" for parameter in form.parameters):
        rows.append({"to": "out", "counted": True, "checks": ["overlap", "cast"], "if": "passed(out)"})
    return rows


def _as_list(result: Result, form: Form) -> Result:
    """Take a tuple for a list when the signature says that there is one result: the number of items then varies."""
    single = form.overloads and all(overload.results == 1 for overload in form.overloads)
    return replace(result, kind="list") if single and result.kind == "tuple" else result


def _with_out(form: Form, returns: list[Row]) -> list[Row]:
    if any(parameter.type == "out" for parameter in form.parameters):
        return [{"is": "out", "if": "passed(out)"}, *returns]
    return returns


def _saves(form: Form, seen: Sequence[Observation], names: Sequence[str], undecided: list[str], name: str) -> list[Row]:
    rows: list[Row] = []
    targets = dict.fromkeys(target for one in seen for target in one.kept)
    position = {key: index for index, key in enumerate(names)}
    # A name such as `out_proj_weight` cannot be told from a result in the tables.
    targets = {target: None for target in targets if is_result(target) or not target.startswith("out")}
    for target in sorted(targets, key=lambda key: (position.get(key, 99), key)):
        cases = [(one.features, one.kept[target]) for one in seen if target in one.kept]
        guard = _where(cases, names, undecided, f"{name}: keeps {target}")
        if guard is None:
            continue
        row: Row = {"of": target}
        told = " and ".join(one for one in (_for_whom(target, seen), guard) if one)
        if told:
            row["if"] = told
        rows.append(row)
    rows += [{"of": form.first, "copy": True} for overload in form.overloads[:1] if _copies(form, overload)]
    return rows


def _copies(form: Form, _: Overload) -> bool:
    return any(overload.copies_self for overload in form.overloads)


def _for_whom(target: str, seen: Sequence[Observation]) -> str:
    """Return the guard "one of these requires grad" for what is kept only for the sake of some arguments."""
    needed: dict[str, bool] = {}
    for one in seen:
        for name, kept in one.needs.get(target, {}).items():
            needed[name] = needed.get(name, False) or kept
    if not needed or all(needed.values()):
        return ""
    whom = [name for name, kept in needed.items() if kept]
    if len(whom) > MANY:
        return ""
    text = " or ".join(f"rg({name})" for name in whom)
    return f"({text})" if len(whom) > 1 else text


def _returns(told: Sequence[tuple[Any, Result]], names: Sequence[str], undecided: list[str], name: str) -> list[Row]:
    """Return the alternatives of what comes back: one where all calls agree, else one a guard each."""
    groups: dict[str, list[tuple[Any, Result]]] = {}
    for features, result in told:
        groups.setdefault(_outline(result), []).append((features, result))
    ordered = sorted(groups.values(), key=len)
    if len(ordered) == 1:
        return [_return([result for _, result in ordered[0]])]
    rows: list[Row] = []
    for index, group in enumerate(ordered[:-1]):
        rest = [pair for later in ordered[index + 1 :] for pair in later]
        cases = [(features, True) for features, _ in group] + [(features, False) for features, _ in rest]
        guard = separate(cases, names)
        if guard is None:
            return [_mixture([result for _, result in told], undecided, name)]
        rows.append({**_return([result for _, result in group]), "if": guard})
    return [*rows, _return([result for _, result in ordered[-1]])]


def _outline(result: Result) -> str:
    """Spell what must agree for two results to be told by one row."""
    match result.kind:
        case "arg":
            return f"arg {result.of}"
        case "view":
            return f"view {result.of} {result.view if result.view != 'expanded' else 'single'}"
        case "fresh":
            return "fresh" + ("" if result.dtype == result.model else " " + result.dtype)
        case "tuple" | "list":
            outlines = [_outline(item) for item in result.items]
            if result.kind == "list" or _is_uniform(result):
                return "several " + (outlines[0] if outlines else "")
            return f"tuple {outlines}"
        case _:
            return f"value {result.value}"


def _is_uniform(result: Result) -> bool:
    """Return whether a tuple is a sequence of alike views, as `split` and `unbind` give, whatever its length."""
    return bool(result.items) and all(item.kind == "view" and item.of == result.items[0].of for item in result.items)


def _mixture(results: Sequence[Result], undecided: list[str], name: str) -> Row:
    kinds = {result.kind for result in results}
    undecided.append(f"{name}: returns {sorted({_outline(result) for result in results})}")
    if kinds <= {"arg", "view", "fresh"}:
        source = next((result.of for result in results if result.of), "")
        if kinds == {"fresh"} or not source:
            return {"is": "fresh", **_dtype(results), **_shape(results)}
        return {"is": "maybe", "of": source, **_shape(results)}
    return {"is": "value", "kind": "unknown"}


def _return(results: Sequence[Result]) -> Row:
    first = results[0]
    match first.kind:
        case "arg":
            changed = _shape(results)
            return {"is": first.of, **({} if changed.get("shape", "like(").startswith(_KEEPING) else changed)}
        case "view":
            kind = "expanded" if all(one.view == "expanded" for one in results) else first.view
            row: Row = {"is": "view", "of": first.of}
            if kind not in {"single", "expanded"} or kind == "expanded":
                row["kind"] = kind
            return {**row, **_layout(results), **_moves(results), **_dtype(results), **_shape(results)}
        case "fresh":
            shape = _shape(results)
            return {"is": "fresh", **_dtype(results), **shape, **_turns(results, shape.get("shape", ""))}
        case "tuple" | "list":
            return _several(results)
        case _:
            return {"is": "value", "kind": first.value}


def _several(results: Sequence[Result]) -> Row:
    first = results[0]
    if first.kind == "tuple" and len({len(one.items) for one in results}) == 1 and not _is_uniform(first):
        columns = zip(*(one.items for one in results), strict=True)
        return {"is": "tuple", "items": [_return(list(column)) for column in columns]}
    items = [item for one in results for item in one.items]
    return {"is": "list", "item": _return(items) if items else {"is": "fresh"}, "length": None}


def _dtype(results: Sequence[Result]) -> Row:
    found = {one.dtype for one in results}
    if all(one.dtype == one.model for one in results) and found != {"int"}:
        return {}
    return {"dtype": found.pop() if len(found) == 1 else "unknown"}


def _shape(results: Sequence[Result]) -> Row:
    found = common([(one.shapes, one.size, one.rank_in) for one in results])
    return {"shape": found} if found else {}


def _layout(results: Sequence[Result]) -> Row:
    found = {one.contiguous for one in results if one.rank > 1}
    return {"contiguous": False} if found == {False} and len(results) > 1 else {}


def _turns(results: Sequence[Result], shape: str) -> Row:
    """Note of a new result that it may not be contiguous in memory although all operands are, or that it always is."""
    found = {one.contiguous for one in results if one.rank > 1 and one.of_dense}
    if False in found:
        return {"contiguous": False}
    settled = {one.settled for one in results} - {None}
    if shape.startswith(_ELEMENTWISE):
        return {"contiguous": True} if settled == {True} and shape.startswith(LIKE) else {}
    return {"follows": True} if False in settled else {}


def _moves(results: Sequence[Result]) -> Row:
    moves = {one.moves for one in results} - {None}
    if moves <= {"axes", "all"} and moves:
        return {"moves": "axes" if moves == {"axes"} else "all"}
    return {}


def _predicted(form: Form) -> Row:
    """Return what the native signature and the derivative formula of a form say."""
    overload = form.overloads[0]
    pairs = zip(overload.parameters, form.parameters, strict=False)
    named = {mine.name: public.name for mine, public in pairs if public.name == "input"}
    rename: Callable[[str], str] = lambda name: named.get(name, name)  # noqa: E731
    row: Row = {}
    if overload.has_formula and set(overload.differentiable) != {p.name for p in overload.parameters if p.is_tensor}:
        row["grads"] = [rename(name) for name in overload.differentiable if not name.startswith("result")]
    if overload.writes:
        row["writes"] = [{"to": rename(to), "counted": True, "checks": ["leaf", "leaf_view"]} for to in overload.writes]
    saves: list[Row] = [
        {"of": rename(of), **({"if": " or ".join(f"rg({rename(one)})" for one in whom)} if whom else {})}
        for of, whom in sorted(overload.saves.items())
    ]
    saves += [{"of": f"out{index}"} for index in overload.keeps_results]
    if saves:
        row["saves"] = saves
    single: Row = {"is": "fresh"}
    if overload.view_of:
        single = {"is": "view", "of": rename(overload.view_of[0])}
    elif overload.writes:
        single = {"is": rename(overload.writes[0])}
    row["returns"] = [single if overload.results < 2 else {"is": "tuple", "items": [single] * overload.results}]  # noqa: PLR2004
    row["source"] = source_of(form).removesuffix("; probe")
    return row
