"""
Optimizers: which parameters they own, and what a step writes.

    opt = SGD(net.parameters())     # owns the parameters of `net`
    loss.backward()                 # these get a gradient, if the loss was made with them
    opt.step()                      # writes those of its parameters that have a gradient
    opt.zero_grad()                 # takes the gradients away again

Mirrors torch `Optimizer.step` under `no_grad`: the writes count for the version, those of fused kernels do not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from inplace_lint.core.event import Touch
from inplace_lint.core.records import replace
from inplace_lint.domain import traits
from inplace_lint.domain.heap import DictObject, Instance, ListObject
from inplace_lint.domain.state import State
from inplace_lint.domain.values import NONE, Const, Dotted, Ref, Tuple, Value
from inplace_lint.interp.call import module_registry
from inplace_lint.interp.control import path_condition
from inplace_lint.interp.frame import Arguments, text_of
from inplace_lint.interp.intrinsics import opaque_modules
from inplace_lint.interp.intrinsics.call import Act
from inplace_lint.interp.outcome import Results

_DEEPEST = 4


def _optimizer(act: Act) -> Results:
    """Make an optimizer that owns the parameters it is given."""
    state = act.state
    given = act.value("params") if act.value("params") != NONE else act.value("parameters")
    owned = tuple(dict.fromkeys((*_tensors(state, given, 0), *opaque_modules.weights(state, given))))
    listed = state.new(ListObject(owned))
    attrs: dict[str, Value] = {"<owned>": listed, "<fused>": act.arguments.named("fused") or NONE}
    return [(state, state.new(Instance(Dotted(act.form.name), attrs, opaque=True)))]


def _tensors(state: State, value: Value, depth: int) -> Iterator[Ref]:
    """List the tensors in parameters, lists of them, or groups of these."""
    if depth > _DEEPEST:
        return
    if state.tensor(value) is not None and isinstance(value, Ref):
        yield value
        return
    inner = state.object(value)
    parts: tuple[Value, ...] = ()
    if isinstance(value, Tuple):
        parts = value.items
    elif isinstance(inner, ListObject):
        parts = inner.items
    elif isinstance(inner, DictObject):
        parts = (inner.items["params"],) if "params" in inner.items else ()
    for part in parts:
        yield from _tensors(state, part, depth + 1)


def _step(act: Act) -> Results:
    """Write the parameters that have a gradient; a closure that is passed runs first."""
    results: Results = [(act.state, NONE)]
    closure = act.value("closure")
    if closure != NONE:
        results = act.interp.call(act.frame, act.state, closure, Arguments(), act.at)
    for state, _ in results:
        _write_owned(act, state, act.receiver())
    return results


def _scaler_step(act: Act) -> Results:
    """Run the step of the optimizer that a gradient scaler is given."""
    optimizer = act.positional(1)
    _write_owned(act, act.state, optimizer if isinstance(optimizer, Ref) else None)
    return [(act.state, NONE)]


def _write_owned(act: Act, state: State, optimizer: Ref | None) -> None:
    instance = state.instance(optimizer) if optimizer is not None else None
    if instance is None:
        return
    fused = path_condition.truth(state, instance.attrs.get("<fused>", NONE)) is True
    counted = act.interp.context.default().framework.counts_steps and not fused
    owned = list(_tensors(state, instance.attrs.get("<owned>", NONE), 0))
    graded = (ref for ref in owned if state.trait(traits.HAS_GRADIENT, ref.id))
    act.write(state, graded, counted=counted)


def _zero(act: Act) -> Results:
    """Take the gradients of an optimizer's parameters away: the next step writes none of them."""
    receiver = act.receiver()
    instance = act.state.instance(receiver) if receiver is not None else None
    if instance is not None:
        _take_away(act, list(_tensors(act.state, instance.attrs.get("<owned>", NONE), 0)))
    return [(act.state, NONE)]


def _zero_module(act: Act) -> Results:
    """Take the gradients of a module's parameters away."""
    _take_away(act, [ref for _, ref in module_registry.leaves(act.state, act.positional(0), param=True)])
    return [(act.state, NONE)]


def _take_away(act: Act, owned: list[Ref]) -> None:
    """Set gradients to zero where they lie, or drop them: what was put away then is nobody else's any more."""
    zeroes = path_condition.truth(act.state, act.value("set_to_zero")) or act.value("set_to_none") == Const(False)
    if zeroes:
        announce_change(act, owned, "gradient")
    forget(act.state, owned, drops=not zeroes)


def announce_change(act: Act, owners: list[Ref], how: str) -> None:
    """Announce that the gradients of parameters are written where they lie."""
    symbol = text_of(act.arguments.exprs.get(0))
    touch = Touch(act.form.name, act.frame.site(act.at), symbol=symbol, dropped=True)
    framework = act.interp.context.default().framework.name
    act.interp.listeners.change_gradients(act.state, framework, touch, owners, how)


def forget(state: State, refs: Iterable[Ref], *, drops: bool = True) -> None:
    """Take gradients away; where they are dropped, the next one is another tensor."""
    for ref in refs:
        if state.has_trait(traits.HAS_GRADIENT, ref.id):
            state.set_trait(traits.HAS_GRADIENT, ref.id, False)
        tensor = state.tensor(ref)
        if drops and tensor is not None and tensor.grad is not None:
            state.put(ref, replace(tensor, grad=None))


def _scaler(act: Act) -> Results:
    """Make a gradient scaler."""
    return [(act.state, act.state.new(Instance(Dotted(act.form.name), {}, opaque=True)))]


def _scaled(act: Act) -> Results:
    """Give the loss itself: what its scaled copy runs in backward is the same."""
    return [(act.state, act.positional(1))]


ACTS: dict[str, Callable[[Act], Results]] = {
    "optimizer": _optimizer,
    "optimizer_step": _step,
    "optimizer_zero": _zero,
    "zero_module": _zero_module,
    "scaler": _scaler,
    "scaler_scale": _scaled,
    "scaler_step": _scaler_step,
}
