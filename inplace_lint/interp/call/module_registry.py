"""
The module registry: the parameters, buffers, sub-modules and training flag of a module, and the methods that use them.

    self.register_buffer("mask", mask)
    for p in model.parameters(): ...
    model.eval()
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from msgspec.structs import replace

from inplace_lint.domain import origins, traits
from inplace_lint.domain.heap import Instance, ListObject, Tensor
from inplace_lint.domain.state import State
from inplace_lint.domain.values import NONE, ClassValue, Const, Dotted, Ref, RefId, Sym, Three, Tuple, Value
from inplace_lint.interp.call import enums, module_containers
from inplace_lint.interp.control import path_condition
from inplace_lint.interp.frame import Arguments
from inplace_lint.interp.interpreter import Interpreter
from inplace_lint.interp.intrinsics import module_methods, opaque_modules
from inplace_lint.interp.intrinsics.call import IntrinsicCall
from inplace_lint.interp.outcome import Results
from inplace_lint.interp.pylib import dataclass_fields
from inplace_lint.interp.transfer import binding, no_gradient, op_call, shapes
from inplace_lint.interp.transfer.tensor_types import conversions, devices

_TRAINS = "trainable"


def parts(state: State, value: Value) -> Iterator[tuple[str, Ref]]:
    """List a module and all sub-modules below it, each once, with dotted names."""
    seen: set[RefId] = set()
    waiting = [("", value)]
    while waiting:
        name, part = waiting.pop()
        instance = state.instance(part)
        if instance is None or not isinstance(part, Ref) or part.id in seen:
            continue
        seen.add(part.id)
        yield name, part
        start = f"{name}." if name else ""
        waiting.extend([(start + inner, child) for inner, child in reversed(direct(state, instance))])


def direct(state: State, instance: Instance) -> list[tuple[str, Value]]:
    """List the sub-modules of a module, in the order in which they were set."""
    heap = state.heap
    found: list[tuple[str, Value]] = []
    for name, value in instance.attrs.items():
        if type(value) is Ref:
            thing = heap.get(value.id)
            if type(thing) is Instance and "training" in thing.attrs:
                found.append((name, value))
    if instance.children is not None:
        found.extend(
            pair for pair in module_containers.children(state, instance).pairs if state.instance(pair[1]) is not None
        )
    return found


def is_module(state: State, value: Value) -> bool:
    """Return whether a value is an instance of a module class."""
    thing = state.instance(value)
    return thing is not None and "training" in thing.attrs


def is_child(state: State, instance: Instance, name: str, value: Value) -> bool:
    """Check whether what is assigned to an attribute becomes one of the modules of a container, or replaces one."""
    if instance.children is None:
        return False
    return is_module(state, value) or module_containers.named(state, instance, name) is not None


def sets_elsewhere(interp: Interpreter, state: State, value: Value) -> bool:
    """Check whether a module or a part of it has a method that sets attributes and that no call of it runs."""
    classes = {id(instance.cls): instance.cls for _, part in parts(state, value) if (instance := state.instance(part))}
    return any(isinstance(cls, ClassValue) and _sets_elsewhere(interp, cls) for cls in classes.values())


def _sets_elsewhere(interp: Interpreter, cls: ClassValue) -> bool:
    """Check the same for the methods of a class and its bases, once for each class."""
    known = interp.context.resetting.get(id(cls))
    if known is None:
        run = {"__init__", "__call__", interp.context.default().framework.calls}
        sets = any(
            method.sets
            for item in interp.context.definitions(cls)
            for method in item.methods
            if method.member not in run
        )
        known = interp.context.resetting[id(cls)] = (cls, sets)
    return known[1]


def leaves(state: State, value: Value, *, param: bool) -> Sequence[tuple[str, Ref]]:
    """List the parameters, or the buffers, of a module and all below it; of those of an unknown one two parameters."""
    if type(value) is Sym:
        return [("", ref) for ref in opaque_modules.parameters(state, value)] if param else []
    found: list[tuple[str, Ref]] = []
    for prefix, ref in parts(state, value):
        instance = state.instance(ref)
        assert instance is not None
        own = [*instance.attrs.items()]
        if instance.children is not None:
            own.extend(module_containers.children(state, instance).pairs)
        for name, attribute in own:
            layer = _opaque_layer(state, attribute) if param else None
            if layer is not None:
                found.extend((name, inner) for inner in opaque_modules.parameters(state, layer))
            tensor = state.tensor(attribute)
            if (
                tensor is not None
                and isinstance(attribute, Ref)
                and tensor.param == param
                and (param or _is_buffer(state, ref, name))
            ):
                full = f"{prefix}.{name}" if prefix else name
                if all(attribute != other for _, other in found):
                    found.append((full, attribute))
    return found


def _opaque_layer(state: State, value: Value) -> Sym | None:
    """Return the unknown module that a value is: a layer of a library, or one whose parameters an optimizer owns."""
    layer = module_methods.layer_behind(state, value)
    return opaque_modules.trained(state, value) if layer is None else layer


def have(made: Sequence[tuple[State, Value]], *, param: bool) -> bool:
    """Check whether one of some modules, or a part of it, has parameters, or buffers."""
    return any(any(True for _ in leaves(state, value, param=param)) for state, value in made)


def state_of(state: State, value: Value) -> list[tuple[str, Ref]]:
    """List the parameters of a module and all below it, then the buffers."""
    return [*leaves(state, value, param=True), *leaves(state, value, param=False)]


def _is_buffer(state: State, module: Ref, name: str) -> bool:
    return state.has_trait(traits.BUFFER, (module.id, name))


def _listing(param: bool, named: bool) -> Callable[[IntrinsicCall], Results]:
    def act_listing(act: IntrinsicCall) -> Results:
        module = act.positional(0)
        found = [(module_containers.name(act.state, name), ref) for name, ref in leaves(act.state, module, param=param)]
        pairs = opaque_modules.named_parameters(act.state, module) if param and isinstance(module, Sym) else found
        items: list[Value] = [Tuple(pair) if named else pair[1] for pair in pairs]
        results = _listed(act, items)
        for state, value in results if param else ():
            opaque_modules.note_parameters(state, value, (ref for _, ref in parts(state, act.positional(0))))
        return results

    return act_listing


def _modules(named: bool, deep: bool) -> Callable[[IntrinsicCall], Results]:
    def act_modules(act: IntrinsicCall) -> Results:
        instance = act.state.instance(act.positional(0))
        if deep:
            pairs: list[tuple[str, Value]] = list(parts(act.state, act.positional(0)))
        else:
            pairs = [] if instance is None else direct(act.state, instance)
        return _listed(
            act, [Tuple((module_containers.name(act.state, name), value)) if named else value for name, value in pairs]
        )

    return act_modules


def _listed(act: IntrinsicCall, items: list[Value]) -> Results:
    if not items:
        return [(act.state, act.unknown())]
    instance = act.state.instance(act.positional(0))
    exact = instance is None or not instance.opaque
    return [(act.state, act.state.new(ListObject(tuple(items), exact)))]


def _switch(mode: bool) -> Callable[[IntrinsicCall], Results]:
    def act_switch(act: IntrinsicCall) -> Results:
        """Set the training flag of a module and all below it."""
        setting: Value = Const(mode)
        if mode and (len(act.arguments.positional) > 1 or act.arguments.keywords):
            given = act.arguments.named("mode")
            setting = given if given is not None else act.positional(1)
        switch(act.state, act.positional(0), setting)
        return [(act.state, act.positional(0))]

    return act_switch


def switch(state: State, module: Value, setting: Value) -> None:
    """Set the training flag of a module and all below it."""
    for _, ref in list(parts(state, module)):
        state.set_attribute(ref, "training", setting)


def _named_argument(act: IntrinsicCall, name: str, position: int) -> Value:
    found = act.arguments.named(name)
    return found if found is not None else act.positional(position)


def _register(kind: str) -> Callable[[IntrinsicCall], Results]:
    def act_register(act: IntrinsicCall) -> Results:
        """Set an attribute of a module under a name that is passed; return what was set where the framework does."""
        receiver = act.receiver()
        name, value = (_named_argument(act, act.form.args[position].name, position) for position in (1, 2))
        instance = act.state.instance(receiver) if receiver is not None else None
        if receiver is not None and instance is not None:
            # An unknown name is taken to differ from all others.
            key = str(name.value) if isinstance(name, Const) else f"<{act.state.next_id}>"
            if kind == "module" and instance.children is not None:
                module_containers.put(act.state, receiver, key, value)
            else:
                act.state.set_attribute(receiver, key, value)
            if kind == "buffer":
                act.state.set_trait(traits.BUFFER, (receiver.id, key), True)
                no_gradient.mark(act.state, value, exact=False)
                devices.follow(act.state, value)
        return [(act.state, value if act.form.returns else NONE)]

    return act_register


def _new_parameter(act: IntrinsicCall) -> Results:
    """Construct a parameter of the shape that is passed: None without a parameter, frozen if the options say so."""
    state = act.state
    options = act.value("attr")
    if options == Const(value=False):
        return [(state, NONE)]
    tensor = Tensor(
        storage=state.new_storage(),
        rg=trains(state, options),
        leaf=True,
        dtype="float",
        sizes=shapes.listed(state, act.value("shape")),
        contiguous=True,
        param=True,
        framework=act.interp.context.default().framework.name,
    )
    return [(state, state.new(tensor))]


def trains(state: State, options: Value) -> Three:
    """Return whether a parameter with these options is trained; any that are unknown leave it trained."""
    made = state.instance(options)
    return True if made is None else path_condition.truth(state, made.attrs.get(_TRAINS, Const(value=True)))


def _parameter_options(act: IntrinsicCall) -> Results:
    """Construct the options of a parameter, of which the flag that lets it train is kept."""
    return [(act.state, act.state.new(Instance(Dotted(act.form.name), {_TRAINS: act.value(_TRAINS)})))]


def _converted(act: IntrinsicCall) -> Results:
    """Convert the parameters and buffers of a module to the dtype that the method's name or an argument says."""
    refs = [ref for _, ref in state_of(act.state, act.positional(0))]
    given = [*act.arguments.positional[1:], *(value for _, value in act.arguments.keywords)]
    conversions.convert(act.state, refs, act.form.name, given)
    return [(act.state, act.positional(0))]


def _reparametrized(act: IntrinsicCall) -> Results:
    """Return a layer one of whose parameters is computed from others from now on, and so is no leaf."""
    receiver, name = act.receiver(), act.value("name")
    instance = None if receiver is None else act.state.instance(receiver)
    if receiver is None or instance is None or not isinstance(name, Const):
        return [(act.state, act.positional(0))]
    ref = act.state.ref(instance.attrs.get(str(name.value), NONE))
    tensor = None if ref is None else act.state.tensor(ref)
    if ref is not None and tensor is not None:
        act.state.put(ref, replace(tensor, leaf=False))
    return [(act.state, receiver)]


def _parametrized(act: IntrinsicCall) -> Results:
    """Return a layer one of whose parameters is computed from its original on each read, by a module if it is given."""
    results = _renamed(act, lambda name: (name, binding.ORIGINAL.format(name)))
    receiver = act.receiver()
    computes, instance = act.positional(2), None if receiver is None else act.state.instance(receiver)
    if receiver is not None and instance is not None and act.state.instance(computes) is not None:
        steps = op_call.STEP.format(_name(act), "")
        act.state.set_attribute(
            receiver, f"{steps}{sum(key.startswith(steps) for key in instance.attrs) - 1}", computes
        )
    return results


def _unparametrized(act: IntrinsicCall) -> Results:
    """Return a layer that has what was computed as a parameter from now on."""
    return _renamed(act, lambda name: (binding.ORIGINAL.format(name), name))


def _renamed(act: IntrinsicCall, names: Callable[[str], tuple[str, str]]) -> Results:
    """Return a layer with a parameter under another name."""
    receiver, name = act.receiver(), _name(act)
    instance = None if receiver is None else act.state.instance(receiver)
    if receiver is not None and instance is not None and name:
        before, after = names(name)
        attrs = {after if key == before else key: value for key, value in instance.attrs.items()}
        act.state.put(receiver, replace(instance, attrs=attrs))
    return [(act.state, act.positional(0))]


def _name(act: IntrinsicCall) -> str:
    """Return the name of the parameter that a call is about; nothing where it is not known."""
    named = act.values.get("name", act.positional(1))
    return str(named.value) if isinstance(named, Const) else ""


def _requires_grad(act: IntrinsicCall) -> Results:
    """Set `requires_grad` of every parameter of a module."""
    flag = _named_argument(act, "requires_grad", 1)
    side = True if flag == NONE else path_condition.truth(act.state, flag)
    if side is False:
        act.interp.context.coverage.flag(act.frame, act.state, act.at, flag)
    if (module := act.receiver()) is not None:
        act.state.set_trait(traits.FROZEN, module.id, side is False)
    for _, ref in leaves(act.state, act.positional(0), param=True):
        tensor = act.state.tensor(ref)
        if tensor is not None:
            act.state.put(
                ref, replace(tensor, rg=side, leaf=True, why="" if side is not None else "a parameter requires grad")
            )
    return [(act.state, act.positional(0))]


def construct_special(interp: Interpreter, state: State, cls: ClassValue, arguments: Arguments) -> Results | None:
    """Construct a named tuple or look up a member of an enumeration; None for any other class."""
    member = enums.construct(interp, state, cls, arguments)
    if member is not None:
        return [(state, member)]
    fields = dataclass_fields.of_named_tuple(interp, cls)
    if fields is None:
        return None
    values: list[Value] = []
    for position, field in enumerate(fields):
        value = arguments.named(field)
        if value is None and position < len(arguments.positional):
            value = arguments.positional[position]
        default = None if arguments.unknown or value is not None else interp.lookup(state, cls, field)
        values.append(value or default or state.symbols.sym((origins.FIELD, field, state.next_id)))
    return [(state, Tuple(tuple(values), exact=True, fields=fields, cls=cls))]


def _named_part(act: IntrinsicCall) -> Results:
    """Return the sub-module, parameter or buffer of a dotted name."""
    target, owner = act.value("target"), act.receiver() or NONE
    named = [*parts(act.state, owner), *state_of(act.state, owner)]
    found = dict(named).get(target.value) if isinstance(target, Const) and isinstance(target.value, str) else None
    return [(act.state, found or act.unknown())]


def _set_submodule(act: IntrinsicCall) -> Results:
    """Set the sub-module of a dotted name."""
    target, owner = act.value("target"), act.receiver() or NONE
    path, _, name = (str(target.value) if isinstance(target, Const) else "").rpartition(".")
    parent = dict(parts(act.state, owner)).get(path) if path else owner
    if parent is None or not name:
        return [(act.state, act.unknown())]
    new = act.value("module")
    return [(after, NONE) for after in act.interp.set_attribute(act.frame, act.state, parent, name, new, act.at)]


INTRINSICS: dict[str, Callable[[IntrinsicCall], Results]] = {
    "named_part": _named_part,
    "set_submodule": _set_submodule,
    "parameters": _listing(param=True, named=False),
    "named_parameters": _listing(param=True, named=True),
    "buffers": _listing(param=False, named=False),
    "named_buffers": _listing(param=False, named=True),
    "children": _modules(named=False, deep=False),
    "named_children": _modules(named=True, deep=False),
    "modules": _modules(named=False, deep=True),
    "named_modules": _modules(named=True, deep=True),
    "train": _switch(mode=True),
    "eval": _switch(mode=False),
    "register_buffer": _register("buffer"),
    "register_parameter": _register("parameter"),
    "add_module": _register("module"),
    "set_attribute": _register("attribute"),
    "layer_parameter": _new_parameter,
    "parameter_options": _parameter_options,
    "converted": _converted,
    "module_requires_grad_": _requires_grad,
    "reparametrized": _reparametrized,
    "parametrized": _parametrized,
    "unparametrized": _unparametrized,
}
