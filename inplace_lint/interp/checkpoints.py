"""Recomputation: what is saved inside is made again in backward, from the arguments, which are kept."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from inplace_lint.domain.heap import Save
from inplace_lint.event import Touch
from inplace_lint.interp import calls, tensors
from inplace_lint.interp.act import Act, Results
from inplace_lint.interp.frame import Arguments, text_of
from inplace_lint.ir import nodes as ir


def _checkpoint(act: Act) -> Results:
    """Run the function on the arguments: what it saves is made again in backward from the arguments, which are kept."""
    arguments = act.arguments
    keywords = tuple(pair for pair in arguments.keywords if pair[0] not in {"use_reentrant", "preserve_rng_state"})
    exprs: dict[int | str, ir.Expr] = {
        key - 1 if isinstance(key, int) else key: expr for key, expr in arguments.exprs.items() if key != 0
    }
    rest = Arguments(arguments.positional[1:], keywords, exprs, arguments.unknown)
    state, framework = act.state, act.program.default().framework
    kept: list[Save] = []
    for position, value in enumerate(rest.positional):
        for _, tensor in tensors.tensors_in(state, value):
            touch = Touch(act.form.name, act.frame.site(act.at), "input", text_of(exprs.get(position)))
            version = state.storages[tensor.storage].version
            checked = framework.checks_checkpoint
            kept.append(Save(tensor.storage, version, touch, state.clock, frozenset(), tensor.doubt, checked))
    first = state.next_id
    results = calls.call(act.program, act.frame, state, act.positional(0), rest, act.at)
    for after, value in results:
        for number in range(first + 1, after.next_id + 1):
            node = after.nodes.get(number)
            if node is not None and node.saves:
                after.nodes[number] = replace(node, saves=())
        for _, tensor in tensors.tensors_in(after, value):
            for number in tensor.nodes:
                node = after.nodes[number]
                after.nodes[number] = replace(node, saves=(*node.saves, *kept))
    return results


ACTS: dict[str, Callable[[Act], Results]] = {"checkpoint": _checkpoint}
