"""
What the attributes of a framework's modules are that the program sets, and which of an object it may set anew.

    torch.sigmoid = lambda x: original(x).clone()   # `torch.sigmoid` is this function wherever it is read later

    def prepare(net):
        net.fast = False                            # what a run of its class alone found with `fast` is no error

Of what is set inside of a function, or on a condition, nobody knows when: then it is unknown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from inplace_lint.domain import origins, traits
from inplace_lint.domain.heap import Instance
from inplace_lint.domain.state import State
from inplace_lint.domain.values import Bound, ClassValue, Closure, Const, Dotted, Ref, Value
from inplace_lint.effects.summary import Definition
from inplace_lint.interp.expr import environment
from inplace_lint.interp.frame import Frame
from inplace_lint.interp.interpreter import Interpreter
from inplace_lint.interp.module_scope import module_env
from inplace_lint.knowledge.facts import is_member

_FLAGS = frozenset({bool, str, type(None)})
_NAMED = re.compile(r"(\w+)\s*=(?!=)|[\"'](\w+)[\"']")


def value(interp: Interpreter, frame: Frame, state: State, owner: str, name: str) -> Value | None:
    """Return what an attribute of a framework's module was set to; None where it is what the framework has."""
    swapped = interp.context.swapped
    full = interp.context.canonical(f"{owner}.{name}")
    items = [*swapped.get(full, ()), *swapped.get(f"{owner}.", ())]
    if not items or not _is_known(interp, full):
        return None
    known, key = state.trait(traits.SWAPPED, full), ("", full)
    if known is not None or key in interp.context.running or any(_is_before(frame, *item) for item in items):
        return known
    interp.context.running.add(key)
    try:
        sure = [_runs(interp, state, path, item, full) for path, item in items]
    finally:
        interp.context.running.discard(key)
    known = state.trait(traits.SWAPPED, full)
    if None in sure or (known is None and True in sure):
        return state.symbols.sym((origins.ATTRIBUTE, Dotted(owner), name), "callable")
    return known


def _runs(interp: Interpreter, state: State, path: str, item: Definition, full: str) -> bool | None:
    """Run a statement of a module that may set an attribute; return whether it does, None where that is not known."""
    env = module_env(state, path)
    if item.kind != "statement":
        return None
    spare, frame = state.fork(), Frame(env, path, item.slice)
    with interp.fuel.scope(paths=2, listens=False):
        outcomes = interp.execute(frame, spare, interp.context.code(item.slice).body)
    found = [outcome.state.trait(traits.SWAPPED, full) for outcome in outcomes]
    if len(outcomes) != 1:
        return None if any(found) else False
    environment.run_once(interp, state, path, env, item)
    return bool(found[0])


def _is_before(frame: Frame, path: str, item: Definition) -> bool:
    """Check whether a statement of the module that runs comes before an item, or is it."""
    return frame.closure is None and frame.module == path and frame.slice.first <= item.slice.first


def swap(interp: Interpreter, state: State, owner: str, name: str, value: Value) -> None:
    """Remember that an attribute of a framework's module is set."""
    full = interp.context.canonical(f"{owner}.{name}")
    if _is_known(interp, full):
        state.set_trait(traits.SWAPPED, full, value)


def method(interp: Interpreter, frame: Frame, state: State, tensor: Ref, name: str) -> Value | None:
    """Return the function that the program gave all tensors under a name (`torch.Tensor.halve_ = halve_`)."""
    kind = state.tensor(tensor)
    facts = None if kind is None else interp.context.facts.get(kind.framework)
    if facts is None:
        return None
    own = value(interp, frame, state, facts.framework.tensor, name)
    return Bound(tensor, own) if isinstance(own, Closure) else None


def _is_known(interp: Interpreter, full: str) -> bool:
    """Return whether a name is one of the framework's, or was before the program set it."""
    return bool(interp.context.forms(full)) or (is_member(full) and full in interp.context.swapped)


def start(interp: Interpreter, item: Definition) -> None:
    """
    Note which attributes of a class that is an entry point the code around it may set anew.

    Those of derived classes count where the class is never made as it is written.
    """
    context, items = interp.context, interp.context.outline.items
    context.replaceable = context.derived = frozenset()
    if item.kind != "class":
        return
    around = [other for other in items if other is not item and other.name not in item.reads]  # what it calls, it runs
    others = [part for other in around for part in (other, *other.methods)]
    run = {"__init__", *(name.rpartition(".")[2] for name in item.calls)}
    later = [method for method in item.methods if method.name not in run]
    found = frozenset[str]().union(*(one.outside for one in (*others, *later)))
    if "" in found:
        lines = context.main.source.split("\n")
        text = "\n".join((*lines[: item.slice.first - 1], *lines[item.slice.last :]))
        found |= {keyword or quoted for keyword, quoted in _NAMED.findall(text)}
    if not any(item.name in other.calls for other in items):
        context.derived = frozenset(_replaced(item, items))
    context.replaceable = found | context.derived


def _replaced(item: Definition, items: tuple[Definition, ...]) -> Iterator[str]:
    """Yield the attributes and methods of the classes of the file that derive from a class."""
    for other in items:
        if item.name in other.bases:
            for part in (other, *other.methods):
                yield from (part.name, *part.sets)
            yield from _replaced(other, items)


def read(interp: Interpreter, state: State, instance: Instance, name: str, value: Value) -> None:
    """Assume that an object keeps a flag or method of its own, where the program may set another."""
    context, cls = interp.context, instance.cls
    is_flag = type(value) is Const and type(value.value) in _FLAGS
    is_method = isinstance(value, Closure)
    is_own = isinstance(cls, ClassValue) and cls.slice == context.coverage.root
    shown = cls.name.rpartition(".")[2]
    if (is_own and (is_flag or is_method)) if name in context.derived else is_flag:
        state.assume(f"`{shown}` keeps its own `{name}`")
