"""
Symbolic arguments: the arguments on which an entry point runs.

    def forward(self, x, scale: float, mode="fast"): ...

Here `x` is an unknown input, `scale` an unknown number, and `mode` its default. Arguments on which the file itself
constructs a class take precedence over such ones (`portable_arguments`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet

from msgspec.structs import replace

from inplace_lint.domain import origins, traits
from inplace_lint.domain.heap import DictObject, Instance, ListObject
from inplace_lint.domain.state import State
from inplace_lint.domain.values import NONE, ClassValue, Closure, Const, Dotted, Ref, Sym, SymId, Tuple, Value
from inplace_lint.interp.expr import environment
from inplace_lint.interp.frame import Arguments, Frame
from inplace_lint.interp.interpreter import Interpreter
from inplace_lint.interp.module_scope import module_env
from inplace_lint.interp.options import argument_classes, patched
from inplace_lint.interp.options.coverage import Option
from inplace_lint.interp.options.plainer_arguments import option
from inplace_lint.interp.outcome import fullest_first, taken
from inplace_lint.interp.pylib import dataclass_fields
from inplace_lint.ir import abstract, promises
from inplace_lint.ir import nodes as ir

_INIT = "__init__"
_MOST_CONSTRUCTORS = 16


def of_function(
    interp: Interpreter, state: State, function: ir.Function, defaults: Mapping[str, Value], skip: int
) -> Arguments:
    """Return symbolic arguments for a function or `forward`: constant defaults, else unknown values."""
    return _arguments(interp, state, function, defaults, skip, none_is_open=True)


def of_constructor(
    interp: Interpreter, state: State, function: ir.Function, defaults: Mapping[str, Value]
) -> Arguments:
    """Return symbolic arguments for a constructor: its defaults, else unknown values."""
    given = _arguments(interp, state, function, defaults, 1, none_is_open=False)
    return replace(given, forwarded=any(param.kind == "var-keyword" for param in function.params))


def offer(interp: Interpreter, state: State, closure: Closure, values: dict[str, Value], arguments: Arguments) -> None:
    """Make constant defaults options of the entry point whose `**kwargs` a call passes on."""
    plain = [param for param in closure.function.params if param.kind in {"plain", "positional-only"}]
    passed = {param.name for param in plain[: len(arguments.positional)]}
    passed.update(name for name, _ in arguments.keywords)
    params = {param.name: param for param in closure.function.params}
    for name, default in interp.context.defaults_of(closure).items():
        if name not in passed and isinstance(default, Const):
            values[name] = _input(interp, state, closure.function, params[name], default, none_is_open=False)


def _arguments(
    interp: Interpreter,
    state: State,
    function: ir.Function,
    defaults: Mapping[str, Value],
    skip: int,
    *,
    none_is_open: bool,
) -> Arguments:
    keywords: list[tuple[str, Value]] = []
    positional: list[Value] = []
    for param in function.params[skip:]:
        if param.kind in {"var-positional", "var-keyword"}:
            continue
        value = _input(interp, state, function, param, defaults.get(param.name), none_is_open)
        if param.kind == "positional-only":
            positional.append(value)
        else:
            keywords.append((param.name, value))
    return Arguments(tuple(positional), tuple(keywords))


def _input(
    interp: Interpreter, state: State, function: ir.Function, param: ir.Param, default: Value | None, none_is_open: bool
) -> Value:
    kind = _kind(interp, state, function, param)
    number = option(state, function.slice, function.qualname, param.name)
    promised = None if kind or default != NONE else _promised(interp, state, function, param)
    shown = _possible(interp, state, function, param) if default is None else ()
    cls = next((cls for given, cls in interp.context.coverage.choice.instances if given == number), None)
    argument = Sym(number, "input" if none_is_open else "")
    made = None if cls is None else _made(interp, state, function, cls, argument if cls in shown else None)
    if cls is not None and made is not None:
        if cls != promised:
            state.assume(f"`{param.name}` is a `{cls.name}`")
        return made
    value = _first(interp, state, function, param, default, none_is_open, kind)
    if optional := default == NONE and isinstance(value, Sym):
        state.set_trait(traits.NONE_BY_DEFAULT, number, True)
    if isinstance(value, Sym) and promises.holds_numbers(param.annotation):
        state.set_trait(traits.NO_GRADIENT, value.id, True)
    if isinstance(value, Sym) and promises.holds_tensors(param.annotation):
        state.set_trait(traits.OF_TENSORS, value.id, True)
    derived = _meant(interp, state, function, promises.class_named(param.annotation))
    base = derived if isinstance(derived, ClassValue) else None
    shown = shown if isinstance(value, Sym) or param.annotation is not None else ()
    if type(value) is Tuple and all(isinstance(item, Const) and isinstance(item.value, bool) for item in value.items):
        return Tuple(tuple(_flags(interp, state, number, param.name, value.items)), value.exact)
    known = Option(param.name, value, kind, optional, promised, base, shown)
    return interp.context.coverage.option(number, known, function.slice)


def _flags(interp: Interpreter, state: State, number: SymId, name: str, items: Iterable[Value]) -> Iterator[Value]:
    """Yield the flags of a default, `stages=(False, True)`, each of which is an option of its own."""
    for place, item in enumerate(items):
        key = state.symbols.sym((origins.ITEM, Sym(number), Const(place))).id
        yield interp.context.coverage.option(key, Option(f"{name}[{place}]", item, ""))


def _possible(interp: Interpreter, state: State, function: ir.Function, param: ir.Param) -> tuple[ClassValue, ...]:
    """
    Return the classes of the program of which an argument may be.

    Its uses show them, or its annotation names a module whose call is abstract: those of its file that derive from it.
    """
    base = _named(interp, state, function, param) if param.annotation is not None else None
    framework = interp.context.is_module(base) if isinstance(base, ClassValue) else None
    if framework is None or not isinstance(base, ClassValue):
        return argument_classes.shown(interp, state, function, param).classes
    call = interp.lookup(state, base, framework.calls)
    if not isinstance(call, Closure) or not abstract.is_abstract(call.function.body, declared=call.abstract):
        return ()
    path = base.slice.path
    names = interp.context.module(path).having(framework.calls)
    found = (environment.module_variable(interp, state, path, name) for name in names)
    known = (cls for cls in found if isinstance(cls, ClassValue) and cls is not base)
    return tuple(cls for cls in known if base in interp.context.mro(cls))


def _first(
    interp: Interpreter,
    state: State,
    function: ir.Function,
    param: ir.Param,
    default: Value | None,
    none_is_open: bool,
    kind: str,
) -> Value:
    """Return the argument for a parameter on which an entry point runs first."""
    if default is not None and not (default == NONE and none_is_open) and not _is_empty(state, default):
        if isinstance(default, Ref) and state.object(default) == DictObject({}):
            state.set_trait(traits.FORWARDED, default.id, True)  # whoever calls passes options by their names
        return default
    if default == NONE and kind in {"number", "str", "flag"}:
        return NONE
    optional = default == NONE or promises.beside_none(param.annotation) is not None
    if kind == "tensor" and optional:
        kind = "input"
    is_open = not kind
    if kind == "flag":
        kind = ""
    elif not kind and none_is_open:
        kind = "input"
    value = Sym(option(state, function.slice, function.qualname, param.name), kind)
    made = _of_known_class(interp, state, function, param, value) if is_open and default is None else None
    return value if made is None else made


def _of_known_class(
    interp: Interpreter, state: State, function: ir.Function, param: ir.Param, argument: Sym
) -> Value | None:
    """
    Return an object in place of an argument whose class is known; None for any other.

    A class that only some of its uses show is for a run of its own.
    """
    promised = _promised(interp, state, function, param)
    if promised is not None:
        made = _instance(interp, state, function, promised)
        is_own = made is None and interp.context.has_all_code(promised)
        return _with_methods(state, promised, argument) if is_own else made
    if (cls := _library(interp, state, function, param)) is not None:
        frame = Frame(module_env(state, function.slice.path), function.slice.path, function.slice)
        return taken(state, interp.call(frame, state, cls, Arguments((), (), unknown=True), 0))
    shown = argument_classes.shown(interp, state, function, param)
    return _made(interp, state, function, shown.classes[0], argument) if shown.sure else None


def _made(
    interp: Interpreter, state: State, function: ir.Function, cls: ClassValue, argument: Sym | None
) -> Value | None:
    """
    Return an object of a class; in place of an `argument` whose uses show the class, an object in any case.

    Such a one is constructed if it is a module. Any other has the methods of the class, and unknown attributes: whoever
    passes it may have done anything with it before.
    """
    is_made = argument is None or interp.context.is_module(cls)
    made = _instance(interp, state, function, cls) if is_made else None
    return _with_methods(state, cls, argument) if made is None and argument is not None else made


def _with_methods(state: State, cls: ClassValue, argument: Sym) -> Ref:
    """Return an object that has the methods of a class, and the unknown attributes of an argument."""
    made = state.new(Instance(cls, {}, opaque=True))
    state.set_trait(traits.ARGUMENT, made.id, argument)
    return made


def _is_empty(state: State, default: Value) -> bool:
    """Check whether a default is a list, tuple or tensor without items: it stands for what whoever calls passes."""
    if (tensor := state.tensor(default)) is not None:
        return 0 in (tensor.sizes or ())
    inner = default if isinstance(default, Tuple) else state.object(default)
    return isinstance(inner, Tuple | ListObject) and inner.exact and not inner.items


def _kind(interp: Interpreter, state: State, function: ir.Function, param: ir.Param) -> str:
    """Return the kind that an annotation promises; a class of the program, or `tf.Tensor`, may be anything."""
    kind = promises.kind_of(param.annotation)
    asked = kind == "tensor" or (kind and isinstance(param.annotation, ir.Name))
    means = _named(interp, state, function, param) if asked else None
    if kind == "tensor" and isinstance(means, Dotted) and interp.context.facts_of(means.name) is None:
        state.assume(f"`{param.name}` is a tensor")  # of the framework, which other libraries may hand on
        return ""
    return "" if isinstance(means, ClassValue) else kind


def completed(interp: Interpreter, state: State, init: Closure, known: Arguments, *, options: bool) -> Arguments:
    """
    Return the arguments that the program passes to a constructor, completed by what it does not say.

    Unknown ones become instances of the classes that their annotations name. What is not passed has its default; with
    `options` that is an option, for whoever uses the class elsewhere, and so is a constant that replaces a default.
    """
    function = init.function
    params = {param.name: param for param in function.params[1:]}
    usual = interp.context.defaults_of(init)
    open_ = {name for name, default in usual.items() if isinstance(default, Const)} if options else set[str]()
    positional = [
        _completed(interp, state, function, param, value, open_)
        for param, value in zip(function.params[1:], known.positional, strict=False)
    ]
    keywords = [
        (name, _completed(interp, state, function, params.get(name), value, open_)) for name, value in known.keywords
    ]
    rest = known.positional[len(positional) :]
    passed = {*list(params)[: len(positional)], *(name for name, _ in keywords)}
    defaults = [
        (name, _input(interp, state, function, params[name], default, none_is_open=False))
        for name, default in usual.items()
        if options and isinstance(default, Const) and name in params and name not in passed
    ]
    return Arguments((*positional, *rest), (*keywords, *defaults), known.exprs, known.unknown)


def _completed(
    interp: Interpreter,
    state: State,
    function: ir.Function,
    param: ir.Param | None,
    value: Value,
    options: AbstractSet[str],
) -> Value:
    if isinstance(value, Const) and value.source is None and param is not None and param.name in options:
        return _input(interp, state, function, param, value, none_is_open=False)
    if not isinstance(value, Sym) or param is None or _kind(interp, state, function, param):
        return value
    made = _of_project(interp, state, function, param)
    return value if made is None else made


def _of_project(interp: Interpreter, state: State, function: ir.Function, param: ir.Param) -> Value | None:
    """
    Return an instance of the class that an annotation names, if it can be constructed without arguments.

    A module is one in any case: what it is constructed of says little of what a call of it does.
    """
    cls = _promised(interp, state, function, param)
    return None if cls is None else _instance(interp, state, function, cls)


def _promised(interp: Interpreter, state: State, function: ir.Function, param: ir.Param) -> ClassValue | None:
    """
    Return the class of the program that an annotation names, alone or beside None.

    Without an annotation it is that of a parameter of other constructors, to which the one of a class passes it; of
    several the most derived; or that of which the function becomes a method.
    """
    asked = [(function, param)]
    found: list[ClassValue] = []
    for passed, one in asked:
        if isinstance(cls := _named(interp, state, passed, one), ClassValue):
            found.append(cls)
        elif one.annotation is None and passed.qualname == _INIT and len(asked) <= _MOST_CONSTRUCTORS:
            asked.extend(_receivers(interp, state, passed, one.name))
    return max(found, key=lambda cls: len(interp.context.mro(cls)), default=None)


def _library(interp: Interpreter, state: State, function: ir.Function, param: ir.Param) -> Dotted | None:
    """Return the module of a framework that an annotation names, or of which the function becomes a method."""
    cls = _named(interp, state, function, param)
    forms = interp.context.forms(cls.name) if isinstance(cls, Dotted) and interp.context.is_module(cls) else ()
    return cls if forms and isinstance(cls, Dotted) and forms[0].init is not None else None


def _named(interp: Interpreter, state: State, function: ir.Function, param: ir.Param) -> Value | None:
    """Return what the annotation of a parameter names; without one the class of which the function is a method."""
    if param.annotation is not None:
        return _meant(interp, state, function, promises.named(param.annotation))
    return _meant(interp, state, function, patched.owner(interp, function)) if function.params[0] is param else None


def _meant(interp: Interpreter, state: State, function: ir.Function, name: str) -> Value | None:
    """Return what a name, or a name in a module, means in the module of a function."""
    first, *rest = name.split(".")
    found = environment.find(interp, state, function.slice.path, first) if first else None
    for word in rest if found is not None else ():
        frame = Frame(module_env(state, function.slice.path), function.slice.path, function.slice)
        found = None if found is None else taken(state, interp.get_attribute(frame, state, found, word, 0))
    return found


def _receivers(
    interp: Interpreter, state: State, function: ir.Function, name: str
) -> Iterator[tuple[ir.Function, ir.Param]]:
    """Yield the constructors of the program to which a constructor passes a parameter, with what it is called there."""
    for call in argument_classes.passing(interp, function, name):
        cls = environment.find(interp, state, function.slice.path, call.func.id) if type(call.func) is ir.Name else None
        init = interp.lookup(state, cls, _INIT) if isinstance(cls, ClassValue) else None
        if isinstance(init, Closure):
            params = argument_classes.receiving(call, init.function.params[1:], name)
            yield from ((init.function, param) for param in params)


def _instance(interp: Interpreter, state: State, function: ir.Function, cls: ClassValue) -> Value | None:
    """Return an instance of a class, as an argument of a function; None where nothing says how it is constructed."""
    path = function.slice.path
    key = (f"argument of {cls.slice.path}", cls.name)  # whose constructor may take one of the same class
    is_worth = interp.context.is_module(cls) is not None or interp.context.writes_in_methods(cls)
    if key in interp.context.running or not (is_worth or dataclass_fields.has_defaults(interp, state, cls)):
        return None
    interp.context.running.add(key)
    coverage, before = interp.context.coverage, interp.context.coverage.offers
    coverage.offers = before or interp.context.is_module(cls) is None
    try:
        frame = Frame(module_env(state, path), path, function.slice)
        made = interp.construct(frame, state, cls, _defaults_of(interp, state, cls), 0)
        return taken(state, fullest_first(made))
    finally:
        coverage.offers = before
        interp.context.running.discard(key)


def with_options(interp: Interpreter, state: State, cls: ClassValue, given: Arguments) -> Arguments:
    """
    Return the arguments of an object that is a part of an argument, with options for what is not passed.

        class Config:
            def __init__(self, width=8):
                self.attention = AttentionConfig(width)     # whose other defaults are options as well
    """
    init = dataclass_fields.constructor(interp, state, cls)
    if given.unknown or init is None:
        return given
    names = [one.name for one in init.function.params[1:]] if isinstance(init, Closure) else []
    names = names or dataclass_fields.passed(interp, cls)
    passed = {*names[: len(given.positional)], *(name for name, _ in given.keywords)}
    more = ((name, value) for name, value in _defaults_of(interp, state, cls).keywords if name not in passed)
    options = tuple((name, value) for name, value in more if isinstance(value, Const) or name in names)
    return replace(given, keywords=(*given.keywords, *options))


def _defaults_of(interp: Interpreter, state: State, cls: ClassValue) -> Arguments:
    """Return the arguments on which a class is constructed that can be without any: its defaults, as options."""
    init = dataclass_fields.constructor(interp, state, cls)
    if isinstance(init, Closure):
        return of_constructor(interp, state, init.function, interp.context.defaults_of(init))
    fields = [] if init is None else dataclass_fields.names(interp, init)
    given = [
        (
            name,
            interp.context.coverage.option(
                option(state, cls.slice, cls.name, name), Option(name, value, ""), cls.slice
            ),
        )
        for name, value in [(field, interp.lookup(state, cls, field)) for field in fields]
        if isinstance(value, Const)
    ]
    return Arguments((), tuple(given))
