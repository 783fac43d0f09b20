"""What kind of thing a value is: `isinstance`, `callable`, `type`, and the classes that derive from one."""

from __future__ import annotations

import builtins
import collections
import collections.abc
import contextvars
import datetime as dt
import numbers
import os
import pathlib
import queue
import sys
from collections.abc import Collection, Sequence

from inplace_lint.domain import origins, traits
from inplace_lint.domain.heap import BESIDE, DictObject, Instance, ListObject, Names, Tensor
from inplace_lint.domain.state import State
from inplace_lint.domain.values import (
    Bound,
    Builtin,
    ClassValue,
    Closure,
    Const,
    Dotted,
    Partial,
    Ref,
    Sym,
    Tuple,
    Value,
)
from inplace_lint.interp.call import enums
from inplace_lint.interp.expr import environment
from inplace_lint.interp.interpreter import Interpreter
from inplace_lint.interp.outcome import Results
from inplace_lint.interp.pylib.request import Request
from inplace_lint.interp.transfer import materialise
from inplace_lint.knowledge.facts import Facts
from inplace_lint.knowledge.words import Result

_LISTS: dict[str, type] = {
    "list": list,
    "set": set,
    "deque": collections.deque,
    "queue": queue.Queue,
    "context": contextvars.ContextVar,
}


def _python_type(name: str) -> type | tuple[type, ...]:
    """Return the types that the last name of a builtin or abstract class stands for; none for any other."""
    if name in _PYTHON_TYPES:
        return _PYTHON_TYPES[name]
    found = getattr(collections.abc, name, None) or getattr(numbers, name, None)
    return found if isinstance(found, type) else ()


_PYTHON_TYPES: dict[str, tuple[type, ...]] = {
    "int": (int,),
    "float": (float,),
    "str": (str,),
    "bool": (bool,),
    "bytes": (bytes,),
    "complex": (complex,),
    "tuple": (tuple,),
    "list": (list,),
    "set": (set,),
    "deque": (collections.deque,),
    "dict": (dict,),
    "NoneType": (type(None),),
    **dict.fromkeys(("Path", "PosixPath", "PurePath", "PurePosixPath"), (pathlib.PurePath,)),
    "PathLike": (os.PathLike,),
    "date": (dt.date,),
    "datetime": (dt.datetime,),
    "time": (dt.time,),
    "timedelta": (dt.timedelta,),
}


def is_a(interp: Interpreter, state: State, value: Value, cls: Value) -> bool | None:
    """Say whether `isinstance(value, cls)`; None when it cannot be told."""
    name = cls.name.rpartition(".")[2] if isinstance(cls, Dotted | Builtin) else ""
    facts = materialise.framework_of(interp, state, value)
    if facts is not None:
        return _is_tensor_of(interp, state, facts, value, cls)
    instance = state.instance(value)
    if instance is not None:
        mro = interp.context.mro(instance.cls)
        if cls in mro or any(_same_library(interp, entry, cls) for entry in mro):
            return True
        if _is_optimizer(interp, instance.cls) and _is_optimizer(interp, cls):
            return False
        return False if not instance.opaque and _is_of_others(interp, state, mro, cls) else None
    if isinstance(cls, ClassValue) and isinstance(value, Const):
        return enums.may_be(interp, state, cls, value)
    if isinstance(cls, Sym):
        return None
    if isinstance(value, ClassValue | Dotted | Partial | Builtin):
        return _is_callable_kind(interp, value, name)
    if isinstance(value, Tuple) and isinstance(cls, Dotted) and interp.context.forms(cls.name):
        return None  # sizes are tuples here
    return _is_builtin(state, value, name)


_PROTOCOLS = (Dotted("typing.Protocol"), Dotted("typing_extensions.Protocol"))


def _is_optimizer(interp: Interpreter, cls: Value) -> bool:
    """Check whether a class is one of a framework's optimizers, which say which of them they derive from."""
    return isinstance(cls, Dotted) and any(form.act == "optimizer" for form in interp.context.forms(cls.name))


def _is_of_others(interp: Interpreter, state: State, mro: Sequence[Value], cls: Value) -> bool:
    """
    Check whether no class of an object is a class: one that is known, or that a package has which is not installed.

    What fits a protocol is an object of it without deriving from it. A package may hand on a class of a framework, by
    its own name.

        try: from fused_layers import FusedNorm
        except ImportError: FusedNorm = None
    """
    if not isinstance(cls, Sym):
        return not any(base in _PROTOCOLS for base in interp.context.mro(cls))
    match state.symbols.key(cls):
        case (origins.GLOBAL, str(path), str(name)):
            module = interp.context.module(path)
            found = module.imports(name) if len(module.items(name)) == 1 else ()
            names = {name, *(imported.rpartition(".")[2] for _, imported in found)}
            return bool(found) and not any(_is_named(interp, entry, names) for entry in mro)
        case _:
            return False


def _is_named(interp: Interpreter, entry: Value, names: Collection[str]) -> bool:
    """Check whether a class, or one that it derives from in its framework, has one of some names."""
    if not isinstance(entry, ClassValue | Dotted | Builtin):
        return True
    above = (base for form in interp.context.forms(entry.name) for base in form.derives)
    return any(one.rpartition(".")[2] in names for one in (entry.name, *above, "Module"))


def _is_tensor_of(interp: Interpreter, state: State, facts: Facts, value: Value, cls: Value) -> bool | None:
    """Say whether a tensor is of a class: of the framework's tensors, or of its parameters."""
    if not isinstance(cls, Dotted):
        return None if isinstance(cls, Sym) else False
    if facts.canonical(cls.name) == facts.framework.tensor:
        return True
    tensor, forms = state.tensor(value), interp.context.forms(cls.name)
    if _has_no_tensors(interp, facts, cls):
        return False
    if tensor is None or not forms or forms[0].act != "parameter":
        return None
    return True if tensor.param else False if tensor.leaf is False or _is_made(state, tensor) else None


def _has_no_tensors(interp: Interpreter, facts: Facts, cls: Dotted) -> bool:
    """Check whether no tensor of a framework is of a class: of an array, of Python, a layer or a distribution."""
    package, _, rest = cls.name.partition(".")
    last = rest.rpartition(".")[2]
    if package in sys.stdlib_module_names:
        return last not in _STRUCTURAL and not last.startswith("Supports")
    form = next(iter(interp.context.forms(cls.name)), None)
    others = interp.context.facts_of(cls.name)
    if interp.context.is_of_arrays(cls) or (others is not None and others is not facts):
        return True
    if form is not None:
        gives = {fact.kind for fact in form.returns}
        return form.init is not None or form.act in {"module", "object"} or gives == {Result.VALUE}
    return package in facts.framework.packages and last not in facts.framework.tensors


# What Python takes for instances of by their methods alone.
_STRUCTURAL = frozenset({"Any", "Collection", "Container", "Hashable", "Iterable", "Reversible", "Sized"})


def _is_made(state: State, tensor: Tensor) -> bool:
    """Check whether a tensor is the result of an op, which makes no parameters, but may return what it was given."""
    if tensor.view in BESIDE:
        return True
    base = None if tensor.base is None or not tensor.doubt else state.tensor(tensor.base)
    return tensor.made is not None and (base is None or _is_made(state, base))


def derives(interp: Interpreter, value: Value, cls: Value) -> bool | None:
    """Evaluate `issubclass(value, cls)`; None if unknown."""
    mro = interp.context.mro(value)
    if cls in mro or any(_same_library(interp, entry, cls) or _derives_builtin(entry, cls) for entry in mro):
        return True
    # Abstract classes of the standard library take in classes that do not derive from them.
    plain = ClassValue if isinstance(cls, Dotted) else ClassValue | Builtin
    known = all(
        isinstance(entry, plain) or (isinstance(entry, Dotted) and interp.context.knows_base(entry)) for entry in mro
    )
    return False if known and not isinstance(cls, Sym) else None


def _derives_builtin(value: Value, cls: Value) -> bool:
    if not isinstance(value, Builtin) or not isinstance(cls, Builtin):
        return False
    mine, other = (getattr(builtins, entry.name, None) for entry in (value, cls))
    return isinstance(mine, type) and isinstance(other, type) and issubclass(mine, other)


_OF_ALL = frozenset({"Callable", "Hashable", "object"})
_FUNCTIONS = frozenset({"FunctionType", "LambdaType", "BuiltinFunctionType", "MethodType"})


def _is_callable_kind(interp: Interpreter, value: ClassValue | Dotted | Partial | Builtin, name: str) -> bool | None:
    """Say whether a class, a function of a framework or a partial call is of a kind; its metaclass is not known."""
    kind = "partial" if isinstance(value, Partial) else "type"
    if isinstance(value, Dotted):
        forms = interp.context.forms(value.name)
        if not forms:
            return None
        kind = "type" if forms[0].init is not None or forms[0].act == "container" else "function"
    elif isinstance(value, Builtin):
        kind = "type" if isinstance(getattr(builtins, value.name, None), type) else "function"
    if name in _OF_ALL or name == kind:
        return True
    if name in {"partial", "type"} or _python_type(name) or (kind != "function" and name in _FUNCTIONS):
        return False
    return None


def _is_builtin(state: State, value: Value, name: str) -> bool | None:
    match value:
        case Const(constant):
            return isinstance(constant, _python_type(name))
        case Tuple():
            return issubclass(tuple, _python_type(name))
        case Ref():
            inner = state.object(value)
            if isinstance(inner, ListObject):
                return issubclass(_LISTS.get(inner.kind, list), _python_type(name))
            if isinstance(inner, DictObject):
                return name == "OrderedDict" or issubclass(dict, _python_type(name))
            return None
        case Closure():
            return name in {"Callable", "FunctionType"}
        case Sym(_, kind) if kind in {"number", "str"}:
            types = _python_type(name)
            may_be = issubclass(int, types) or issubclass(float, types) if kind == "number" else issubclass(str, types)
            return None if may_be else False
        case _:
            return None


def _same_library(interp: Interpreter, entry: Value, cls: Value) -> bool | None:
    if not isinstance(entry, Dotted) or not isinstance(cls, Dotted):
        return False
    facts = interp.context.facts_of(entry.name)
    if facts is None:
        return entry == cls
    wanted, own = facts.canonical(cls.name), facts.canonical(entry.name)
    return wanted in {own, facts.framework.module} or any(wanted in form.derives for form in facts.forms(own))


def is_callable(interp: Interpreter, state: State, value: Value) -> bool | None:
    """Say whether a value can be called; None when it cannot be told."""
    instance = state.instance(value)
    if instance is not None:
        if interp.context.is_module(instance.cls) is not None or isinstance(instance.cls, Dotted):
            return True
        return None if instance.opaque else interp.lookup(state, instance.cls, "__call__") is not None
    match value:
        case Closure() | ClassValue() | Bound() | Partial() | Builtin():
            return True
        case Dotted(name):
            return True if interp.context.forms(name) else None
        case Const() | Tuple() | Ref():
            return False
        case Sym(_, "callable"):
            return True
        case _:
            return None


def of_type(request: Request) -> Results:
    """Return the class of a value; of a name, bases and attributes the class that they make."""
    value, state = request.argument(0), request.state
    if len(request.arguments.positional) == _MAKES_A_CLASS:
        return _new_class(request)
    if isinstance(value, Const):
        return [(state, Builtin(type(value.value).__name__))]
    inner = state.object(value) if value is not None else None
    if isinstance(inner, Instance):
        return [(state, inner.cls)]
    if isinstance(inner, DictObject) and inner.default is None:
        return [(state, Builtin("dict"))]
    cls = _class_of(request.interp, state, value) if value is not None else None
    return [(state, cls)] if cls is not None else request.unknown()


def _class_of(interp: Interpreter, state: State, value: Value) -> Value | None:
    """Return the class of a tuple, list, set or tensor; None of what else may be a value of a derived class."""
    inner = state.object(value) if isinstance(value, Ref) else value
    match inner:
        case Tuple(items, True, ()) if _is_plain(state, items):
            return Builtin("tuple")
        case ListObject(_, True, "list" | "set" as kind):
            return Builtin(kind)
        case Tensor(param=False) if (facts := materialise.framework_of(interp, state, value)) is not None:
            return Dotted(facts.framework.tensor)
        case _:
            return None


def _is_plain(state: State, items: tuple[Value, ...]) -> bool:
    """
    Check whether items are certainly those of a plain tuple.

    Sizes and ranges are tuples here as well, and what one operation returned may be in a list or in a tuple of its own.
    """
    refs = {item for item in items if isinstance(item, Ref)}
    made = {tensor.made for ref in refs if (tensor := state.tensor(ref)) is not None}
    return bool(refs) and not (1 < len(refs) == len(items) and len(made) == 1)


_MAKES_A_CLASS = 3


def _new_class(request: Request) -> Results:
    """
    Return the class that `type(name, bases, attributes)` makes; an unknown value if not all of these are known.

    Gate = type("Gate", (nn.Module,), {"forward": lambda self, x: x.sigmoid()})
    """
    name, bases, attributes = request.arguments.positional
    state, frame, scope = request.state, request.frame, request.state.object(attributes)
    if not (isinstance(name, Const) and isinstance(bases, Tuple) and bases.exact and isinstance(scope, DictObject)):
        return request.unknown()
    text = str(name.value)
    cls = ClassValue(text, text, frame.module, bases.items, frame.slice, {}, env=frame.env)
    values = {key: value for key, value in scope.items.items() if isinstance(key, str)}
    state.set_trait(traits.CLASS_SCOPE, (cls.slice, text, id(cls)), state.new(Names(values, {}, frame.env)))
    return [(state, cls)]


def of_subclasses(request: Request) -> Results:
    """Return the classes that derive from a class directly, as `cls.__subclasses__()` does: those of its own file."""
    base, state = request.argument(0), request.state
    if not isinstance(base, ClassValue):
        return request.unknown("sequence")
    outline = request.interp.context.module(base.slice.path).outline
    found = [
        environment.find(request.interp, state, base.slice.path, item.name)
        for item in outline.items
        if item.kind == "class"
    ]
    derived = tuple(cls for cls in found if isinstance(cls, ClassValue) and any(one is base for one in cls.bases))
    return [(state, Tuple(derived, exact=False))] if derived else request.unknown("sequence")
