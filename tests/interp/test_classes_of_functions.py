"""A class that a function makes, and what the paths of other entry points know of it."""

from __future__ import annotations

from inplace_lint.domain.heap import Names
from inplace_lint.domain.state import State
from inplace_lint.domain.values import ClassValue, Const
from inplace_lint.effects.summary import outline
from inplace_lint.interp.assembly import TapeInterpreter
from inplace_lint.interp.context import Context
from inplace_lint.interp.control import statements
from inplace_lint.interp.expr import environment
from inplace_lint.knowledge import facts
from inplace_lint.workspace.module import Module
from inplace_lint.workspace.module_store import alone

SOURCE = """\
import torch


def make():
    class Registry:
        known = dict()
        other = known

    return Registry


Registry = make()
"""

READING = SOURCE.replace("dict()", "COUNT").replace("import torch\n", "import torch\n\nCOUNT = 3\n")


def _on_another_path(source: str) -> Names:
    """Return the name space of the class, on a path that did not call the function that makes it."""
    main = Module("a.py", source, outline("a.py", source, ("torch",)))
    interp = TapeInterpreter(Context(main, {"torch": facts.tables("torch")}, alone()))
    made = environment.module_variable(interp, State(interp.context.symbols), "a.py", "Registry")
    assert isinstance(made, ClassValue)
    state = State(interp.context.symbols)
    scope = state.heap[statements.class_body(interp, state, made).id]
    assert isinstance(scope, Names)
    return scope


def test_its_body_runs_on_a_path_that_did_not_call_the_function() -> None:
    assert {"known", "other"} <= set(_on_another_path(SOURCE).values)


def test_it_reads_what_its_module_has() -> None:
    assert _on_another_path(READING).values["known"] == Const(3)
