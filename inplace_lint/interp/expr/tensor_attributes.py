"""Attributes of tensors that are tensors or methods: `x.T`, `x.add_`, `w.grad`."""

from __future__ import annotations

from itertools import count

from msgspec.structs import replace

from inplace_lint.domain import origins, traits
from inplace_lint.domain.heap import DictObject, Instance, Tensor
from inplace_lint.domain.state import State
from inplace_lint.domain.values import NONE, Bound, Dotted, Ref, Sym, Value
from inplace_lint.interp.frame import Arguments, Frame
from inplace_lint.interp.interpreter import Interpreter
from inplace_lint.interp.options import swapped
from inplace_lint.interp.outcome import Results
from inplace_lint.interp.transfer import materialise
from inplace_lint.interp.transfer.binding import ORIGINAL
from inplace_lint.interp.transfer.op_call import STEP


def read(interp: Interpreter, frame: Frame, state: State, value: Value, method: str, at: int) -> Results:
    """Evaluate an attribute of a tensor: a computed one by its fact, a method as a bound method."""
    facts = interp.context.facts_of(method)
    assert facts is not None
    if method.rpartition(".")[2] in facts.framework.attributes:
        return interp.apply_op(frame, state, method, Arguments((value,)), at)
    if method.endswith("_") and not method.endswith("__"):
        materialise.materialise_item(interp, frame, state, value, at, sure=True)
    return [(state, Bound(value, Dotted(method)))]


def no_method(interp: Interpreter, state: State, value: Value) -> Value:
    """
    Return an unknown value for a method of what nobody says is a tensor: where it is asked about, it is none.

    if config.mode == "train" and config.norm: ...     # `mode` and `norm` are methods of tensors
    """
    match value:
        case Bound(Sym() as owner, Dotted(name)) if materialise.framework_of(interp, state, owner) is None:
            return state.symbols.sym((origins.ATTRIBUTE, owner.id, name.rpartition(".")[2]))
        case _:
            return value


def computed(interp: Interpreter, frame: Frame, state: State, instance: Instance, name: str, at: int) -> Results | None:
    """Return a parameter that each read computes from its original, by modules if there are any; None of any other."""
    original = instance.attrs.get(ORIGINAL.format(name))
    tensor = None if original is None else state.tensor(original)
    facts = None if tensor is None else interp.context.facts.get(tensor.framework)
    if original is None or facts is None:
        return None
    results: Results = [(state, original)]
    for place in count():
        step = instance.attrs.get(STEP.format(name, place))
        if step is None:
            break
        results = [
            result for after, value in results for result in interp.call(frame, after, step, Arguments((value,)), at)
        ]
    if place:
        return results
    copy = f"{facts.framework.tensor}.{facts.framework.words['copy']}"
    return interp.apply_op(frame, state, copy, Arguments((original,)), at)


def unknown(interp: Interpreter, frame: Frame, state: State, value: Ref, name: str) -> Value:
    """Return what the program gave all tensors, else an unknown value; where its lack is handled, one is assumed."""
    own = swapped.method(interp, frame, state, value, name) if interp.context.swapped else None
    if own is not None:
        return own
    if (frame.env.id, "AttributeError") in interp.fuel.lacks:
        state.assume("no exception is raised where one is handled")
    argument = state.trait(traits.ARGUMENT, value.id)
    if argument is not None:
        return state.symbols.sym((origins.ATTRIBUTE, argument.id, name), argument.kind)
    return state.symbols.sym((origins.ATTRIBUTE, value, name))


def of_library(interp: Interpreter, frame: Frame, state: State, owner: str, name: str) -> Value | None:
    """Return what the program set an attribute of a library to; of any other, note that it may be missing."""
    facts = interp.context.facts_of(owner) if name == "__dict__" else None
    layers = () if facts is None else facts.framework.listed.get(owner, ())
    if facts is not None and layers:  # table = {name.lower(): name for name in nn.layer.activation.__dict__.keys()}
        return state.new(DictObject({one: Dotted(facts.canonical(f"{owner}.{one}")) for one in layers}))
    _note_missing(interp, frame, state, f"{owner}.{name}")
    return swapped.value(interp, frame, state, owner, name) if interp.context.swapped else None


def _note_missing(interp: Interpreter, frame: Frame, state: State, name: str) -> None:
    """Assume that a library has what no fact is of, where the call handles that it has not."""
    if (frame.env.id, "AttributeError") not in interp.fuel.lacks or interp.context.forms(name):
        return
    facts = interp.context.facts_of(name)
    if facts is not None and not any(one.startswith(f"{name}.") for one in facts.rows):
        state.assume("no exception is raised where one is handled")


def is_missing(interp: Interpreter, frame: Frame, value: Ref, instance: Instance) -> bool:
    """
    Check whether an object certainly lacks what its class does not define, where a call that is under way handles that.

    The object is none whose methods may have set it before, as those of one that is run alone may have, and its classes
    are all in the program.
    """
    handled = interp.fuel.lacks and any(
        (env.id, "AttributeError") in interp.fuel.lacks for env in (frame.env, *frame.outer)
    )
    if not handled or instance.opaque:
        return False
    if value == frame.receiver and interp.context.coverage.root is not None:
        return False
    return interp.context.has_all_code(instance.cls)


def may_differ(interp: Interpreter, state: State, value: Ref, instance: Instance) -> bool:
    """
    Check whether an object may have another value than the constant that its class has.

    It is an argument that is not constructed here, or one of its attributes was set by a name that is not known.
    """
    return state.has_trait(traits.ARGUMENT, value.id) or (instance.opaque and interp.context.has_all_code(instance.cls))


def history(state: State, value: Ref, tensor: Tensor) -> Value:
    """Return the node of a tensor of which it is known whether there is one: an object that is true, or None."""
    if tensor.leaf or not tensor.rg:
        return NONE
    node = state.symbols.sym((origins.ATTRIBUTE, value, "grad_fn"))
    state.learn(node.id, True)
    return node


def gradient(interp: Interpreter, state: State, value: Ref, tensor: Tensor) -> Value:
    """Return the gradient of a tensor: a tensor that requires grad itself only in frameworks that say so."""
    if tensor.grad is None:
        facts = interp.context.facts.get(tensor.framework) or interp.context.default()
        own = facts.framework.own_gradients
        made = Tensor(state.new_storage(), rg=own, leaf=True, framework=tensor.framework, dtype=tensor.dtype)
        grad = state.new(replace(made, sizes=tensor.sizes))
        state.put(value, replace(tensor, grad=grad))
        if tensor.rg is None or tensor.leaf is None:
            state.set_trait(traits.GRADIENT_OF, grad.id, value)
            state.symbols.graded.add(grad.id)
        return grad
    return tensor.grad


def describes(interp: Interpreter, name: str) -> bool:
    """Check whether an attribute of a tensor is no differentiable part of it, such as its device or its size."""
    forms = (default := interp.context.default()).forms(f"{default.framework.tensor}.{name}")
    return bool(forms) and (forms[0].grads == () or any(fact.kind == "value" for fact in forms[0].returns))
