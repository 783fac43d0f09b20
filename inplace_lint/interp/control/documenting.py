"""
Decorators that only document: they return what they are given, and do no more with it than to read it.

    def documented(cls):
        cls.__doc__ = describe(cls)
        return cls

    @documented                  # the class is what it was
    class Net(nn.Module): ...

Their text tells, and that of the functions that they pass it to. So they are not run: what they put together out of
signatures and texts has no part in training.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from inplace_lint.domain.heap import Names
from inplace_lint.domain.state import State
from inplace_lint.domain.values import ClassValue, Closure, Value
from inplace_lint.interp.interpreter import Interpreter
from inplace_lint.ir import described
from inplace_lint.ir import nodes as ir

_READING = frozenset({"isinstance", "issubclass", "hasattr", "callable", "type", "id", "str", "repr", "print", "dir"})
_LOOKS_UP = "getattr"
_READING_MODULES = frozenset({"inspect", "typing", "re"})
_PATTERN = frozenset({"re.compile"})
_READING_FUNCTIONS = frozenset({("dataclasses", "is_dataclass"), ("dataclasses", "fields")})
_UNWRAPS = "unwrap"

_NOTHING, _PERHAPS = described.Read(described.OTHER), described.Read(described.EITHER)
_OPEN = described.Read(described.EITHER)  # while a function is looked at; one that calls itself asks for it

Analysed = dict[tuple[str, str, str, frozenset[str]], described.Read | None]


def only_documents(interp: Interpreter, state: State, decorator: object, thing: Value) -> bool:
    """
    Return whether a decorator of the program returns a function or class that it is given, and only reads it.

    Methods that it calls of a class have to do no more either; a function has none.
    """
    if not isinstance(decorator, Closure) or decorator.wrapper:
        return False
    done = _of_first(interp, state, decorator)
    if done is None or done.values != described.ITSELF or not isinstance(thing, Closure | ClassValue):
        return False
    methods = [interp.lookup(state, thing, name) for name in done.methods] if isinstance(thing, ClassValue) else []
    return all(method is None or _only_reads(interp, state, method) for method in methods)


def _only_reads(interp: Interpreter, state: State, method: Value) -> bool:
    done = _of_first(interp, state, method) if isinstance(method, Closure) else None
    return done is not None and done.values == described.OTHER and not done.methods


def _of_first(interp: Interpreter, state: State, closure: Closure) -> described.Read | None:
    """Return what a function does with its first argument."""
    function, known = closure.function, interp.context.describing
    hidden = frozenset(_names_around(state, closure))
    return _read(interp, known, closure.module, function, function.params[0].name, hidden) if function.params else None


def _names_around(state: State, closure: Closure) -> Iterator[str]:
    """Yield the variables of the functions that a function is defined in."""
    env = closure.env
    while env is not None and isinstance(scope := state.heap[env.id], Names):
        yield from scope.values
        env = scope.parent


def _read(
    interp: Interpreter,
    known: Analysed,
    path: str,
    function: ir.Function,
    name: str,
    hidden: frozenset[str] = frozenset(),
) -> described.Read | None:
    """Return what a function of a file does with a parameter; the `hidden` names do not mean what they mean there."""
    key = (path, function.sha, name, hidden)
    if key in known:
        if known[key] is _OPEN:
            known[key] = _PERHAPS
        return known[key]
    before = frozenset(known)
    known[key] = _OPEN
    found = described.read(function, name, partial(_callee, interp, known, path, hidden))
    if known[key] is _PERHAPS and found != _PERHAPS:
        for other in known.keys() - before:  # what calls it, and was looked at meanwhile, may do more as well
            del known[other]
    known[key] = found
    return found


def _callee(
    interp: Interpreter, known: Analysed, path: str, hidden: frozenset[str], func: ir.Expr, key: described.Key
) -> described.Read | None:
    """Return the same for an argument of a function that is called in a file; None if that is not known."""
    match func:
        case ir.Name(_, name) | ir.Attr(_, ir.Name(_, name), _) if name in hidden:
            return None
        case ir.Name(_, name):
            return _named(interp, known, path, name, key)
        case ir.Attr(_, ir.Name(_, owner), name):
            items = interp.context.module(path).items(owner)
            is_pattern = len(items) == 1 and items[0].kind == "statement" and items[0].calls == _PATTERN
            return _NOTHING if is_pattern else _of_library(_imported(interp, path, owner)[0], name)
        case _:
            return None


def _of_library(package: str, name: str) -> described.Read | None:
    if package not in _READING_MODULES and (package, name) not in _READING_FUNCTIONS:
        return None
    return _PERHAPS if name == _UNWRAPS else _NOTHING


def _named(interp: Interpreter, known: Analysed, path: str, name: str, key: described.Key) -> described.Read | None:
    definitions, modules = interp.context.project.follow((path, name))
    if not definitions and not modules:
        package, original = _imported(interp, path, name)
        if not package and name == _LOOKS_UP:
            return _NOTHING if key == 1 else _PERHAPS  # what it is asked for, or given instead, and the name of that
        return _NOTHING if not package and name in _READING else _of_library(package, original)
    if len(definitions) != 1:
        return None
    home, original = definitions[0]
    module = interp.context.module(home)
    items = module.items(original)
    node = module.function_node(items[0].slice, original) if len(items) == 1 and items[0].kind == "function" else None
    parameter = None if node is None or node.decorators else described.parameter(node.function, key)
    return None if node is None or parameter is None else _read(interp, known, home, node.function, parameter)


def _imported(interp: Interpreter, path: str, name: str) -> tuple[str, str]:
    """Return the package and the name there that a name of a file is; empty for what the program defines."""
    imports = interp.context.module(path).imports(name)
    if len(imports) != 1 or any(interp.context.project.follow((path, name))):
        return "", ""
    return imports[0][0].module, imports[0][1]
