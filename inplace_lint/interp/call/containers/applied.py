"""
Functions that are applied to a module and all modules below it.

    net.apply(init_weights)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable

from inplace_lint.domain import heap_templates, tape
from inplace_lint.domain.state import State
from inplace_lint.domain.values import Ref
from inplace_lint.interp.call import module_containers, module_registry
from inplace_lint.interp.frame import Arguments
from inplace_lint.interp.intrinsics.call import IntrinsicCall
from inplace_lint.interp.outcome import Results

_SHOWN = 2  # modules of a form that show what the function does to the others


def _apply(act: IntrinsicCall) -> Results:
    """
    Call a function on a module and all below it, the innermost first, and return the module.

    Of similar modules two are enough where the function only fills parameters that no operation has read so far.
    """
    function, unchanged = act.positional(1), Counter[Hashable]()
    going = [act.state]
    for _, ref in reversed(list(module_registry.parts(act.state, act.positional(0)))):
        if act.interp.fuel.is_used_up:  # no call is followed any more
            break
        before = going[0]
        kind, since, made = module_containers.form(before, ref), before.attached, before.next_id
        nodes = len(before.nodes)
        if unchanged[kind] >= _SHOWN and not _is_saved(before, ref):
            continue
        going = [
            after
            for path in going
            for after, _ in act.interp.call(act.frame, path, function, Arguments((ref,)), act.at)
        ]
        after = going[0] if len(going) == 1 else None
        if after is not None and len(after.nodes) == nodes and not heap_templates.sets_older(after, since, made):
            unchanged[kind] += kind == module_containers.form(after, ref)
    return [(path, act.positional(0)) for path in going]


def _is_saved(state: State, module: Ref) -> bool:
    """Check whether backward needs a parameter or buffer of a module."""
    saved = tape.saved(state)
    tensors = (state.tensor(ref) for _, ref in module_registry.state_of(state, module)) if saved else ()
    return any(tensor is not None and tensor.storage in saved for tensor in tensors)


INTRINSICS: dict[str, Callable[[IntrinsicCall], Results]] = {"apply_function": _apply}
