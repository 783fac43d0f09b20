"""Materialisation: which values are tensors, and the tensor that an unknown value becomes once it is used as one."""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from msgspec.structs import replace

from inplace_lint.core.assumption import assumption, supposition
from inplace_lint.core.event import Site, Touch
from inplace_lint.domain import origins, traits, unknown_history, used_gradients
from inplace_lint.domain.heap import Instance, ListObject, Node, Storage, Tensor, View, Write
from inplace_lint.domain.state import State
from inplace_lint.domain.values import (
    NOT_TENSORS,
    ClassValue,
    Const,
    Dotted,
    NodeId,
    Ref,
    SliceValue,
    Sym,
    SymId,
    Tuple,
    Value,
)
from inplace_lint.interp.frame import Arguments, Frame, Variable
from inplace_lint.interp.interpreter import Interpreter
from inplace_lint.interp.intrinsics import opaque_modules
from inplace_lint.knowledge.facts import Facts

_DEEPEST = 8
_INSIDE = frozenset({origins.ITEM, origins.ROW, origins.TURN})  # values that are part of another
_NAMELESS, _ITEM_OF = "the tensor", "an item of "
_FILLING = ("append", "extend", "insert")


def framework_of(interp: Interpreter, state: State, value: Value) -> Facts | None:
    """Return the facts that apply to operators on this value; None if it is not known to be a tensor."""
    if type(value) is Const:
        return None
    tensor = state.tensor(value)
    if tensor is not None:
        return interp.context.facts.get(tensor.framework) or interp.context.default()
    if isinstance(value, Sym) and (value.kind == "tensor" or _has_gradient(state, value)):
        return interp.context.default()
    return None


def _has_gradient(state: State, value: Sym) -> bool:
    """Check whether an unknown value is a gradient, or something that has one which was used."""
    return state.has_trait(traits.HAS_USED_GRADIENT, value.id) or used_gradients.owner(state, value) is not None


def of_operand(interp: Interpreter, state: State, value: Value) -> Facts | None:
    """Return the facts for an operand of an operator: the result of a module is a tensor once it is one."""
    facts = framework_of(interp, state, value)
    if facts is None and isinstance(value, Sym) and value.kind == "input" and opaque_modules.is_output(state, value):
        return interp.context.default()
    return facts


def materialise(interp: Interpreter, state: State, value: Value, framework: str = "") -> Ref | None:
    """Return the tensor that a value is, created for an unknown value; None if the value certainly is no tensor."""
    known = state.ref(value)
    if known is not None:
        return known if state.tensor(value) is not None else None
    if not isinstance(value, Sym) or value.kind in NOT_TENSORS:
        return None
    nodes = unknown_history.nodes_behind(state, value)
    source = _source(state, value)
    asked = assumption(f"{describe(state, source)} requires grad", source.id)
    why = next((state.nodes[node].passes for node in nodes if state.nodes[node].passes), asked)
    used_gradients.note(state, (value,))
    used = not nodes and state.has_trait(traits.HAS_USED_GRADIENT, value.id)
    trained = used or (why is asked and _is_trained_by(interp, state, nodes))
    floating = state.trait(traits.FLOATING_DTYPE, value.id) or ""
    truths = unknown_history.is_truth(state, value)
    key = state.symbols.keys[value.id]
    inside = isinstance(key, tuple) and key[0] in _INSIDE
    data = truths or state.has_trait(traits.NO_GRADIENT, value.id)
    data = data or (inside and not nodes and unknown_history.has_no_gradient(state, value))
    tensor = Tensor(
        storage=state.new_storage(),
        doubt=_doubt(interp, state, value) if inside else frozenset(),
        rg=True if trained else False if data else None,
        leaf=used or (False if trained else None),
        nodes=() if truths else nodes,
        sure=value.kind in {"tensor", "input"},
        why=why,
        sizes=state.trait(traits.SIZES, value.id),
        dtype="bool" if truths else "float" if floating else "unknown",
        exact=floating,
        framework=framework or interp.context.default().framework.name,
        batched=state.modes.mapped and unknown_history.is_batched(state, value),
    )
    return state.tensor_of(value, tensor)


def _is_trained_by(interp: Interpreter, state: State, nodes: Iterable[NodeId]) -> bool:
    """
    Check whether one of these is a call of a library's layer that an optimizer updates, or a module has as a part.

    A layer that anybody else was given, or of which a part was told to require no grad, may be frozen.
    """
    leaves = {leaf for number in nodes for leaf in state.nodes[number].leaves}
    layers = ((owner, ref, state.tensor(ref)) for owner, ref in (state.all_traits(traits.LAYER) if leaves else ()))
    called = {ref.id: owner for owner, ref, weight in layers if ref.id in leaves and weight is not None and weight.rg}
    return any(
        not state.has_trait(traits.PASSED_ON, owner)
        and (state.has_trait(traits.OPTIMIZED, weight) or _is_part(interp, state, owner))
        for weight, owner in called.items()
    )


def _is_part(interp: Interpreter, state: State, owner: SymId) -> bool:
    """Check whether a module of the program, or a container of modules, has an unknown value, or its network, in it."""
    value = Sym(owner)
    network = unknown_history.owner(state, value)
    modules = (
        thing for thing in state.heap.values() if isinstance(thing, Instance) and interp.context.is_module(thing.cls)
    )
    return opaque_modules.is_child(state, value) or any(
        value in thing.attrs.values() or network in thing.attrs.values() for thing in modules
    )


def _doubt(interp: Interpreter, state: State, value: Sym) -> frozenset[str]:
    """
    Return the assumption that an item of an attribute is a tensor, if methods of the program fill that of a library.

        def add_param_group(self, group): self.param_groups.append(group)    # of values that are no tensors, too
    """
    for _ in range(_DEEPEST):
        match state.symbols.keys[value.id]:
            case (origins.ITEM | origins.ROW | origins.TURN, Sym() as outer, *_):
                value = outer
            case (origins.ATTRIBUTE, Ref() as owner, str(name)) if (instance := state.instance(owner)) is not None:
                filling = {f"{name}.{method}" for method in _FILLING}
                known = (
                    interp.context.definition_at(base.slice)
                    for base in interp.context.mro(instance.cls)
                    if isinstance(base, ClassValue)
                )
                methods = (method for one in known if one is not None for method in one.methods)
                fills = any(call.partition(".")[2] in filling for method in methods for call in method.calls)
                return frozenset({f"what `{name}` holds is a tensor"}) if fills else frozenset()
            case _:
                break
    return frozenset()


def show(state: State, value: Value) -> None:
    """Note that an unknown value is used as only a tensor can be."""
    if type(value) is Sym and value.kind != "tensor" and not state.has_trait(traits.IS_TENSOR, value.id):
        state.set_trait(traits.IS_TENSOR, value.id, True)


def doubt(state: State, value: Value) -> None:
    """
    Let what is found of an input assume that it is a tensor: it was used as a number may be, too.

        y = w * n
        n += 1          # a number gives a new one, and nothing is written
    """
    ref, tensor = state.ref(value), state.tensor(value)
    if type(value) is not Sym or value.kind == "tensor" or ref is None or tensor is None:
        return
    sentence = f"{describe(state, value)} is a tensor"
    if not state.has_trait(traits.IS_TENSOR, value.id) and sentence not in tensor.doubt:
        state.set_trait(traits.TAKEN_FOR_TENSOR, sentence, value.id)
        state.put(ref, replace(tensor, doubt=tensor.doubt | {sentence}))


def other_than_a_number(state: State, value: Value) -> Value:
    """
    Return the tensor that an operator makes of an input and a tensor: the input itself only if that is a tensor.

        y = w ** n
        total = n
        total += w      # a number gives a new value; what is done to `total` from here on tells nothing of `n`
    """
    if type(value) is not Sym or value.kind == "tensor" or state.tensor(value) is None:
        return value
    if state.has_trait(traits.IS_TENSOR, value.id):
        return value
    sentence = supposition(f"{describe(state, value)} is a tensor", state.fresh())
    state.set_trait(traits.TAKEN_FOR_TENSOR, sentence, value.id)
    return supposed(state, value, sentence)


def postpone(state: State, old: Sym, result: Sym, touch: Touch, names: frozenset[Variable]) -> None:
    """
    Remember that an unknown value was written, and is what an augmented assignment gave, if it is a tensor.

        x -= 1              # a number gives a new one
        return norm(x)      # no number can be normalised: `x` is still the tensor that the caller passed
    """
    root = _augmented_from(state, old)
    state.clock += 1
    write = Write(touch, 0, False, state.clock, state.assumptions, names=names)
    state.set_trait(traits.AUGMENTED, root, (*(state.trait(traits.AUGMENTED, root) or ()), (result.id, write)))
    state.set_trait(traits.AUGMENTED_FROM, result.id, root)


def settle(interp: Interpreter, state: State, value: Value) -> None:
    """Make one tensor of an unknown value and what augmented assignments gave: one of them was shown to be a tensor."""
    if not isinstance(value, Sym):
        return
    root = _augmented_from(state, value)
    written = state.trait(traits.AUGMENTED, root)
    ref = materialise(interp, state, Sym(root, "input")) if written else None
    tensor = None if ref is None else state.tensor(ref)
    if written is None or ref is None or tensor is None:
        return
    known = state.storages[tensor.storage]
    # Nothing can have saved what was no tensor yet, so that these writes count for no version.
    earlier = tuple(replace(write, tensor=ref, part=tensor.part) for _, write in written)
    state.put_storage(tensor.storage, Storage(known.version, (*earlier, *known.writes)))
    for number, _ in written:
        if not state.has_trait(traits.TENSOR, number):
            state.set_trait(traits.TENSOR, number, ref)
    state.set_trait(traits.AUGMENTED, root, ())


def _augmented_from(state: State, value: Sym) -> SymId:
    """Return the unknown value that augmented assignments made a value of; that itself where none did."""
    known = state.trait(traits.AUGMENTED_FROM, value.id)
    return value.id if known is None else known


def materialise_item(interp: Interpreter, frame: Frame, state: State, value: Value, at: int, *, sure: bool) -> None:
    """
    Make an unknown item the view that it is, where what it is an item of is a tensor; `sure`: because the item is one.

        past, rest = t[:-1], t[1:]
        rest.sub_(past)             # no sequence has this method: `t` is a tensor, and `past` another view of it
    """
    key = state.symbols.keys[value.id] if isinstance(value, Sym) and state.ref(value) is None else None
    match key:
        case (origins.ITEM, Sym() as whole, SliceValue() | Tuple() as index):
            materialise_item(interp, frame, state, whole, at, sure=sure)
            slices = index.items if isinstance(index, Tuple) else (index,)
            if sure and whole.kind == "input" and any(isinstance(part, SliceValue) for part in slices):
                materialise(interp, state, whole)
            facts = None if state.ref(whole) is None else framework_of(interp, state, whole)
            if facts is None or not isinstance(value, Sym):
                return
            name = f"{facts.framework.tensor}.__getitem__"
            for after, part in interp.apply_op(frame, state, name, Arguments((whole, index)), at)[:1]:
                if after is state and isinstance(part, Ref):
                    state.set_trait(traits.TENSOR, value.id, part)
        case _:
            pass


def remember_history(
    state: State, result: Sym, function: Value, arguments: Arguments, site: Site, made: tuple[Value, ...] = ()
) -> None:
    """
    Record an unknown call on the tape: its result may have been computed from the tensors that were passed.

    `made` is what functions of the program returned that it called: it is there to hand this on.
    """
    if state.modes.grad is False:
        return
    given = (*arguments.values, *made)
    nodes, leaves = unknown_history.sources(state, (function, *given))
    node = opaque_modules.record_call(state, function, given, site, nodes)
    if node is None and (nodes or leaves):
        name = opaque_modules.name_of_call(state, function)
        passes = f"`{name}` passes the gradient on" if name else "an unknown call passes the gradient on"
        if name and unknown_history.is_made_there(state, function, site):
            passes = f"what `{name}` makes there passes the gradient on"
        free = not made and not unknown_history.is_object(state, function) and not _reads_what_is_held(state, function)
        node = state.record(Node(name, site, nodes, (), frozenset(), passes, leaves, free=free))
    if node is not None:
        state.set_trait(traits.CALL_NODE, result.id, node)
        state.symbols.marked.add(result.id)


def hold(state: State, container: Sym, name: Hashable, value: Value, *, free: bool = False) -> None:
    """
    Store a value in an unknown object: what is read or computed of that from here on may depend on it.

        graph.ndata["h"] = self.project(x)
        graph.update_all(copy, mean)
        return graph.ndata["out"]           # computed of what `graph` holds, and so of what `project` returned

    `free`: a method was given it, which may also measure or print it.
    """
    owner = unknown_history.owner(state, container)
    holding = state.trait(traits.HOLDING, owner.id)
    if holding is None:
        may_be_tensor = isinstance(value, Sym) and value.kind in {"tensor", "input"}
        if not may_be_tensor and not any(unknown_history.sources(state, (value,))):
            return
        holding = traits.Holding(unknown_history.nodes_behind(state, owner), free)
    holding = holding.with_value((container.id, name), value, free=free)
    state.set_trait(traits.HOLDING, owner.id, holding)
    nodes, leaves = unknown_history.sources(state, [held for _, held in holding.values])
    if not nodes and not leaves:
        return
    passes = f"what is read from `{opaque_modules.name_of(state, owner.id)}` is computed from what it holds"
    node = Node("", None, (*holding.made_by, *nodes), (), frozenset(), passes, leaves, free=holding.free)
    state.set_trait(traits.CALL_NODE, owner.id, state.record(node))
    state.symbols.marked.add(owner.id)


def _reads_what_is_held(state: State, function: Value) -> bool:
    """Check whether a function is a method of an unknown object in which the program stored tensors."""
    holding = unknown_history.holding(state, function)
    return holding is not None and not holding.free


def supposed(state: State, value: Value, assumption: str) -> Value:
    """Return a tensor that is taken to be another one, under an assumption; what is no tensor itself."""
    ref, tensor = state.ref(value), state.tensor(value)
    if ref is None or tensor is None:
        return value
    base = ref if tensor.base is None else tensor.base
    return state.new(replace(tensor, view=View.MAYBE, base=base, doubt=tensor.doubt | {assumption}, part=None))


def given_by_name(state: State, value: Sym, name: str) -> Value | None:
    """
    Return the tensor that an unknown call was given by the name of an attribute of its result; None if none was.

    output = Output(hidden=h)
    output.hidden[:, 0] = 0     # `h`, under an assumption
    """
    named = state.trait(traits.NAMED, value.id)
    given = next((one for key, one in named or () if key == name), None)
    if given is None:
        return None
    kept = supposed(state, given, f"an unknown call keeps `{name}` as it is given")
    state.set_trait(traits.UNKNOWN_ATTRIBUTE, (value.id, name), kept)
    return kept


def _source(state: State, value: Sym) -> Sym:
    """Return the only unknown value that another one is computed from, beside numbers: `n` of `2 * (n + 1)`."""
    match state.symbols.key(value):
        case (origins.BINARY, _, left, right):
            unknown = [one for one in (left, right) if isinstance(one, Sym) and one.kind != "number"]
            only = isinstance(left, Const | Sym) and isinstance(right, Const | Sym) and len(unknown) == 1
            return _source(state, unknown[0]) if only else value
        case (origins.UNARY, _, Sym() as inner):
            return _source(state, inner)
        case _:
            return value


def describe(state: State, value: Sym) -> str:
    """Return the words for an unknown value in a sentence."""
    key = state.symbols.key(value)
    match key:
        case (origins.PARAMETER, _, str(name), *_):
            return f"`{name}`"
        case (origins.ATTRIBUTE | origins.DESCRIBES, _, str(name)):
            return f"`{name}`"
        case (origins.GLOBAL, _, str(name)):
            return f"`{name}`"
        case (origins.RESULT, Sym() | Dotted() as function, *_):
            name = opaque_modules.name_of_call(state, function)
            return f"what `{name}` returns" if name else _NAMELESS
        case (origins.ITEM | origins.ROW | origins.TURN, Sym() as outer, *_):
            whole = describe(state, outer)
            return whole if whole == _NAMELESS or whole.startswith(_ITEM_OF) else f"{_ITEM_OF}{whole}"
        case (origins.BINARY, _, *sides):
            found = {describe(state, unknown_history.owner(state, side)) for side in sides if isinstance(side, Sym)}
            name = found.pop() if len(found) == 1 else ""
            return f"what is computed from `{name[1:-1]}`" if name.startswith("`") else _NAMELESS
        case _:
            return _NAMELESS


def materialise_all(interp: Interpreter, state: State, value: Value, framework: str) -> list[tuple[Ref, Tensor]]:
    """List the tensors of an argument, with its unknown items materialised."""
    inner = state.object(value)
    items = value.items if isinstance(value, Tuple) else inner.items if isinstance(inner, ListObject) else None
    for item in (value,) if items is None else items:
        if isinstance(item, Sym):
            materialise(interp, state, item, framework)
    return state.tensors_in(value)
