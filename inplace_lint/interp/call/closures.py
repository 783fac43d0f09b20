"""
Closures: functions of the program as values, and how arguments become the variables of a call.

    def f(x, k=2): ...      # the definition evaluates to a closure, its defaults evaluated
    f(h)                    # binds `x` to the value of `h`, and `k` to 2
"""

from __future__ import annotations

from collections.abc import Iterable

from inplace_lint.core.event import Site
from inplace_lint.core.span import Place, Slice
from inplace_lint.domain import origins, traits
from inplace_lint.domain.heap import DictObject, Instance, ListObject, Names
from inplace_lint.domain.state import State
from inplace_lint.domain.values import NONE, ClassValue, Closure, Const, Partial, Ref, Sym, Tuple, Value
from inplace_lint.interp import symbolic_args
from inplace_lint.interp.frame import Arguments, Frame, Variable
from inplace_lint.interp.fuel import COUNTED_RECURSION, DEPTH, RECURSION
from inplace_lint.interp.interpreter import Interpreter
from inplace_lint.interp.module_scope import module_env
from inplace_lint.interp.outcome import taken
from inplace_lint.ir import nodes as ir
from inplace_lint.ir import promises
from inplace_lint.ir.walk import walk
from inplace_lint.knowledge.locate import MODELS

_VAGUE = frozenset({"", "input"})
_PLAIN = frozenset({"array", "number", "sequence", "str"})


def method(interp: Interpreter, state: State, cls: ClassValue, name: str, slice_: Slice) -> Value | None:
    """Return a method of a top-level class, lowering its code on the first read on this path."""
    key = (cls.slice, name)
    known = state.trait(traits.METHOD, key)
    if known is not None:
        return known
    node = interp.context.module(slice_.path).function_node(slice_, name.partition(".")[0])
    if node is None:
        return None
    frame = Frame(module_env(state, cls.module), cls.module, slice_)
    made = taken(state, interp.make_function(frame, state, node, cls))
    if made is not None:
        state.set_trait(traits.METHOD, key, made)
    return made


def bind_read(interp: Interpreter, state: State, cls: ClassValue, env: Ref, body: tuple[ir.Stmt, ...]) -> None:
    """Bind those methods of a top-level class that its body reads, as in `__call__ = forward`."""
    names = (node.id for node in walk(body) if isinstance(node, ir.Name)) if cls.methods else ()
    read = {name: cls.methods[name] for name in names if name in cls.methods}
    if read and len(interp.context.module(cls.slice.path).holes(cls.slice)) > len(cls.methods):
        return  # IMPRECISE: of two methods of one name the first may be meant
    for name, slice_ in read.items():
        found = method(interp, state, cls, name, slice_)
        if found is not None:
            state.bind(env, name, found)


def bind(
    interp: Interpreter, state: State, closure: Closure, arguments: Arguments, caller: Frame
) -> tuple[dict[str, Value], dict[str, frozenset[Variable]]] | None:
    """
    Bind arguments to the parameters of a function; None when they do not fit.

    The second part of the result says through which variables of callers each parameter's object is known.
    """
    params = closure.function.params
    values: dict[str, Value] = {}
    passed: dict[str, frozenset[Variable]] = {}
    plain = [param for param in params if param.kind in {"plain", "positional-only"}]
    for position, value in enumerate(arguments.positional[: len(plain)]):
        values[plain[position].name] = value
        passed[plain[position].name] = caller.variables(arguments.exprs.get(position))
    extra = arguments.positional[len(plain) :]
    rest: dict[object, Value] = {}
    known = {param.name for param in params if param.kind in {"plain", "keyword-only"}} if arguments.keywords else ()
    for name, value in arguments.keywords:
        if name in known and name not in values:
            values[name] = value
            passed[name] = caller.variables(arguments.exprs.get(name))
        else:
            rest[name] = value
    if not _complete(interp, state, closure, values, arguments, extra, rest):
        return None
    _believe(interp, state, closure, values)
    kinds = {param.kind for param in params}
    if (extra and "var-positional" not in kinds) or (rest and "var-keyword" not in kinds and not arguments.unknown):
        return None
    return values, passed


def fits(closure: Closure, arguments: Arguments) -> bool:
    """Return whether a function takes the arguments of a call of it as a method."""
    params = closure.function.params[1:]
    plain = [param.name for param in params if param.kind in {"plain", "positional-only"}]
    given = {*plain[: len(arguments.positional)], *(name for name, _ in arguments.keywords)}
    wanted = {param.name for param in params if not param.kind.startswith("var-")} - closure.optional
    kinds = {param.kind for param in params}
    many = len(arguments.positional) > len(plain) and "var-positional" not in kinds
    return not many and (arguments.unknown or wanted <= given)


def _believe(interp: Interpreter, state: State, closure: Closure, values: dict[str, Value]) -> None:
    """
    Narrow unknown arguments to the number, text or container that the annotations of their parameters name.

    What is read from an object, and passed for what is a number by default, is no tensor that requires grad.
    """
    for param in closure.function.params:
        value = values.get(param.name)
        if type(value) is not Sym or value.kind not in _VAGUE:
            continue
        if param.annotation is not None:
            kind = promises.kind_of(param.annotation)
            if kind in _PLAIN:
                values[param.name] = Sym(value.id, kind)
        elif param.default is not None and _is_setting(interp, state, closure, param, value):
            state.set_trait(traits.NO_GRADIENT, value.id, True)


def _is_setting(interp: Interpreter, state: State, closure: Closure, param: ir.Param, value: Sym) -> bool:
    """Check whether an argument is an attribute or item of an unknown object, and its default is a number."""
    usual = dict(closure.defaults).get(param.name)
    interp.context.read_defaults(closure, (param.name,))
    if not isinstance(usual, Const) or type(usual.value) not in {int, float}:
        return False
    match state.symbols.keys[value.id]:
        case (origins.ATTRIBUTE, int(), _) | (origins.ITEM, Sym(), _):
            return True
        case _:
            return False


def _complete(
    interp: Interpreter,
    state: State,
    closure: Closure,
    values: dict[str, Value],
    arguments: Arguments,
    extra: tuple[Value, ...],
    rest: dict[object, Value],
) -> bool:
    """Bind the parameters that collect the rest and those with defaults; False when one remains unbound."""
    defaults, used = _defaults(state, closure), list[str]()
    for param in closure.function.params:
        if param.kind == "var-positional":
            values[param.name] = Tuple(extra, exact=not arguments.unknown)
        elif param.kind == "var-keyword":
            collected = state.new(DictObject(rest, exact=not arguments.unknown))
            values[param.name] = collected
            if arguments.forwarded:
                state.set_trait(traits.FORWARDED, collected.id, True)
        elif param.name not in values:
            missing = defaults.get(param.name)
            if missing is None and not (arguments.unknown or arguments.spread):
                return False
            used.append(param.name)
            # What is None by default is passed by a mapping of settings that is spread.
            passed = arguments.spread and arguments.unknown and not arguments.forwarded and missing == NONE
            unknown = state.symbols.sym((origins.ARGUMENT, param.name, state.next_id))
            if passed:
                state.learn((origins.NONE, unknown.id), False)
            values[param.name] = missing if missing is not None and not passed else unknown
    if used:
        interp.context.read_defaults(closure, used)
    return True


def _defaults(state: State, closure: Closure) -> dict[str, Value]:
    """Return the defaults of a function by the names of its parameters: those that the program set, else its own."""
    found = dict(closure.defaults)
    for attribute, named in _DEFAULTS.items():
        value = state.trait(traits.OF_FUNCTION, _key(closure, attribute))
        if value is None:
            continue
        names = [param.name for param in closure.function.params if (param.kind == "keyword-only") is named]
        inner = state.object(value)
        if isinstance(value, Tuple) and value.exact:
            items = dict(zip(reversed(names), reversed(value.items), strict=False))
        elif isinstance(inner, DictObject) and inner.exact:
            items = {name: inner.items[name] for name in names if name in inner.items}
        else:
            open_ = () if value == NONE else names
            items = {name: state.symbols.sym((origins.ATTRIBUTE, value, name)) for name in open_}
        found = {name: default for name, default in found.items() if name not in names} | items
    return found


def set_attribute(state: State, closure: Closure, name: str, value: Value) -> None:
    """Set an attribute of a function."""
    state.set_trait(traits.OF_FUNCTION, _key(closure, name), value)


def _key(closure: Closure, name: str) -> tuple[Slice, str, Ref | None, str]:
    return closure.function.slice, closure.function.qualname, closure.env, name


def attribute(state: State, closure: Closure, name: str) -> Value | None:
    """Return an attribute of a function: what it was given, its name, or its defaults, of which the dict is its own."""
    given = state.trait(traits.OF_FUNCTION, _key(closure, name))
    if given is not None:
        return given
    if name == "__name__":
        return Const(closure.function.qualname.rpartition(".")[2])
    if name not in _DEFAULTS:
        return None
    known = _defaults(state, closure)
    shown = [param for param in closure.function.params if (param.kind == "keyword-only") is _DEFAULTS[name]]
    items: dict[object, Value] = {param.name: known[param.name] for param in shown if param.name in known}
    value = state.new(DictObject(items)) if _DEFAULTS[name] else Tuple(tuple(items.values()))
    set_attribute(state, closure, name, value if items else NONE)
    return value if items else NONE


_DEFAULTS = {"__defaults__": False, "__kwdefaults__": True}  # by attribute, whether of parameters that are only named
Passed = dict[str, frozenset[Variable]]


def bind_arguments(
    interp: Interpreter, frame: Frame, state: State, closure: Closure, arguments: Arguments
) -> tuple[dict[str, Value], Passed, str] | None:
    """Return the variables and the stack key of a call; None when it is too deep or its arguments do not fit."""
    function = closure.function
    key = f"{function.slice.path}:{function.slice.first}:{function.qualname}:{function.sha}"
    again = frame.stack.count(key)
    ends = again < RECURSION or _counts(arguments) or _descends(state, frame, arguments)
    if len(frame.stack) >= DEPTH or again >= COUNTED_RECURSION or not ends:
        interp.fuel.counters["calls_too_deep"] += 1
        return None
    bound = bind(interp, state, closure, arguments, frame)
    if bound is None:
        interp.fuel.counters["calls_that_do_not_fit"] += 1
        return None
    if arguments.forwarded:
        symbolic_args.offer(interp, state, closure, bound[0], arguments)
    return *bound, key


def _counts(arguments: Arguments) -> bool:
    """Check whether a known whole number is passed: a recursion that counts ends."""
    return any(type(value) is Const and type(value.value) is int for value in arguments.positional)


def _descends(state: State, frame: Frame, arguments: Arguments) -> bool:
    """Check whether a part of what a variable of the caller holds is passed: recursion over nested containers ends."""
    env, scope = frame.env, state.heap[frame.env.id]
    held: list[Value] = []
    while type(scope) is Names:
        held += scope.values.values()
        if scope.parent is None or not state.has_trait(traits.COMPREHENSION, env.id):
            break
        env, scope = scope.parent, state.heap[scope.parent.id]
    parts = {part for value in held for part in _parts(state, value)}
    return any(value in parts for value in arguments.positional)


def _parts(state: State, value: Value) -> Iterable[Value]:
    """Return the items of a container, and what the attributes of an object have."""
    match value if isinstance(value, Tuple) else state.object(value):
        case Tuple(items) | ListObject(items):
            found: Iterable[Value] = items
        case DictObject(items):
            found = items.values()
        case Instance(_, attrs):
            found = (part for one in attrs.values() for part in (one, *_items(state, one)))
        case _:
            found = ()
    return [part for part in found if isinstance(part, Ref | Tuple)]


def _items(state: State, value: Value) -> Iterable[Value]:
    inner = state.object(value)
    if isinstance(inner, DictObject):
        return inner.items.values()
    return inner.items if isinstance(inner, ListObject) else ()


def enter(
    interp: Interpreter, frame: Frame, state: State, closure: Closure, arguments: Arguments, at: int
) -> Frame | None:
    """Return the frame in which the body of a function would run; None where a call of it is unknown."""
    bound = bind_arguments(interp, frame, state, closure, arguments)
    return None if bound is None else frame_of(interp, frame, state, closure, bound[:2], frame.site(at), bound[2])


def frame_of(
    interp: Interpreter,
    frame: Frame,
    state: State,
    closure: Closure,
    bound: tuple[dict[str, Value], Passed],
    site: Site,
    key: str,
) -> Frame:
    """Return the frame of a call whose arguments are bound to variables."""
    function = closure.function
    values, passed = bound
    interp.fuel.entered.add(name_of(function))
    state.clock += 1
    env = state.new_frame(Names(values, dict.fromkeys(values, state.clock), closure.env))
    receiver = values[function.params[0].name] if closure.owner is not None and function.params else None
    stack, outer, modelled = (*frame.stack, key), (*frame.outer, frame.env), closure.module.startswith(MODELS)
    return Frame(
        env, closure.module, function.slice, site, closure, receiver, passed, stack, outer=outer, modelled=modelled
    )


def name_of(function: ir.Function) -> str:
    """Return the name that identifies a function among those of its file in the counters."""
    return f"{function.slice.path}:{function.slice.first}:{function.qualname.rpartition('.')[2]}"


def waiting(closure: Closure, arguments: Arguments) -> Partial:
    """Return the result of calling a generator that is a context manager: no part of its body has run."""
    return Partial(closure, arguments.positional, arguments.keywords)


def evaluate_defaults(
    interp: Interpreter, frame: Frame, state: State, function: ir.Function
) -> list[tuple[State, tuple[tuple[str, Value], ...]]]:
    """Evaluate the default arguments of a function, as its definition does."""
    params = [param for param in function.params if param.default is not None]
    exprs = [param.default for param in params if param.default is not None]
    return [
        (
            after,
            tuple((param.name, written(value, frame, param.at)) for param, value in zip(params, values, strict=True)),
        )
        for after, values in interp.evaluate_all(frame, state, exprs)[:1]
    ]


def written(value: Value, frame: Frame, at: int) -> Value:
    """Attach the place where a constant flag is written, in a call or an assignment."""
    if type(value) is Const and value.value is True and value.origin is None:
        return Const(True, Place(frame.slice, at), value.source)
    return value
