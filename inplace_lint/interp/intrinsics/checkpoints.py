"""
Checkpointing: backward computes the saved tensors of a function again, from its arguments, which are saved.

    y = checkpoint(lambda t: t * scale, x)    # saves x, and reads `scale` again in backward
    scale.mul_(2)                             # backward uses the new value

What the function itself saves and then writes is compared if backward runs a backward in it (`use_reentrant`). Else
backward gets the new value if the write comes before the last save: PyTorch runs the function again up to there.

Backward repeats the writes of the function too: `count += 1` counts twice, `last.copy_(t)` sets the same value again.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from inplace_lint.core.event import Touch
from inplace_lint.domain.heap import Save
from inplace_lint.domain.state import State
from inplace_lint.domain.values import Const, NodeId, StorageId
from inplace_lint.interp.frame import Arguments, text_of
from inplace_lint.interp.intrinsics.call import IntrinsicCall
from inplace_lint.interp.outcome import Results


def _checkpoint(act: IntrinsicCall) -> Results:
    """Run `checkpoint(function, *arguments)`: its nodes save the arguments, from which backward computes the rest."""
    arguments = act.arguments
    keywords = tuple(pair for pair in arguments.keywords if pair[0] not in {"use_reentrant", "preserve_rng_state"})
    exprs = arguments.shifted(-1)
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
    reentrant = next((value for name, value in arguments.keywords if name == "use_reentrant"), Const(True))
    compares = reentrant.value is not False if isinstance(reentrant, Const) else None
    trains = any(tensor.rg for value in rest.positional for _, tensor in state.tensors_in(value))
    before = state.modes
    state.modes = replace(before, rereads=first, compares=before.compares and compares is not False)
    results = act.interp.call(act.frame, state, act.positional(0), rest, act.at)
    for after, value in results:
        after.modes = replace(after.modes, rereads=before.rereads, compares=before.compares)
        compared = given if compares else set[StorageId]()
        seen = compares is False or (compares and trains)
        own = _stale(act, after, first, compared, stops=not compares) if seen else set()
        _forget(act, after, first, start, given, own)
        saved = [one for save in kept for one in _arguments(act, after, save, start)] if compares is not False else kept
        for _, tensor in after.tensors_in(value):
            # What the function hands on as it is has no node of its own: without one nothing runs it again.
            for number in [one for one in tensor.nodes if one > first or compares is not False]:
                node = after.nodes[number]
                after.nodes[number] = replace(node, saves=(*node.saves, *saved))
    return results


def _stale(act: IntrinsicCall, after: State, first: int, given: set[StorageId], *, stops: bool) -> set[Save]:
    """Return the saves, of `given` or new tensors, that the function itself overwrites when it runs again."""
    nodes = (after.nodes.get(NodeId(number)) for number in range(first + 1, after.next_id + 1))
    saves = [save for node in nodes if node is not None for save in node.saves]
    is_cut = stops and act.interp.context.default().framework.checkpoint_stops
    last = max((save.clock for save in saves), default=0) if is_cut else after.clock

    def is_overwritten(save: Save) -> bool:
        return any(save.clock < write.clock <= last for write in after.storages[save.storage].writes)

    return {save for save in saves if (save.storage > first or save.storage in given) and is_overwritten(save)}


def _forget(act: IntrinsicCall, after: State, first: int, start: int, given: set[StorageId], own: set[Save]) -> None:
    """Drop the saves of the nodes of the function, except for its `own` and for older tensors that are read again."""
    nodes = [(NodeId(number), after.nodes.get(NodeId(number))) for number in range(first + 1, after.next_id + 1)]
    inner = [(number, node) for number, node in nodes if node is not None and node.saves]
    made = [number for number, node in inner if any(save.storage > first for save in node.saves)]
    for number, node in inner:
        outside = [save for save in node.saves if save.storage <= first and save.storage not in given]
        saves = [save for save in outside if not save.again or (made and number <= made[-1])]
        again = [_again(act, after, save, start) for save in saves]
        after.nodes[number] = replace(node, saves=(*(save for save in node.saves if save in own), *again))


def _arguments(act: IntrinsicCall, after: State, save: Save, start: int) -> list[Save]:
    """Return the saves of an argument where backward runs in backward: it is saved after the call, and read again."""
    saved = replace(save, version=after.storages[save.storage].version, clock=after.clock)
    return [saved, *(again for again in [_again(act, after, save, start)] if again.clock == start)]


def _again(act: IntrinsicCall, after: State, save: Save, start: int) -> Save:
    """Return the save of an older tensor as one that is read again in backward, after all later writes."""
    own = [write for write in after.storages[save.storage].writes if write.clock > start and write.counted]
    grows = any(not _sets_anew(act, write.touch) for write in own)
    return replace(save, checked=False, again=True, clock=start if grows else after.clock)


def _sets_anew(act: IntrinsicCall, write: Touch) -> bool:
    """Check whether a write replaces the whole value, so that repeating it changes nothing."""
    forms = act.interp.context.forms(write.op)
    return write.op in act.interp.context.default().framework.setters or (bool(forms) and forms[0].history == "cut")


INTRINSICS: dict[str, Callable[[IntrinsicCall], Results]] = {"checkpoint": _checkpoint}
