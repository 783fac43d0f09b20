"""
The table of intrinsics: framework calls that the interpreter implements itself.

    {"op": "torch.Tensor.backward", ..., "act": "backward"}     # a fact; `_INTRINSICS["backward"]` runs the call

The fact of such a call has an `act`, which names what it does to the state: run backward, set a mode, register a
module. The facts say which call has which act; this module maps each act to the function that implements it.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from inplace_lint.core.event import Failure, Refused, Touch
from inplace_lint.domain import origins, traits
from inplace_lint.domain.heap import Instance, Tensor, View, Write, alike
from inplace_lint.domain.state import State
from inplace_lint.domain.values import NONE, Const, Dotted, Ref, Sym, Value
from inplace_lint.interp.call import hooks, library_objects, module_registry, wrappers
from inplace_lint.interp.call.containers import acts, applied
from inplace_lint.interp.call.library_bases import _fill_container, library_base
from inplace_lint.interp.call.module_containers import run_in_order
from inplace_lint.interp.call.pending_constructors import construct_all_pending
from inplace_lint.interp.call.unknown_calls import unknown_call
from inplace_lint.interp.control import modes, path_condition
from inplace_lint.interp.frame import Arguments, Frame, text_of
from inplace_lint.interp.interpreter import Interpreter
from inplace_lint.interp.intrinsics import (
    checkpoints,
    compiled,
    custom,
    gradients,
    kernels,
    operators,
    optimizers,
    state_dict,
    templates,
    transforms,
)
from inplace_lint.interp.intrinsics.call import IntrinsicCall
from inplace_lint.interp.outcome import Results
from inplace_lint.interp.transfer import materialise, no_gradient
from inplace_lint.interp.transfer.binding import bind, default_values
from inplace_lint.knowledge.op import Op


def run(interp: Interpreter, frame: Frame, state: State, form: Op, arguments: Arguments, at: int) -> Results:
    """Run the call of an intrinsic and return its results."""
    if form.act.startswith(modes.MODE):
        return _mode(state, form, arguments)
    bound = bind(form.args, arguments)
    values = default_values(form.args, {} if bound is None else bound[0])
    if interp.fuel.lazy and not interp.fuel.shallow and arguments.positional:
        construct_all_pending(interp, frame, state, arguments.positional[0], at)
    act = IntrinsicCall(interp, frame, state, form, arguments, at, values)
    return _INTRINSICS[form.act](act)


def _mode(state: State, form: Op, arguments: Arguments) -> Results:
    """Return a context manager that sets a mode; `set_grad_enabled` sets it at once."""
    name, _, fixed = form.act[len(modes.MODE) :].partition("=")
    first = arguments.positional[0] if arguments.positional else None
    if (
        first is not None
        and not isinstance(first, Const | Ref)
        and form.args[:1]
        and not form.args[0].optional
        and fixed
    ):
        return [(state, first)]
    setting: Value = Const(fixed == "True") if fixed else Const(True)
    if not fixed and form.args:
        bound = bind(form.args, arguments)
        values = default_values(form.args, {} if bound is None else bound[0])
        key = "enabled" if "enabled" in values else form.args[0].name
        setting = values.get(key, setting)
    ref = state.new(Instance(Dotted(form.name), {}))
    state.set_trait(traits.SWITCH, ref.id, traits.Switch(name, setting))
    if name == "grad" and form.args and not form.args[0].optional:
        side = path_condition.truth(state, setting)
        if side is not None:
            state.modes = replace(state.modes, grad=side)
    return [(state, ref)]


def _enter_mode(act: IntrinsicCall) -> Results:
    """Run `mode.__enter__()`, which returns the mode for most."""
    modes.enter_object(act.interp, act.state, act.positional(0))
    return _itself(act)


def _exit_mode(act: IntrinsicCall) -> Results:
    modes.leave_object(act.state, act.positional(0))
    return [(act.state, NONE)]


def _set_requires_grad(act: IntrinsicCall) -> Results:
    """Run `tensor.requires_grad_(flag)`."""
    ref = materialise.materialise(act.interp, act.state, act.positional(0))
    tensor = act.state.tensor(ref) if ref is not None else None
    if ref is not None and tensor is not None:
        side = _frozen(act.interp, act.frame, act.state, act.value("requires_grad"), False, act.at)
        if side is False and tensor.nodes and tensor.rg and tensor.leaf is False:
            _refuse(act, Failure.FLAG, tensor)
        change_requires_grad(act.state, ref, tensor, side)
    return [(act.state, act.positional(0))]


def change_requires_grad(state: State, ref: Ref, tensor: Tensor, side: bool | None) -> None:
    """Set whether a leaf requires grad; a tensor with a history keeps its flag, unless that is not set and is to be."""
    if tensor.nodes:
        if side and tensor.rg is not True:
            state.put(ref, replace(tensor, rg=True, leaf=tensor.leaf if tensor.rg is False else None, why=""))
        return
    known_leaf = True if tensor.leaf or tensor.base is None else tensor.leaf
    state.put(ref, replace(tensor, rg=side, leaf=known_leaf, why="" if side is not None else tensor.why))


def _frozen(interp: Interpreter, frame: Frame, state: State, flag: Value, off: bool, at: int) -> bool | None:
    """Return whether a flag holds; note that it leaves a tensor untrained where it is `off`."""
    side = path_condition.truth(state, flag)
    if side is off:
        interp.context.coverage.flag(frame, state, at, flag)
    return side


def set_tensor_attribute(
    interp: Interpreter, frame: Frame, state: State, ref: Ref, tensor: Tensor, name: str, value: Value, at: int
) -> list[State]:
    """Run `tensor.name = value`."""
    framework = (interp.context.facts.get(tensor.framework) or interp.context.default()).framework
    negated = no_gradient.flag_of(framework, name, param=tensor.param)
    if negated is not None:
        side = _frozen(interp, frame, state, value, negated, at)
        asked = None if side is None else side is not negated
        if tensor.nodes and asked is False and "flag" not in framework.says:
            # Where the framework does not refuse that for a result, later ops do not lead to what it was computed from.
            state.put(ref, replace(tensor, rg=False, why=""))
        else:
            change_requires_grad(state, ref, tensor, asked)
    elif name == "grad":
        grad = state.ref(value)
        state.put(ref, replace(tensor, grad=grad))
        if value != NONE and not state.has_trait(traits.HAS_GRADIENT, ref.id):
            state.set_trait(traits.HAS_GRADIENT, ref.id, False)  # the program computes it; it may be None
        if grad is None:
            optimizers.forget(state, (ref,))
    elif name == "data":
        # The record now has another storage. A node that saved a leaf saved the record, and reads the new values.
        touch = Touch(f"{framework.tensor}.data", frame.site(at), param=tensor.param)
        interp.listeners.replace(interp, state, touch, tensor, value)
        source = state.tensor(value)
        same = source is not None and (source.storage, source.part) == (tensor.storage, tensor.part)  # `w.data *= 2`
        if tensor.leaf and tensor.rg and not same and not _has_memory_of_other(state, ref, tensor):
            state.write(tensor.storage, Write(touch, 0, False, 0, frozenset(), tensor=ref, moved=True))
        state.put(ref, _of_memory(state, tensor, source))
    else:
        state.set_trait(traits.ATTRIBUTE, (ref.id, name), value)
    return [state]


def _has_memory_of_other(state: State, ref: Ref, tensor: Tensor) -> bool:
    """Check whether a leaf has the memory of a parameter, as after `w.data = v`: what was kept may be of that."""
    others = ((number, other) for number, other in state.heap.items() if type(other) is Tensor and other.param)
    return any(other.storage == tensor.storage and number != ref.id for number, other in others)


def _of_memory(state: State, tensor: Tensor, source: Tensor | None) -> Tensor:
    """Return a tensor after it was given the memory of another: the history stays, shape and type are the other's."""
    if source is None:
        return replace(tensor, storage=state.new_storage(), sizes=None, strides=None, contiguous=None)
    return replace(tensor, storage=source.storage, **alike(source))


def _detach_in_place(act: IntrinsicCall) -> Results:
    """Run `tensor.detach_()`, which drops the history."""
    ref = act.state.ref(act.positional(0))
    tensor = act.state.tensor(act.positional(0))
    if ref is not None and tensor is not None:
        if tensor.view in {View.SINGLE, View.MULTI, View.EXPANDED}:
            _refuse(act, Failure.DETACH_VIEW, tensor)
            return [(act.state, act.positional(0))]
        act.state.put(ref, replace(tensor, rg=False, leaf=True, nodes=()))
    return [(act.state, act.positional(0))]


def _swap(act: IntrinsicCall) -> Results:
    """Run `swap_tensors(one, other)`: each object is the tensor that the other one was."""
    state, objects = act.state, (act.positional(0), act.positional(1))
    one, other = (materialise.materialise(act.interp, state, value) for value in objects)
    first, second = (None if ref is None else state.tensor(ref) for ref in (one, other))
    if one is not None and other is not None and first is not None and second is not None:
        state.put(one, second)
        state.put(other, first)
    return [(state, NONE)]


def _refuse(act: IntrinsicCall, check: Failure, tensor: Tensor) -> None:
    """Report that the framework refuses the call, where it has an error message for the check."""
    framework = act.interp.context.default().framework
    if check in framework.says:
        symbol = text_of(act.arguments.exprs.get(0))
        touch = Touch(act.form.name, act.frame.site(act.at), "self", symbol)
        origin = tensor.made.site if tensor.made is not None else None
        act.state.report(Refused(framework.name, check, touch, origin, act.state.assumptions | tensor.doubt))


def _nothing(act: IntrinsicCall) -> Results:
    return [(act.state, NONE)]


def _retain_grad(act: IntrinsicCall) -> Results:
    """Take what may be a leaf for none: a leaf keeps its gradient anyway."""
    asked = act.positional(0)
    ref = act.state.ref(asked)
    tensor = None if ref is None else act.state.tensor(ref)
    if ref is None and isinstance(asked, Sym):
        act.state.set_trait(traits.KEEPS_GRADIENT, asked.id, True)
    if ref is not None and tensor is not None and tensor.rg and tensor.leaf is None:
        act.state.put(ref, replace(tensor, leaf=False))
    return [(act.state, NONE)]


def _default_dtype(act: IntrinsicCall) -> Results:
    """Forget which dtype new tensors have."""
    act.state.set_trait(traits.OTHER_DEFAULT, None, True)
    return [(act.state, NONE)]


def _itself(act: IntrinsicCall) -> Results:
    return [(act.state, act.positional(0))]


def _unknown_value(act: IntrinsicCall) -> Results:
    return [(act.state, act.unknown())]


def _decorator(act: IntrinsicCall) -> Results:
    """Return the decorated function; if called with options only, an unknown decorator."""
    first = act.positional(0)
    return [(act.state, first if first != NONE else act.unknown("callable"))]


def _script(act: IntrinsicCall) -> Results:
    """Return the compiled function; with `full_graph=True`, a decorator that sets a mode inside of it."""
    if act.value("function") != NONE:
        return [(act.state, act.value("function"))]
    if path_condition.truth(act.state, act.arguments.named("full_graph") or NONE) is not True:
        return [(act.state, act.unknown("callable"))]
    ref = act.state.new(Instance(Dotted(act.form.name), {}))
    act.state.set_trait(traits.SWITCH, ref.id, traits.Switch("script"))
    return [(act.state, ref)]


def _parameter(act: IntrinsicCall) -> Results:
    """Create a parameter: a leaf that shares the storage of the tensor that is passed."""
    data, flag = (act.value(argument.name) for argument in act.form.args[:2])
    return [(act.state, _leaf(act, data, flag, param=True))]


def _buffer(act: IntrinsicCall) -> Results:
    return [(act.state, _leaf(act, act.value("data"), Const(False), param=False))]


def _variable(act: IntrinsicCall) -> Results:
    """Create a `Variable`, the former class of tensors that require grad."""
    return [(act.state, _leaf(act, act.value("data"), act.value("requires_grad"), param=False))]


def _leaf(act: IntrinsicCall, data: Value, flag: Value, *, param: bool) -> Ref:
    state = act.state
    source = state.tensor(data)
    rg = _frozen(act.interp, act.frame, state, flag, False, act.at)
    if rg is None:
        rg = True
    touch = Touch(act.form.name, act.frame.site(act.at))
    tensor = Tensor(
        storage=source.storage if source is not None else state.new_storage(),
        rg=rg,
        leaf=True,
        dtype=source.dtype if source is not None else "float",
        exact=source.exact if source is not None else "",
        sizes=source.sizes if source is not None else None,
        strides=source.strides if source is not None else None,
        contiguous=source.contiguous if source is not None else True,
        param=param,
        framework=act.interp.context.default().framework.name,
        view=None if source is None else View.DETACH,
        made=touch,
    )
    return state.new(tensor)


def _container(act: IntrinsicCall) -> Results:
    """Create a container of modules from modules, a list of them, or a dict of them."""
    ref = act.state.new(Instance(Dotted(act.form.name), {"training": Const(True)}))
    _fill_container(act.interp, act.frame, act.state, ref, act.arguments, act.at)
    return [(act.state, ref)]


def _call_module(act: IntrinsicCall) -> Results:
    """Run the forward of a library module, as `super().forward(x)` does; an unknown call where the base is unknown."""
    receiver = act.receiver()
    instance = act.state.instance(receiver) if receiver is not None else None
    rest = Arguments(act.arguments.positional[1:], act.arguments.keywords, {}, act.arguments.unknown)
    if instance is not None and receiver is not None:
        if instance.children is not None:
            return run_in_order(act.interp, act.frame, act.state, instance, rest, act.at)
        base = library_base(act.interp, instance.cls)
        if base is not None:
            return act.interp.apply_op(act.frame, act.state, base, rest, act.at, instance=receiver)
    inherited = act.state.symbols.sym((origins.SUPER, act.form.name))
    return unknown_call(act.interp, act.frame, act.state, inherited, rest, act.at)


_INTRINSICS: dict[str, Callable[[IntrinsicCall], Results]] = {
    "backward": gradients.backward,
    "backward_of": lambda act: gradients.backward_from(act, act.positional(1)),
    "grad": gradients.grad,
    "requires_grad_": _set_requires_grad,
    "detach_": _detach_in_place,
    "swap": _swap,
    "nothing": _nothing,
    "retain_grad": _retain_grad,
    "default_dtype": _default_dtype,
    "itself": _itself,
    "unknown_value": _unknown_value,
    "mode_enter": _enter_mode,
    "mode_exit": _exit_mode,
    "decorator": _decorator,
    "script": _script,
    "parameter": _parameter,
    "buffer": _buffer,
    "variable": _variable,
    "container": _container,
    "call_module": _call_module,
    "grad_enabled": lambda act: [(act.state, modes.is_recording(act.state))],
    "inference_enabled": lambda act: [(act.state, Const(act.state.modes.inference))],
    "module": _unknown_value,
    **library_objects.INTRINSICS,
    **optimizers.INTRINSICS,
    **module_registry.INTRINSICS,
    **acts.INTRINSICS,
    **applied.INTRINSICS,
    **custom.INTRINSICS,
    **kernels.INTRINSICS,
    **operators.INTRINSICS,
    **hooks.INTRINSICS,
    **state_dict.INTRINSICS,
    **checkpoints.INTRINSICS,
    **compiled.INTRINSICS,
    **templates.INTRINSICS,
    **transforms.INTRINSICS,
    **wrappers.INTRINSICS,
}
