"""Variables: which object a name stands for, in a function, in what encloses it, in the module, among the builtins."""

from __future__ import annotations

import builtins

from inplace_lint.domain.heap import Names
from inplace_lint.domain.state import State
from inplace_lint.domain.values import Builtin, ClassValue, Const, Ref, Value
from inplace_lint.interp import statements
from inplace_lint.interp.frame import Frame
from inplace_lint.interp.program import Program
from inplace_lint.outline.outline import Definition

_BUILTINS = frozenset(dir(builtins))


def read(program: Program, frame: Frame, state: State, name: str) -> Value:
    """Give what a name stands for; an unbound one is an unknown value, the same each time."""
    env: Ref | None = frame.env
    heap = state.heap
    while env is not None:
        scope = heap.get(env.id)
        assert type(scope) is Names
        found = scope.values.get(name)
        if found is not None:
            return found
        env = scope.parent
    return module_variable(program, state, name)


def module_variable(program: Program, state: State, name: str) -> Value:
    """Give a variable of the module, running the statements that bind it if this path has not yet."""
    env = module_env(program, state)
    scope = state.heap[env.id]
    assert isinstance(scope, Names)
    found = scope.values.get(name)
    if found is not None:
        return found
    items = program.items(name)
    if name not in program.running:
        program.running.add(name)
        try:
            for item in items:
                _run_item(program, state, env, item)
        finally:
            program.running.discard(name)
        scope = state.heap[env.id]
        assert isinstance(scope, Names)
        found = scope.values.get(name)
        if found is not None:
            return found
    if name == "__name__":
        return Const("__main__")
    if not items and name in _BUILTINS:
        return Builtin(name)
    return state.symbols.sym(("global", program.path, name))


def module_env(program: Program, state: State) -> Ref:
    """Give the name space of the module on this path."""
    known = state.bindings.get(("module", program.path))
    if isinstance(known, Ref):
        return known
    env = state.new(Names({}, {}))
    state.attach(("module", program.path), env)
    return env


def module_frame(program: Program, env: Ref, item: Definition) -> Frame:
    """Give the frame in which a top-level item runs."""
    return Frame(env, program.path, item.slice)


def _run_item(program: Program, state: State, env: Ref, item: Definition) -> None:
    frame = module_frame(program, env, item)
    if item.kind == "class":
        cls = class_of(program, state, frame, item)
        if cls is not None:
            state.bind(env, item.name, cls)
        return
    modes = state.modes
    # IMPRECISE: a module-level statement with several outcomes is followed on its first one.
    statements.run_in_place(program, frame, state, program.code(item.slice).body)
    state.modes = modes


def class_of(program: Program, state: State, frame: Frame, item: Definition) -> ClassValue | None:
    """Give the class that a top-level definition makes; the same object on every path."""
    node = program.class_node(item.slice, item.name)
    known = program.classes.get(item.slice)
    if known is None and node is not None:
        methods = {method.name: method.slice for method in item.methods}
        known = statements.make_class(program, frame, state, node, methods)
        program.classes[item.slice] = known
    return known
