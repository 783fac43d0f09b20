"""
Backward, and gradients as values.

    loss.backward()                                               # runs all nodes that lead to a leaf
    (slope,) = torch.autograd.grad(loss, [x], create_graph=True)  # runs those between loss and x alone
    slope.pow(2).sum().backward()                                 # runs these again

Nodes record their leaves, which tells which nodes lie between a loss and its inputs. The gradient of a gradient needs
what these nodes saved. A node that saved nothing is linear, so that the gradient does not depend on its inputs.

Source: torch `Engine::execute`, `exec_info_`.
"""

from __future__ import annotations

from collections.abc import Sequence

from inplace_lint.core.event import Keeping
from inplace_lint.domain import tape, traits
from inplace_lint.domain.heap import Node, Tensor
from inplace_lint.domain.state import State
from inplace_lint.domain.values import NONE, NodeId, Ref, Three, Tuple, Value
from inplace_lint.interp.control import path_condition, unknown_contexts
from inplace_lint.interp.intrinsics import opaque_modules, optimizers
from inplace_lint.interp.intrinsics.call import IntrinsicCall
from inplace_lint.interp.outcome import Results
from inplace_lint.interp.transfer import materialise


def backward(act: IntrinsicCall) -> Results:
    """Run `tensor.backward()`."""
    return backward_from(act, act.positional(0))


def backward_from(act: IntrinsicCall, value: Value, *, handed: bool = False) -> Results:
    """Run backward from a value, for the gradients of `inputs` only if these are passed."""
    state, retain = act.state, _keeps(act)
    materialise.materialise(act.interp, state, value)
    found = [tensor for _, tensor in state.tensors_in(value)]
    for ref, tensor in state.tensors_in(value):
        state.set_trait(traits.DIFFERENTIATED, ref.id, True)
        if not retain and not tensor.nodes:
            state.set_trait(traits.USED_UP, ref.id, True)
    state.set_trait(traits.TRAINS, None, state.clock)
    if not handed:
        state.set_trait(traits.LOSS, None, True)
    inputs = state.tensors_in(act.value("inputs"))
    site = act.frame.site(act.at)
    framework = act.interp.context.default().framework.name
    unknown_contexts.note_backward(state, found)
    act.interp.listeners.differentiate(state, framework, found)
    if not handed:
        act.interp.listeners.accumulate(state, framework, found, site, retain)
    added = tape.backward(state, framework, found, site, retain=retain, inputs=inputs, handed=handed)
    optimizers.announce_change(act, sorted(Ref(leaf) for leaf in added), Keeping.SUM)
    return [(state, NONE)]


def _keeps(act: IntrinsicCall) -> bool:
    retain, create = act.value("retain_graph"), act.value("create_graph")
    if retain == NONE:
        return path_condition.truth(act.state, create) is not False
    return path_condition.truth(act.state, retain) is not False


def grad(act: IntrinsicCall) -> Results:
    """Run backward and return the gradients, one for each tensor of `inputs`."""
    backward_from(act, act.positional(0), handed=True)
    state = act.state
    opaque_modules.train(state, (ref for ref, _ in state.tensors_in(act.value("inputs"))))
    wanted = state.tensors_in(act.value("inputs"))
    creates = path_condition.truth(state, act.value("create_graph"))
    site = act.frame.site(act.at)
    sources = [node for _, tensor in state.tensors_in(act.positional(0)) for node in tape.nodes_of(state, tensor)]
    why = "a gradient computed with `create_graph` requires grad"
    nodes: tuple[NodeId, ...] = ()
    if creates:
        # The gradient of a gradient runs the nodes between again, and needs what they saved.
        way = tape.on_the_way(state, sources, wanted)
        again = sources if way is None else [number for number in sorted(way) if _stays(state.nodes[number])]
        creates = _is_curved(state, again) if way is not None else True
        node = Node(act.form.name, site, tuple(again), (), frozenset(), why if creates is None else "")
        nodes = (state.record(node),) if again else ()
    leaf = None if creates is None else not creates
    why = why if creates is None else ""
    # What asks for gradients of the parameters of an unknown module to differentiate them uses its weights again.
    unknown = () if wanted or not nodes else opaque_modules.weights(state, act.value("inputs"))
    framework = act.interp.context.default().framework.name
    grads = [
        state.new(Tensor(state.new_storage(), rg=creates, leaf=leaf, nodes=nodes, framework=framework, why=why))
        for _ in (*wanted, *unknown)
    ]
    return [(state, Tuple(tuple(grads), exact=bool(wanted)))]


def _stays(node: Node) -> bool:
    return bool(node.saves or node.passes)


def _is_curved(state: State, again: Sequence[NodeId]) -> Three:
    """Check whether the gradient through these nodes depends on what requires grad; for `x * 2` it does not."""
    kept = {save.storage for number in again for save in state.nodes[number].saves}
    if not kept and not any(state.nodes[number].passes for number in again):
        return False
    tensors_ = (thing for thing in state.heap.values() if isinstance(thing, Tensor))
    return True if any(tensor.rg and tensor.storage in kept for tensor in tensors_) else None
