"""Recording of a call on the tape: the node, its edges, and what it saves of operands and results."""

from __future__ import annotations

import re

from msgspec.structs import replace

from inplace_lint.core.assumption import Assumption, assumption, supposition, takes_for_tensor
from inplace_lint.core.event import Touch
from inplace_lint.domain import traits
from inplace_lint.domain.heap import DictObject, Instance, ListObject, Node, Save, Tensor, View
from inplace_lint.domain.state import State
from inplace_lint.domain.tape import doubts_of, leaves_of, nodes_of
from inplace_lint.domain.values import NOT_TENSORS, NodeId, Ref, Sym, Three, Tuple, Value
from inplace_lint.interp.transfer.binding import Binding
from inplace_lint.interp.transfer.op_call import Call
from inplace_lint.ir import nodes as ir
from inplace_lint.knowledge.guard import Guard, atoms, holds
from inplace_lint.knowledge.words import Moves, Predicate, Result

OUTPUT = re.compile(r"out\d+")
_WHOLE = frozenset((Moves.AXES, Moves.ALL))  # how a view of all elements moves them


def rg_of(call: Call) -> Three:
    """Return whether the result of the call requires grad; None if the path has not asked the value that decides it."""
    if call.state.modes.grad is False:
        return False
    answers = [tensor.rg for _, tensor in call.grads]
    if None not in answers or True in answers:
        return True in answers
    known = call.state.traits
    whys = [tensor.why for _, tensor in call.grads if tensor.rg is None]
    found = [why for why in whys if type(why) is Assumption and (traits.REQUIRES_GRAD, why.of) in known]
    return True if found else None


def weights(binding: Binding, name: str) -> dict[Ref, Tensor]:
    """Return the parameters of a module that the called one consists of (`self.encoder_layer`), and of all below it."""
    found: dict[Ref, Tensor] = {}
    if not name.startswith("self.") or type(value := binding.value(name)) is not Ref:
        return found
    state, pending, seen = binding.state, [value], set[Ref]()
    while pending:
        ref = pending.pop()
        thing = None if ref in seen else state.object(ref)
        seen.add(ref)
        if isinstance(thing, Tensor) and thing.param:
            found[ref] = thing
        elif isinstance(thing, Instance):
            pending.extend(part for part in (*thing.attrs.values(), thing.children) if type(part) is Ref)
        elif isinstance(thing, ListObject | DictObject):
            parts = thing.items.values() if isinstance(thing, DictObject) else thing.items
            pending.extend(part for part in parts if type(part) is Ref)
    return found


def save_of(
    call: Call,
    tensor: Tensor,
    part: str,
    expr: ir.Expr | None,
    assumed: frozenset[str],
    guard: Guard | None = None,
    *,
    view: bool = False,
) -> Save:
    """
    Return a save of a tensor at its present version; `guard` is what it is kept for, where that is not known.

    A `view` of it may be kept in its place.

    Backward compares no versions of a tensor with a version of its own: writes to what it shares memory with count
    for that.
    """
    state = call.state
    version, touch = state.storages[tensor.storage].version, call.touch(part, expr, tensor)
    compares = state.modes.compares and tensor.counted
    is_view = view or tensor.base is not None
    save = Save(tensor.storage, version, touch, state.clock, assumed, tensor.doubt, compares, view=is_view)
    asks = () if guard is None else _asks(call, guard)
    return replace(save, asks=asks) if asks else save


def _asks(call: Call, guard: Guard) -> tuple[NodeId, ...]:
    """Return the nodes of the operand of which a guard asks whether it requires grad, if it asks nothing else."""
    open_ = {atom for atom in atoms(guard) if holds(atom, call.binding) is None}
    if len(open_) != 1 or (atom := open_.pop()).name is not Predicate.RG:
        return ()
    tensor = call.binding.tensor(atom.args[0])
    return () if tensor is None else tuple(nodes_of(call.state, tensor))


def record(call: Call, saves: list[Save], without: Ref | None = None, write: Touch | None = None) -> NodeId:
    """Record the call on the tape; `without` is a tensor whose old history is dropped, `write` what it writes."""
    state = call.state
    inputs: list[NodeId] = []
    for ref, tensor in call.grads:
        if ref != without and tensor.rg is not False:
            inputs.extend(node for node in nodes_of(state, tensor) if node not in inputs)
    assumed: frozenset[str] = frozenset()
    if not any(tensor.rg for _, tensor in call.grads):
        assumed = frozenset({next(tensor.why for _, tensor in call.grads if tensor.rg is None)})
    site = call.frame.site(call.at)
    leaves = leaves_of(call.grads)
    doubts = doubts_of(call.grads) | _doubts_of_unknowns(call)
    hands, expands = _hands(call)
    node = Node(call.name, site, tuple(inputs), tuple(saves), assumed, leaves=leaves, write=write, doubts=doubts)
    if hands or expands:
        node = replace(node, hands=hands, expands=expands)
    return state.record(node)


def _hands(call: Call) -> tuple[tuple[NodeId, ...], tuple[NodeId, ...]]:
    """
    Return the nodes that backward hands the gradient of the result, and those that it hands an expansion of it.

    That of a view of all elements is handed on as a view of its own. None is where operands may have other shapes, and
    none to a tensor that is two of the operands, whose gradients are added up.
    """
    op = call.binding.op
    facts = [one for one in op.hands if holds(one.condition, call.binding)]
    names = [one.of for one in facts if not one.expanded]
    if not op.hands:
        names = [one.of for one in op.returns if one.kind is Result.VIEW and one.moves in _WHOLE]
    tensors = [tensor for name in names for _, tensor in call.binding.tensors(name)]
    if len({tensor.sizes for tensor in tensors if tensor.sizes is not None}) > 1:
        return (), ()
    expanded = [tensor for one in facts if one.expanded for _, tensor in call.binding.tensors(one.of)]
    return _once(_nodes(tensors), _nodes(expanded))


def _once(handed: tuple[NodeId, ...], expanded: tuple[NodeId, ...]) -> tuple[tuple[NodeId, ...], tuple[NodeId, ...]]:
    """Return the nodes that are handed one gradient only."""
    every = handed + expanded
    if len(every) == len(set(every)):
        return handed, expanded
    first, second = (tuple(node for node in nodes if every.count(node) == 1) for nodes in (handed, expanded))
    return first, second


def _nodes(tensors: list[Tensor]) -> tuple[NodeId, ...]:
    return tuple(node for tensor in tensors if tensor.rg is not False for node in tensor.nodes[-1:])


def passed_to_base(state: State, view: Tensor, nodes: tuple[NodeId, ...]) -> tuple[NodeId, ...]:
    """Return the nodes of a write for the tensor that was written if what was taken for a tensor is one."""
    taken = sorted(filter(takes_for_tensor, view.doubt)) if view.view is View.MAYBE else ()
    if not taken or not nodes:
        return nodes
    # That a gradient passes here may be certain; that the tensor is the one that was taken for it is not, for that.
    passes = supposition(str(taken[0]), state.fresh())
    return (state.record(Node("", None, nodes, (), frozenset(), passes)),)


def _doubts_of_unknowns(call: Call) -> frozenset[str]:
    """Return a doubt for an operand that may be a tensor, although nothing has used it as one."""
    values = call.binding.values
    given = values.values() if call.binding.op.grads is None else map(values.get, call.binding.op.grads)
    unknown = (value for value in given if type(value) is Sym and value.kind not in NOT_TENSORS)
    alone = (value for value in unknown if call.state.tensor(value) is None)
    return frozenset(assumption("an operand requires grad", value.id) for value in alone)


def save_outputs(call: Call, node: NodeId, value: Value) -> None:
    """Add the results that the op saves to its node; under hooks that pack saved tensors, the node keeps copies."""
    state = call.state
    if state.modes.packed:
        return
    outputs = value.items if isinstance(value, Tuple) else (value,)
    saves = list(state.nodes[node].saves)
    for fact in call.binding.op.saves:
        if OUTPUT.fullmatch(fact.of) and not fact.copy:
            verdict = holds(fact.condition, call.binding)
            position = int(fact.of[3:] or 0)
            tensor = state.tensor(outputs[position]) if position < len(outputs) else None
            if verdict is not False and tensor is not None:
                assumed = call.doubt | (call.binding.sentence(fact.condition) if verdict is None else frozenset())
                guard = fact.condition if verdict is None else None
                saves.append(save_of(call, tensor, fact.of, None, assumed, guard))
    if len(saves) != len(state.nodes[node].saves):
        state.nodes[node] = replace(state.nodes[node], saves=tuple(saves))


def more_like(state: State, known: tuple[Value, ...], count: int) -> tuple[Value, ...]:
    """Return `count` values, of which only the first are known; further tensors are copies of the last one."""
    values = list(known[:count])
    while known and len(values) < count:
        tensor = state.tensor(known[-1])
        if tensor is None:
            values.append(known[-1])
        elif tensor.view is not None:
            values.append(state.new(tensor))
        else:
            values.append(state.new(replace(tensor, storage=state.new_storage())))
    return tuple(values)
