"""Attributes that are set or deleted: of tensors, of objects and classes of the program, and of unknown values."""

from __future__ import annotations

from msgspec.structs import replace

from inplace_lint.domain import traits
from inplace_lint.domain.heap import DictObject, Instance, Names, Tensor
from inplace_lint.domain.state import State
from inplace_lint.domain.values import Bound, Builtin, ClassValue, Closure, Const, Dotted, Ref, Sym, Value
from inplace_lint.interp.call import closures, module_containers, module_registry
from inplace_lint.interp.frame import Arguments, Frame
from inplace_lint.interp.interpreter import Interpreter
from inplace_lint.interp.intrinsics import opaque_modules, table
from inplace_lint.interp.options import swapped
from inplace_lint.interp.outcome import Raised
from inplace_lint.interp.pylib import dataclass_fields
from inplace_lint.interp.transfer import materialise
from inplace_lint.interp.transfer.binding import ORIGINAL

_SETTER = "__setattr__"


def set_(
    interp: Interpreter,
    frame: Frame,
    state: State,
    receiver: Value,
    name: str,
    value: Value,
    at: int,
    *,
    plain: bool = False,
) -> list[State]:
    """Run `receiver.name = value`; as `object.__setattr__` does if it is `plain`."""
    ref = state.ref(receiver)
    if ref is None and isinstance(receiver, Sym):
        framework = interp.context.default().framework
        asks = name == framework.requires_grad or framework.flags.get(name) is False
        is_parameter = (name == "data" or name in framework.flags) and opaque_modules.is_parameter(state, receiver)
        ref = materialise.materialise(interp, state, receiver) if asks or is_parameter else None
    thing = state.object(ref) if ref is not None else None
    if isinstance(thing, Tensor) and ref is not None:
        return table.set_tensor_attribute(interp, frame, state, ref, thing, name, value, at)
    if isinstance(thing, Instance) and ref is not None:
        own = None if plain else _set_by_class(interp, frame, state, ref, thing, (Const(name), value), at)
        if own is not None:
            return own
        return _set_of_instance(interp, frame, state, ref, thing, name, value, at)
    if isinstance(receiver, Sym):
        state.set_trait(traits.UNKNOWN_ATTRIBUTE, (receiver.id, name), value)
        materialise.hold(state, receiver, name, value)
    elif isinstance(receiver, ClassValue):
        interp.context.exchanged.update({name} & receiver.methods.keys())
        state.bind(interp.class_body(state, receiver), name, value)
    elif isinstance(receiver, Closure):
        closures.set_attribute(state, receiver, name, value)
    elif isinstance(receiver, Dotted):
        swapped.swap(interp, state, receiver.name, name, value)
    return [state]


def _set_by_class(
    interp: Interpreter, frame: Frame, state: State, ref: Ref, thing: Instance, given: tuple[Value, Value], at: int
) -> list[State] | None:
    """Run the `__setattr__` of the program for an object, unless it is running for it; None where there is none."""
    runs = frame.receiver == ref and frame.closure is not None and frame.closure.function.qualname.endswith(_SETTER)
    classes = [base for base in interp.context.mro(thing.cls) if type(base) is ClassValue]
    if runs or not any(_SETTER in base.methods for base in classes):  # asked first: to look it up takes long
        return None
    own = interp.special_method(frame, state, ref, _SETTER, given, at)
    return None if own is None else [after for after, _ in own]


def _set_of_instance(
    interp: Interpreter, frame: Frame, state: State, ref: Ref, thing: Instance, name: str, value: Value, at: int
) -> list[State]:
    """Set an attribute of an object: by a property of its class, else its own, unless the class is frozen."""
    if name == "__class__" and isinstance(value, ClassValue):
        state.put(ref, replace(thing, cls=value))
        return [state]
    found = interp.lookup(state, thing.cls, name)
    if isinstance(found, Closure) and found.wrapper == "property":
        setter = interp.lookup(state, thing.cls, f"{name}.setter")
        if not isinstance(setter, Closure):
            return [state]
        return [after for after, _ in interp.call(frame, state, Bound(ref, setter), Arguments((value,)), at)]
    own = interp.special_method(frame, state, found, "__set__", (ref, value), at) if type(found) is Ref else None
    if own is not None:
        return [after for after, _ in own]
    if type(thing.cls) is ClassValue and thing.cls.is_data and dataclass_fields.is_frozen(interp, thing.cls):
        interp.fuel.leave(state, Raised(Builtin("AttributeError"), frame.site(at)))
        return []
    if not _set_item(interp, state, ref, thing, name, value):
        state.set_attribute(ref, name, value)
    return [state]


def _set_item(interp: Interpreter, state: State, ref: Ref, instance: Instance, name: str, value: Value) -> bool:
    """Set an attribute in what keeps it; say whether that is a container, or the `__dict__` of the object."""
    if ORIGINAL.format(name) in instance.attrs:
        return True  # a value for the original of a parametrized weight, without its history
    if module_registry.is_child(state, instance, name, value):
        _forget(state, ref, instance, name)
        module_containers.put(state, ref, name, value)
        return True
    own = instance.attrs.get("__dict__")
    names = state.trait(traits.CONTENTS, ref.id) if own is None else state.contents(own)
    inner = None if names is None else state.object(names)
    if own is None and (inner is None or interp.lookup(state, instance.cls, "__setattr__") is None):
        return False
    if not isinstance(names, Ref) or not isinstance(inner, DictObject):
        return False
    state.put(names, replace(inner, items={**inner.items, name: value}))
    return own is not None or interp.lookup(state, instance.cls, "__getattr__") is not None


def name_descriptors(interp: Interpreter, frame: Frame, state: State, cls: ClassValue) -> None:
    """Tell the objects that the body of a class has bound the names by which they are its attributes."""
    scope = state.object(frame.env)
    for name, value in list(scope.values.items()) if isinstance(scope, Names) else ():
        if type(value) is Ref:
            # IMPRECISE: where that forks, the path that is followed is one on which it has not run to its end.
            interp.special_method(frame, state, value, "__set_name__", (cls, Const(name)), 0)


def unset(state: State, receiver: Value, name: str) -> None:
    """Remove an attribute from an object that has it, or a module from a container."""
    instance = state.instance(receiver)
    if instance is None or not isinstance(receiver, Ref):
        return
    if module_containers.named(state, instance, name) is not None:
        module_containers.drop(state, instance, name)
    else:
        _forget(state, receiver, instance, name)


def _forget(state: State, ref: Ref, instance: Instance, name: str) -> None:
    if name in instance.attrs:
        attrs = {other: value for other, value in instance.attrs.items() if other != name}
        state.put(ref, replace(instance, attrs=attrs))
