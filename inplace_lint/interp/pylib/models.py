"""
Functions and classes of libraries that only move values, as the Python of `rules/models` says what they do.

    with contextlib.nullcontext(h) as k: ...     # `k` is `h`
    outer = torch.utils._pytree.tree_map(f, tree)

What a model does counts as done where the program calls it: nothing that is reported lies in a model.
"""

from __future__ import annotations

from inplace_lint.domain.state import State
from inplace_lint.domain.values import Dotted, ModuleValue, Sym, Value
from inplace_lint.interp.frame import Arguments, Frame
from inplace_lint.interp.interpreter import Interpreter
from inplace_lint.interp.outcome import Results, taken
from inplace_lint.knowledge.locate import MODELS, model_of


def call(interp: Interpreter, frame: Frame, state: State, name: str, arguments: Arguments, at: int) -> Results | None:
    """Call what is modelled under a dotted name; None if nothing is."""
    function = meant(interp, frame, state, Dotted(name))
    return None if isinstance(function, Dotted) else interp.call(frame, state, function, arguments, at)


def as_base(interp: Interpreter, frame: Frame, state: State, base: Value) -> Value:
    """Return the class that a model gives for the base of a class; a model derives from what it models."""
    return base if frame.module.startswith(MODELS) else meant(interp, frame, state, base)


def meant(interp: Interpreter, frame: Frame, state: State, value: Value) -> Value:
    """Return the function or class that a model gives for a name of a library; the value itself if there is none."""
    if not isinstance(value, Dotted):
        return value
    library, _, name = value.name.rpartition(".")
    path = model_of(library)
    if path is None or interp.context.project.module(path) is None:
        return value
    found = taken(state, interp.get_attribute(frame, state, ModuleValue(path), name, 0))
    if isinstance(found, Dotted):  # what a model imports may have one of its own
        return meant(interp, frame, state, found)
    return value if found is None or isinstance(found, Sym) else found
