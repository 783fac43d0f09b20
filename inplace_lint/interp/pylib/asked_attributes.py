"""
`getattr` and `hasattr`: attributes that are asked for by a text, and may be missing.

    getattr(model, "head", None)      # the default where neither the object nor its class has it
    hasattr(batch, "weights")         # False as well where a property of this name raises an AttributeError
"""

from __future__ import annotations

from inplace_lint.domain.heap import Instance
from inplace_lint.domain.values import Builtin, ClassValue, Closure, Const, Dotted, ModuleValue, Sym, Tuple, Value
from inplace_lint.interp.call import module_containers
from inplace_lint.interp.context import Context
from inplace_lint.interp.interpreter import Interpreter
from inplace_lint.interp.options import plainer_arguments
from inplace_lint.interp.options.coverage import Option
from inplace_lint.interp.outcome import Raised, Results
from inplace_lint.interp.pylib import numbered_names, releases, type_tests
from inplace_lint.interp.pylib.request import Request


def of_getattr(request: Request) -> Results:
    """Evaluate `getattr`: with a default, what is missing is that."""
    value, name = request.argument(0), request.argument(1)
    if isinstance(value, Dotted) and isinstance(name, Sym):
        known = numbered_names.completed(request, value, numbered_names.form_of(request.state, name))
        name = (numbered_names.listed(request, value, name) or name) if known is None else Const(known)
    if isinstance(value, ModuleValue) and name is not None:
        chosen = numbered_names.choose_from(request.interp, request.frame, request.state, value, name, request.at)
        if chosen is not None:
            return [(request.state, chosen)]
    if value is None or not isinstance(name, Const):
        return request.unknown()
    default = request.argument(2)
    if default is not None and _certainly_lacks(request, value, str(name.value)):
        return [(request.state, default)]
    if default is not None and _waits(request, value, name):
        return request.unknown()
    instance = request.state.instance(value)
    computed = default is not None and instance is not None and _is_computed(request, instance, str(name.value))
    results = _read(request, value, str(name.value), default if computed else None)
    if instance is not None:
        numbered_names.choose(request, instance, str(name.value))
    if default is None or instance is None:
        return results
    return [(one, _or_default(request, instance, name, default, found)) for one, found in results]


def _or_default(request: Request, instance: Instance, name: Const, default: Value, found: Value) -> Value:
    """Return the default for an unknown attribute, as an option where a library may have given an object others."""
    if not isinstance(found, Sym):
        return found
    if not instance.opaque:
        return default
    cls, context = instance.cls, request.interp.context
    if not isinstance(cls, ClassValue) or not isinstance(default, Const) or context.is_module(cls) is not None:
        return found
    number = plainer_arguments.option(request.state, cls.slice, cls.name, str(name.value))
    return context.coverage.option(number, Option(str(name.value), default, ""))


def of_inherited_getter(request: Request) -> Results:
    """
    Evaluate `super().__getattr__(name)`, which raises an AttributeError for what an object certainly does not have.

    Where nothing handles that, the attribute is an unknown value: what a method sets later may be there by then.
    """
    value, name = request.argument(0), request.argument(1)
    instance = request.state.instance(value) if value is not None else None
    if instance is None or not isinstance(name, Const):
        return request.unknown()
    if name.value in instance.attrs:
        return [(request.state, instance.attrs[str(name.value)])]
    context, fuel, frame = request.interp.context, request.interp.fuel, request.frame
    handled = any((env.id, "AttributeError") in fuel.lacks for env in (frame.env, *frame.outer))
    bases = (base for base in context.mro(instance.cls) if not isinstance(base, ClassValue))
    if (
        instance.opaque
        or instance.pending is not None
        or not handled
        or not all(_is_known(context, it) for it in bases)
    ):
        return request.unknown()
    return fuel.leave(request.state, Raised(_MISSING, frame.site(request.at)))


def _waits(request: Request, value: Value, name: Const) -> bool:
    """Check whether an attribute may be set by the constructor of an instance, which has not been run yet."""
    instance = request.state.instance(value)
    if instance is None or instance.pending is None or name.value in instance.attrs:
        return False
    return request.interp.lookup(request.state, instance.cls, str(name.value)) is None


def _class_has(request: Request, cls: ClassValue, name: str) -> Results:
    """Evaluate `hasattr` of a class: what it does not have is certain where all its bases are known."""
    found = request.interp.lookup(request.state, cls, name) is not None
    context = request.interp.context
    known = all(isinstance(base, ClassValue) or _is_known(context, base) for base in context.mro(cls))
    return [(request.state, Const(found))] if found or known else request.unknown()


def _certainly_lacks(request: Request, value: Value, name: str) -> bool:
    """Check whether a constant, a tuple, a tensor or a class whose bases are all known has no such attribute."""
    if isinstance(value, ClassValue):
        meta = value.meta is None or request.interp.lookup(request.state, value.meta, name) is None
        return meta and _class_has(request, value, name)[0][1] == Const(False) and not hasattr(type, name)
    if isinstance(value, Const | Tuple):
        return not _python_has(value, name)
    return releases.lacks(request.interp.context, request.state, value, name)


def _python_has(value: Const | Tuple, name: str) -> bool:
    """Check whether a constant or a tuple has an attribute, as Python's class of it says."""
    return name in value.fields or hasattr((), name) if isinstance(value, Tuple) else hasattr(value.value, name)


def _is_known(context: Context, base: Value) -> bool:
    return base == Builtin("object") or (isinstance(base, Dotted) and context.knows_base(base))


def of_hasattr(request: Request) -> Results:
    """Evaluate `hasattr`: a property is run, as Python does."""
    value, name = request.argument(0), request.argument(1)
    instance = request.state.instance(value) if value is not None else None
    if isinstance(name, Const) and releases.has(request.interp.context, request.state, value, str(name.value)):
        return [(request.state, Const(True))]
    if isinstance(name, Const) and releases.lacks(request.interp.context, request.state, value, str(name.value)):
        return [(request.state, Const(False))]
    if isinstance(value, ClassValue) and isinstance(name, Const):
        return _class_has(request, value, str(name.value))
    if isinstance(value, Const | Tuple) and isinstance(name, Const):
        return [(request.state, Const(_python_has(value, str(name.value))))]
    if instance is None or value is None or not isinstance(name, Const) or _waits(request, value, name):
        return request.unknown()
    key = str(name.value)
    if instance.opaque and not _sets(request.interp.context, instance, key):
        return request.unknown()
    if key in instance.attrs or module_containers.named(request.state, instance, key) is not None:
        return [(request.state, Const(True))]
    if _is_computed(request, instance, key):
        return [(after, Const(result is not _MISSING)) for after, result in _read(request, value, key, _MISSING)]
    return [(request.state, Const(request.interp.lookup(request.state, instance.cls, key) is not None))]


def _sets(context: Context, instance: Instance, name: str) -> bool:
    """Check whether a method of the program sets an attribute of an object: asked for it, it may not have done so."""
    return any(name in method.sets for item in context.definitions(instance.cls) for method in item.methods)


_MISSING = Builtin("AttributeError")


def _is_computed(request: Request, instance: Instance, name: str) -> bool:
    """Check whether code of a class says what an attribute of its objects is: a property, or `__getattr__`."""
    if name in instance.attrs:
        return False
    found = request.interp.lookup(request.state, instance.cls, name)
    if found is None:
        getters = (request.interp.lookup(request.state, instance.cls, one) for one in _GETTERS)
        return any(isinstance(one, Closure) for one in getters)
    return isinstance(found, Closure) and found.wrapper in {"property", "cached"}


_GETTERS = ("__getattr__", "__getattribute__")


def _read(request: Request, value: Value, name: str, instead: Value | None) -> Results:
    """Read an attribute; the paths on which a property raises an AttributeError return what is given instead."""
    interp, raised = request.interp, request.interp.fuel.raised
    before, handled = len(raised), frozenset({(request.frame.env.id, "AttributeError")})
    with interp.fuel.listening(instead is not None, handled):
        results = interp.get_attribute(request.frame, request.state, value, name, request.at)
    if instead is None or len(raised) == before:
        return results
    missing = [one for one in raised[before:] if one.error is not None and _is_attribute_error(interp, one.error)]
    raised[before:] = [one for one in raised[before:] if one not in missing]
    return [*results, *[(one.state, instead) for one in missing]]


def _is_attribute_error(interp: Interpreter, error: Raised) -> bool:
    return error.cls is not None and type_tests.derives(interp, error.cls, Builtin("AttributeError")) is True
