"""
Environments: which value a name has in a function, its enclosing functions, its module, or among the builtins.

The statements of a module run lazily: only those that bind a name, on its first read on a path.

    SCALE = load()              # runs when a function that is analysed reads `SCALE`
    from .config import *       # runs `config.py` only for the names that are read
"""

from __future__ import annotations

import builtins
import posixpath
from collections.abc import Iterable, Mapping

from inplace_lint.domain import origins, traits
from inplace_lint.domain.heap import DictObject, Instance, Names
from inplace_lint.domain.state import State
from inplace_lint.domain.values import (
    NONE,
    Builtin,
    ClassValue,
    Const,
    Dotted,
    Imported,
    ModuleValue,
    Ref,
    Sym,
    Value,
)
from inplace_lint.effects.summary import Definition
from inplace_lint.interp.call import decorators
from inplace_lint.interp.frame import Frame
from inplace_lint.interp.fuel import STEPS_AT_IMPORT
from inplace_lint.interp.interpreter import Interpreter
from inplace_lint.interp.module_scope import module_env
from inplace_lint.interp.pylib import constant_folding
from inplace_lint.ir.nodes import ImportFrom, ImportName
from inplace_lint.workspace.import_resolver import STUB
from inplace_lint.workspace.trainers import asks

_BUILTINS: dict[str, Value] = {
    **{name: Builtin(name) for name in dir(builtins) if not name.startswith("__")},
    "Ellipsis": Const(...),
}
_BUILTINS["__import__"] = Dotted("builtins.__import__")


def read(interp: Interpreter, frame: Frame, state: State, name: str) -> Value:
    """Evaluate a variable; an unbound one is an unknown value, the same on each read."""
    env: Ref | None = frame.env
    heap = state.heap
    closure = frame.closure
    while env is not None:
        scope = heap.get(env.id)
        assert type(scope) is Names
        found = scope.values.get(name)
        if found is not None:
            return imported(interp, state, found) if type(found) is Imported else found
        if closure is not None and name in closure.function.local and not state.has_trait(traits.COMPREHENSION, env.id):
            return state.symbols.sym((origins.LOCAL, frame.module, closure.function.qualname, name))
        env = scope.parent
    return module_variable(interp, state, frame.module, name)


def variables(frame: Frame, state: State) -> Mapping[str, Value]:
    """Return the variables of the function that runs; those of a comprehension in it are not among them."""
    env, scope = frame.env, state.heap[frame.env.id]
    assert type(scope) is Names
    while scope.parent is not None and state.has_trait(traits.COMPREHENSION, env.id):
        env, scope = scope.parent, state.heap[scope.parent.id]
        assert type(scope) is Names
    return scope.values


def is_unbound(frame: Frame, state: State, name: str) -> bool:
    """Check whether a variable that a function binds, and which is thus its own, is read before it is bound."""
    closure, scope = frame.closure, state.heap[frame.env.id]
    assert type(scope) is Names
    return closure is not None and name in closure.function.local and name not in scope.values


def module_variable(interp: Interpreter, state: State, path: str, name: str) -> Value:
    """Return the value of a module's variable, running the statements that bind it if this path has not yet."""
    scope = state.heap[module_env(state, path).id]
    assert type(scope) is Names
    bound = scope.values.get(name)
    if bound is not None and type(bound) is not Imported:
        return bound
    module = interp.context.module(path)
    builtin = _BUILTINS.get(name) if not module.items(name) else None
    if builtin is not None and not module.stars:
        return bound or builtin
    found = find(interp, state, path, name)
    if found is not None:
        return found
    if name == "__name__":
        return Const("__main__" if path == interp.context.path else posixpath.basename(path).removesuffix(".py"))
    if builtin is not None:
        return builtin
    return state.symbols.sym((origins.GLOBAL, path, name))


def find(interp: Interpreter, state: State, path: str, name: str) -> Value | None:
    """Return the value that the statements of a module bind to a name; None if they do not bind it."""
    declared = interp.context.declared
    if declared and (path, name) in declared:
        return Dotted(declared[path, name])
    env = module_env(state, path)
    found = _bound(state, env, name)
    key = (path, name)  # the statements that bind one name must not run again for it
    if found is None and key not in interp.context.running and not state.has_trait(traits.UNBOUND, key):
        interp.context.running.add(key)
        try:
            found = _run_items(interp, state, path, env, name)
        finally:
            interp.context.running.discard(key)
        if found is None:
            state.set_trait(traits.UNBOUND, key, True)
    return imported(interp, state, found) if type(found) is Imported else found


def _fills(interp: Interpreter, path: str, name: str) -> list[Definition]:
    """Return the statements that put something into what a name of a module is bound to; none that trains it."""
    return [item for item in interp.context.module(path).fills(name) if not asks(item)]


def _run_items(interp: Interpreter, state: State, path: str, env: Ref, name: str) -> Value | None:
    module = interp.context.module(path)
    items = module.items(name)
    if path.endswith(STUB) and not (len(items) == 1 and items[0].kind == "function"):
        return None  # of overloads, classes and variables a stub says too little
    for item in items[:1]:
        run_once(interp, state, path, env, item)
    # Statements do not add to a library; what fills the variable is run before it is bound anew.
    fills = () if isinstance(_bound(state, env, name), Dotted | None) else _fills(interp, path, name)
    for item in sorted([*items[1:], *fills], key=lambda item: item.slice.first):
        for other in item.binds if name not in item.binds else ():  # what fills it is run as well
            find(interp, state, path, other)
        run_once(interp, state, path, env, item)
    found = _bound(state, env, name)
    if found is not None or items:
        interp.context.bound.append((path, name))
        if type(found) is Ref:
            _note_dicts(state, found, path, name)
        return found
    for star in reversed(module.stars):
        found = _from_star(interp, state, path, star, name)
        back = type(found) is Sym and state.symbols.key(found) == (origins.GLOBAL, path, name)  # a circle of imports
        if found is not None and not back:
            state.bind(env, name, found)
            return found
    return None


def _note_dicts(state: State, value: Ref, path: str, name: str) -> None:
    """Remember that a dict, or the dicts of an object, belong to a name of a module."""
    thing = state.object(value)
    parts = thing.attrs.values() if isinstance(thing, Instance) else ()
    _note(state, (value, state.contents(value), *parts), path, name)


def note_names(state: State, scope: Ref, path: str, name: str) -> None:
    """Remember of the dicts in a name space, of a class, that they belong to a name of a module."""
    names = state.object(scope)
    _note(state, names.values.values() if isinstance(names, Names) else (), path, name)


def _note(state: State, values: Iterable[Value], path: str, name: str) -> None:
    for value in values:
        if type(value) is Ref and isinstance(state.object(value), DictObject):
            state.set_trait(traits.REGISTRY, value.id, (path, name))


def _bound(state: State, env: Ref, name: str) -> Value | None:
    scope = state.heap[env.id]
    assert isinstance(scope, Names)
    return scope.values.get(name)


def _from_star(interp: Interpreter, state: State, path: str, star: ImportFrom, name: str) -> Value | None:
    """
    Return what `from module import *` binds to a name; None if that module does not have it.

    Of a module that cannot be read, the name of a framework is that framework: `from fastai.vision.all import *`.
    """
    target = interp.context.project.resolve(path, star.module, star.level)
    if target is not None:
        if name.startswith("_") or not interp.context.project.may_bind(target, name):
            return None
        if interp.context.project.module(target) is None:
            return None
        return find(interp, state, target, name)
    dotted = f"{star.module}.{name}"
    if not star.level and any(name in facts.framework.packages for facts in interp.context.facts.values()):
        return Dotted(name)
    return None if star.level or not interp.context.forms(dotted) else Dotted(dotted)


def imported(interp: Interpreter, state: State, value: Imported) -> Value:
    """Return the value of an imported name: a variable of the module it comes from, or a module of that package."""
    key = (f"import of {value.path}", value.name)
    if key not in interp.context.running and interp.context.project.module(value.path) is not None:
        # `from . import part` in a package refers to `part` itself, whose lookup is under way: then it is the module.
        interp.context.running.add(key)
        try:
            found = find(interp, state, value.path, value.name)
        finally:
            interp.context.running.discard(key)
        if found is not None:
            return found
    inner = interp.context.project.submodule(value.path, value.name)
    if inner is not None and interp.context.project.module(inner) is not None:
        return ModuleValue(inner)
    return state.symbols.sym((origins.GLOBAL, value.path, value.name))


def bind_import(interp: Interpreter, frame: Frame, state: State, node: ImportName) -> None:
    """Bind the name of `import a.b` or `import a.b as c`."""
    top = node.module.partition(".")[0]
    path = interp.context.project.resolve(frame.module, top if node.alias is None else node.module, 0)
    value: Value = Dotted(top if node.alias is None else node.module)
    if path is not None and interp.context.project.module(path) is not None:
        value = ModuleValue(path)
    state.bind(frame.env, top if node.alias is None else node.alias, value)


def bind_import_from(interp: Interpreter, frame: Frame, state: State, node: ImportFrom) -> None:
    """Bind the names of `from a import b`; a name of the project is resolved when it is read."""
    path = interp.context.project.resolve(frame.module, node.module, node.level)
    prefix = "." * node.level + node.module
    for name, alias in node.names:
        if name == "*":
            continue
        full = f"{prefix}.{name}" if node.module else f"{prefix}{name}"
        value: Value = constant_folding.CONSTANTS.get(full) or Dotted(full)
        inner = interp.context.project.part(frame.module, node.module, name, node.level) if path is None else None
        if path is not None:
            value = Imported(path, name)
        elif inner is not None and interp.context.project.module(inner) is not None:
            value = ModuleValue(inner)
        state.bind(frame.env, alias or name, value)


def run_once(interp: Interpreter, state: State, path: str, env: Ref, item: Definition) -> None:
    """
    Run a top-level statement, unless it ran on this path, is running, or is yet to come in the script.

    Statements may delete a name that they bind, and change what others bind: run at each read, they take exponential
    time.
    """
    if state.has_trait(traits.HAS_RUN, item.slice) or item.slice in interp.context.under_way:
        return
    if interp.fuel.at_imports < 0:
        interp.fuel.drop("imports")
        return
    run_item(interp, state, path, env, item)


def run_item(interp: Interpreter, state: State, path: str, env: Ref, item: Definition) -> None:
    """Run a top-level statement with modes, assumptions, paths and steps of its own, as an import does."""
    state.set_trait(traits.HAS_RUN, item.slice, True)
    frame = Frame(env, path, item.slice)
    modes, assumptions = state.modes, state.assumptions
    fuel = interp.fuel
    given = max(fuel.steps, STEPS_AT_IMPORT)
    with fuel.scope(paths=1, prefers=True, steps=given, listens=False):
        if item.kind == "class":
            cls = class_of(interp, state, frame, item)
            if cls is not None:
                state.bind(env, item.name, cls)
                node = interp.context.class_node(item.slice, item.name)
                if node is not None and (node.decorators or decorators.class_hooks(interp, state, cls)):
                    state.bind(env, item.name, decorators.run_on_class(interp, frame, state, node.decorators, cls))
        else:
            # IMPRECISE: a module-level statement with several outcomes is followed on its first one.
            guesses = fuel.counters["guessed_sides"]
            interp.run_in_place(frame, state, interp.context.code(item.slice).body)
            if fuel.counters["guessed_sides"] > guesses:
                _forget_flags(state, path, env, item)
            _forget_unset(interp, state, path, env, item)
        fuel.at_imports -= given - fuel.steps
    state.modes, state.assumptions = modes, assumptions


def _forget_flags(state: State, path: str, env: Ref, item: Definition) -> None:
    """Make unknown which of True and False a statement binds, where that was decided by a side that was guessed."""
    for name in item.binds:
        if _bound(state, env, name) in {Const(True), Const(False)}:
            state.bind(env, name, state.symbols.sym((origins.GLOBAL, path, name)))


def _forget_unset(interp: Interpreter, state: State, path: str, env: Ref, item: Definition) -> None:
    """
    Make unknown what a statement leaves None and a function of the module sets later; at first it is None.

        _logger = None
        def set_up(name): global _logger; _logger = logging.getLogger(name)
    """
    for name in item.binds:
        if _bound(state, env, name) == NONE and interp.context.module(path).is_rebound(name):
            unknown = state.symbols.sym((origins.GLOBAL, path, name))
            state.set_trait(traits.DEFAULT, unknown.id, NONE)
            state.set_trait(traits.NO_GRADIENT, unknown.id, True)  # nothing speaks for one
            state.bind(env, name, unknown)


def decorated_class(interp: Interpreter, state: State, frame: Frame, item: Definition) -> ClassValue | None:
    """Return the class of a top-level definition once all has run that may set its methods anew: `Net.forward = f`."""
    interp.context.exchanged.update(item.sets & {method.name for method in item.methods})
    cls, path = class_of(interp, state, frame, item), item.slice.path
    if cls is not None and (
        item.decorators or _fills(interp, path, item.name) or decorators.class_hooks(interp, state, cls)
    ):
        found = find(interp, state, path, item.name)
        return found if isinstance(found, ClassValue) else cls
    return cls


def class_of(interp: Interpreter, state: State, frame: Frame, item: Definition) -> ClassValue | None:
    """
    Return the class of a top-level definition, the same object on every path; one inside of a statement by name.

    One that derives from a class that a function made is so on the paths that go on from there: others have no
    variables of that call.
    """
    if item.slice.kind != "class":
        found = module_variable(interp, state, item.slice.path, item.name)
        return found if isinstance(found, ClassValue) else None
    node = interp.context.class_node(item.slice, item.name)
    own, shared = state.trait(traits.CLASS, item.slice), interp.context.classes.get(item.slice)
    if node is None or own is not None or (shared is not None and not _has_made(interp, shared)):
        return own or shared
    methods = {method.member: method.slice for method in item.methods}
    made = interp.context.classes[item.slice] = interp.make_class(frame, state, node, methods)
    if _has_made(interp, made):
        state.set_trait(traits.CLASS, item.slice, made)
    return made


def _has_made(interp: Interpreter, cls: ClassValue) -> bool:
    """Check whether a class is, or derives from, one that was made in a call of a function."""
    return any(isinstance(one, ClassValue) and one.env is not None for one in interp.context.mro(cls))
