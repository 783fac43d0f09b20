"""
The transfer function of a framework call, driven by facts: guards, saves, writes, the node on the tape, the result.

    y = torch.mul(a, b)     # saves a if b requires grad and b if a does; y is fresh; node with edges to a and b
    y.relu_()               # checks, version of y + 1, node that saves y at the new version; returns y itself

Mirrors the code that torchgen generates for `VariableType`: collect edges, save inputs, run, bump, save outputs.
"""

from __future__ import annotations

from msgspec.structs import replace

from inplace_lint.core.event import Failure, Spelling
from inplace_lint.core.span import Place
from inplace_lint.domain import origins, traits, unknown_history, used_gradients
from inplace_lint.domain.heap import Save, Tensor
from inplace_lint.domain.state import State
from inplace_lint.domain.values import NONE, Const, Dotted, Ref, Sym, Tuple, Value
from inplace_lint.interp.control import path_condition
from inplace_lint.interp.expr import postponed
from inplace_lint.interp.frame import Arguments, Frame
from inplace_lint.interp.interpreter import Interpreter
from inplace_lint.interp.intrinsics import table
from inplace_lint.interp.outcome import Results
from inplace_lint.interp.transfer import (
    lazy_view_history,
    materialise,
    no_gradient,
    op_call,
    other_spellings,
    recording,
    results,
    writes,
)
from inplace_lint.interp.transfer.binding import Binding, bind, default_values
from inplace_lint.interp.transfer.op_call import Call
from inplace_lint.interp.transfer.recording import OUTPUT
from inplace_lint.ir import nodes as ir
from inplace_lint.knowledge.facts import Facts
from inplace_lint.knowledge.guard import Atom, Guard, atoms, holds
from inplace_lint.knowledge.op import Op, SaveFact
from inplace_lint.knowledge.words import DType, Predicate, ShapeRule, ValueKind


def call_op(
    interp: Interpreter,
    frame: Frame,
    state: State,
    name: str,
    arguments: Arguments,
    at: int,
    spelled: Spelling = Spelling.CALL,
    instance: Ref | None = None,
) -> Results:
    """Run a call of an op and return its result: an unknown value where no fact fits."""
    own = interp.context.operators.get(name)
    facts = interp.context.facts_of(name) or (None if own is None else interp.context.default())
    forms = () if facts is None else (own.op,) if own is not None else facts.forms(name)
    counters = interp.fuel.counters
    counters["framework_calls"] += 1
    if facts is None or not forms:
        counters["calls_without_fact:" + name] += 1
        return _unknown(interp, frame, state, name, arguments, at, instance)
    counters["framework_calls_with_fact"] += 1
    if forms[0].act:
        given = arguments if instance is None else arguments.first(instance)
        return table.run(interp, frame, state, forms[0], given, at)
    call = _select(interp, frame, state, facts, forms, arguments, at, spelled, instance)
    if call is None:
        usual = other_spellings.usual(facts.framework, state, forms, arguments)
        if usual is not None:
            call = _select(interp, frame, state, facts, forms, usual, at, spelled, instance)
    if call is None:
        return _misfit(interp, frame, state, name, forms, arguments, at, instance)
    if own is not None:
        call.doubt, call.written = call.doubt | own.doubt, call.written | own.written
    if (error := op_call.refusal(call)) is not None:
        return interp.fuel.leave(state, error)
    after = _run(call)
    if call.binding.rates and call.binding.may_write_at_a_rate():
        _note_rates(interp, frame, state, call, at)
    return after


def _misfit(
    interp: Interpreter,
    frame: Frame,
    state: State,
    name: str,
    forms: tuple[Op, ...],
    arguments: Arguments,
    at: int,
    instance: Ref | None,
) -> Results:
    """
    Return the result of a call that fits no form of an op.

        self.relu = resnet.relu     # the layer of an unknown module
        x = self.relu(x)            # the method of a tensor takes no argument: it is none
    """
    owner = arguments.positional[0] if arguments.positional else None
    if _is_method(interp, name) and type(owner) is Sym and materialise.framework_of(interp, state, owner) is None:
        function = state.symbols.sym((origins.ATTRIBUTE, owner.id, results.short(name)))
        return interp.call(frame, state, function, arguments.rest(), at)
    op_call.check_flag(interp, frame, state, name, [arg for form in forms for arg in form.args], arguments, at)
    state.assume(f"`{results.short(name)}` accepts these arguments")
    return _unknown(interp, frame, state, name, arguments, at, instance)


def _is_method(interp: Interpreter, name: str) -> bool:
    facts = interp.context.facts_of(name)
    return facts is not None and name.rpartition(".")[0] == facts.framework.tensor


def _note_rates(interp: Interpreter, frame: Frame, state: State, call: Call, at: int) -> None:
    """Record that a call writes nothing at the rates that it has."""
    for rate in call.binding.rates.values():
        asked = path_condition.source(rate)
        off = (origins.COMPARE, "==", asked, Const(0.0)) if rate.value is not False else (origins.NOT, rate.source)
        interp.context.coverage.rate(frame, state, at, state.symbols.sym(off))


def _unknown(
    interp: Interpreter, frame: Frame, state: State, name: str, arguments: Arguments, at: int, instance: Ref | None
) -> Results:
    """Return the result of a call that no fact describes; it may depend on the arguments, or keep them."""
    for value in arguments.values:
        interp.listeners.hand_over(state, value)
    site = frame.site(at)
    result = state.symbols.sym((origins.CALL, name, state.next_id, at, site))
    materialise.remember_history(state, result, instance or Dotted(name), arguments, site)
    return [(state, no_gradient.computed(state, result, arguments.positional))]


def _select(
    interp: Interpreter,
    frame: Frame,
    state: State,
    facts: Facts,
    forms: tuple[Op, ...],
    arguments: Arguments,
    at: int,
    spelled: Spelling,
    instance: Ref | None,
) -> Call | None:
    """Bind the call to the first form of the op that takes these arguments and whose guard is not known to be false."""
    thing = None if instance is None else state.instance(instance)
    taken = frozenset[str]()
    for number, form in enumerate(forms):
        bound = bind(form.args, arguments)
        if bound is None:
            continue
        values, exprs = bound
        _leave_out(state, form, values)
        _materialise(interp, frame, state, facts, form, values, at)
        binding = Binding(state, form, default_values(form.args, values), frozenset(values), exprs, thing, instance)
        verdict = holds(form.condition, binding)
        if verdict is False:
            taken |= binding.taken(form.condition)
            continue
        call = Call(interp, frame, facts, binding, at, spelled, form.name, doubt=taken)
        if verdict is None:
            call.doubt |= binding.sentence(form.condition)
            call.written = _always_written(form, forms[number + 1 :])
        return call
    return None


def _always_written(form: Op, others: tuple[Op, ...]) -> frozenset[str]:
    """Return what a call writes whichever of its forms it is: `h[index] = 0` writes `h` for a number and for a mask."""
    if not others or others[-1].condition is not None:
        return frozenset()
    writes = [{one.to for one in each.writes if one.counted and one.condition is None} for each in (form, *others)]
    return frozenset(set.intersection(*writes))


def _leave_out(state: State, form: Op, values: dict[str, Value]) -> None:
    """
    Take what an op may write its result to for None, if that is an argument which is None by default.

        def forward(self, x, out=None):
            return torch.exp(self.fc(x), out=out)    # runs, unless somebody passes `out`
    """
    for write in form.writes:
        value = values.get(write.to)
        optional = any(one.name is Predicate.PASSED and one.args == (write.to,) for one in atoms(write.condition))
        if not (optional and isinstance(value, Sym) and state.has_trait(traits.NONE_BY_DEFAULT, value.id)):
            continue
        if isinstance(path_condition.is_none(state, value), Sym) and state.tensor(value) is None:
            state.learn((origins.NONE, value.id), True)
            values[write.to] = NONE


def _materialise(
    interp: Interpreter, frame: Frame, state: State, facts: Facts, form: Op, values: dict[str, Value], at: int
) -> None:
    """Materialise unknown arguments as tensors where the op expects a tensor."""
    for value in values.values():
        if _may_hold_unknowns(state, value):
            break
    else:
        return
    framework = facts.framework.name
    no_gradient.bound(facts.framework.alike, values)
    expected = {save.of for save in form.saves} | {write.to for write in form.writes} | set(form.grads or ())
    if form.args and not (form.returns and form.returns[-1].leaf) and form.args[0].kind == "plain":
        expected.add(form.args[0].name)
    if form.args and form.args[0].kind == "args" and form.args[0].name in values and not form.returns[:1]:
        expected.add(form.args[0].name)
    some_tensor = any(state.tensors_in(value) for value in values.values())
    measures = bool(form.returns) and form.returns[-1].value in _SIZES  # what else it is given are axes
    first = form.args[0].name if form.args else ""
    if first in values:
        _show(interp, state, form, values[first], expected=first in expected)
    for name, value in values.items():
        likely = form.grads is None and not measures and some_tensor and _may_be_tensor(state, value)
        if likely and name not in expected and name in no_gradient.counted(form):
            no_gradient.mark(state, value)
        elif name in expected or likely:
            materialise.materialise_item(interp, frame, state, value, at, sure=False)
            materialise.materialise_all(interp, state, value, framework)


def _show(interp: Interpreter, state: State, form: Op, value: Value, *, expected: bool) -> None:
    """Take the first argument for a tensor where only a tensor can be it; of operators only those that write tell."""
    if expected and _takes_no_number(form):
        materialise.settle(interp, state, value)
    is_operator = form.init is None and form.name.endswith("__")
    if not is_operator:
        materialise.show(state, value)
    if not is_operator or form.writes:
        postponed.settle(interp, state, value)


def _takes_no_number(form: Op) -> bool:
    """Check whether the first argument certainly is a tensor: of a layer, or of what gives a tensor of its shape."""
    if form.init is not None:
        return True
    shape = form.returns[-1].shape if form.returns else None
    return shape is not None and shape.rule is not ShapeRule.BROADCAST and form.args[0].name in shape.args[:1]


_SIZES = frozenset({ValueKind.SIZE, ValueKind.SHAPE})


def _may_hold_unknowns(state: State, value: Value) -> bool:
    """Check whether a value is unknown, or a container that may hold unknown values."""
    kind = type(value)
    return kind is Sym or kind is Tuple or (kind is Ref and state.tensor(value) is None)


def _may_be_tensor(state: State, value: Value) -> bool:
    """Check whether an unknown value is likely a tensor: an input, or the result of a call on tensors."""
    return isinstance(value, Sym) and (
        value.kind in {"input", "tensor"} or bool(unknown_history.nodes_behind(state, value))
    )


def _run(call: Call) -> Results:
    for becoming in call.binding.op.becomes:
        if holds(becoming.condition, call.binding):
            return _become(call, becoming.op, becoming.condition)
    if call.state.symbols.graded:
        used_gradients.note(call.state, call.binding.values.values())
    _announce_reads(call)
    no_gradient.note(call)
    call.grads = _differentiable(call)
    inputs = [save for fact in call.binding.op.saves if not OUTPUT.fullmatch(fact.of) for save in _saves(call, fact)]
    state = call.state
    rg = recording.rg_of(call)
    if rg is not False:
        call.interp.listeners.record(call)
    if state.modes.rereads and rg is not False:
        inputs += _reread(call, inputs)
    if rg is False and call.grads and call.grads[0][1].view and no_gradient.computes_of_array(call):
        return [(state, state.symbols.sym((origins.CALL, call.name, state.next_id), "array"))]
    if call.binding.op.writes:
        return writes.run(call, inputs)
    node = recording.record(call, inputs) if rg is not False else None
    value = results.make(call, rg, node)
    if node is not None:
        recording.save_outputs(call, node, value)
    call.interp.listeners.result(call, node, value)
    return [(state, value)]


def _announce_reads(call: Call) -> None:
    """
    Announce what the call reads: all arguments that it does not write, or what it computes a Python value from.

    What a new leaf is made like (`zeros_like(x)`, `x.new_empty(3)`) is not read, nor what a view is (`y.view_as(x)`).
    """
    returns, listeners = call.binding.op.returns, call.interp.listeners
    if returns and returns[0].kind == "value" and not call.binding.op.writes:
        listeners.compare(call)
        return
    unread = {fact.to for fact in call.binding.op.writes}
    rg = returns[0].rg if returns and returns[0].leaf else None
    if isinstance(rg, Atom) and rg.name is Predicate.TRUTH:  # an option says whether the leaf requires grad
        unread.add(call.binding.op.args[0].name)
    if returns and returns[0].kind in {"view", "self"}:
        receiver = call.binding.op.args[0].name
        for fact in returns:
            if fact.shape is not None and fact.shape.rule is ShapeRule.LIKE and fact.shape.args[0] != receiver:
                unread.add(str(fact.shape.args[0]))
            if fact.dtype is DType.OTHER:
                unread.add(fact.dtype.value)
    for name, expr in call.binding.exprs.items():
        value = None if name in unread else call.binding.value(name)
        if value is not None:
            listeners.read(call, name, expr, value)


def _become(call: Call, name: str, condition: Guard | None) -> Results:
    """Run the call as another op, and record the flag that decided it, such as `inplace=True`."""
    binding = call.binding
    forms = call.facts.forms(name)
    flag = _flag(binding, condition)
    for form in forms:
        names = [argument.name for argument in form.args]
        values = {key: value for key, value in binding.values.items() if key in names}
        if not all(key in values for key in names[:1]):
            first = binding.op.args[0].name
            values = {names[0]: binding.values[first], **values}
        exprs = dict(binding.exprs)
        if names and binding.op.args:
            exprs.setdefault(names[0], exprs.get(binding.op.args[0].name, ir.Const(None)))
        inner = Binding(
            call.state,
            form,
            default_values(form.args, values),
            frozenset(values),
            exprs,
            binding.instance,
            binding.module,
        )
        return _run(op_call.replace_call(call, inner, form.name, flag))
    return [(call.state, call.state.symbols.sym((origins.CALL, name, call.state.next_id)))]


def _flag(binding: Binding, condition: Guard | None) -> Place | None:
    """Return the expression where the argument or attribute that a guard reads was written."""
    for atom in atoms(condition):
        if not atom.name:
            value = binding.value(atom.args[0])
            if isinstance(value, Const) and value.origin is not None:
                return value.origin
    return None


def _differentiable(call: Call) -> list[tuple[Ref, Tensor]]:
    """List the operands through which a gradient of this call flows."""
    binding = call.binding
    names = binding.op.grads
    if names is None:
        names = (*binding.values, *binding.op.weights)
    found: dict[Ref, Tensor] = {}
    for name in names:
        found.update(binding.tensors(name) or recording.weights(binding, name))
    return list(lazy_view_history.catch_up(call, found).items())


def _saves(call: Call, fact: SaveFact) -> list[Save]:
    """Return the saves of one entry of the fact: none if its guard is false or the op keeps a private copy."""
    if fact.copy or call.state.modes.grad is False or call.state.modes.packed or _casts(call):
        return []
    verdict = holds(fact.condition, call.binding)
    if verdict is False:
        return []
    assumed = call.doubt | (call.binding.sentence(fact.condition) if verdict is None else frozenset())
    expr = call.binding.exprs.get(fact.of)
    kept = call.binding.tensors(fact.of)
    for ref, tensor in kept:
        if tensor.inference and recording.rg_of(call):
            writes.report(call, fact.of, ref, tensor, Failure.INFERENCE_SAVE, assumed)
    guard = fact.condition if verdict is None else None
    saves = [recording.save_of(call, tensor, fact.of, expr, assumed, guard, view=fact.view) for _, tensor in kept]
    if fact.used is not None and (used := holds(fact.used, call.binding)) is not True:
        supposed = call.binding.sentence(fact.used)
        saves = [replace(save, used=used is None, supposes=supposed) for save in saves]
    return saves if fact.checked else [replace(save, checked=False) for save in saves]


def _casts(call: Call) -> bool:
    """Check whether autocast passes copies of the operands to the op, which then saves the copies."""
    return call.state.modes.autocast is not False and call.binding.op.name in call.facts.framework.autocast


def _reread(call: Call, saves: list[Save]) -> list[Save]:
    """Return saves of the older tensors that a call reads besides `saves`, in a function that backward runs again."""
    known = {save.storage for save in saves}
    return [
        replace(
            recording.save_of(call, tensor, name, call.binding.exprs.get(name), call.doubt), checked=False, again=True
        )
        for name in call.binding.given
        for _, tensor in call.binding.tensors(name)
        if tensor.storage <= call.state.modes.rereads and tensor.storage not in known
    ]
