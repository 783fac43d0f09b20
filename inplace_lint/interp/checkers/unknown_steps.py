"""
Reports steps of unknown optimizers between the call of an unknown module and the backward that needs its parameters.

    def train(critic, actor, critic_opt, actor_opt, states, actions, targets):
        loss = mse(critic(states, actions), targets)
        actor_loss = -critic(states, actor(states)).mean()
        critic_opt.zero_grad()
        loss.backward()
        critic_opt.step()          # updates what has a gradient: `critic`, which `loss` was computed with
        actor_loss.backward()      # needs the parameters with which `critic` was called for `actor_loss`

What is called and not known may be a module, or a method of one; a step updates all or some of those that backward has
gone through. It is reported only if the later backward needs earlier calls of each of these. Known parameters are
taken alike: the later backward has to need calls with all those that had a gradient at the step. Those that a known
optimizer updates are left to it.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from inplace_lint.core.assumption import Assumption
from inplace_lint.core.event import Stale, Touch
from inplace_lint.domain import origins, tape, traits, unknown_history
from inplace_lint.domain.heap import Names, Tensor
from inplace_lint.domain.values import NOT_TENSORS, Const, Ref, Sym, SymId
from inplace_lint.interp.intrinsics import opaque_modules

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from inplace_lint.core.event import Site
    from inplace_lint.domain.heap import Save
    from inplace_lint.domain.state import State
    from inplace_lint.domain.values import NodeId, RefId, Value
    from inplace_lint.interp.frame import Arguments, Frame

_MODULES = frozenset({origins.PARAMETER, origins.RESULT, origins.ITEM, origins.TURN, origins.GLOBAL, origins.ATTRIBUTE})
_OTHERS = SymId(-1)  # stands for the known parameters that backward reaches


def called(frame: Frame, state: State, function: Value, arguments: Arguments, result: Sym, site: Site) -> None:
    """Remember a call of an unknown value that may be a module, or a method of one."""
    if state.modes.grad is False or type(function) is not Sym or function.kind not in {"", "input"}:
        return
    key = state.symbols.keys[function.id]
    if not (isinstance(key, tuple) and key[0] in _MODULES) or _is_part_of_result(state, key):
        return
    if arguments.positional or arguments.keywords:
        node = state.trait(traits.CALL_NODE, result.id)
        name = _name(frame, state, function)
        call = traits.Called(function.id, name, arguments.values, state.clock, site, node)
        state.set_trait(traits.CALLED, result.id, call)


def _is_part_of_result(state: State, key: object) -> bool:
    """Check whether what is called is an attribute of what such a call returned: `critic(x).split(2)`."""
    match key:
        case (origins.ATTRIBUTE, int(outer), _):
            return state.has_trait(traits.CALLED, SymId(outer))
        case _:
            return False


def accumulate(state: State, framework: str, tensors: Sequence[Tensor], site: Site | None, retain: bool) -> None:
    """Report steps since the calls that a backward needs, and remember what has a gradient after it."""
    steps = state.trait(traits.STEPS, None) or ()
    _check_parameters(state, framework, tensors, site, steps)
    known = dict(state.all_traits(traits.CALLED)) if site is not None else {}
    if not known or site is None:
        return
    calls, reaches_others = _behind(state, tensors, known)
    for step in steps:
        old = [call for call in calls.values() if call.clock < step.clock]
        if step.updates and step.updates <= {call.function for call in old}:
            call = max((one for one in old if one.function in step.updates), key=lambda one: one.clock)
            save = Touch(call.name, call.site, "self.weight", module=True, param=True)
            write = _written_by(step)
            assumed = {f"`{step.name}` updates `{call.name}`", f"backward of `{call.name}` needs its parameters"}
            state.report(Stale(framework, save, write, site, state.assumptions | assumed))
            break
    graded = {call.function for call in calls.values()} | ({_OTHERS} if reaches_others else set())
    state.set_trait(traits.GRADED, None, (state.trait(traits.GRADED, None) or frozenset()) | graded)
    for result in calls if not retain else ():
        state.set_trait(traits.CALLED, result, None)


def _check_parameters(
    state: State, framework: str, tensors: Sequence[Tensor], site: Site | None, steps: Sequence[traits.Step]
) -> None:
    """Report the steps that update known parameters, where backward needs their values of before."""
    steps = [step for step in steps if step.leaves and step.updates <= {_OTHERS}]
    starts = [node for tensor in tensors for node in tape.nodes_of(state, tensor)] if steps else []
    numbers = tape.reachable(state, starts)
    for step in steps:
        kept = _outdated(state, numbers, step)
        if kept is not None:
            assumed = {f"`{step.name}` updates all that has a gradient"}
            state.report(Stale(framework, kept.touch, _written_by(step), site, state.assumptions | assumed))


def _outdated(state: State, numbers: Collection[NodeId], step: traits.Step) -> Save | None:
    """Return a parameter that a node saved before a step, if nodes did so with all that the step updates."""
    updated = {tensor.storage for leaf in step.leaves if (tensor := state.tensor(Ref(leaf))) is not None}
    needed: dict[NodeId, Save] = {}
    for number in numbers:
        for save in state.nodes[number].saves if number < step.made else ():
            if save.storage in updated and save.checked and save.used:
                needed[number] = save
    if not step.leaves <= {leaf for number in needed for leaf in state.nodes[number].leaves}:
        return None
    return next((one for one in needed.values() if one.version == state.storages[one.storage].version), None)


def _written_by(step: traits.Step) -> Touch:
    return Touch("optimizer.step", step.site, symbol=step.name, param=True, dropped=True)


def step(frame: Frame, state: State, optimizer: Sym, site: Site) -> None:
    """Remember a step of an unknown optimizer, with the unknown modules and the parameters that have a gradient."""
    updates = state.trait(traits.GRADED, None) or frozenset()
    known = state.trait(traits.STEPS, None) or ()
    graded = [leaf for leaf, has in state.all_traits(traits.HAS_GRADIENT) if has and _is_parameter(state, leaf)]
    leaves = frozenset(leaf for leaf in graded if not state.has_trait(traits.OPTIMIZED, leaf))
    if graded and not leaves:
        updates -= {_OTHERS}
    name = _name(frame, state, optimizer) or "optimizer"
    made = traits.Step(state.clock, site, name, updates, leaves, state.next_id)
    state.set_trait(traits.STEPS, None, (*known, made))


def _name(frame: Frame, state: State, value: Sym) -> str:
    """Return the variable that has an unknown value, or the item or attribute that it is."""
    scope = state.object(frame.env)
    bound = scope.values.items() if isinstance(scope, Names) else ()
    for name, known in bound:
        inner = opaque_modules.behind(state, known) if isinstance(known, Sym | Ref) else None
        if inner is not None and inner.id == value.id:
            return name
    match state.symbols.keys[value.id]:
        case (origins.ITEM, Sym() as outer, Const(key)) if type(key) in {int, str}:
            return f"{_name(frame, state, outer)}[{json.dumps(key)}]"
        case _:
            return opaque_modules.name_of(state, value.id)


def _behind(
    state: State, tensors: Sequence[Tensor], known: Mapping[SymId, traits.Called | None]
) -> tuple[dict[SymId, traits.Called], bool]:
    """Return which of the known calls tensors were computed with, and whether other parameters were used."""
    waiting: list[Value | Tensor] = list(tensors)
    found: dict[SymId, traits.Called] = {}
    seen: set[SymId] = set()
    passed: set[NodeId] = set()
    reaches_others = False
    by_node = {call.node: number for number, call in known.items() if call is not None}
    while waiting:
        one = waiting.pop()
        if type(one) is Sym:
            if one.id in seen or one.kind in NOT_TENSORS:
                continue
            seen.add(one.id)
            call = known.get(one.id)
            if call is not None:
                found[one.id] = call
                waiting.extend(call.given)
            waiting.extend(unknown_history.parts(state, one))
        tensor = one if isinstance(one, Tensor) else state.tensor(one)
        if tensor is None or tensor.rg is False:
            continue
        waiting.extend(_asked({tensor.why}))
        for number in tape.reachable(state, tape.nodes_of(state, tensor)):
            if number not in passed:
                passed.add(number)
                node = state.nodes[number]
                waiting.extend(_asked(node.doubts))
                waiting.extend([Sym(by_node[number])] if number in by_node else ())
                reaches_others = reaches_others or any(_is_parameter(state, leaf) for leaf in node.leaves)
    return found, reaches_others


def _is_parameter(state: State, leaf: RefId) -> bool:
    """Check whether a leaf is a parameter, and none that an unknown module was asked for: that one is of the module."""
    tensor = state.tensor(Ref(leaf))
    return tensor is not None and tensor.param and opaque_modules.owner_of(state, tensor.storage) is None


def _asked(sentences: frozenset[str] | set[str]) -> Iterator[Sym]:
    """Yield the unknown values of which sentences assume that they require grad."""
    return (Sym(SymId(one.of)) for one in sentences if isinstance(one, Assumption) and one.of >= 0)
