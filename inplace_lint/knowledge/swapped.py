"""
The tables of a framework as they hold in a program that sets attributes of its modules and classes.

    torch.Tensor.add_ = add     # nothing is known of `x.add_(1)`
    F.relu = soft               # nor of `torch.nn.ReLU`, which may call it; a name given to it before keeps its entry
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from inplace_lint.knowledge.facts import Facts, is_member


def without(facts: Facts, swapped: Collection[str]) -> Facts:
    """Return the tables without what no longer holds; a dot at the end of a name stands for any attribute."""
    gone = dict.fromkeys(_gone(facts, swapped), ())
    found = Facts(facts.framework, facts.version, facts.own, {**facts.parsed, **gone}, facts.opened)
    found.__dict__.update(facts.__dict__)  # what was read of the tables
    return found


def _gone(facts: Facts, swapped: Collection[str]) -> Iterator[str]:
    functions = {_plain(name): name for name in swapped if not is_member(name)}
    members = tuple(filter(is_member, swapped))
    for name in facts.rows:
        if is_member(name):
            if any(name == one or (one.endswith(".") and name.startswith(one)) for one in members):
                yield name
        elif functions.get(_plain(name), name) != name:
            yield name


def _plain(name: str) -> str:
    """Return the last word of a name as a function and the layer that calls it have it in common."""
    return name.rpartition(".")[2].replace("_", "").lower()
