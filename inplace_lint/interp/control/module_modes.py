"""
The modes in which an import of a file leaves the program.

    torch.set_grad_enabled(False)    # at the top level of a file: also in what its functions and classes run
    torch.no_grad().__enter__()      # so is a context that is entered and not left
"""

from __future__ import annotations

from inplace_lint.domain.state import State
from inplace_lint.effects.summary import Definition
from inplace_lint.interp.context import Context
from inplace_lint.interp.control import modes
from inplace_lint.interp.frame import Frame
from inplace_lint.interp.interpreter import Interpreter
from inplace_lint.interp.module_scope import module_env
from inplace_lint.ir import nodes as ir

_SETS = "mode:grad"
_ENTER = "__enter__"


def imported(interp: Interpreter) -> State:
    """Return a state in the modes that the top-level statements of the file set, in the order in which they run."""
    context = interp.context
    state, new = State(context.symbols), State(context.symbols)
    for item in context.outline.items:
        if item.kind != "statement" or not _sets_mode(context, item, 0):
            continue
        body = context.code(item.slice).body
        if all(isinstance(node, ir.ExprStmt) for node in body):
            with interp.fuel.scope(paths=1, listens=False):
                interp.run_in_place(Frame(module_env(state, context.path), context.path, item.slice), state, body)
    new.modes = state.modes
    return new


def _sets_mode(context: Context, item: Definition, depth: int) -> bool:
    """Check whether an item, or a function of the file that it calls, sets whether gradients are recorded."""
    enters = _ENTER in item.attributes
    for form in (form for call in item.calls for form in context.forms_behind(call)):
        if form.act == _SETS or (enters and form.act.startswith(modes.MODE)):
            return True
    called = (one for one in context.outline.items if one.kind == "function" and one.name in item.calls)
    return not depth and any(_sets_mode(context, one, 1) for one in called)
