"""Which values are tensors, and what an unknown value is taken for once it is used as one."""

from __future__ import annotations

from inplace_lint.core.event import Site
from inplace_lint.domain import origins, traits
from inplace_lint.domain.heap import ListObject, Node, Tensor
from inplace_lint.domain.state import State
from inplace_lint.domain.tape import nodes_of
from inplace_lint.domain.values import NodeId, Ref, Sym, Tuple, Value
from inplace_lint.interp.frame import Arguments
from inplace_lint.interp.interpreter import Interpreter
from inplace_lint.interp.intrinsics import opaque_modules
from inplace_lint.knowledge.facts import Facts

NOT_TENSORS = frozenset({"number", "str", "sequence", "callable"})


def framework_of(interp: Interpreter, state: State, value: Value) -> Facts | None:
    """Give the facts by which operators of this value go; None when it is not a tensor as far as is known."""
    tensor = state.tensor(value)
    if tensor is not None:
        return interp.context.facts.get(tensor.framework) or interp.context.default()
    if isinstance(value, Sym) and value.kind == "tensor":
        return interp.context.default()
    return None


def of_operand(interp: Interpreter, state: State, value: Value) -> Facts | None:
    """Give the facts by which an operator goes: what a module gave is a tensor once one is applied to it."""
    facts = framework_of(interp, state, value)
    if (
        facts is None
        and isinstance(value, Sym)
        and value.kind == "input"
        and opaque_modules.ran(state, value) is not None
    ):
        return interp.context.default()
    return facts


def materialise(interp: Interpreter, state: State, value: Value, framework: str = "") -> Ref | None:
    """Give the tensor that a value is, taking an unknown for one; None when it certainly is not a tensor."""
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
        framework=framework or interp.context.default().framework.name,
    )
    return state.tensor_of(value, tensor)


def remember_history(state: State, result: Sym, function: Value, arguments: Arguments, site: Site) -> None:
    """Remember of an unknown call's result that it may have been computed from the tensors that were passed."""
    values = (*arguments.positional, *(value for _, value in arguments.keywords))
    nodes = [node for value in values for _, tensor in tensors_in(state, value) for node in nodes_of(state, tensor)]
    if state.modes.grad is False:
        return
    ran = opaque_modules.run(state, function, site, tuple(dict.fromkeys(nodes)))
    if ran is not None:
        state.set_trait(traits.CALLED_ON_TAPE, result.id, ran)
        state.symbols.marked.add(result.id)
    elif nodes:
        state.set_trait(traits.HISTORY, result.id, tuple(dict.fromkeys(nodes)))


def _history(state: State, value: Sym, why: str) -> tuple[NodeId, ...]:
    """Put an unknown call on the tape, if the value is the result of one that was passed tensors with a history."""
    ran = opaque_modules.ran(state, value)
    if ran is not None:
        return (ran,)
    inputs = state.trait(traits.HISTORY, value.id)
    if inputs is None:
        return ()
    passes = "an unknown call passes the gradient on"
    return (state.record(Node("", None, inputs, (), frozenset({why}), passes)),)


def describe(state: State, value: Sym) -> str:
    """Name an unknown value in a sentence."""
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


def tensors_in(state: State, value: Value) -> list[tuple[Ref, Tensor]]:
    """List the tensors that a value is or holds in tuples and lists, in order."""
    tensor = state.tensor(value)
    if tensor is not None:
        ref = state.ref(value)
        return [] if ref is None else [(ref, tensor)]
    inner = state.object(value)
    items = value.items if isinstance(value, Tuple) else inner.items if isinstance(inner, ListObject) else ()
    return [found for item in items for found in tensors_in(state, item)]


def materialise_all(interp: Interpreter, state: State, value: Value, framework: str) -> list[tuple[Ref, Tensor]]:
    """List the tensors of an argument, its unknown items taken for tensors."""
    inner = state.object(value)
    items = value.items if isinstance(value, Tuple) else inner.items if isinstance(inner, ListObject) else None
    for item in (value,) if items is None else items:
        if isinstance(item, Sym):
            materialise(interp, state, item, framework)
    return tensors_in(state, value)
