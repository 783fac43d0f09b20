"""
Optimizers: which parameters they own, and what a step writes.

    opt = SGD(net.parameters())     # owns the parameters of `net`
    loss.backward()                 # these get a gradient, if the loss was computed with them
    opt.step()                      # writes those of its parameters that have a gradient
    opt.zero_grad()                 # removes the gradients

Mirrors torch `Optimizer.step` under `no_grad`: the writes are counted, those of fused kernels are not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from msgspec.structs import replace

from inplace_lint.core.event import Keeping, Touch
from inplace_lint.domain import origins, traits, used_gradients
from inplace_lint.domain.heap import DictObject, Instance, ListObject, Tensor
from inplace_lint.domain.state import State
from inplace_lint.domain.unknown_history import GROUPS, OWNED
from inplace_lint.domain.values import NONE, Const, Dotted, Ref, Sym, SymId, Tuple, Value
from inplace_lint.interp.call import module_registry
from inplace_lint.interp.control import path_condition
from inplace_lint.interp.frame import Arguments, text_of
from inplace_lint.interp.interpreter import Interpreter
from inplace_lint.interp.intrinsics import opaque_modules
from inplace_lint.interp.intrinsics.call import IntrinsicCall
from inplace_lint.interp.outcome import Results
from inplace_lint.knowledge.op import Op

_DEEPEST = 4
_USES = frozenset({"optimizer_step", "optimizer_steps", "optimizer_zero"})


def _optimizer(act: IntrinsicCall) -> Results:
    """Create an optimizer that owns the parameters that are passed."""
    state = act.state
    given = act.value("params") if act.value("params") != NONE else act.value("parameters")
    owned = _own(state, given, leaves=act.interp.context.default().framework.optimizes_leaves)
    turns = act.arguments.named("max_iter") or act.positional(2)
    attrs = {**_kept(state, owned, act.arguments), "<turns>": turns}
    if act.value("params") != NONE and _are_leaves(state, owned):
        attrs[GROUPS] = state.new(ListObject(tuple(_grouped(state, given, owned))))
    return [(state, state.new(Instance(Dotted(act.form.name), attrs, opaque=True)))]


def _own(state: State, given: Value, *, leaves: bool) -> tuple[Ref, ...]:
    """Return the parameters in what an optimizer is given, which it updates from now on."""
    owned = tuple(dict.fromkeys((*_tensors(state, given, 0), *opaque_modules.weights(state, given))))
    opaque_modules.train(state, owned)
    for ref in owned:
        state.set_trait(traits.OPTIMIZED, ref.id, True)
        tensor = state.tensor(ref)
        if leaves and tensor is not None and tensor.rg:
            used_gradients.note_leaf(state, ref)
    return owned


def _kept(state: State, owned: tuple[Ref, ...], arguments: Arguments) -> dict[str, Value]:
    """Return what an optimizer remembers of its parameters."""
    return {OWNED: state.new(ListObject(owned)), "<fused>": arguments.named("fused") or NONE}


def prepare_derived(state: State, made: Ref, arguments: Arguments, *, leaves: bool) -> None:
    """Set on an object whose class derives from an optimizer of the library what the constructor of that one sets."""
    given = arguments.named("params") or arguments.named("parameters") or (*arguments.positional, NONE)[0]
    prepare(state, made, Arguments((given,)))
    instance = state.instance(made)
    if instance is not None:
        attrs = {**instance.attrs, **_kept(state, _own(state, given, leaves=leaves), arguments)}
        state.put(made, replace(instance, attrs=attrs))


def _are_leaves(state: State, owned: Sequence[Ref]) -> bool:
    """Check whether an optimizer is given known parameters and no others."""
    return bool(owned) and all((one := state.tensor(ref)) is not None and one.leaf for ref in owned)


def _grouped(state: State, given: Value, owned: Sequence[Ref]) -> Iterator[Ref]:
    """Yield the groups of what an optimizer is given: a list of parameters is one, a list of dicts one for each."""
    inner = state.object(given)
    items = inner.items if isinstance(inner, ListObject) else given.items if isinstance(given, Tuple) else ()
    groups = [group for item in items if isinstance(group := state.object(item), DictObject)]
    for group in groups if groups and len(groups) == len(items) else [DictObject({"params": NONE})]:
        own = tuple(_tensors(state, group.items["params"], 0)) if groups and "params" in group.items else tuple(owned)
        yield state.new(DictObject({**group.items, "params": state.new(ListObject(own))}, exact=False))


def _add_group(act: IntrinsicCall) -> Results:
    """Run `optimizer.add_param_group(group)`."""
    state, receiver, group = act.state, act.receiver(), act.value("param_group")
    instance = state.instance(receiver) if receiver is not None else None
    if receiver is None or instance is None:
        return [(state, NONE)]
    added = tuple(_tensors(state, group, 0))
    opaque_modules.train(state, added)
    for ref in added:
        state.set_trait(traits.OPTIMIZED, ref.id, True)
    state.set_attribute(receiver, OWNED, state.new(ListObject((*_owned(state, receiver), *added))))
    groups = instance.attrs.get(GROUPS, NONE)
    listed = state.object(groups)
    if isinstance(groups, Ref) and isinstance(listed, ListObject):
        more = _grouped(state, Tuple((group,)), added) if _are_leaves(state, added) else ()
        state.put(groups, replace(listed, items=(*listed.items, *more), exact=listed.exact and bool(added)))
    return [(state, NONE)]


def prepare(state: State, made: Ref, arguments: Arguments) -> None:
    """
    Set on an optimizer of the program what the constructor of its base sets, where it is given known parameters.

    Each of its parameters has a state of its own. IMPRECISE: what else has one, and what stands for any, share one.
    """
    instance = state.instance(made)
    given = (*arguments.positional, NONE, NONE)
    params, defaults = arguments.named("params") or given[0], state.object(arguments.named("defaults") or given[1])
    owned = tuple(dict.fromkeys(_tensors(state, params, 0)))
    if instance is None:
        return
    if not _are_leaves(state, owned):
        state.set_attribute(made, OWNED, state.new(ListObject((), exact=False)))
        return
    options = defaults.items if isinstance(defaults, DictObject) else {}
    group = state.new(DictObject({**options, "params": state.new(ListObject(owned))}, exact=False))
    own: dict[object, Value] = {ref: state.new(DictObject({}, exact=False)) for ref in owned}
    other = state.new(DictObject({}, exact=False))
    attrs: dict[str, Value] = {
        OWNED: state.new(ListObject(owned)),
        "<fused>": NONE,
        GROUPS: state.new(ListObject((group,))),
        "state": state.new(DictObject(own, exact=False, default=other)),
    }
    state.put(made, replace(instance, attrs={**instance.attrs, **attrs}))


def note_given(state: State, result: Sym, arguments: Arguments) -> None:
    """Remember the parameters that an unknown call was given, and nothing else in that argument: it may own them."""
    for value in arguments.values:
        owned = tuple(dict.fromkeys(_tensors(state, value, 0))) if isinstance(state.object(value), ListObject) else ()
        if owned and all((tensor := state.tensor(ref)) is not None and tensor.param for ref in owned):
            attrs: dict[str, Value] = {OWNED: state.new(ListObject(owned))}
            made = state.new(Instance(Dotted(""), attrs, opaque=True))
            state.set_trait(traits.GIVEN, result.id, made)
            state.symbols.marked.add(result.id)
            return


def is_given(state: State, weight: Ref) -> bool:
    """Check whether an unknown call was given a parameter, so that what it returned may be its optimizer."""
    return any(weight in _owned(state, made) for _, made in state.all_traits(traits.GIVEN))


def unknown_step(state: State, owner: SymId, since: int) -> Touch | None:
    """Return the step of an unknown optimizer after a clock, which may have written the weights of an opaque module."""
    stepped, weight = state.trait(traits.STEPPED, None), state.trait(traits.WEIGHT, owner)
    if stepped is None or stepped.clock <= since or (weight is not None and not is_given(state, weight)):
        return None
    return Touch("step", stepped.site, symbol=stepped.name, param=True, dropped=True)


def written(state: State, tensor: Tensor, since: int, but: Ref | None = None) -> tuple[Touch, frozenset[str]] | None:
    """
    Return the first write to the memory of a tensor after a clock, with what it assumes; not those through one view.

    Of a parameter that an opaque module lists, a step of an unknown optimizer is one, too.
    """
    for write in state.storages[tensor.storage].writes:
        if write.clock > since and (but is None or write.tensor != but):
            return write.touch, write.assumptions | write.doubt
    owner = opaque_modules.owner_of(state, tensor.storage)
    step = None if owner is None else unknown_step(state, owner, since)
    if owner is None or step is None:
        return None
    return step, frozenset({f"`{step.symbol}` updates `{opaque_modules.name_of(state, owner)}`"})


def behind(interp: Interpreter, state: State, function: Value) -> tuple[Op, Ref] | None:
    """
    Return the method of optimizers that a method of an unknown value is, and the optimizer; None if it is none.

    What was made of parameters is an optimizer once it removes gradients: averages have a `step` as well.
    """
    match state.symbols.key(function) if isinstance(function, Sym) else None:
        case (origins.ATTRIBUTE, int(number), str(name)) if number in state.symbols.marked:
            owner = SymId(number)
        case (origins.ATTRIBUTE, int(), str(name)):
            _drop_by_unknown(interp, state, name)
            return None
        case _:
            return None
    made = state.trait(traits.GIVEN, owner)
    default = interp.context.default()
    named = (default.forms(f"{base}.{name}") for base in sorted(default.framework.optimizers))
    form = next((forms[0] for forms in named if forms), None)
    if made is None or form is None or form.act not in _USES:
        return None
    if form.act == "optimizer_zero" and not state.has_trait(traits.ZEROED, owner):
        state.set_trait(traits.ZEROED, owner, True)
        opaque_modules.train(state, list(_owned(state, made)))
        state.set_attribute(made, "<assumed>", Const(f"`{opaque_modules.name_of(state, owner)}` is an optimizer"))
    return (form, made) if state.has_trait(traits.ZEROED, owner) else None


def _drop_by_unknown(interp: Interpreter, state: State, name: str) -> None:
    """
    Drop all gradients where a method of something unknown removes them if that is an optimizer.

        def fit(net, opt, x):
            opt.zero_grad()     # the gradients of `net`, if it is the optimizer of `net`
    """
    default = interp.context.default()
    forms = default.forms(f"{min(default.framework.optimizers, default='')}.{name}")
    if forms and forms[0].act == "optimizer_zero":
        graded = [Ref(id_) for id_, thing in state.heap.items() if isinstance(thing, Tensor) and thing.grad is not None]
        forget(state, graded)


def _owned(state: State, optimizer: Ref) -> Iterator[Ref]:
    """Yield the parameters that an optimizer owns."""
    instance = state.instance(optimizer)
    return _tensors(state, NONE if instance is None else instance.attrs.get(OWNED, NONE), 0)


def _tensors(state: State, value: Value, depth: int) -> Iterator[Ref]:
    """Yield the tensors in a parameter, a list of parameters, or a list of groups."""
    if depth > _DEEPEST:
        return
    if state.tensor(value) is not None and isinstance(value, Ref):
        yield value
        return
    inner = state.object(value)
    parts: tuple[Value, ...] = ()
    if isinstance(value, Tuple):
        parts = value.items
    elif isinstance(inner, ListObject):
        parts = inner.items
    elif isinstance(inner, DictObject):
        parts = (inner.items["params"],) if "params" in inner.items else ()
    elif isinstance(inner, Instance) and inner.children is not None:
        parts = (inner.children,)
    for part in parts:
        yield from _tensors(state, part, depth + 1)


def _step(act: IntrinsicCall) -> Results:
    """Run `step()`: write the parameters that have a gradient, after running the closure if one is passed."""
    results: Results = [(act.state, NONE)]
    closure = act.value("closure")
    if closure != NONE:
        results = act.interp.call(act.frame, act.state, closure, Arguments(), act.at)
    for state, _ in results:
        _write_owned(act, state, act.receiver())
    return results


def _repeated_step(act: IntrinsicCall) -> Results:
    """Run `step(closure)` of an optimizer that calls the closure again after it wrote, unless one turn is asked for."""
    receiver = act.receiver()
    instance = act.state.instance(receiver) if receiver is not None else None
    match None if instance is None else instance.attrs.get("<turns>"):
        case Const(turns) if turns != 1 and act.value("closure") != NONE:
            return [result for after, _ in _step(act) for result in _step(replace(act, state=after))]
        case _:
            return _step(act)


def _scaler_step(act: IntrinsicCall) -> Results:
    """Run the step of the optimizer that is passed to a gradient scaler."""
    optimizer = act.positional(1)
    if isinstance(optimizer, Sym):
        act.interp.listeners.step(act.frame, act.state, optimizer, act.frame.site(act.at))
    _write_owned(act, act.state, optimizer if isinstance(optimizer, Ref) else None)
    return [(act.state, NONE)]


def _write_owned(act: IntrinsicCall, state: State, optimizer: Ref | None) -> None:
    instance = state.instance(optimizer) if optimizer is not None else None
    if instance is None:
        return
    fused = path_condition.truth(state, instance.attrs.get("<fused>", NONE)) is True
    counted = act.interp.context.default().framework.counts_steps and not fused
    owned = list(_tensors(state, instance.attrs.get(OWNED, NONE), 0))
    match instance.attrs.get("<assumed>"):
        case Const(str() as sentence):
            assumed = frozenset({sentence})
        case _:
            assumed = frozenset[str]()
    graded = (ref for ref in owned if state.trait(traits.HAS_GRADIENT, ref.id))
    act.write(state, graded, counted=counted, assumed=assumed)


def _zero(act: IntrinsicCall) -> Results:
    """Run `optimizer.zero_grad()`: the next step writes none of the parameters."""
    receiver = act.receiver()
    instance = act.state.instance(receiver) if receiver is not None else None
    if instance is not None:
        _remove_gradients(act, list(_tensors(act.state, instance.attrs.get(OWNED, NONE), 0)))
    return [(act.state, NONE)]


def _zero_module(act: IntrinsicCall) -> Results:
    """Run `module.zero_grad()`."""
    _remove_gradients(act, [ref for _, ref in module_registry.leaves(act.state, act.positional(0), param=True)])
    return [(act.state, NONE)]


def _remove_gradients(act: IntrinsicCall, owned: list[Ref]) -> None:
    """Set gradients to zero in place, or drop them, so that a gradient kept elsewhere is not written later."""
    zeroes = path_condition.truth(act.state, act.value("set_to_zero")) or act.value("set_to_none") == Const(False)
    if zeroes:
        announce_change(act, owned, Keeping.GRADIENT)
    forget(act.state, owned, drops=not zeroes)


def announce_change(act: IntrinsicCall, owners: list[Ref], how: Keeping) -> None:
    """Announce that the gradients of parameters are written in place."""
    symbol = text_of(act.arguments.exprs.get(0))
    touch = Touch(act.form.name, act.frame.site(act.at), symbol=symbol, dropped=True)
    act.interp.listeners.change_gradients(act.interp, act.frame, act.state, touch, owners, how)


def forget(state: State, refs: Iterable[Ref], *, drops: bool = True) -> None:
    """Remove gradients; where they are dropped, the next one is a new tensor."""
    for ref in refs:
        if state.has_trait(traits.HAS_GRADIENT, ref.id):
            state.set_trait(traits.HAS_GRADIENT, ref.id, False)
        tensor = state.tensor(ref)
        if drops and tensor is not None and tensor.grad is not None:
            state.put(ref, replace(tensor, grad=None))


def _scaler(act: IntrinsicCall) -> Results:
    """Create a gradient scaler."""
    return [(act.state, act.state.new(Instance(Dotted(act.form.name), {}, opaque=True)))]


def _scaled(act: IntrinsicCall) -> Results:
    """Return the loss itself: backward of its scaled copy runs the same nodes."""
    return [(act.state, act.positional(1))]


INTRINSICS: dict[str, Callable[[IntrinsicCall], Results]] = {
    "optimizer": _optimizer,
    "optimizer_group": _add_group,
    "optimizer_step": _step,
    "optimizer_steps": _repeated_step,
    "optimizer_zero": _zero,
    "zero_module": _zero_module,
    "scaler": _scaler,
    "scaler_scale": _scaled,
    "scaler_step": _scaler_step,
}
