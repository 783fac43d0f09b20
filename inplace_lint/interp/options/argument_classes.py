"""
Which class of the program an argument of an entry point is of that no annotation names, as its uses show.

    class Graph:                                # the only class that has `send_recv`
        def send_recv(self, feature): ...

    def forward(self, graph, feature):          # so `graph` is a `Graph`
        return graph.send_recv(feature)
"""

from __future__ import annotations

import array
import builtins
import collections
import collections.abc
import io
import itertools
import re
import types
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from functools import cache

from inplace_lint.domain.state import State
from inplace_lint.domain.values import Builtin, ClassValue, ModuleValue
from inplace_lint.interp.context import Shown
from inplace_lint.interp.frame import Frame
from inplace_lint.interp.interpreter import Interpreter
from inplace_lint.interp.module_scope import module_env
from inplace_lint.ir import nodes as ir
from inplace_lint.ir.scopes import names_of, scope_of
from inplace_lint.ir.walk import walk

_MOST_CLASSES = 8  # with a method of one name
_TESTS = frozenset({"isinstance", "issubclass", "hasattr", "getattr", "callable", "type"})
_GETTERS = frozenset({"__getattr__", "__getattribute__"})
_NOTHING = Shown((), sure=False)


def passing(interp: Interpreter, function: ir.Function, name: str) -> list[ir.Call]:
    """Return the calls in a function that are given a variable itself; a function is gone through once."""
    known = interp.context.passing.get(function.slice)
    if known is None:
        known = interp.context.passing[function.slice] = {}
        for call in (part for part in walk(function.body) if isinstance(part, ir.Call)):
            for value in (*call.args, *(keyword.value for keyword in call.keywords)):
                if isinstance(value, ir.Name):
                    known.setdefault(value.id, []).append(call)
    return known.get(name, [])


def receiving(call: ir.Call, params: Sequence[ir.Param], name: str) -> Iterator[ir.Param]:
    """Yield the parameters for which a call passes a variable itself."""
    plain = itertools.takewhile(lambda pair: not isinstance(pair[0], ir.Starred), zip(call.args, params, strict=False))
    yield from (param for value, param in plain if isinstance(value, ir.Name) and value.id == name)
    given = {one.name for one in call.keywords if isinstance(one.value, ir.Name) and one.value.id == name}
    yield from (param for param in params if param.name in given)


def shown(interp: Interpreter, state: State, function: ir.Function, param: ir.Param) -> Shown:
    """
    Return the classes of the program that have what a function uses of a parameter; none where nothing shows it.

    What is asked for its type, or bound to something else, may be anything. Of classes that derive from each other
    only the one counts from which the others derive. It is sure that it is the only one if it has all of several names.
    """
    called = _called(interp, function, param.name) if param.annotation is None else None
    if not called:
        return _NOTHING
    key = (function.slice, param.name)
    known = interp.context.shown.get(key)
    if known is None:
        used = _used(function, param.name)
        classes = () if used is None else _having(interp, state, function, called, used)
        sure = used is not None and len(used) > 1 and len(classes) == 1
        known = interp.context.shown[key] = Shown(classes, sure)
    return known


def _called(interp: Interpreter, function: ir.Function, name: str) -> frozenset[str]:
    """Return the methods that a function of the program calls on a parameter, without those that show nothing."""
    item = interp.context.definition_at(function.slice)
    if item is None:
        return frozenset()
    methods = re.findall(rf"^{name}\.(\w+)$", "\n".join(item.calls), re.MULTILINE)
    return frozenset(methods) - _ordinary(interp) if methods else frozenset()


def _ordinary(interp: Interpreter) -> AbstractSet[str]:
    """Return the names of what tensors, modules and values of Python have."""
    return _of_python().union(*(facts.members for facts in interp.context.facts.values()))


@cache
def _of_python() -> frozenset[str]:
    scopes = (builtins, types, collections, collections.abc, io, array)
    kinds = {value for scope in scopes for value in vars(scope).values() if isinstance(value, type)}
    return frozenset(name for kind in kinds for name in dir(kind))


def _having(
    interp: Interpreter, state: State, function: ir.Function, called: AbstractSet[str], used: AbstractSet[str]
) -> tuple[ClassValue, ...]:
    classes = [cls for cls in _defining(interp, state, function, min(called)) if _has(interp, cls, called, used)]
    return tuple(
        cls for cls in classes if not any(one is not cls and one in interp.context.mro(cls) for one in classes)
    )


def _used(function: ir.Function, name: str) -> frozenset[str] | None:
    """Return the attributes of a parameter that a function names; None where it may be of several types."""
    if name in scope_of(function.body)[0]:
        return None
    found = set[str]()
    for node in walk(function.body):
        match node:
            case ir.Call(_, ir.Name(_, asking), (ir.Name(_, asked), *_)) if asking in _TESTS and asked == name:
                return None
            case ir.Attr(_, ir.Name(_, owner), attribute) if owner == name:
                found.add(attribute)
            case _:
                pass
    return frozenset(found)


def _defining(interp: Interpreter, state: State, function: ir.Function, method: str) -> Iterator[ClassValue]:
    """Yield the classes that define a method, in the files that an import of the file under analysis runs."""
    project, path = interp.context.project, function.slice.path
    frame = Frame(module_env(state, path), path, function.slice)
    modules = (project.module(home) for home in project.defining(interp.context.path, method))
    names = [(module.path, name) for module in modules if module is not None for name in module.having(method)]
    for home, name in names if len(names) <= _MOST_CLASSES else ():
        found = interp.get_attribute(frame, state, ModuleValue(home), name, 0)
        yield from (cls for _, cls in found if isinstance(cls, ClassValue) and cls.slice.path == home)


def _has(interp: Interpreter, cls: ClassValue, called: AbstractSet[str], used: AbstractSet[str]) -> bool:
    """
    Check whether a class has methods and attributes, by its own text and that of its bases.

    What else it has may come from a base of a library, or be computed.
    """
    order = interp.context.mro(cls)
    classes = [base for base in order if isinstance(base, ClassValue)]
    members = frozenset[str]().union(*(_members(interp, base) for base in classes))
    is_open = len(classes) < len([base for base in order if base != Builtin("object")]) or _GETTERS & members
    return (called if is_open else used) <= members


def _members(interp: Interpreter, cls: ClassValue) -> AbstractSet[str]:
    """Return the names of what a class defines and declares, and of what its methods set."""
    item, node = interp.context.definition_at(cls.slice), interp.context.definition(cls)
    if item is None or node is None:
        return frozenset()
    declared = {name for part in node.body if isinstance(part, ir.Declare) for name in names_of(part.target)}
    methods = {method.name for method in item.methods}
    return declared.union(methods, item.sets, *(method.sets for method in item.methods))
