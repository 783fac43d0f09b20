"""
Recomputation: what is saved inside is made again in backward, from the arguments, which are kept.

    y = checkpoint(lambda t: t * scale, x)    # keeps x, and reads `scale` again in backward
    scale.mul_(2)                             # backward uses the new value

What the function itself writes is written again as well: `count += 1` goes on counting, `last.copy_(t)` sets the same.
"""

from __future__ import annotations

from collections.abc import Callable

from inplace_lint.core.event import Touch
from inplace_lint.core.records import replace
from inplace_lint.domain.heap import Save
from inplace_lint.domain.state import State
from inplace_lint.domain.values import NodeId, StorageId
from inplace_lint.interp.frame import Arguments, text_of
from inplace_lint.interp.intrinsics.call import Act
from inplace_lint.interp.outcome import Results
from inplace_lint.ir import nodes as ir


def _checkpoint(act: Act) -> Results:
    """Run the function on the arguments: what it saves is made again in backward from the arguments, which are kept."""
    arguments = act.arguments
    keywords = tuple(pair for pair in arguments.keywords if pair[0] not in {"use_reentrant", "preserve_rng_state"})
    exprs: dict[int | str, ir.Expr] = {
        key - 1 if isinstance(key, int) else key: expr for key, expr in arguments.exprs.items() if key != 0
    }
    rest = Arguments(arguments.positional[1:], keywords, exprs, arguments.unknown)
    state, framework = act.state, act.interp.context.default().framework
    kept: list[Save] = []
    for position, value in enumerate(rest.positional):
        for _, tensor in state.tensors_in(value):
            touch = Touch(act.form.name, act.frame.site(act.at), "input", text_of(exprs.get(position)))
            version = state.storages[tensor.storage].version
            checked = framework.checks_checkpoint
            save = Save(tensor.storage, version, touch, state.clock, frozenset(), tensor.doubt, checked)
            kept.append(replace(save, again=not checked))
    first, start = state.next_id, state.clock
    given = {save.storage for save in kept}
    before = state.modes
    state.modes = replace(before, rereads=first)
    results = act.interp.call(act.frame, state, act.positional(0), rest, act.at)
    for after, value in results:
        after.modes = replace(after.modes, rereads=before.rereads)
        _forget(act, after, first, start, given)
        for _, tensor in after.tensors_in(value):
            for number in tensor.nodes:
                node = after.nodes[number]
                after.nodes[number] = replace(node, saves=(*node.saves, *kept))
    return results


def _forget(act: Act, after: State, first: int, start: int, given: set[StorageId]) -> None:
    """Drop what the nodes of the function keep, but for what was there before, or what saves are computed from."""
    nodes = [(NodeId(number), after.nodes.get(NodeId(number))) for number in range(first + 1, after.next_id + 1)]
    inner = [(number, node) for number, node in nodes if node is not None and node.saves]
    made = [number for number, node in inner if any(save.storage > first for save in node.saves)]
    for number, node in inner:
        outside = [save for save in node.saves if save.storage <= first and save.storage not in given]
        saves = [save for save in outside if not save.again or (made and number <= made[-1])]
        after.nodes[number] = replace(node, saves=tuple(_again(act, after, save, start) for save in saves))


def _again(act: Act, after: State, save: Save, start: int) -> Save:
    """Give the save of what was there before the function was called: it is read again, after all that was written."""
    own = [write for write in after.storages[save.storage].writes if write.clock > start and write.counted]
    grows = any(not _sets_anew(act, write.touch) for write in own)
    return replace(save, checked=False, again=True, clock=start if grows else after.clock)


def _sets_anew(act: Act, write: Touch) -> bool:
    """Say whether a write leaves nothing of what was there, so that it may as well be done twice."""
    forms = act.interp.context.forms(write.op)
    return write.op in act.interp.context.default().framework.setters or (bool(forms) and forms[0].history == "cut")


ACTS: dict[str, Callable[[Act], Results]] = {"checkpoint": _checkpoint}
