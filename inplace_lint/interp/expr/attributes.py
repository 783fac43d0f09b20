"""
Attribute access.

    x.shape         # of a tensor: by the facts of the framework
    self.weight     # of an instance or class: its own, then those of its bases
    torch.relu      # of a library
"""

from __future__ import annotations

from collections.abc import Container

from msgspec.structs import replace

from inplace_lint.domain import origins, traits, unknown_history
from inplace_lint.domain.heap import DictObject, Instance, ListObject, Names, Tensor
from inplace_lint.domain.state import State
from inplace_lint.domain.values import (
    NONE,
    NOT_TENSORS,
    PARTIAL_METHOD,
    Bound,
    Builtin,
    ClassValue,
    Closure,
    Const,
    Dotted,
    Imported,
    ModuleValue,
    Partial,
    Ref,
    Super,
    Sym,
    Tuple,
    Value,
)
from inplace_lint.interp.call import closures, decorators, enums, module_containers, module_registry
from inplace_lint.interp.call.library_bases import is_method, library_method, takes_class
from inplace_lint.interp.control import exceptional_flow, path_condition
from inplace_lint.interp.expr import environment, own_names, private_names, tensor_attributes
from inplace_lint.interp.frame import Arguments, Frame
from inplace_lint.interp.interpreter import Interpreter
from inplace_lint.interp.intrinsics import kernels, opaque_modules
from inplace_lint.interp.options import swapped
from inplace_lint.interp.outcome import Raised, Results
from inplace_lint.interp.pylib import constant_folding, dataclass_fields, releases
from inplace_lint.interp.transfer import materialise, no_gradient
from inplace_lint.interp.transfer.tensor_types import dtypes

_OF_OBJECT = frozenset({"__init__", "__getattr__", "__getattribute__", "__setattr__"})
_OF_CLASSES = {"__call__": "type.__call__", "__new__": "object.__new__"}
_GETTERS = ("__getattribute__", "__getattr__")
# Methods that lists, dicts and strings also have: a read of one does not show that an unknown value is a tensor.
_AMBIGUOUS = frozenset((
    "T", "add", "all", "any", "append", "clear", "close", "copy", "count", "data", "device", "difference",
    "discard", "dtype", "extend", "fill", "format", "get", "grad", "imag", "index", "insert", "items", "join",
    "keys", "lower", "name", "open", "pop", "read", "real", "remove", "replace", "reverse", "shape", "size",
    "sort", "split", "strip", "type", "union", "update", "upper", "values", "write",
))  # fmt: skip


def get(interp: Interpreter, frame: Frame, state: State, value: Value, name: str, at: int) -> Results:
    """Evaluate `value.name`; a property is run."""
    if type(value) is Ref:  # checked first, as it is the most frequent
        return _of_object(interp, frame, state, value, name, at)
    match value:
        case Dotted(dotted):
            own = tensor_attributes.of_library(interp, frame, state, dotted, name)
            return [(state, own or _library_attribute(interp, dotted, name))]
        case ModuleValue() if name == "__dict__":
            return [(state, own_names.mapping(value))]
        case ModuleValue(path):
            return [(state, environment.imported(interp, state, Imported(path, name)))]
        case Super(owner, receiver):
            return _super(interp, frame, state, owner, receiver, name, at)
        case ClassValue():
            return _of_class(interp, frame, state, value, name, at)
        case Tuple():
            own = None if value.cls is None or name in value.fields else lookup(interp, state, value.cls, name)
            if own is not None:
                return _bound(interp, frame, state, value, own, at)
            found = dataclass_fields.part_of_tuple(interp, value, name)
            lacks = interp.fuel.listens and value.fields and type(found) is Builtin and not hasattr(tuple, name)
            return interp.fuel.leave(state, _attribute_error(frame, at)) if lacks else [(state, found)]
        case Const() | Sym():
            return _of_scalar(interp, frame, state, value, name, at)
        case _:
            return [(state, _of_other(state, value, name))]


def _of_scalar(interp: Interpreter, frame: Frame, state: State, value: Const | Sym, name: str, at: int) -> Results:
    if not hasattr(None, name) and exceptional_flow.refuses_none(interp, frame, state, value, at):
        return interp.fuel.leave(state, _attribute_error(frame, at))
    if isinstance(value, Sym):
        return _of_unknown(interp, frame, state, value, name, at)
    if (own := enums.method(interp, state, value, name)) is not None:
        return _bound(interp, frame, state, value, own, at)
    known = constant_folding.part(state, value, name) or enums.attribute(interp, state, value, name)
    return [(state, known or releases.part(value, name) or Builtin(name, value))]


def _attribute_error(frame: Frame, at: int) -> Raised:
    return Raised(Builtin("AttributeError"), frame.site(at))


def _of_other(state: State, value: Value, name: str) -> Value:
    match value:
        case Builtin("object" | "type" | "dict" | "str" | "list" | "set" as owner, None) if name != "__name__":
            return Builtin(f"{owner}.{name}")
        case Builtin() if own_names.is_mapping(value):
            return Builtin(name, value)
        case Builtin(called, None) if name == "__name__":
            return Const(called.rpartition(".")[2])
        case Partial(function, _, _) if name == "func" or (name == "run" and kernels.is_kernel(value)):
            return function if name == "func" else value
        case Bound(receiver, function) if name in {"__self__", "__func__", "__name__"}:
            return {"__self__": receiver, "__func__": function}.get(name) or _of_other(state, function, name)
        case _:
            own = closures.attribute(state, value, name) if isinstance(value, Closure) else None
            return own or state.symbols.sym((origins.ATTRIBUTE, value, name))


def _library_attribute(interp: Interpreter, dotted: str, name: str) -> Value:
    full = f"{dotted}.{name}"
    if name in {"__name__", "__qualname__"} and interp.context.forms(dotted):
        return Const(dotted.rpartition(".")[2])
    facts = interp.context.facts_of(full)
    if facts is None:
        plain = constant_folding.CONSTANTS.get(full) or Dotted(full)
        return releases.PYTHON if full == releases.OF_PYTHON else plain
    said = releases.installed(facts, full) or dtypes.attribute(interp.context, dtypes.named(Dotted(dotted)), name)
    if said is not None:
        return said
    op = next(iter(facts.forms(dotted)), None)
    if op is not None and op.init is None and not op.act and not facts.forms(full) and not name.startswith("_"):
        return Dotted(dotted)  # an overload: `torch.ops.aten.add.Tensor`
    return Dotted(facts.canonical(full))


def _of_unknown(interp: Interpreter, frame: Frame, state: State, value: Sym, name: str, at: int) -> Results:
    asked = dtypes.of_tensor(state, value)
    known = unknown_history.attribute(state, value, name) or dtypes.attribute(interp.context, asked, name)
    known = known or materialise.given_by_name(state, value, name)
    if known is not None:
        return [(state, known)]
    framework = interp.context.default().framework
    if value.kind not in NOT_TENSORS and (negated := no_gradient.flag_of(framework, name)) is not None:
        return [(state, path_condition.requires_grad(state, value, negated))]
    facts = materialise.framework_of(interp, state, value)
    if facts is None and value.kind not in NOT_TENSORS and name not in _AMBIGUOUS:
        default = interp.context.default()
        forms = default.forms(f"{default.framework.tensor}.{name}")
        may_be = value.kind == "input" or not name.endswith("_") or _is_item(state, value, framework.parameters)
        if forms and may_be and name not in default.framework.attributes:
            facts = default
    if facts is not None and name != "grad":
        method = f"{facts.framework.tensor}.{name}"
        if facts.forms(method):
            return tensor_attributes.read(interp, frame, state, value, method, at)
    if name == "shape":
        return [(state, state.symbols.sym((origins.SHAPE, value.id), "sequence"))]
    if name in framework.parameters and (own := opaque_modules.parameter(state, value, name)) is not None:
        return [(state, own)]
    kind = "number" if name in {"ndim", "itemsize"} else value.kind if value.kind in {"array", "input"} else ""
    describes = unknown_history.nodes_behind(state, value) and tensor_attributes.describes(interp, name)
    return [(state, state.symbols.sym((origins.DESCRIBES if describes else origins.ATTRIBUTE, value.id, name), kind))]


def _is_item(state: State, value: Sym, named: Container[str]) -> bool:
    """Check whether a value is an item, a parameter or computed with a history: no package that writes tensors."""
    origin = key[0] if isinstance(key := state.symbols.key(value), tuple) else None
    if origin in {origins.TURN, origins.ITEM} or opaque_modules.is_named_as_parameter(state, value, named):
        return True
    return origin is origins.RESULT and bool(unknown_history.nodes_behind(state, value))


def _of_object(interp: Interpreter, frame: Frame, state: State, value: Ref, name: str, at: int) -> Results:
    match state.object(value):
        case Tensor() as tensor:
            return _of_tensor(interp, frame, state, value, tensor, name, at)
        case ListObject() | DictObject():
            return [(state, Builtin(name, value))]
        case Instance() as instance:
            return _of_instance(interp, frame, state, value, instance, name, at)
        case _:
            return [(state, state.symbols.sym((origins.ATTRIBUTE, value, name)))]


def _of_tensor(
    interp: Interpreter, frame: Frame, state: State, value: Ref, tensor: Tensor, name: str, at: int
) -> Results:
    facts = interp.context.facts.get(tensor.framework) or interp.context.default()
    framework = facts.framework
    if (negated := no_gradient.flag_of(framework, name, param=tensor.param)) is not None:
        return [(state, path_condition.requires_grad(state, value, negated))]
    if name == "is_leaf" and tensor.leaf is not None:
        return [(state, Const(tensor.leaf))]
    if name == "grad":
        return [(state, tensor_attributes.gradient(interp, state, value, tensor))]
    if name == "grad_fn" and None not in (tensor.leaf, tensor.rg):
        return [(state, tensor_attributes.history(state, value, tensor))]
    known = state.trait(traits.ATTRIBUTE, (value.id, name))
    if known is not None:
        return [(state, known)]
    method = f"{framework.tensor}.{name}"
    if facts.forms(method):
        return tensor_attributes.read(interp, frame, state, value, method, at)
    module = opaque_modules.behind(state, value)
    if module is not None:
        return _of_unknown(interp, frame, state, module, name, at)
    interp.fuel.counters["calls_without_fact:" + method] += 0
    return [(state, tensor_attributes.unknown(interp, frame, state, value, name))]


def _of_instance(
    interp: Interpreter, frame: Frame, state: State, value: Ref, instance: Instance, name: str, at: int
) -> Results:
    found = instance.attrs.get(name)
    if found is not None:
        if name in interp.context.replaceable:
            swapped.read(interp, state, instance, name, found)
        return [(state, found)]
    if name == "__dict__":
        return [(state, own_names.mapping(value))]
    inner = state.object(state.contents(instance.attrs.get("__dict__", NONE)))
    if isinstance(inner, DictObject) and name in inner.items:  # `self.__dict__ = options`
        return [(state, inner.items[name])]
    if name == "__class__":
        return [(state, instance.cls)]
    if instance.pending is not None:
        return [
            result
            for after in interp.construct_pending(frame, state, value, at)
            for result in get(interp, frame, after, value, name, at)
        ]
    if name == interp.context.default().framework.parts and "training" in instance.attrs:
        named = state.new(DictObject(dict(module_registry.direct(state, instance))))
        state.set_trait(traits.PARTS_OF, named.id, value)
        return [(state, named)]
    resolved = lookup(interp, state, instance.cls, name)
    if resolved is None or (
        isinstance(resolved, Const) and tensor_attributes.may_differ(interp, state, value, instance)
    ):
        return _undefined(interp, frame, state, value, instance, name, at)
    if name in interp.context.replaceable:
        swapped.read(interp, state, instance, name, resolved)
    return _bound(interp, frame, state, value, resolved, at)


def _undefined(
    interp: Interpreter, frame: Frame, state: State, value: Ref, instance: Instance, name: str, at: int
) -> Results:
    """Evaluate an attribute that neither an object nor its class has under this name."""
    computed = tensor_attributes.computed(interp, frame, state, instance, name, at)
    if computed is not None:
        return computed
    method = own_names.of_contents(state, value, name)
    if method is not None:
        return [(state, method)]
    dunder = name.startswith("__") and name.endswith("__")
    own = None if dunder else _by_own_getter(interp, frame, state, value, name, at)
    if own is None and not hasattr(object, name) and tensor_attributes.is_missing(interp, frame, value, instance):
        return interp.fuel.leave(state, _attribute_error(frame, at))
    return own if own is not None else [(state, _by_getattr(interp, frame, state, value, instance, name))]


def _by_own_getter(interp: Interpreter, frame: Frame, state: State, value: Value, name: str, at: int) -> Results | None:
    """Return what the methods for attributes of an object's class say; what one of them asks for is not asked again."""
    running = "" if frame.closure is None else frame.closure.function.qualname.rpartition(".")[2]
    found = (special(interp, frame, state, value, one, (Const(name),), at) for one in _GETTERS if one != running)
    return next((own for own in found if own is not None), None)


def lookup(interp: Interpreter, state: State, cls: Value, name: str, after: ClassValue | None = None) -> Value | None:
    """Find a class attribute in method resolution order, after the class `after` if given; None if unknown."""
    skipping = after is not None
    order = interp.context.mro(cls)
    for entry in order:
        if skipping:
            skipping = entry is not after
            continue
        if isinstance(entry, ClassValue):
            found = own_attribute(interp, state, entry, name)
            if found is not None:
                return found
        elif isinstance(entry, Dotted):
            found = library_method(interp, entry.name, name)
            if found is not None:
                return found
    return None


def special(
    interp: Interpreter, frame: Frame, state: State, value: Value, name: str, arguments: tuple[Value, ...], at: int
) -> Results | None:
    """Call a special method that the program defines for an object; None if it defines none."""
    instance = state.instance(value)
    if instance is None or not isinstance(instance.cls, ClassValue):
        return None
    method = lookup(interp, state, instance.cls, name)
    if not isinstance(method, Closure):
        return None
    return interp.call(frame, state, Bound(value, method), Arguments(arguments), at)


def _by_getattr(interp: Interpreter, frame: Frame, state: State, value: Ref, instance: Instance, name: str) -> Value:
    """Return what an unknown attribute is: of a container, a module; with `__getattr__ = dict.get`, an item."""
    if name in _GETTERS:  # self.__getattr__(f"layer{i}")
        return Partial(Builtin("getattr"), (value,), ())
    child = module_containers.named(state, instance, name)
    if child is not None:
        return child
    mapping = state.trait(traits.CONTENTS, value.id)
    inner = None if mapping is None else state.object(mapping)
    if isinstance(inner, DictObject) and name in inner.items and lookup(interp, state, instance.cls, "__getattr__"):
        return inner.items[name]
    return tensor_attributes.unknown(interp, frame, state, value, name)


def own_attribute(interp: Interpreter, state: State, cls: ClassValue, name: str) -> Value | None:
    """Return what the body of a class binds a name to."""
    slice_ = cls.methods.get(name := private_names.in_body(cls, name))
    method = None if slice_ is None else closures.method(interp, state, cls, name, slice_)
    if method is not None and name not in interp.context.exchanged:
        return method
    body = interp.class_body(state, cls)
    scope = state.heap[body.id]
    assert isinstance(scope, Names)
    found = scope.values.get(name, method)
    if not isinstance(found, Closure) or found.owner is not None:
        return found
    return replace(found, owner=cls, env=cls.env if found.env == body else found.env)


def _bound(interp: Interpreter, frame: Frame, state: State, value: Value, found: Value, at: int) -> Results:
    """Bind a class attribute to its receiver as Python's descriptors do."""
    if type(found) is Ref:
        given = (value, NONE) if (instance := state.instance(value)) is None else (value, instance.cls)
        own = special(interp, frame, state, found, "__get__", given, at)
        return [(state, found)] if own is None else own
    if isinstance(found, Closure):
        if found.wrapper in {"property", "cached"}:
            results = interp.call(frame, state, Bound(value, found), Arguments(), at)
            for after, result in results if found.wrapper == "cached" else ():
                if isinstance(value, Ref):
                    after.set_attribute(value, found.function.qualname.rpartition(".")[2], result)
            return results
        return [(state, found if found.wrapper == "static" else Bound(value, found))]
    if isinstance(found, Partial) and found.function == PARTIAL_METHOD and found.args:
        return [(state, Partial(found.args[0], (value, *found.args[1:]), found.keywords))]
    binds = isinstance(found, Dotted) and is_method(interp, found.name)
    return [(state, Bound(value, found) if binds else own_names.bound(state, value, found))]


def _of_class(interp: Interpreter, frame: Frame, state: State, cls: ClassValue, name: str, at: int) -> Results:
    if name in {"__name__", "__dict__"}:
        return [(state, Const(cls.name) if name == "__name__" else decorators.namespace(interp, state, cls))]
    if name == "__subclasses__":
        return [(state, Partial(Builtin(f"type.{name}"), (cls,), ()))]
    found = lookup(interp, state, cls, name)
    own = lookup(interp, state, cls.meta, name) if found is None and cls.meta is not None else None
    if own is not None:
        return _bound(interp, frame, state, cls, own, at)
    if found is None and interp.fuel.listens and enums.lacks(interp, state, cls, name):
        return interp.fuel.leave(state, _attribute_error(frame, at))
    if found is None:
        return [(state, dataclass_fields.class_attribute(interp, state, cls, name))]
    of_class = found.wrapper == "class" if isinstance(found, Closure) else False
    if of_class or (isinstance(found, Dotted) and takes_class(interp, found.name)):
        return [(state, Bound(cls, found))]
    return [(state, enums.member(interp, state, cls, name, found))]


def _super(
    interp: Interpreter, frame: Frame, state: State, owner: ClassValue, receiver: Value, name: str, at: int
) -> Results:
    instance = state.instance(receiver)
    cls = instance.cls if instance is not None else receiver
    found = lookup(interp, state, cls, name, after=owner)
    if name == "__call__" and instance is not None and not isinstance(found, Closure):
        found = _forward(interp, state, instance) or found
    if found is None and isinstance(receiver, ClassValue) and name in _OF_CLASSES:
        return [(state, Builtin(_OF_CLASSES[name], receiver if name == "__call__" else None))]
    if found is None:
        found = own_names.of_contents(state, receiver, name) if isinstance(receiver, Ref) else None
        found = Builtin(f"object.{name}", receiver) if found is None and name in _OF_OBJECT else found
        return [(state, found or state.symbols.sym((origins.SUPER, name)))]
    return _bound(interp, frame, state, receiver, found, at)


def _forward(interp: Interpreter, state: State, instance: Instance) -> Closure | None:
    """Return the method of a project's module that the framework's own `__call__` runs."""
    framework = None if isinstance(instance.cls, Dotted) else interp.context.is_module(instance.cls)
    method = None if framework is None else lookup(interp, state, instance.cls, framework.calls)
    return method if isinstance(method, Closure) else None
