"""
What the attributes of a framework's modules are that the program sets.

    torch.sigmoid = lambda x: original(x).clone()   # `torch.sigmoid` is this function wherever it is read later

Of what is set inside of a function, or on a condition, nobody knows when: then it is unknown.
"""

from __future__ import annotations

from inplace_lint.domain import origins, traits
from inplace_lint.domain.state import State
from inplace_lint.domain.values import Bound, Closure, Dotted, Ref, Value
from inplace_lint.effects.summary import Definition
from inplace_lint.interp.expr import environment
from inplace_lint.interp.frame import Frame
from inplace_lint.interp.interpreter import Interpreter
from inplace_lint.interp.module_scope import module_env
from inplace_lint.knowledge.facts import is_member


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
