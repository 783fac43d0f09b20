"""Materialisation: which values are tensors, and the tensor that an unknown value becomes once it is used as one."""

from __future__ import annotations

from inplace_lint.core.event import Site
from inplace_lint.domain import origins, traits
from inplace_lint.domain.heap import ListObject, Node, Tensor
from inplace_lint.domain.state import State
from inplace_lint.domain.tape import nodes_of
from inplace_lint.domain.values import NOT_TENSORS, NodeId, Ref, Sym, Tuple, Value
from inplace_lint.interp.frame import Arguments
from inplace_lint.interp.interpreter import Interpreter
from inplace_lint.interp.intrinsics import opaque_modules
from inplace_lint.knowledge.facts import Facts


def framework_of(interp: Interpreter, state: State, value: Value) -> Facts | None:
    """Return the facts that apply to operators on this value; None if it is not known to be a tensor."""
    tensor = state.tensor(value)
    if tensor is not None:
        return interp.context.facts.get(tensor.framework) or interp.context.default()
    if isinstance(value, Sym) and value.kind == "tensor":
        return interp.context.default()
    return None


def of_operand(interp: Interpreter, state: State, value: Value) -> Facts | None:
    """Return the facts for an operand of an operator: the result of a module is a tensor once it is one."""
    facts = framework_of(interp, state, value)
    if (
        facts is None
        and isinstance(value, Sym)
        and value.kind == "input"
        and opaque_modules.node_of(state, value) is not None
    ):
        return interp.context.default()
    return facts


def materialise(interp: Interpreter, state: State, value: Value, framework: str = "") -> Ref | None:
    """Return the tensor that a value is, created for an unknown value; None if the value certainly is no tensor."""
    known = state.ref(value)
    if known is not None:
        return known if state.tensor(value) is not None else None
    if not isinstance(value, Sym) or value.kind in NOT_TENSORS:
        return None
    why = f"{describe(state, value)} requires grad"
    tensor = Tensor(
        storage=state.new_storage(),
        rg=None,
        leaf=None,
        nodes=_history(state, value, why),
        sure=value.kind in {"tensor", "input"},
        why=why,
        sizes=state.trait(traits.SIZES, value.id),
        framework=framework or interp.context.default().framework.name,
    )
    return state.tensor_of(value, tensor)


def remember_history(state: State, result: Sym, function: Value, arguments: Arguments, site: Site) -> None:
    """Remember that the result of an unknown call may have been computed from the tensors that were passed."""
    values = (*arguments.positional, *(value for _, value in arguments.keywords))
    nodes = [node for value in values for _, tensor in state.tensors_in(value) for node in nodes_of(state, tensor)]
    if state.modes.grad is False:
        return
    ran = opaque_modules.record_call(state, function, site, tuple(dict.fromkeys(nodes)))
    if ran is not None:
        state.set_trait(traits.CALLED_ON_TAPE, result.id, ran)
        state.symbols.marked.add(result.id)
    elif nodes:
        state.set_trait(traits.HISTORY, result.id, tuple(dict.fromkeys(nodes)))


def _history(state: State, value: Sym, why: str) -> tuple[NodeId, ...]:
    """Record an unknown call on the tape if the value is its result and tensors with a history were passed to it."""
    ran = opaque_modules.node_of(state, value)
    if ran is not None:
        return (ran,)
    inputs = state.trait(traits.HISTORY, value.id)
    if inputs is None:
        return ()
    passes = "an unknown call passes the gradient on"
    return (state.record(Node("", None, inputs, (), frozenset({why}), passes)),)


def describe(state: State, value: Sym) -> str:
    """Return the words for an unknown value in a sentence."""
    key = state.symbols.key(value)
    match key:
        case (origins.PARAMETER, _, str(name)):
            return f"`{name}`"
        case (origins.ATTRIBUTE, _, str(name)):
            return f"`{name}`"
        case (origins.GLOBAL, _, str(name)):
            return f"`{name}`"
        case _:
            return "the tensor"


def materialise_all(interp: Interpreter, state: State, value: Value, framework: str) -> list[tuple[Ref, Tensor]]:
    """List the tensors of an argument, with its unknown items materialised."""
    inner = state.object(value)
    items = value.items if isinstance(value, Tuple) else inner.items if isinstance(inner, ListObject) else None
    for item in (value,) if items is None else items:
        if isinstance(item, Sym):
            materialise(interp, state, item, framework)
    return state.tensors_in(value)
