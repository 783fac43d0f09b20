"""Variables: which object a name stands for, in a function, in what encloses it, in the module, among the builtins."""

from __future__ import annotations

import builtins
import posixpath

from inplace_lint.domain import origins, traits
from inplace_lint.domain.heap import Names
from inplace_lint.domain.state import State
from inplace_lint.domain.values import Builtin, ClassValue, Const, Dotted, Imported, ModuleValue, Ref, Value
from inplace_lint.effects.summary import Definition
from inplace_lint.interp.call import decorators
from inplace_lint.interp.frame import Frame
from inplace_lint.interp.fuel import STEPS_AT_IMPORT
from inplace_lint.interp.interpreter import Interpreter
from inplace_lint.interp.module_scope import module_env
from inplace_lint.ir.nodes import ImportFrom, ImportName

_BUILTINS = {name: Builtin(name) for name in dir(builtins) if not name.startswith("__")}


def read(interp: Interpreter, frame: Frame, state: State, name: str) -> Value:
    """Give what a name stands for; an unbound one is an unknown value, the same each time."""
    env: Ref | None = frame.env
    heap = state.heap
    while env is not None:
        scope = heap.get(env.id)
        assert type(scope) is Names
        found = scope.values.get(name)
        if found is not None:
            return imported(interp, state, found) if type(found) is Imported else found
        env = scope.parent
    return module_variable(interp, state, frame.module, name)


def module_variable(interp: Interpreter, state: State, path: str, name: str) -> Value:
    """Give a variable of a module, running the statements that bind it if this path has not yet."""
    module = interp.context.module(path)
    builtin = _BUILTINS.get(name) if name not in module.by_name else None
    if builtin is not None and not module.stars:
        scope = state.heap[module_env(state, path).id]
        assert type(scope) is Names
        return scope.values.get(name) or builtin
    found = find(interp, state, path, name)
    if found is not None:
        return found
    if name == "__name__":
        return Const("__main__" if path == interp.context.path else posixpath.basename(path).removesuffix(".py"))
    if builtin is not None:
        return builtin
    return state.symbols.sym((origins.GLOBAL, path, name))


def find(interp: Interpreter, state: State, path: str, name: str) -> Value | None:
    """Give a variable that the statements of a module bind; None if they do not."""
    env = module_env(state, path)
    found = _bound(state, env, name)
    asked = (path, name)  # asking again would run the same statements again
    if found is None and asked not in interp.context.running and not state.has_trait(traits.UNBOUND, asked):
        interp.context.running.add(asked)
        try:
            found = _run_items(interp, state, path, env, name)
        finally:
            interp.context.running.discard(asked)
        if found is None:
            state.set_trait(traits.UNBOUND, asked, True)
    return imported(interp, state, found) if type(found) is Imported else found


def _run_items(interp: Interpreter, state: State, path: str, env: Ref, name: str) -> Value | None:
    module = interp.context.module(path)
    items = module.items(name)
    for item in items:
        _run_once(interp, state, path, env, item)
    found = _bound(state, env, name)
    if found is not None and not isinstance(found, Dotted):  # nobody fills a library
        for item in module.fills(name):
            _run_once(interp, state, path, env, item)
        found = _bound(state, env, name)
    if found is not None or items:
        interp.context.bound.append((path, name))
        return found
    for star in reversed(module.stars):
        found = _from_star(interp, state, path, star, name)
        if found is not None:
            state.bind(env, name, found)
            return found
    return None


def _bound(state: State, env: Ref, name: str) -> Value | None:
    scope = state.heap[env.id]
    assert isinstance(scope, Names)
    return scope.values.get(name)


def _from_star(interp: Interpreter, state: State, path: str, star: ImportFrom, name: str) -> Value | None:
    """Give what `from module import *` binds under a name, if that module has it."""
    target = interp.context.project.lookup.resolve(path, star.module, star.level)
    if target is not None:
        if name.startswith("_") or not interp.context.project.may_bind(target, name):
            return None
        if interp.context.project.module(target) is None:
            return None
        return find(interp, state, target, name)
    dotted = f"{star.module}.{name}"
    return None if star.level or not interp.context.forms(dotted) else Dotted(dotted)


def imported(interp: Interpreter, state: State, value: Imported) -> Value:
    """Give what an imported name stands for in the module that it was imported from, or a module of that package."""
    key = (f"import of {value.path}", value.name)
    if key not in interp.context.running and interp.context.project.module(value.path) is not None:
        # A package may import a module of its own under the name that it then has.
        interp.context.running.add(key)
        try:
            found = find(interp, state, value.path, value.name)
        finally:
            interp.context.running.discard(key)
        if found is not None:
            return found
    inner = interp.context.project.lookup.submodule(value.path, value.name)
    if inner is not None and interp.context.project.module(inner) is not None:
        return ModuleValue(inner)
    return state.symbols.sym((origins.GLOBAL, value.path, value.name))


def bind_import(interp: Interpreter, frame: Frame, state: State, node: ImportName) -> None:
    """Bind what `import a.b` or `import a.b as c` binds."""
    top = node.module.partition(".")[0]
    path = interp.context.project.lookup.resolve(frame.module, top if node.alias is None else node.module, 0)
    value: Value = Dotted(top if node.alias is None else node.module)
    if path is not None and interp.context.project.module(path) is not None:
        value = ModuleValue(path)
    state.bind(frame.env, top if node.alias is None else node.alias, value)


def bind_import_from(interp: Interpreter, frame: Frame, state: State, node: ImportFrom) -> None:
    """Bind what `from a import b` binds; names of the project are looked up when they are read."""
    path = interp.context.project.lookup.resolve(frame.module, node.module, node.level)
    prefix = "." * node.level + node.module
    for name, alias in node.names:
        if name == "*":
            continue
        value: Value = Dotted(f"{prefix}.{name}" if node.module else f"{prefix}{name}")
        if path is not None:
            value = Imported(path, name)
        state.bind(frame.env, alias or name, value)


def _run_once(interp: Interpreter, state: State, path: str, env: Ref, item: Definition) -> None:
    """
    Run a top-level item unless this path has, or is in the middle of it, or the script has it in its turn.

    Items may bind a name and delete it again, and fill what others fill: run at each read, they take exponential time.
    """
    if state.has_trait(traits.HAS_RUN, item.slice) or item.slice in interp.context.under_way:
        return
    if interp.fuel.at_imports < 0:
        interp.fuel.drop("imports")
        return
    state.set_trait(traits.HAS_RUN, item.slice, True)
    _run_item(interp, state, path, env, item)


def _run_item(interp: Interpreter, state: State, path: str, env: Ref, item: Definition) -> None:
    """Run a top-level item. It ran long before what asks for it: modes, doubts, paths and steps are its own."""
    frame = Frame(env, path, item.slice)
    modes, assumptions = state.modes, state.assumptions
    budget = interp.fuel
    before, (budget.width, budget.prefers) = (budget.width, budget.prefers), (1, True)
    steps, given = budget.steps, max(budget.steps, STEPS_AT_IMPORT)
    budget.steps = given
    if item.kind == "class":
        cls = class_of(interp, state, frame, item)
        if cls is not None:
            state.bind(env, item.name, cls)
            node = interp.context.class_node(item.slice, item.name)
            if node is not None and node.decorators:
                decorators.run_on_class(interp, frame, state, node.decorators, cls)
    else:
        # IMPRECISE: a module-level statement with several outcomes is followed on its first one.
        interp.run_in_place(frame, state, interp.context.code(item.slice).body)
    state.modes, state.assumptions = modes, assumptions
    budget.width, budget.prefers = before
    budget.at_imports -= given - budget.steps
    budget.steps = steps


def class_of(interp: Interpreter, state: State, frame: Frame, item: Definition) -> ClassValue | None:
    """Give the class that a top-level definition makes; the same object on every path."""
    node = interp.context.class_node(item.slice, item.name)
    known = interp.context.classes.get(item.slice)
    if known is None and node is not None:
        methods = {method.member: method.slice for method in item.methods}
        known = interp.make_class(frame, state, node, methods)
        interp.context.classes[item.slice] = known
    return known
