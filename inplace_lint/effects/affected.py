"""
Which entry points of a file an edit affects: those that run what changed, directly or through others of the file.

    def loss(x): ...                      # edited
    class Net: ...                        # calls loss: affected
    def build(): return Net()             # affected; left for later if that would take too long
    def other(x): ...                     # as before
    def patch(net): net.forward = MethodType(other, net)    # were it edited, `other` would be affected
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from inplace_lint.effects.edited import SCRIPT, Edited, Part, Ran
from inplace_lint.effects.may_write import read_names
from inplace_lint.effects.reachability import reachable
from inplace_lint.effects.summary import Definition

_BINDING = frozenset({"MethodType", "__get__", "partial", "setattr"})
_STEPS_AT_ONCE = 1_500  # about a tenth of a second


def part_of(items: Sequence[Definition], users: Mapping[str, Collection[str]], edited: Edited) -> Part | None:
    """
    Return which entry points of a file are to be run after an edit; None for all of them, where that is soon done.

    Where all that are affected would take too long, those that only use a class which is affected are left out. `users`
    are the classes that a definition uses without naming them.
    """
    if sum(ran.steps for ran in edited.ran.values()) <= _STEPS_AT_ONCE:
        return None
    changed = [item for item in items if item.slice.first <= edited.last and edited.first <= item.slice.last]
    if not changed or any(item.kind == "statement" for item in changed):
        return None
    names = {item.name for item in changed}
    run = _affected(items, users, names, frozenset())
    if sum(edited.ran.get(name, Ran()).steps for name in run) > _STEPS_AT_ONCE:
        run = _affected(items, users, names, {item.name for item in items if item.kind == "class"})
    others = (ran.returned for name, ran in edited.ran.items() if name not in run)
    return Part(run, frozenset[str]().union(*others))


def _affected(
    items: Sequence[Definition], users: Mapping[str, Collection[str]], names: Iterable[str], ends: Collection[str]
) -> frozenset[str]:
    """Return the names, and the entry points that lead to what has one of them, through none of the `ends`."""
    variables = {name for item in items if item.kind == "statement" and item.reads for name in item.binds}
    graph: dict[str, set[str]] = {name: set() for item in items for name in (*item.binds, SCRIPT)}
    for item in items:
        reads = read_names(item).union(users.get(item.name, ()))
        # What binds nothing may fill a variable that it names, as a decorator of one does.
        named = reads if not item.binds else {decorator.partition(".")[0] for decorator in item.decorators}
        reached = {*(item.binds or (SCRIPT,)), *(named & variables)}
        if item.kind == "statement" and item.calls:
            reached.add(SCRIPT)
        for used in reads:
            graph.setdefault(used, set()).update(reached)
        if item.name and _binds(item):
            graph[item.name].update(reads)
    return frozenset(reachable(names, {name: () if name in ends else found for name, found in graph.items()}))


def _binds(item: Definition) -> bool:
    """Return whether a definition may bind an object to a function that it names, which then has that first."""
    calls = frozenset[str]().union(item.calls, *(method.calls for method in item.methods))
    return not _BINDING.isdisjoint(call.rpartition(".")[2] for call in calls)
