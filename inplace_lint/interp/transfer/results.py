"""The result of a framework call: a fresh tensor, a view, an argument itself, a tuple of these, or a Python value."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from inplace_lint.core.assumption import Assumption, supposition, takes_for_tensor
from inplace_lint.domain import origins, traits, unknown_history
from inplace_lint.domain.heap import FIXED, Part, Tensor, View, alike
from inplace_lint.domain.state import State
from inplace_lint.domain.values import NONE, Const, Dotted, NodeId, Ref, Sym, Three, Tuple, Value
from inplace_lint.interp.fuel import UNKNOWN_TURNS
from inplace_lint.interp.transfer import layouts, memory_order, overlap, shapes
from inplace_lint.interp.transfer.op_call import Call, is_object
from inplace_lint.interp.transfer.tensor_types import devices, dtypes, of_call
from inplace_lint.knowledge.guard import holds
from inplace_lint.knowledge.op import ReturnFact
from inplace_lint.knowledge.words import DType, Moves

_TRACKED = {View.SINGLE, View.MULTI, View.EXPANDED, View.CUSTOM, View.HOOKED}
_KINDS = {
    **dict.fromkeys(("int", "rank", "size", "length", "count", "float"), "number"),
    **dict.fromkeys(("list", "tuple"), "sequence"),
    "bool": "",
    "numbers": "array",
    "str": "str",
}
_NUMBERS = frozenset({"int", "rank", "size", "length", "count"})  # which are the same until the tensor is written


def make(call: Call, rg: Three, node: NodeId | None) -> Value:
    """Create the result of a call whose node, if it has one, is on the tape."""
    facts = call.binding.op.returns
    if not facts:
        return _fresh(call, ReturnFact("fresh"), rg, node)
    possible: list[ReturnFact] = []
    for fact in facts:
        verdict = holds(fact.condition, call.binding)
        if verdict is not False:
            possible.append(fact)
        if verdict:
            return _one(call, _undecided(possible), rg, node)
    return _one(call, _undecided(possible or facts[-1:]), rg, node)


def _undecided(facts: Sequence[ReturnFact]) -> ReturnFact:
    """
    Return the last of the facts that may hold, if it is the only one; else what is true of all of them.

    The result may be a view, unless all are fresh. Where these differ in their dtypes, that of the result is not known.
    """
    chosen = facts[-1]
    if len(facts) == 1:
        return chosen
    kinds = {fact.kind for fact in facts}
    if kinds <= {"fresh"} and len({fact.dtype for fact in facts}) > 1:
        return replace(chosen, dtype=DType.UNKNOWN)
    if kinds <= {"fresh"} or chosen.kind in {"tuple", "list", "value"}:
        return chosen
    source = next((fact.of for fact in facts if fact.of), "")
    return ReturnFact("maybe", of=source, dtype=chosen.dtype, shape=chosen.shape)


def _one(call: Call, fact: ReturnFact, rg: Three, node: NodeId | None, place: int = 0) -> Value:
    """Return the result that a fact states, which is the one at a place of several that are alike."""
    match fact.kind:
        case "fresh":
            return _fresh(call, fact, rg, node)
        case "view" | "maybe":
            return _view(call, fact, False if fact.dtype in dtypes.WHOLE else rg, node, place)
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
    """Return an argument itself, with other axes where the fact says that they change."""
    if fact.shape is not None or fact.contiguous is False:
        for ref, tensor in call.binding.tensors(name):
            layout = layouts.of_view(call.binding, fact, tensor)
            call.state.put(ref, replace(call.state.tensor(ref) or tensor, **layout, part=None))
            call.state.set_trait(traits.LEAST_AXES, ref.id, 0)
    elif name != call.binding.op.args[0].name:
        _resize(call, name)
    return call.binding.value(name) or NONE


def _resize(call: Call, name: str) -> None:
    """Give an argument that takes up the result (`out=`) the shape of that, if it is empty or has other axes."""
    made = call.binding.op.returns[-1]
    for (ref, tensor), fact in zip(call.binding.tensors(name), made.items or (made,), strict=False):
        sizes = shapes.of_fact(call.binding, fact.shape)
        old = tensor.sizes
        if not old or 0 in old or (sizes is not None and len(sizes) != len(old)):
            kept = call.state.tensor(ref) or tensor
            call.state.put(ref, replace(kept, sizes=sizes, strides=None, contiguous=None if old is None else True))


def _fresh(call: Call, fact: ReturnFact, rg: Three, node: NodeId | None) -> Value:
    state = call.state
    operands = [tensor for _, tensor in call.grads or _operands(call)]
    model = operands[0] if operands else None
    of_call.note_dtypes(call)
    dtype, exact = of_call.dtype_of_new(call.binding, call.facts.framework, fact, operands)
    if fact.leaf:
        rg, node = _factory_rg(call, fact), None
    if dtype in dtypes.WHOLE:
        rg, node = False, None
    sizes = shapes.of_fact(call.binding, fact.shape)
    strides, contiguous = memory_order.of_new(call, fact, model, sizes)
    tensor = Tensor(
        storage=state.new_storage(),
        rg=rg,
        leaf=True if fact.leaf or rg is False else False if rg else None,
        nodes=() if node is None or rg is False else (node,),
        dtype=dtype,
        exact=exact,
        device=of_call.device_of_new(call, fact, operands),
        sizes=sizes,
        strides=strides,
        contiguous=contiguous,
        part=() if contiguous else None,
        why="" if rg is not None else _why(call),
        framework=call.facts.framework.name,
        made=call.touch("out0"),
        inference=state.modes.inference,
        batched=state.modes.mapped and _has_batch(call),
    )
    return _made(call, fact, tensor)


def _has_batch(call: Call) -> bool | None:
    """Return whether a call gets what represents all examples of a batch; None where that is not known."""
    found = [tensor.batched for _, tensor in _given_tensors(call)]
    found += [unknown_history.is_batched(call.state, value) for value in call.binding.values.values()]
    return True if True in found else None if None in found else False


def _made(call: Call, fact: ReturnFact, tensor: Tensor) -> Ref:
    """Add a new tensor to the state, with what is known of its axes where their number is not."""
    ref = call.state.new(tensor)
    if tensor.sizes is None and fact.shape is not None:
        layouts.note_axes(call.binding, fact.shape, ref)
    return ref


def _given_tensors(call: Call) -> list[tuple[Ref, Tensor]]:
    return [pair for name in call.binding.given for pair in call.binding.tensors(name)]


def _factory_rg(call: Call, fact: ReturnFact) -> Three:
    return False if fact.rg is None else holds(fact.rg, call.binding)


def _first_tensor(call: Call) -> Tensor | None:
    return next((tensor for _, tensor in _operands(call)), None)


def _operands(call: Call) -> list[tuple[Ref, Tensor]]:
    return [pair for argument in call.binding.op.args for pair in call.binding.tensors(argument.name)]


def _why(call: Call) -> str:
    """Return why a result may require grad: rather for a whole value from outside than for a part of a batch."""
    found = [tensor.why for _, tensor in call.grads if tensor.rg is None and tensor.why]
    if len(found) > 1:
        return next((why for why in found if not _is_of_part(call.state, why)), found[0])
    return found[0] if found else "an input requires grad"


def _is_of_part(state: State, why: str) -> bool:
    if not isinstance(why, Assumption) or why.of < 0:
        return False
    key = state.symbols.keys[why.of]
    return isinstance(key, tuple) and key[0] in {origins.ITEM, origins.ATTRIBUTE}


def _view(call: Call, fact: ReturnFact, rg: Three, node: NodeId | None, place: int) -> Value:
    """Create a tensor that shares the storage of an argument, or of the one at a place of several, or may share it."""
    state = call.state
    name = fact.of or call.binding.op.args[0].name
    if not (sources := _sources(call, name, place)):
        return _on_array(call, name, fact, _fresh(call, ReturnFact("fresh", dtype=fact.dtype), rg, node))
    ref, source = sources[0][0], layouts.laid(call.binding, fact, *sources[0], place)
    layout = layouts.of_view(call.binding, fact, source)
    kind, doubt = _stated_kind(call, fact, ref, source, layout)
    layout |= {"contiguous": False} if kind is View.EXPANDED else {}
    dtype = of_call.dtype_of_view(call.binding, fact, source)
    if kind in {View.DETACH, View.DATA, View.UNTRACKED}:
        cut = replace(_cut(call, source, kind, doubt), dtype=dtype.kind, exact=dtype.exact)
        return state.new(cut if fact.shape is None else replace(cut, **layout))
    stated, (kind, rg) = kind, _view_kind(call, fact, kind, source, rg)
    tensor = Tensor(
        storage=source.storage,
        rg=rg if source.rg is not False or rg else source.rg,
        leaf=False if rg else None if rg is None else True,
        nodes=source.nodes if rg is not False else (),
        batched=source.batched,
        base=source.base if source.base is not None and source.view is not View.DETACH else ref,
        view=kind,
        dtype=dtype.kind,
        exact=dtype.exact,
        device=of_call.device_of_view(call, source),
        **layout,
        counted=source.counted,
        sure=source.sure,
        why=source.why if rg is None else "",
        framework=source.framework,
        doubt=_of_this_view(call, source, doubt | call.doubt),
        before=frozenset() if kind is not View.MULTI else source.doubt if stated is kind else source.before,
        made=call.touch("out0"),
        inference=source.inference,
        part=None if kind is View.MAYBE else _part(call, fact, source, layout),
        follows=call.facts.framework.rebases,
        since=state.storages[source.storage].version if kind in FIXED else 0,
    )
    return _on_array(call, name, fact, _made(call, fact, tensor))


def _sources(call: Call, name: str, place: int) -> list[tuple[Ref, Tensor]]:
    """Return the tensors of an argument; where that is a sequence, those of the item that a result is a view of."""
    several = shapes.members(call.binding, name)
    return call.state.tensors_in(several[min(place, len(several) - 1)]) if several else call.binding.tensors(name)


def _of_this_view(call: Call, source: Tensor, doubt: frozenset[str]) -> frozenset[str]:
    """
    Return the assumptions under which a view shares its storage, those that it adds as assumptions about it.

        u, v = x[:, i], x[:, j]     # that the one is a view, no copy, says nothing of the other
    """
    added = doubt - source.doubt
    if not added:
        return doubt
    number = call.state.fresh()
    return source.doubt | {one if takes_for_tensor(one) else supposition(one, number) for one in added}


def _stated_kind(
    call: Call, fact: ReturnFact, ref: Ref, source: Tensor, layout: layouts.Layout
) -> tuple[View, frozenset[str]]:
    """Return the kind of view that a fact states, with what that assumes of the source."""
    kind = View.MAYBE if fact.kind == "maybe" else View(fact.view)
    if kind is View.MAYBE:
        return kind, source.doubt | {f"`{short(call.name)}` returns a view here, not a copy"}
    if kind is not View.EXPANDED or fact.shape is None:
        return kind, source.doubt
    return kind if overlap.expands(call, fact, ref, source, layout["sizes"]) else View.SINGLE, source.doubt


def _on_array(call: Call, name: str, fact: ReturnFact, made: Value) -> Value:
    """Remember whose memory a tensor has that is made of an unknown array, by what takes nothing else."""
    array, op = call.binding.value(name), call.binding.op
    alone = op.grads == () and len(op.args) == 1
    if fact.kind == "maybe" and alone and isinstance(array, Sym) and isinstance(made, Ref):
        call.state.set_trait(traits.ON_ARRAY, made.id, array)
    return made


def _part(call: Call, fact: ReturnFact, source: Tensor, layout: layouts.Layout) -> Part | None:
    if fact.view == View.EXPANDED.value:
        return overlap.repeats(call, fact, source, layout["sizes"])
    # Axes of size 1 may change their places so that everything stays where it is.
    alike = source.contiguous and layout["contiguous"] and layout["sizes"] == source.sizes
    stays = fact.moves is Moves.AXES and alike and source.sizes is not None
    return overlap.step(call, Moves.ALL if stays else fact.moves, source)


def _view_kind(call: Call, fact: ReturnFact, kind: View, source: Tensor, rg: Three) -> tuple[View, Three]:
    """Return the kind of view that is created under the current modes, and whether it requires grad."""
    repeats = source.view is View.EXPANDED and kind is View.SINGLE and overlap.keeps_repeats(call, fact.moves)
    if call.state.modes.grad is False:
        made_so = View.INFERENCE if call.state.modes.inference else View.EXPANDED if repeats else View.NO_GRAD
        keeps = kind is View.MAYBE or (kind is View.EXPANDED and made_so is not View.INFERENCE)
        return (kind if keeps else made_so), False
    # A view of one of several views counts as one of several, and a view of one made under no-grad as made so.
    is_part = source.view is View.MULTI and kind is View.MAYBE
    if kind is View.SINGLE:
        is_part = source.view in _TRACKED or source.view is View.NO_GRAD
        is_part = is_part and (source.view is not View.EXPANDED or repeats)
    return (source.view if is_part and source.view is not None else kind), rg


def _cut(call: Call, source: Tensor, kind: View, doubt: frozenset[str]) -> Tensor:
    return Tensor(
        storage=source.storage,
        rg=False,
        leaf=True,
        view=kind,
        **alike(source),
        device=devices.own(source),
        counted=source.counted and kind is View.DETACH,
        framework=source.framework,
        doubt=doubt,
        made=call.touch("out0"),
        inference=source.inference and kind is View.DETACH,
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
        value, found = call.binding.value(length), shapes.members(call.binding, length)
        length = value.value if isinstance(value, Const) and isinstance(value.value, int) else None
        length = length if found is None else len(found)
    length = shapes.parts(call.binding, fact.items[0].shape) or length
    count = length if isinstance(length, int) and 0 < length <= 64 else UNKNOWN_TURNS  # noqa: PLR2004 - keeps tuples small
    items = tuple(_one(call, fact.items[0], rg, node, place) for place in range(count))
    return Tuple(items, exact=length == count)


def _python_value(call: Call, fact: ReturnFact) -> Value:
    state = call.state
    if fact.value in {"none", "false"}:
        return NONE if fact.value == "none" else Const(False)
    # The same call on the same tensor returns the same value until the tensor is written.
    names = [argument.name for argument in call.binding.op.args if argument.kind == "plain"]
    arguments = tuple(call.binding.values.get(name, NONE) for name in names)
    tensor = _first_tensor(call)
    version = state.storages[tensor.storage].version if tensor is not None and fact.value != "shape" else 0
    if fact.value == "shape" and arguments:
        return shapes.shape_value(state, arguments[0])
    if any(isinstance(argument, Ref) for argument in arguments[1:]) or not arguments:
        return state.symbols.sym((origins.VALUE, call.name, state.next_id, call.at), _KINDS.get(fact.value, ""))
    if fact.value == "dtype" and tensor is not None and dtypes.named(Const(tensor.exact)):
        return Dotted(f"{call.facts.framework.packages[0]}.{tensor.exact}")
    if fact.value == "layout" and layouts.answer(state, "not_dense", arguments) == Const(False):
        return Dotted(call.facts.framework.dense)
    if (answer := layouts.answer(state, fact.value, arguments)) is not None:
        return answer
    if fact.value == "is_tensor" and is_object(call, arguments[0]):
        return Const(False)
    if fact.value == "dtype":
        return state.symbols.sym((origins.DTYPE, arguments[0]))
    if fact.value in _NUMBERS:
        known = shapes.number(call.binding, fact.value)
        return known or layouts.unknown_number(state, call.name, arguments, version, fact.value)
    return state.symbols.sym((origins.VALUE, call.name, arguments, version), _KINDS.get(fact.value, ""))
