"""The result of a framework call: a fresh tensor, a view, an argument itself, a tuple of these, or a Python value."""

from __future__ import annotations

from typing import TYPE_CHECKING

from inplace_lint.core.records import replace
from inplace_lint.domain import origins
from inplace_lint.domain.heap import ListObject, Tensor, View
from inplace_lint.domain.values import NONE, Const, Dotted, NodeId, Ref, Sym, Three, Tuple, Value
from inplace_lint.interp.fuel import UNKNOWN_TURNS
from inplace_lint.interp.transfer import overlap
from inplace_lint.knowledge.guard import holds
from inplace_lint.knowledge.op import ReturnFact

if TYPE_CHECKING:
    from inplace_lint.interp.transfer.op_call import Call

_TRACKED = {View.SINGLE, View.MULTI, View.EXPANDED, View.CUSTOM, View.HOOKED}
_KINDS = {"int": "number", "float": "number", "bool": "", "str": "str", "list": "sequence", "tuple": "sequence"}
_MAYBE = ReturnFact("maybe")
_DTYPES = {
    **dict.fromkeys(("float", "float16", "float32", "float64", "half", "double", "bfloat16"), "float"),
    **dict.fromkeys(("int", "int8", "int16", "int32", "int64", "uint8", "short", "long"), "int"),
    **dict.fromkeys(("complex64", "complex128", "cfloat", "cdouble"), "complex"),
    "bool": "bool",
}


def make(call: Call, rg: Three, node: NodeId | None) -> Value:
    """Create the result of a call whose node, if it has one, is on the tape."""
    facts = call.binding.op.returns
    if not facts:
        return _fresh(call, ReturnFact("fresh"), rg, node)
    unknown = False
    for fact in facts:
        verdict = holds(fact.condition, call.binding)
        if verdict is None:
            unknown = True
        elif verdict:
            return _one(call, _undecided(facts, fact) if unknown else fact, rg, node)
    return _one(call, _undecided(facts, facts[-1]), rg, node)


def _undecided(facts: tuple[ReturnFact, ...], chosen: ReturnFact) -> ReturnFact:
    """Return the fact to apply where an earlier one may hold too: the result may be a view, unless all are fresh."""
    kinds = {fact.kind for fact in facts}
    if kinds <= {"fresh"} or chosen.kind in {"tuple", "list", "value"}:
        return chosen
    source = next((fact.of for fact in facts if fact.of), "")
    return ReturnFact("maybe", of=source, dtype=chosen.dtype)


def _one(call: Call, fact: ReturnFact, rg: Three, node: NodeId | None) -> Value:
    match fact.kind:
        case "fresh":
            return _fresh(call, fact, rg, node)
        case "view" | "maybe":
            return _view(call, fact, rg, node)
        case "value":
            return _python_value(call, fact)
        case "tuple":
            return Tuple(tuple(_one(call, item, rg, node) for item in fact.items))
        case "list":
            return _list(call, fact, rg, node)
        case "self":
            return _argument(call, call.binding.op.args[0].name, fact)
        case name:
            return _argument(call, name, fact)


def _argument(call: Call, name: str, fact: ReturnFact) -> Value:
    """Return an argument itself, marked as not contiguous where the fact says that its axes change."""
    if fact.contiguous is False:
        for ref, tensor in call.binding.tensors(name):
            call.state.put(ref, replace(call.state.tensor(ref) or tensor, contiguous=False, part=None))
    return call.binding.value(name) or NONE


def _fresh(call: Call, fact: ReturnFact, rg: Three, node: NodeId | None) -> Value:
    state = call.state
    model = call.grads[0][1] if call.grads else _first_tensor(call)
    dtype = _requested_dtype(call) or _given_dtype(call, fact, model)
    if fact.leaf:
        rg, node = _factory_rg(call, fact), None
    if dtype in {"int", "bool"}:
        rg, node = False, None
    rank = _rank(call, fact, model)
    strided = fact.contiguous is False or _is_strided(fact, model)
    tensor = Tensor(
        storage=state.new_storage(),
        rg=rg,
        leaf=True if fact.leaf or rg is False else False if rg else None,
        nodes=() if node is None or rg is False else (node,),
        dtype=dtype,
        rank=rank,
        contiguous=None if strided else True,
        part=None if strided else (),
        why="" if rg is not None else _why(call),
        framework=call.facts.framework.name,
        made=call.touch("out0"),
        inference=state.modes.inference,
        batched=state.modes.mapped and any(tensor.batched for _, tensor in _given_tensors(call)),
    )
    return state.new(tensor)


def _given_tensors(call: Call) -> list[tuple[Ref, Tensor]]:
    return [pair for name in call.binding.given for pair in call.binding.tensors(name)]


def _given_dtype(call: Call, fact: ReturnFact, model: Tensor | None) -> str:
    """Return the dtype class of a new result, from its fact or from the operands."""
    if fact.dtype not in {"same", "fraction"}:
        return fact.dtype
    common = _common_dtype(call, model)
    if common not in {"int", "bool"} or fact.leaf:
        return common
    if fact.dtype == "fraction":
        return "float"
    others = [call.binding.values[name] for name in call.binding.given if not call.binding.tensors(name)]
    if all(isinstance(value, Const) and not isinstance(value.value, float) for value in others):
        return common
    return "float" if any(isinstance(v, Const) and isinstance(v.value, float) for v in others) else "unknown"


def _common_dtype(call: Call, model: Tensor | None) -> str:
    """Return the dtype class that the operands are promoted to: floating if any of them is."""
    kinds = {tensor.dtype for _, tensor in call.grads}
    if len(kinds) > 1:
        return next((kind for kind in ("complex", "float", "unknown") if kind in kinds), "int")
    return model.dtype if model is not None else "unknown"


def _requested_dtype(call: Call) -> str:
    """Return the dtype class that a `dtype` argument requests; empty if there is none."""
    given = [call.binding.values[name] for name in ("dtype", "args") if name in call.binding.given]
    flat = [item for value in given for item in (value.items if isinstance(value, Tuple) else (value,))]
    for value in flat:
        spelled = value.name if isinstance(value, Dotted) else value.value if isinstance(value, Const) else ""
        kind = _DTYPES.get(str(spelled).rpartition(".")[2])
        if kind is not None:
            return kind
    return "unknown" if any(_may_be_dtype(call, value) for value in flat) else ""


def _may_be_dtype(call: Call, value: Value) -> bool:
    """Check whether an argument may request a dtype: a tensor requests its own, sizes request none."""
    if isinstance(value, Sym):
        return value.kind not in {"number", "sequence"}
    return not isinstance(value, Const | Tuple) and not isinstance(call.state.object(value), ListObject)


def _rank(call: Call, fact: ReturnFact, model: Tensor | None) -> int | None:
    """Return the rank of a result: a number, that of the first tensor, or the number of sizes that an argument has."""
    if isinstance(fact.rank, int) or fact.rank is None:
        return fact.rank
    if fact.rank == "same":
        return None if model is None or _is_broadcast(call, model.rank) else model.rank
    sizes = call.binding.values.get(fact.rank)
    if isinstance(sizes, Tuple) and len(sizes.items) == 1 and not _is_size(sizes.items[0]):
        sizes = sizes.items[0]
    inner = call.state.object(sizes) if isinstance(sizes, Ref) else None
    if isinstance(inner, ListObject) and inner.exact:
        return len(inner.items)
    if isinstance(sizes, Tuple):
        return len(sizes.items) if sizes.exact else None
    return 1 if sizes is not None and _is_size(sizes) else None


def _is_strided(fact: ReturnFact, model: Tensor | None) -> bool:
    """Check whether a new result may not be contiguous, since elementwise results keep the strides of a view."""
    return fact.rank == "same" and model is not None and (model.contiguous is False or model.part is None)


def _view_layout(call: Call, fact: ReturnFact, source: Tensor) -> Three:
    """Return whether a view is contiguous in memory; None if unknown."""
    if fact.moves == "rows":
        return overlap.stays_dense(call, source)
    if fact.moves == "row":
        return overlap.row_is_dense(call, source)
    return True if fact.moves == "all" and source.contiguous else fact.contiguous


def _is_broadcast(call: Call, rank: int | None) -> bool:
    """Check whether an operand has more axes than the one whose rank a result takes."""
    return rank is not None and any((tensor.rank or 0) > rank for _, tensor in call.grads)


def _is_size(value: Value) -> bool:
    return isinstance(value, Const) or (isinstance(value, Sym) and value.kind == "number")


def _factory_rg(call: Call, fact: ReturnFact) -> Three:
    return False if fact.rg is None else holds(fact.rg, call.binding)


def _first_tensor(call: Call) -> Tensor | None:
    for argument in call.binding.op.args:
        found = call.binding.tensors(argument.name)
        if found:
            return found[0][1]
    return None


def _why(call: Call) -> str:
    return next((tensor.why for _, tensor in call.grads if tensor.rg is None and tensor.why), "an input requires grad")


def _view(call: Call, fact: ReturnFact, rg: Three, node: NodeId | None) -> Value:
    """Create a tensor that shares the storage of an argument, or may share it."""
    state = call.state
    name = fact.of or call.binding.op.args[0].name
    sources = call.binding.tensors(name)
    if not sources:
        return _fresh(call, ReturnFact("fresh", dtype=fact.dtype), rg, node)
    ref, source = sources[0]
    kind = View.MAYBE if fact.kind == "maybe" else View(fact.view)
    doubt = source.doubt
    if kind is View.MAYBE:
        doubt |= {f"`{short(call.name)}` returns a view here, not a copy"}
    if kind in {View.DETACH, View.DATA, View.UNTRACKED}:
        return state.new(_cut(call, source, kind, doubt))
    kind, rg = _view_kind(call, fact, kind, source, rg)
    tensor = Tensor(
        storage=source.storage,
        rg=rg if source.rg is not False or rg else source.rg,
        leaf=False if rg else None if rg is None else True,
        nodes=source.nodes if rg is not False else (),
        batched=source.batched,
        base=source.base if source.base is not None and source.view is not View.DETACH else ref,
        view=kind,
        dtype=_requested_dtype(call) or (source.dtype if fact.dtype == "same" else fact.dtype),
        rank=overlap.rank(call, fact.moves, source) if fact.moves in {"row", "rows"} else _rank(call, fact, source),
        contiguous=_view_layout(call, fact, source),
        counted=source.counted,
        sure=source.sure,
        why=source.why if rg is None else "",
        framework=source.framework,
        doubt=doubt,
        made=call.touch("out0"),
        inference=source.inference,
        part=None if kind is View.MAYBE else overlap.step(call, fact.moves, source),
        follows=call.facts.framework.rebases,
        since=state.storages[source.storage].version if kind is View.MULTI or kind is View.NO_GRAD else 0,
    )
    return state.new(tensor)


def _view_kind(call: Call, fact: ReturnFact, kind: View, source: Tensor, rg: Three) -> tuple[View, Three]:
    """Return the kind of view that is created under the current modes, and whether it requires grad."""
    if call.state.modes.grad is False:
        made_so = View.INFERENCE if call.state.modes.inference else View.NO_GRAD
        return (made_so if kind is not View.MAYBE else kind), False
    # A view of one of several views counts as one of several, and a view of one made under no-grad as made so.
    is_part = source.view is View.MULTI and kind is View.MAYBE
    if kind is View.SINGLE:
        is_part = source.view in _TRACKED or source.view is View.NO_GRAD
        is_part = is_part and (source.view is not View.EXPANDED or overlap.keeps_repeats(call, fact.moves))
    return (source.view if is_part and source.view is not None else kind), rg


def _cut(call: Call, source: Tensor, kind: View, doubt: frozenset[str]) -> Tensor:
    return Tensor(
        storage=source.storage,
        rg=False,
        leaf=True,
        view=kind,
        dtype=source.dtype,
        rank=source.rank,
        contiguous=source.contiguous,
        counted=source.counted and kind is View.DETACH,
        framework=source.framework,
        doubt=doubt,
        made=call.touch("out0"),
        inference=source.inference and kind is not View.DATA,
        part=source.part,
        batched=source.batched,
    )


def short(name: str) -> str:
    """Return the last part of an op's name, as messages show it."""
    return name.rpartition(".")[2]


def _list(call: Call, fact: ReturnFact, rg: Three, node: NodeId | None) -> Value:
    """Return a tuple of equal results, of unknown length if neither the fact nor an argument determines it."""
    length = fact.length
    if isinstance(length, str):
        value = call.binding.value(length)
        length = value.value if isinstance(value, Const) and isinstance(value.value, int) else None
        if isinstance(value, Tuple) and value.exact:
            length = len(value.items)
        inner = call.state.object(value) if isinstance(value, Ref) else None
        if isinstance(inner, ListObject) and inner.exact:
            length = len(inner.items)
    count = length if isinstance(length, int) and 0 < length <= 64 else UNKNOWN_TURNS  # noqa: PLR2004 - keeps tuples small
    items = tuple(_one(call, fact.items[0], rg, node) for _ in range(count))
    return Tuple(items, exact=length == count)


def _python_value(call: Call, fact: ReturnFact) -> Value:
    state = call.state
    if fact.value == "none":
        return NONE
    # The same call on the same tensor returns the same value until the tensor is written.
    names = [argument.name for argument in call.binding.op.args if argument.kind == "plain"]
    arguments = tuple(call.binding.values.get(name, NONE) for name in names)
    tensor = _first_tensor(call)
    version = state.storages[tensor.storage].version if tensor is not None and fact.value != "shape" else 0
    if any(isinstance(argument, Ref) for argument in arguments[1:]) or not arguments:
        return state.symbols.sym((origins.VALUE, call.name, state.next_id, call.at), _KINDS.get(fact.value, ""))
    if fact.value == "shape":
        return state.symbols.sym((origins.SHAPE, arguments), "sequence")
    if fact.value == "int":
        return state.symbols.sym((origins.SHAPE, call.name, arguments, version), "number")
    return state.symbols.sym((origins.VALUE, call.name, arguments, version), _KINDS.get(fact.value, ""))
