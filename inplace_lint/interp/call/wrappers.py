"""
Wrappers: objects that contain a module, and helpers that perform the steps of a training program.

    net = DataParallel(net)                # a call of it is a call of `net`
    net, opt = helper.prepare(net, opt)    # returns the same objects
    helper.backward(loss)                  # loss.backward()
    engine, *_ = initialize(model=net)     # an object that contains `net` and owns its parameters
"""

from __future__ import annotations

from collections.abc import Callable

from inplace_lint.domain.heap import DictObject, Instance, ListObject
from inplace_lint.domain.state import State
from inplace_lint.domain.unknown_history import OWNED
from inplace_lint.domain.values import NONE, ClassValue, Const, Dotted, Tuple, Value
from inplace_lint.interp.call import module_registry
from inplace_lint.interp.frame import Arguments
from inplace_lint.interp.intrinsics.call import IntrinsicCall
from inplace_lint.interp.outcome import Results

_CONFIGURES = "configure_optimizers"


def _call_part(act: IntrinsicCall) -> Results:
    """Call the module that a wrapper contains: the part that it made, or the first attribute that is no constant."""
    receiver = act.receiver()
    instance = act.state.instance(receiver) if receiver is not None else None
    attrs = {} if instance is None else instance.attrs
    made = (attrs[part.name] for part in act.form.state if part.name in attrs)
    inner = next((one for one in (*made, *attrs.values()) if type(one) is not Const), None)
    if inner is None:
        return [(act.state, act.unknown("input"))]
    rest = Arguments(act.arguments.positional[1:], act.arguments.keywords, {}, act.arguments.unknown)
    return act.interp.call(act.frame, act.state, inner, rest, act.at)


def _helper(act: IntrinsicCall) -> Results:
    """Construct an object of which only the methods that have facts are known."""
    return [(act.state, act.state.new(Instance(Dotted(act.form.name), {}, opaque=True)))]


def _passed_on(act: IntrinsicCall) -> Results:
    """Return the arguments: a single one itself, several as a tuple."""
    given = act.arguments.positional[1:]
    if act.arguments.unknown or not given:
        return [(act.state, act.unknown())]
    return [(act.state, given[0] if len(given) == 1 else Tuple(given))]


def _as_subclass(act: IntrinsicCall) -> Results:
    """Return a tensor as it is, or as an object of a class of the program, which has methods of its own."""
    cls, given = act.value("cls"), act.positional(0)
    if not isinstance(cls, ClassValue):
        return [(act.state, given)]
    if not any(isinstance(entry, ClassValue) and entry.methods for entry in act.interp.context.mro(cls)):
        return [(act.state, given)]
    return [(act.state, act.state.new(Instance(cls, {}, opaque=True)))]


def _engine(act: IntrinsicCall) -> Results:
    """
    Return an engine, which contains the model and steps its parameters, and what was passed with it.

    Its step counts as one that autograd does not notice: with parameters in half precision or spread over processes it
    copies new values into them.
    """
    model, state = act.value("model"), act.state
    owned = tuple(ref for _, ref in module_registry.leaves(state, model, param=True))
    attrs = {"module": model, OWNED: state.new(ListObject(owned)), "<fused>": Const(True)}
    engine = state.new(Instance(Dotted(act.form.steps[0].to), attrs, opaque=True))
    rest = (act.value(name) for name in ("optimizer", "training_data", "lr_scheduler"))
    return [(state, Tuple((engine, *(act.unknown() if one == NONE else one for one in rest)), exact=True))]


def _configured(act: IntrinsicCall) -> Results:
    """Return the optimizers that `configure_optimizers` of the object makes: one itself, several as a list."""
    results: Results = []
    receiver = act.positional(0)
    for state, method in act.interp.get_attribute(act.frame, act.state, receiver, _CONFIGURES, act.at):
        for after, value in act.interp.call(act.frame, state, method, Arguments(), act.at):
            found = list(_optimizers(after, value))
            several: Value = after.new(ListObject(tuple(found))) if found else act.unknown()
            results.append((after, found[0] if len(found) == 1 else several))
    return results


def _optimizers(state: State, value: Value) -> list[Value]:
    """List the optimizers in a result: alone, in a tuple or list, before a list of schedulers, or under a key."""
    inner = state.object(value)
    if isinstance(inner, DictObject):
        return _optimizers(state, inner.items.get("optimizer", NONE))
    if isinstance(inner, Instance):
        return [value] if OWNED in inner.attrs else []
    items = value.items if isinstance(value, Tuple) else inner.items if isinstance(inner, ListObject) else ()
    return [found for item in items for found in _optimizers(state, item)]


INTRINSICS: dict[str, Callable[[IntrinsicCall], Results]] = {
    "call_part": _call_part,
    "helper": _helper,
    "passed_on": _passed_on,
    "as_subclass": _as_subclass,
    "configured": _configured,
    "engine": _engine,
}
