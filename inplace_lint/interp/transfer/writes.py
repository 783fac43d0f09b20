"""
The writes of a framework call: the framework's own checks, the version, the new history.

    w = nn.Linear(2, 2).weight
    w += 1                 # check "leaf" fails: refused, the state does not change
    a, b = h.chunk(2)
    a += 1                 # check "multi_view" fails

Mirrors torch `check_inplace`, `increment_version`, `rebase_history`; paddle `CheckInplace`, `bump_inplace_version`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from inplace_lint.core.event import Accepted, Failure, Ignored, Refused, Spelling
from inplace_lint.domain import shape, traits, used_gradients
from inplace_lint.domain.heap import Broken, Names, Save, Tensor, View, Write
from inplace_lint.domain.values import NONE, Const, NodeId, Ref, Three, Value
from inplace_lint.interp.control import path_condition
from inplace_lint.interp.expr import annotated, operators
from inplace_lint.interp.frame import Variable
from inplace_lint.interp.intrinsics import opaque_modules, transforms
from inplace_lint.interp.transfer import lazy_view_history, overlap, recording, results, unchanged
from inplace_lint.interp.transfer.op_call import Call
from inplace_lint.interp.transfer.tensor_types import dtypes
from inplace_lint.ir import nodes as ir
from inplace_lint.knowledge.guard import holds
from inplace_lint.knowledge.op import WriteFact
from inplace_lint.knowledge.words import Check

if TYPE_CHECKING:
    from inplace_lint.domain.state import State

_MADE_WITHOUT_GRAD = {View.NO_GRAD: Failure.NO_GRAD_VIEW, View.INFERENCE: Failure.INFERENCE_VIEW}
_UNCHECKED = frozenset({Failure.OVERLAP, Failure.OPERANDS_OVERLAP})  # by compiled code, whose values have no memory
_REFUSES = {View.MULTI: Failure.MULTI_VIEW, View.CUSTOM: Failure.CUSTOM_VIEW, View.HOOKED: Failure.HOOKED_VIEW}


def run(call: Call, inputs: list[Save]) -> list[tuple[State, Value]]:
    """Run a call that writes; a refused write does not change the state."""
    state, binding = call.state, call.binding
    used_gradients.note(state, binding.values.values())
    targets = [pair for fact in binding.op.writes for pair in _targets(call, fact)]
    listeners = call.interp.listeners
    for fact, ref, tensor in targets:
        listeners.attempt(call, fact.to, ref, tensor)
    for fact, ref, tensor in targets:
        if _stops(call, fact, ref, tensor):
            return [(state, ref)]
        if state.modes.script and call.spelled is Spelling.CALL and call.at in call.frame.dropped:
            touch = call.touch(fact.to, binding.exprs.get(fact.to), tensor)
            state.report(Ignored(call.facts.framework.name, touch, state.assumptions | call.doubt))
            return [(state, ref)]
    # What the call itself writes uncounted, such as running statistics, it saves, but backward does not use the value.
    hidden = {tensor.storage for fact, _, tensor in targets if not fact.counted}
    inputs = [replace(save, used=save.used and save.storage not in hidden) for save in inputs]
    # The node becomes the history of the tensors that the framework checks for being a leaf, and not of buffers.
    cuts = binding.op.history == "cut"
    tracked = [ref for fact, ref, _ in targets if cuts or fact.checks & {Check.LEAF, Check.LEAF_VIEW}]
    cut = tracked[0] if tracked and cuts else None
    rg = False if _holds_no_fractions(state, tracked) else recording.rg_of(call)
    touches = (call.touch(fact.to, binding.exprs.get(fact.to), tensor) for fact, _, tensor in targets)
    records = rg is not False and binding.op.history != "keep_old"
    node = recording.record(call, inputs, cut, next(touches, None)) if records else None
    for fact, ref, tensor in targets:
        if node is not None:
            _break(call, node, fact, tensor, rg)
        listeners.write(call, fact.to, ref, tensor)
        call.interp.context.coverage.written(state, tensor.storage)
        _bump(call, fact, ref, tensor)
    for ref in tracked:
        if binding.op.history != "keep_old" and state.modes.grad is not False:
            _new_history(call, ref, rg, node)
    value = results.make(call, rg, node)
    if node is not None:
        recording.save_outputs(call, node, value)
    return [(state, value)]


def _holds_no_fractions(state: State, tracked: list[Ref]) -> bool:
    """Check whether all that is written certainly is of whole numbers or truths, which have no history."""
    kinds = [dtypes.of_storage(state, tensor) for tensor in map(state.tensor, tracked) if tensor is not None]
    return bool(kinds) and dtypes.WHOLE.issuperset(kinds)


def _stops(call: Call, fact: WriteFact, ref: Ref, tensor: Tensor) -> bool:
    """Report a write that the framework refuses, and return whether it stops: compiled code carries out some."""
    check = refused_by(call, fact, tensor)
    if check is None:
        return False
    if call.state.modes.compiled and check[0] in _UNCHECKED:
        accepted(call, fact.to, tensor, *check)
        return False
    report(call, fact.to, ref, tensor, *check)
    return True


def _break(call: Call, node: NodeId, fact: WriteFact, tensor: Tensor, rg: Three) -> None:
    """Mark a node as broken if the framework allows the write but cannot run backward through it."""
    check = Failure.NO_DERIVATIVE if call.binding.op.history == "broken" else None
    had_history = tensor.rg or (tensor.rg is None and rg is None)
    if Check.EXPANDED in fact.checks and tensor.view is View.EXPANDED and had_history and not call.state.modes.compiled:
        check = Failure.EXPANDED
    if check:
        broken = Broken(check, call.touch(fact.to, call.binding.exprs.get(fact.to), tensor))
        call.state.nodes[node] = replace(call.state.nodes[node], broken=broken)


def _targets(call: Call, fact: WriteFact) -> list[tuple[WriteFact, Ref, Tensor]]:
    if fact.condition is not None and holds(fact.condition, call.binding) is not True:
        return []  # IMPRECISE: a write that is not certain is left out.
    value = call.binding.value(fact.to)
    if value is None or value == NONE:
        return []
    return [(fact, ref, tensor) for ref, tensor in call.binding.tensors(fact.to)]


def refused_by(call: Call, fact: WriteFact, tensor: Tensor) -> tuple[Failure, frozenset[str]] | None:
    """Return the framework's check that refuses a write, with the assumptions for it; None if all pass."""
    state = call.state
    base = state.tensor(tensor.base) if tensor.base is not None else None
    grad = state.modes.grad is not False
    as_leaf = _refused_leaf(call, fact, tensor, base, grad=grad)
    if as_leaf is not None:
        return as_leaf
    if grad and lazy_view_history.lacks_history(state, tensor) and lazy_view_history.checks_view(call, fact):
        return Failure.EARLY_VIEW, tensor.doubt
    refuses = _REFUSES.get(tensor.view) if tensor.view is not None else None
    recorded = _recorded_if(call, tensor)
    if grad and Check.MULTI_VIEW in fact.checks and refuses is not None and recorded is not None:
        return refuses, recorded | (tensor.doubt - tensor.before)  # what was divided may have been a copy as well
    if Check.INFERENCE in fact.checks and tensor.inference and not state.modes.inference:
        return Failure.INFERENCE, frozenset()
    made_so = _MADE_WITHOUT_GRAD.get(tensor.view) if tensor.view is not None else None
    if grad and Check.NO_GRAD_VIEW in fact.checks and made_so is not None and base is not None:
        recorded = frozenset() if base.rg else recorded
        if recorded is not None:
            return made_so, recorded
    refusal = transforms.refuses(call, fact, tensor)
    return (refusal, frozenset()) if refusal else _unfit(call, fact, tensor)


def _refused_leaf(
    call: Call, fact: WriteFact, tensor: Tensor, base: Tensor | None, *, grad: bool
) -> tuple[Failure, frozenset[str]] | None:
    """Return the refusal of a write to a leaf that requires grad, or to a view of one; None if it is none."""
    tracked = tensor.view in {View.SINGLE, View.MULTI, View.EXPANDED, View.CUSTOM, View.HOOKED}
    if Check.LEAF_ALWAYS in fact.checks or (grad and Check.LEAF in fact.checks):
        unless = _leaf_unless(tensor, base, by_view=call.facts.framework.rebases)
        if unless is None and base is None:
            unless = _parameter_unless(call, tensor)
        if unless is not None:
            return Failure.LEAF, unless
    is_checked_before = Check.MULTI_VIEW in fact.checks and tensor.view in _REFUSES
    if not grad or Check.LEAF_VIEW not in fact.checks or is_checked_before:
        return None
    if base is not None and tracked and ((base.rg and base.leaf) or _is_own_leaf(tensor, base)):
        return Failure.LEAF_VIEW, base.doubt
    if Check.LEAF not in fact.checks and tensor.rg and tensor.leaf and (base is None or _is_own_leaf(tensor, base)):
        return Failure.LEAF_VIEW, tensor.doubt if base is None else frozenset()
    unless = _parameter_unless(call, base or tensor) if tracked or Check.LEAF not in fact.checks else None
    return None if unless is None else (Failure.LEAF_VIEW, unless)


def _recorded_if(call: Call, tensor: Tensor) -> frozenset[str] | None:
    """Return the assumptions under which a write is recorded on the tape; None if it is not, or may be to no tensor."""
    rg = recording.rg_of(call)
    if rg:
        return frozenset()
    return frozenset(one.why for _, one in call.grads if one.rg is None) if rg is None and tensor.sure else None


def _is_own_leaf(tensor: Tensor, base: Tensor) -> bool:
    """Check whether a view of what requires no grad was itself told to require grad."""
    return bool(tensor.rg and tensor.leaf and not tensor.nodes) and base.rg is False


_CUT = frozenset({View.DETACH, View.DATA, View.UNTRACKED})


def _leaf_unless(tensor: Tensor, base: Tensor | None, *, by_view: bool) -> frozenset[str] | None:
    """
    Return the assumptions under which a tensor is a leaf that requires grad; None if it certainly is none.

    `by_view`: the framework refuses a write to a view with another check than one to what has memory of its own.
    """
    if base is not None and _is_own_leaf(tensor, base) and (not by_view or tensor.view is View.MAYBE):
        return frozenset()  # whether it is a view or a copy
    if not tensor.rg or tensor.leaf is False:
        return None
    if tensor.leaf:
        # What was cut off a history is a leaf, whether it shares its memory with the original or not.
        return None if base is not None else frozenset() if tensor.view in _CUT else tensor.doubt
    return frozenset({"it had no history before it was set to require grad"}) if base is None or not base.rg else None


def _parameter_unless(call: Call, tensor: Tensor) -> frozenset[str] | None:
    """Return the assumption under which an unknown value is a parameter that requires grad; None if nothing says so."""
    if tensor.rg is not None or tensor.leaf is not None or tensor.nodes:
        return None
    assumed = opaque_modules.assumed_parameter(call.state, tensor, call.facts.framework)
    if not assumed:
        return assumed
    numbers = [number for number, ref in call.state.all_traits(traits.TENSOR) if call.state.tensor(ref) is tensor]
    return None if any(annotated.is_field(call.interp, call.state, number) for number in numbers) else assumed


def _unfit(call: Call, fact: WriteFact, tensor: Tensor) -> tuple[Failure, frozenset[str]] | None:
    """
    Return the check that the written tensor fails because of its layout, shape or type, whatever its history.

    In the order of torch `TensorIterator::build`: memory that overlaps, then the shape, then the dtype.
    """
    records = call.state.modes.grad is not False
    # A function of a project or a library may have an argument of this name, too.
    is_out = fact.to == "out" and fact.condition is not None and Check.OVERLAP in fact.checks
    is_out &= Check.RECORDED not in fact.checks  # such as `inner`, which is made of functions with a derivative
    if records and is_out and "out_grad" in call.facts.framework.says:
        if recording.rg_of(call):
            return Failure.OUT_GRAD, frozenset()
        if call.binding.op.grads == () and tensor.rg and tensor.leaf and Check.RESIZE not in fact.checks:
            return Failure.OUT_LEAF, tensor.doubt
    if Check.OPERAND in fact.checks and _brings_a_number(call):
        return Failure.OPERAND, frozenset()
    repeats = tensor.view is View.EXPANDED and (not fact.moves or overlap.keeps_repeats(call, fact.moves))
    if Check.OVERLAP in fact.checks and repeats:
        return Failure.OVERLAP, tensor.doubt
    clash = overlap.with_operand(call, fact, tensor) if Check.OPERANDS in fact.checks else None
    if clash is not None:
        return Failure.OPERANDS_OVERLAP, clash
    if Check.BROADCAST in fact.checks and _brings_axes(call, fact, tensor):
        return Failure.SHAPE, frozenset()
    kind = _another_kind(call, fact, tensor)
    if kind is None and Check.RESIZE in fact.checks and tensor.rg:
        kind = Failure.RESIZE
    return None if kind is None else (kind, frozenset())


def _brings_a_number(call: Call) -> bool:
    """Check whether the second argument is a Python number where the framework requires a tensor."""
    value = call.binding.value(call.binding.op.args[1].name)
    return value is not None and operators.is_number(call.state, value)


def _brings_axes(call: Call, fact: WriteFact, tensor: Tensor) -> bool:
    """Check whether an operand has more axes than the written tensor, or a longer one, so that the result is larger."""
    if tensor.sizes is None or fact.to != call.binding.op.args[0].name:
        return False
    operands = [operand for name in call.binding.given - {fact.to} for _, operand in call.binding.tensors(name)]
    grows = any(shape.outgrows(operand.sizes, tensor.sizes) for operand in operands if operand.sizes is not None)
    return grows and not path_condition.counts_results(call.state)  # on these, axes may be counted


def _another_kind(call: Call, fact: WriteFact, tensor: Tensor) -> Failure | None:
    """Return the check that fails because of the dtype of an operand; None if there is none."""
    if tensor.dtype in dtypes.WHOLE:
        if Check.CAST in fact.checks and _brings_fractions(call, fact):
            return Failure.CAST
        if Check.FRACTION in fact.checks and call.binding.value("rounding_mode") in {None, NONE}:
            return Failure.CAST
    return Failure.MIXED if Check.MIXED in fact.checks and _mixes(call, fact, tensor) else None


def _mixes(call: Call, fact: WriteFact, tensor: Tensor) -> bool:
    """Check whether an operand is floating where the written tensor is integral, or the other way round."""
    other = {"int": "float", "float": "int"}.get(tensor.dtype)
    operands = [operand for name in call.binding.given - {fact.to} for _, operand in call.binding.tensors(name)]
    return other is not None and tensor.sure and any(one.dtype == other and one.sure for one in operands)


def _brings_fractions(call: Call, fact: WriteFact) -> bool:
    """Check whether the call writes its first argument and another operand is certainly of a floating dtype."""
    if fact.to != call.binding.op.args[0].name:
        return False
    for name in call.binding.given - {fact.to}:
        value = call.binding.value(name)
        if isinstance(value, Const) and isinstance(value.value, float):
            return True
        if any(tensor.dtype == "float" and tensor.sure for _, tensor in call.binding.tensors(name)):
            return True
    return False


def report(call: Call, part: str, ref: Ref, tensor: Tensor, check: Failure, assumed: frozenset[str]) -> None:
    """
    Report a refused write, once for each tensor and check, since the first one ends the program.

    What is refused in each form that the call may have depends on none: `w[index] = 0` for a number and for a mask.
    """
    always = part in call.written and check in {Failure.LEAF, Failure.LEAF_VIEW}
    if always and tensor.base is None:
        check = Failure.LEAF
    if call.state.has_trait(traits.REFUSED, (ref.id, check)):
        return
    if not call.state.modes.expects:
        call.state.set_trait(traits.REFUSED, (ref.id, check), True)
    touch = call.touch(part, call.binding.exprs.get(part), tensor)
    origin = tensor.made.site if tensor.made is not None else None
    assumptions = assumed | call.state.assumptions | (frozenset() if always else call.doubt)
    call.state.report(Refused(call.facts.framework.name, check, touch, origin, assumptions))


def accepted(call: Call, part: str, tensor: Tensor, check: Failure, assumed: frozenset[str]) -> None:
    """Report a write that compiled code carries out although the framework refuses it."""
    touch = call.touch(part, call.binding.exprs.get(part), tensor)
    origin = tensor.made.site if tensor.made is not None else None
    assumptions = assumed | call.doubt | call.state.assumptions
    call.state.report(Accepted(call.facts.framework.name, check, touch, origin, assumptions))


def _bump(call: Call, fact: WriteFact, ref: Ref, tensor: Tensor) -> None:
    expr = call.binding.exprs.get(fact.to)
    value = call.binding.value(fact.to)
    alone = value is not None and call.state.ref(value) == ref  # not an item of a list: then the variable is the list
    if call.binding.op.history == "broken" and not tensor.counted:
        return  # `x.data.set_()` gives other memory to the alias: `x` keeps its own, and its version
    unrecorded = call.state.modes.grad is False or call.binding.op.history == "keep_old"
    steady = unrecorded and unchanged.keeps_slope(call, fact.to)
    write = Write(
        touch=call.touch(fact.to, expr, tensor),
        version=0,
        counted=fact.counted and tensor.counted,
        clock=0,
        assumptions=frozenset() if fact.to in call.written else call.doubt,
        doubt=tensor.doubt,
        names=_names(call, expr, ref) if alone and not unchanged.keeps_values(call) else frozenset(),
        through=call.frame.variables(_whole(expr)) if call.spelled is Spelling.CALL else frozenset(),
        tensor=ref,
        unseen=not steady and _is_unseen(call, tensor),
        steady=steady,
        part=overlap.step(call, fact.moves, tensor) if fact.moves else tensor.part,
    )
    if write.touch.spelled is Spelling.ITEM and not fact.moves:
        write = replace(write, part=None)  # which elements a mask or an unknown index means is not known
    unchanged.record(call, fact.to, tensor, write)


def _whole(expr: ir.Expr | None) -> ir.Expr | None:
    """Return what an expression takes a part of by items and methods: `x` for `x[0].view(-1)`; None if it does not."""
    match expr:
        case ir.Subscript(_, inner, _) | ir.Call(_, ir.Attr(_, inner, _)):
            return _whole(inner) or inner
        case _:
            return None


def _names(call: Call, expr: ir.Expr | None, ref: Ref) -> frozenset[Variable]:
    """Return the variables that a write goes through, here and in callers, also under another name of an argument."""
    names = call.frame.variables(expr)
    scope = call.state.heap[call.frame.env.id]
    if not names or not isinstance(scope, Names):
        return names
    same = (known for name, known in call.frame.passed.items() if known and _holds(call, scope, name, ref))
    return names.union(*same)


def _holds(call: Call, scope: Names, name: str, ref: Ref) -> bool:
    value = scope.values.get(name)
    return value is not None and call.state.ref(value) == ref


def _is_unseen(call: Call, tensor: Tensor) -> bool:
    """Say whether a write of this tensor changes values whose recorded history stays as it was."""
    state = call.state
    base = state.tensor(tensor.base) if tensor.base is not None else None
    if state.modes.grad is not False and call.binding.op.history == "keep_old":
        return tensor.has_history
    if state.modes.grad is not False:
        # Where a write through a view gives its base no new history, the base keeps that of its old values.
        whole = base if tensor.view is View.SINGLE else None
        return bool(not call.facts.framework.rebases and whole is not None and whole.rg and whole.nodes)
    return (base if base is not None and tensor.view is View.NO_GRAD else tensor).has_history


def _new_history(call: Call, ref: Ref, rg: Three, node: NodeId | None) -> None:
    """Set the history of the written tensor to the new node, and that of its base where the framework rebases."""
    state = call.state
    tensor = state.tensor(ref)
    assert tensor is not None
    cut = call.binding.op.history == "cut"
    if rg is False:
        if cut and tensor.leaf is False:
            state.put(ref, replace(tensor, rg=False, nodes=(), leaf=True))
        return
    why = next((t.why for _, t in call.grads if t.rg is None), "")
    nodes: tuple[NodeId, ...] = (node,) if node is not None else ()
    known = "" if rg else why
    state.put(ref, replace(tensor, rg=rg, leaf=False, nodes=nodes, why=known, made=call.touch("out0")))
    if tensor.base is None or not call.facts.framework.rebases or call.binding.op.history == "keep_base":
        return
    base = state.tensor(tensor.base)
    if base is not None and tensor.view in {*_REFUSES, View.SINGLE, View.EXPANDED, View.MAYBE}:
        kept = base.nodes if not (cut and base.storage != tensor.storage) else ()
        nodes = recording.passed_to_base(state, tensor, nodes)
        base_rg = True if True in (rg, base.rg) else None
        changed = replace(base, rg=base_rg, leaf=False, nodes=(*kept, *nodes), why="" if base_rg else base.why or why)
        state.put(tensor.base, changed)
