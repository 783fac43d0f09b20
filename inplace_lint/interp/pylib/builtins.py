"""Python's builtin functions on symbolic values: `len`, `isinstance`, `getattr`."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from inplace_lint.core.span import Place
from inplace_lint.domain import origins, traits
from inplace_lint.domain.heap import DictObject, Instance, ListObject, set_of
from inplace_lint.domain.state import State
from inplace_lint.domain.values import (
    NONE,
    Builtin,
    ClassValue,
    Closure,
    Const,
    Dotted,
    ModuleValue,
    Partial,
    Ref,
    SliceValue,
    Super,
    Sym,
    Tuple,
    Value,
)
from inplace_lint.interp.call import decorators, enums, instances
from inplace_lint.interp.control import generators, iteration, path_condition
from inplace_lint.interp.expr import attribute_targets, environment
from inplace_lint.interp.frame import Arguments, Frame
from inplace_lint.interp.interpreter import Interpreter
from inplace_lint.interp.outcome import Raised, Results
from inplace_lint.interp.pylib import (
    asked_attributes,
    constant_folding,
    iterators,
    mappings,
    methods,
    numbered_names,
    type_tests,
)
from inplace_lint.interp.pylib.request import Request
from inplace_lint.interp.transfer import layouts, materialise
from inplace_lint.ir import nodes as ir


def call(interp: Interpreter, frame: Frame, state: State, function: Builtin, arguments: Arguments, at: int) -> Results:
    """Run a builtin; one that is not modelled changes nothing and returns an unknown value."""
    receiver = function.receiver
    if receiver is not None and function.name in _UNBOUND:
        function, arguments = Builtin(function.name), arguments.first(receiver)
    request = Request(interp, frame, state, function, arguments, at)
    if function.receiver is not None:
        return methods.call(interp, frame, state, function, arguments, at)
    if arguments.positional and not arguments.unknown:
        known = constant_folding.function(state, function.name, arguments.positional, arguments.keywords)
        if known is not None:
            return [(state, known)]
        error = iterators.error_of(request) if interp.fuel.listens else None
        if error is not None:
            return interp.fuel.leave(state, Raised(error, frame.site(at)))
    handler = _HANDLERS.get(function.name)
    if handler is not None:
        return handler(request)
    owner, _, name = function.name.partition(".")
    if name and owner in _TYPES and arguments.positional:  # `map(str.strip, names)`
        method = Builtin(name, state.contents(arguments.positional[0]))
        return methods.call(interp, frame, state, method, arguments.rest(), at)
    return request.unknown()


_TYPES = frozenset({"str", "list", "dict", "set"})


# methods that take their object as an ordinary argument
_UNBOUND = frozenset({"object.__getattr__", "object.__getattribute__", "object.__setattr__", "type.__call__"})


def _callable(request: Request) -> Results:
    value = request.argument(0)
    known = None if value is None else type_tests.is_callable(request.interp, request.state, value)
    return request.unknown() if known is None else [(request.state, Const(known))]


def _all_or_any(request: Request) -> Results:
    """Evaluate `all` or `any`: one unknown item decides it alone, several together."""
    found, decides = request.items(request.argument(0)), request.function.name == "any"
    known = {item: path_condition.truth(request.state, item) for item in found.items} if found.exact else {}
    if decides in known.values():
        return [(request.state, Const(decides))]
    left = [item for item, truth in known.items() if truth is None]
    if not found.exact or not all(isinstance(item, Sym) for item in left):
        return request.unknown()
    if len(left) > 1:
        asked = tuple(item if decides else path_condition.negate(request.state, item) for item in left)
        one = request.state.symbols.sym((origins.ANY, *asked))
        return [(request.state, one if decides else path_condition.negate(request.state, one))]
    return [(request.state, left[0] if left else Const(not decides))]


def _str(request: Request) -> Results:
    """Return the text of a value: a text itself."""
    value = request.argument(0)
    if isinstance(value, Sym) and value.kind in {"str", "name"}:
        return [(request.state, value)]
    return request.unknown("str")


def _len(request: Request) -> Results:
    value = request.argument(0)
    if value is not None:
        own = request.interp.special_method(request.frame, request.state, value, "__len__", (), request.at)
        if own is not None:
            return own
    facts = None if value is None else materialise.framework_of(request.interp, request.state, value)
    if value is not None and facts is not None and facts.forms(name := f"{facts.framework.tensor}.__len__"):
        return request.interp.apply_op(request.frame, request.state, name, Arguments((value,)), request.at)
    if value is None or facts is not None:
        return request.unknown("number")
    if isinstance(value, Sym) and (length := request.state.trait(traits.LENGTH, value.id)) is not None:
        return [(request.state, Const(length))]
    if isinstance(value, Const) and not isinstance(value.value, str | bytes) and request.interp.fuel.listens:
        return request.interp.fuel.leave(request.state, Raised(Builtin("TypeError"), request.frame.site(request.at)))
    if isinstance(value, ClassValue) and (named := enums.members(request.interp, request.state, value)):
        return [(request.state, Const(len({*named.values()})))]  # names of one value are one member
    found = request.items(value)
    inner = request.state.object(value)
    if found.exact and (isinstance(value, Tuple | Const) or isinstance(inner, ListObject | DictObject | Instance)):
        return [(request.state, Const(len(found.items)))]
    return _unknown_length(request, value)


def _unknown_length(request: Request, value: Value) -> Results:
    """Return an unknown number; of the axes of a tensor it is known how many there are at least."""
    (state, number), *_ = results = request.unknown("number")
    match request.state.symbols.key(value) if isinstance(value, Sym) else None:
        case (origins.SHAPE, (Ref() as tensor,)) if isinstance(number, Sym):
            layouts.note_least(state, number, tensor)
    return results


def _list(request: Request) -> Results:
    value = request.argument(0)
    is_tuple = request.function.name == "tuple"  # how many are unpacked says how long it is; a list may be changed
    found = iterators.turns(request, value, loops=not is_tuple)
    for number, item in enumerate(found.items):
        if any(request.state.has_trait(traits.YIELDED_FIRST, ref.id) for ref, _ in request.state.tensors_in(item)):
            place = Place(request.frame.slice, request.at)
            request.interp.listeners.collect(request.state, place, item, found.items[:number])
    if is_tuple:
        return [(request.state, Tuple(found.items, found.exact))]
    if request.function.name in {"set", "frozenset"}:
        return [(request.state, request.state.new(set_of(found.items, exact=found.exact)))]
    tensors = all(request.state.tensor(item) is not None for item in found.items)
    exact = found.exact or (tensors and value is not None and iteration.are_first(value, found))
    return [(request.state, request.state.new(ListObject(found.items, exact)))]


def _next(request: Request) -> Results:
    """Evaluate `next`: an iterator over known items hands the first one out."""
    value = request.argument(0)
    inner = request.state.object(value) if value is not None else None
    default = request.argument(1)
    if default is not None and (value == Tuple(()) or iterators.is_at_end(request.state, value)):
        return [(request.state, default)]
    if value is not None and request.state.instance(value) is not None:
        own = request.interp.special_method(request.frame, request.state, value, "__next__", (), request.at)
        return own or request.unknown()
    if isinstance(value, Tuple) and value.items and isinstance(request.arguments.exprs.get(0), ir.Call):
        return [(request.state, value.items[0])]  # of an iterator that nothing else asks
    if not isinstance(value, Ref) or not isinstance(inner, ListObject) or not inner.items:
        return request.unknown()
    generators.ask(request.state, value, len(inner.items))
    request.state.put(value, replace(inner, items=inner.items[1:]))
    return [(request.state, inner.items[0])]


def _isinstance(request: Request) -> Results:
    return _is_any(request, lambda value, cls: type_tests.is_a(request.interp, request.state, value, cls))


def _issubclass(request: Request) -> Results:
    return _is_any(request, lambda value, cls: type_tests.derives(request.interp, value, cls))


def _is_any(request: Request, ask: Callable[[Value, Value], bool | None]) -> Results:
    """
    Evaluate a test of a value against one class or a tuple of classes.

    Where it is asked what refuses the defaults of a constructor, the answer says which option it depends on.
    """
    value, classes = request.argument(0), request.argument(1)
    if value is None or classes is None:
        return request.unknown()
    answers = [ask(value, cls) for cls in (classes.items if isinstance(classes, Tuple) else (classes,))]
    known, option = True in answers or None not in answers, path_condition.source(value)
    if known and (option == value or not request.interp.context.coverage.refusing):
        return [(request.state, Const(True in answers))]
    asked = request.state.symbols.sym((origins.BUILTIN, request.function.name, option, classes))
    return [(request.state, Const(True in answers, source=asked.id) if known else asked)]


def _setattr(request: Request) -> Results:
    value, name, new = request.argument(0), request.argument(1), request.argument(2)
    if value is None or new is None:
        return [(request.state, NONE)]
    if not isinstance(name, Const):
        thing = request.state.instance(value)
        if thing is not None and isinstance(value, Ref):
            request.state.put(value, replace(thing, opaque=True))
        return [(request.state, NONE)]
    instance = request.state.instance(value) if request.function.name in _UNBOUND else None
    if (
        instance is not None
        and isinstance(value, Ref)
        and isinstance(instance.cls, ClassValue)
        and instance.cls.is_data
    ):
        request.state.set_attribute(value, str(name.value), new)  # also where the class forbids assignments
        return [(request.state, NONE)]
    given = (request.frame, request.state, value, str(name.value), new, request.at)
    states = attribute_targets.set_(request.interp, *given, plain=request.function.name in _UNBOUND)
    return [(state, NONE) for state in states]


def _super(request: Request) -> Results:
    frame = request.frame
    if request.arguments.positional:
        owner, receiver = request.argument(0), request.argument(1)
        if isinstance(owner, ClassValue) and receiver is not None:
            return [(request.state, Super(owner, receiver))]
        return request.unknown()
    if frame.closure is not None and frame.closure.owner is not None and frame.receiver is not None:
        return [(request.state, Super(frame.closure.owner, frame.receiver))]
    return request.unknown()


def _method(request: Request) -> Results:
    """Evaluate `staticmethod(function)`: as an attribute of a class it is called without the instance."""
    function, name = request.argument(0), request.function.name
    if isinstance(function, Closure):
        return [(request.state, replace(function, wrapper=name.removesuffix("method")))]
    static = name == "staticmethod" and isinstance(function, Dotted)
    return [(request.state, Partial(function, (), ()))] if static and function is not None else request.unknown()


def _bool(request: Request) -> Results:
    value = request.argument(0)
    if value is not None:
        request.state, value = request.interp.truth_of(request.frame, request.state, value, request.at)[0]
    known = path_condition.truth(request.state, value) if value is not None else False
    if known is None and value is not None and request.state.tensor(value) is not None:
        return request.unknown("number")
    return [(request.state, Const(known) if known is not None else value or NONE)]


def _number(request: Request) -> Results:
    value = request.argument(0)
    if not request.arguments.values and not request.arguments.unknown:
        return [(request.state, constant_folding.function(request.state, request.function.name, (), ()) or NONE)]
    if request.function.name == "abs" and value is not None:
        facts = materialise.framework_of(request.interp, request.state, value)
        if facts is not None:
            name = Dotted(f"{facts.framework.tensor}.__abs__")
            return request.interp.call(request.frame, request.state, name, request.arguments, request.at)
    return request.unknown("number")


def _construct(request: Request) -> Results:
    """Construct an object of a class as it is without a metaclass that has its own way."""
    cls = request.argument(0)
    if not isinstance(cls, ClassValue):
        return request.unknown()
    return request.interp.construct(request.frame, request.state, cls, request.arguments.rest(), request.at)


def _new(request: Request) -> Results:
    """Return an object of a class of the program alone, as `object.__new__` does; a class that is being made."""
    cls = request.argument(0)
    if request.interp.context.making and cls is request.interp.context.making[-1].meta:
        return [(request.state, _made(request, request.interp.context.making[-1]))]
    context = request.interp.context
    is_module = isinstance(cls, ClassValue) and context.is_module(cls) is not None
    if not isinstance(cls, ClassValue) or not (is_module or context.has_all_code(cls)):
        return request.unknown()
    return [(request.state, instances.bare(request.interp, request.state, cls, is_module=is_module))]


def _made(request: Request, cls: ClassValue) -> ClassValue:
    """Return a class that its metaclass makes, with what the latter has set anew in the names of its body."""
    names = request.state.object(request.argument(3) or NONE)
    for name, value in names.items.items() if isinstance(names, DictObject) else ():
        if value != request.interp.lookup(request.state, cls, str(name)):
            attribute_targets.set_(request.interp, request.frame, request.state, cls, str(name), value, request.at)
    return cls


def _locals(request: Request) -> Results:
    """Return the variables of the running function as a mapping."""
    if request.frame.closure is None:
        return request.unknown()
    items: dict[object, Value] = dict(environment.variables(request.frame, request.state).items())
    return [(request.state, request.state.new(DictObject(items)))]


def _names(request: Request) -> Results:
    """Return the names of a module, or the attributes of an object, as a mapping."""
    if request.function.name == "vars" and not request.arguments.positional:
        return _locals(request)
    value = ModuleValue(request.frame.slice.path) if request.function.name == "globals" else request.argument(0)
    if type(value) is ClassValue:
        return [(request.state, decorators.namespace(request.interp, request.state, value))]
    if value is None or not (type(value) is ModuleValue or request.state.instance(value) is not None):
        return request.unknown()
    return request.interp.get_attribute(request.frame, request.state, value, "__dict__", request.at)


def _dir(request: Request) -> Results:
    """Return the names that a class of the program binds itself; it may have more."""
    cls = request.argument(0)
    names = request.state.object(_names(request)[0][1]) if isinstance(cls, ClassValue) else None
    if not isinstance(names, DictObject):
        return request.unknown()
    listed = tuple([Const(name) for name in names.items if isinstance(name, str)])
    return [(request.state, request.state.new(ListObject(listed, exact=False)))]


def _slice(request: Request) -> Results:
    """Return the slice with these bounds: a single one is where it ends."""
    given = request.arguments.positional
    bounds = (NONE, *given, NONE) if len(given) == 1 else (*given, NONE)[:3]
    return [(request.state, SliceValue(*bounds))] if given else request.unknown()


_HANDLERS: dict[str, Callable[[Request], Results]] = {
    "len": _len,
    "all": _all_or_any,
    "any": _all_or_any,
    "callable": _callable,
    "range": iterators.of_range,
    "enumerate": iterators.of_enumerate,
    "zip": iterators.of_zip,
    "reversed": iterators.of_reversed,
    **dict.fromkeys(("list", "tuple", "set", "frozenset", "iter"), _list),
    "dict": mappings.of_dict,
    "dict.fromkeys": mappings.of_fromkeys,
    "next": _next,
    "isinstance": _isinstance,
    "issubclass": _issubclass,
    "eval": numbered_names.evaluate,
    "globals": _names,
    "locals": _locals,
    "vars": _names,
    "getattr": asked_attributes.of_getattr,
    "hasattr": asked_attributes.of_hasattr,
    "object.__getattr__": asked_attributes.of_inherited_getter,
    "object.__getattribute__": asked_attributes.of_getattr,
    "object.__setattr__": _setattr,
    "setattr": _setattr,
    "object.__new__": _new,
    "type.__new__": _new,
    "type.__call__": _construct,
    "super": _super,
    **dict.fromkeys(("staticmethod", "classmethod"), _method),
    "map": iterators.of_map,
    **dict.fromkeys(iterators.FILTERS, iterators.of_filter),
    "itertools.starmap": iterators.of_starmap,
    "bool": _bool,
    **dict.fromkeys(("int", "float", "abs"), _number),
    "sorted": iterators.of_sorted,
    **dict.fromkeys(("max", "min"), iterators.of_extreme),
    "sum": iterators.of_sum,
    "print": lambda request: [(request.state, NONE)],
    "slice": _slice,
    "dir": _dir,
    "type": type_tests.of_type,
    "type.__subclasses__": type_tests.of_subclasses,
    **dict.fromkeys(("round", "id", "hash", "ord"), lambda request: request.unknown("number")),
    "str": _str,
    **dict.fromkeys(("repr", "format", "chr"), lambda request: request.unknown("str")),
}
