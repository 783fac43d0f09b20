"""
Finds calls that could write in place and would spare memory by that.

    self.act = nn.LeakyReLU()               # keeps its input for backward; with `inplace=True` its result
    return self.conv2(self.act(self.conv1(x)))      # which `conv2` keeps anyway: the result of `conv1` is spared

A call is one only if nothing else can see or need its input, on every path that was run: one that shows otherwise, or
where something is unknown, rules its place out for good. Nothing is recorded in a state, so that a run that looks for
opportunities takes the same paths as one that does not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct, field

from inplace_lint.core.event import Site, Spared, Touch
from inplace_lint.core.span import Place
from inplace_lint.domain import traits
from inplace_lint.domain.heap import Names, Tensor
from inplace_lint.domain.shape import Size
from inplace_lint.domain.state import Modes, State
from inplace_lint.domain.values import Const, NodeId, Ref, RefId, StorageId, Value
from inplace_lint.interp.checkers.alias_query import references
from inplace_lint.interp.frame import text_of
from inplace_lint.interp.transfer.shapes import of_fact
from inplace_lint.ir import next_use
from inplace_lint.ir import nodes as ir
from inplace_lint.ir.walk import walk
from inplace_lint.knowledge.guard import atoms, holds
from inplace_lint.knowledge.words import ShapeRule

if TYPE_CHECKING:
    from inplace_lint.interp.transfer.op_call import Call
    from inplace_lint.knowledge.facts import Facts
    from inplace_lint.knowledge.op import Becoming, Op

_MODES = frozenset({Modes(), Modes(grad=False), Modes(grad=False, inference=True)})
_LETTERS = {1: "N", 2: "NC", 3: "NCL", 4: "NCHW", 5: "NCDHW"}
_FAR = 8  # operations between a layer and a call that is told how many channels there are
_RULED_OUT = "something else may need the input"


class _Chance(Struct, frozen=True):
    """
    One call that could write in place: where its flag belongs, its input, its result and the size of that.

    `layer` is what made the input, which says how many channels it has. `recorded`: it is on a tape.
    """

    place: Place
    touch: Touch
    read: StorageId
    result: StorageId
    sizes: tuple[Size, ...] | None
    layer: _Layer | None
    recorded: bool


class _Layer(Struct, frozen=True):
    """How many channels the result of a layer has; and how many axes, the second of which are the channels."""

    channels: int
    axes: int | None


class Opportunities(Struct):
    """
    Collects the calls that would spare memory in place.

    `ruled_out` are the places where a write in place may do harm, and `spared` the calls that gain, one for
    a place. `chances` are the calls on the tapes of the entry point that runs, by their nodes; `unrecorded` are
    its calls that are on none. `handed` is memory that unknown code may hold, and `layers` are the layers on the tapes.
    """

    ruled_out: set[Place] = field(default_factory=set)
    spared: dict[Place, _Chance] = field(default_factory=dict)
    chances: dict[tuple[NodeId, StorageId], _Chance] = field(default_factory=dict)
    unrecorded: list[_Chance] = field(default_factory=list)
    handed: set[StorageId] = field(default_factory=set)
    layers: dict[tuple[NodeId, str], _Layer] = field(default_factory=dict)
    framework: str = ""

    def events(self) -> Iterator[Spared]:
        """
        Yield what was found, once all entry points have run.

        A place that is ruled out is reported, too, with an assumption: what another file shows of it must not count.
        """
        for place, chance in self.spared.items():
            elements, size = _size(chance.sizes, chance.layer)
            if place not in self.ruled_out:
                yield Spared(self.framework, chance.touch, frozenset(), place, size, elements, chance.recorded)
        for place in self.ruled_out:
            touch = Touch("", Site(place))
            yield Spared(self.framework, touch, frozenset({_RULED_OUT}), place, "", 0, recorded=True)

    def hand_over(self, state: State, value: Value) -> None:
        """Remember what a call of which nothing is known may keep: the memory of tensors, and modules."""
        self.handed.update(tensor.storage for _, tensor in state.tensors_in(value))
        instance = state.instance(value)
        if instance is not None and instance.made is not None:
            self.ruled_out.add(instance.made)

    def result(self, call: Call, node: NodeId | None, value: Value) -> None:
        """Add a call that has a form in place, and rule its place out where that may do harm."""
        op = call.binding.op
        layer = _layer(call) if op.state and node is not None else None
        if layer is not None and node is not None:
            self.layers[node, op.name] = layer
        becoming = next((one for one in op.becomes if _flag_of(op, one)), None)
        if becoming is None or call.flagged or not op.args:
            return
        instance = call.binding.instance
        place = instance.made if instance is not None else Place(call.frame.slice, call.at)
        if place is None:
            return
        self.framework = call.facts.framework.name
        given = call.binding.tensors(op.args[0].name)
        made = call.state.tensor(value)
        if len(given) != 1 or made is None or not self._may_write(call, becoming, place, *given[0]):
            self.ruled_out.add(place)
            return
        tensor = given[0][1]
        touch = call.touch("out0", call.binding.exprs.get(op.args[0].name), tensor)
        layer = self._layer_behind(call, tensor)
        chance = _Chance(
            place, touch, tensor.storage, made.storage, made.sizes or tensor.sizes, layer, node is not None
        )
        if node is not None:
            self.chances[node, tensor.storage] = chance
        elif call.state.modes.grad is False:
            self.unrecorded.append(chance)

    def finish(self, states: Sequence[State], cut: bool) -> None:
        """
        Look at the tapes of the paths of an entry point.

        One that was cut short can rule a place out, but shows of none that it gains: what it ran is run on its own too.
        """
        gains = list(self.unrecorded)
        for state in states:
            tape = self.chances.items()
            gains += [chance for (number, read), chance in tape if self._gains(state, number, read, chance)]
        if states and not cut:
            for chance in gains:
                before = self.spared.get(chance.place, chance)
                self.spared[chance.place] = max(before, chance, key=_rank)
        self.chances.clear()
        self.unrecorded.clear()
        self.handed.clear()
        self.layers.clear()

    def _layer_behind(self, call: Call, tensor: Tensor) -> _Layer | None:
        """Return the layer whose result has as many channels as a tensor: only elementwise operations come after it."""
        state, numbers = call.state, list(tensor.nodes)
        for _ in range(_FAR):
            number = numbers.pop(0) if numbers else None
            node = None if number is None else state.nodes.get(number)
            if number is None or node is None:
                return None
            if (number, node.op) in self.layers:
                return self.layers[number, node.op]
            shapes = [fact.shape for form in call.facts.forms(node.op) for fact in form.returns[:1]]
            if all(one is not None and one.rule in {ShapeRule.LIKE, ShapeRule.BROADCAST} for one in shapes):
                numbers.extend(node.inputs)
        return None

    def _gains(self, state: State, number: NodeId, read: StorageId, chance: _Chance) -> bool:
        """
        Rule out a call whose input or result others need as it is; say whether writing in place spares memory.

        It does if others keep its result anyway and a backward runs it: what nobody asks for a gradient of, such as a
        result that is only asked for its shape, is not kept for long.
        """
        node = state.nodes.get(number)
        if node is None or node.op != chance.touch.op or node.site != chance.touch.site:
            return False
        others = [save for other, node in state.nodes.items() if other != number for save in node.saves]
        written = state.storages[chance.result].writes or state.storages[read].writes
        if written or any(save.storage == read for save in others):
            self.ruled_out.add(chance.place)
        own = {save.storage for save in node.saves}
        kept = any(save.storage == chance.result and not save.assumptions and not save.again for save in others)
        return read in own and kept and number in state.freed

    def _may_write(self, call: Call, becoming: Becoming, place: Place, ref: Ref, tensor: Tensor) -> bool:
        """Check whether the call may write its input: certainly nothing else sees it, and nothing is unknown."""
        state = call.state
        return (
            _is_plain(call)
            and _is_own(state, tensor)
            and not _may_be_input(call.facts, tensor)
            and tensor.storage not in self.handed
            and not _has_hooks(state, ref, traits.HOOKED)
            and _spares(call, becoming)
            and _is_spelled(call, place, _flag_of(call.binding.op, becoming))
            and _is_alone(call, ref, tensor)
        )


def _has_hooks(state: State, ref: Ref, trait: traits.Trait[RefId, tuple[Ref, ...]]) -> bool:
    handles: tuple[Ref, ...] = state.trait(trait, ref.id) or ()
    return bool(handles)


def _flag_of(op: Op, becoming: Becoming) -> str:
    """Return the name of the option, off by default, that makes a call write; empty if there is none."""
    off = {option.name for option in (*(op.init or ()), *op.args) if option.optional and option.default is False}
    return next((atom.args[0] for atom in atoms(becoming.condition) if not atom.name and atom.args[0] in off), "")


def _is_plain(call: Call) -> bool:
    """Check that no mode changes what the call does, no hook sees its input, and nothing had to be assumed."""
    state, module = call.state, call.binding.module
    hooked = module is not None and any(
        _has_hooks(state, module, trait) for trait in (traits.HOOKS_BEFORE, traits.HOOKS_AFTER)
    )
    return state.modes in _MODES and not (hooked or state.assumptions or call.doubt)


def _is_own(state: State, tensor: Tensor) -> bool:
    """Check that a tensor is a new one with memory of its own, and certainly recorded if anything is."""
    if tensor.made is None or tensor.base is not None or tensor.view is not None or tensor.doubt:
        return False
    counted = tensor.counted or tensor.inference
    if tensor.param or tensor.batched or not (tensor.sure and counted) or tensor.grad is not None:
        return False
    shared = sum(isinstance(other, Tensor) and other.storage == tensor.storage for other in state.heap.values())
    return shared == 1 and (tensor.has_history or state.modes.grad is False)


def _may_be_input(facts: Facts, tensor: Tensor) -> bool:
    """Check whether the call that made a tensor returns its own input elsewhere, as `Dropout` does in evaluation."""
    forms = facts.forms(tensor.made.op) if tensor.made is not None else ()
    given = {one.name for form in forms for one in form.args if not one.optional}
    return any(fact.kind in given for form in forms for fact in form.returns)


def _spares(call: Call, becoming: Becoming) -> bool:
    """Check that the call in place keeps no copy of its input, and keeps its input itself in neither form."""
    forms, name = call.facts.forms(becoming.op), call.binding.op.args[0].name
    if len(forms) != 1 or not _writes_only(forms[0]):
        return False
    return call.state.modes.grad is False or (_keeps(call, name, forms[0]) and _is_monotone(call))


def _writes_only(form: Op) -> bool:
    return [fact.to for fact in form.writes] == [form.args[0].name] and not form.becomes


def _keeps(call: Call, name: str, form: Op) -> bool:
    """Check that a call keeps its input, and that its form in place keeps only its result."""
    kept = [save for save in call.binding.op.saves if holds(save.condition, call.binding) is not False]
    return any(save.of == name and not save.copy for save in kept) and {save.of for save in form.saves} == {"out0"}


def _is_monotone(call: Call) -> bool:
    """
    Check that all numbers that the call is given are known and not negative.

    What keeps its result computes the derivative from it. With a negative slope, two inputs have one result.
    """
    binding = call.binding
    for option in (*(binding.op.init or ()), *binding.op.args[1:]):
        value = binding.value(option.name) or Const(option.default)
        if not isinstance(value, Const) or (isinstance(value.value, int | float) and value.value < 0):
            return False
    return True


def _is_spelled(call: Call, place: Place, flag: str) -> bool:
    """Check that the call at a place names the op and leaves the flag alone, so that it can be set there."""
    found = _call_at(call, place)
    if found is None or text_of(found.func).rpartition(".")[2] != call.name.rpartition(".")[2]:
        return False
    if any(isinstance(value, ir.Starred) for value in found.args):
        return False
    options = call.binding.op.init if call.binding.instance is not None else call.binding.op.args
    before = [option.name for option in options or ()]
    passed = len(found.args) + (call.name.startswith(call.facts.framework.tensor + "."))
    by_position = flag in before and before.index(flag) < passed
    return not by_position and all(word.name not in {None, flag} for word in found.keywords)


def _call_at(call: Call, place: Place) -> ir.Call | None:
    code = call.interp.context.code(place.slice)
    return next((node for node in walk(code.body) if isinstance(node, ir.Call) and node.at == place.at), None)


def _is_alone(call: Call, ref: Ref, tensor: Tensor) -> bool:
    """
    Check that the input was made in this function, and that only variables which are not read again hold it.

    A module of a container runs where the function calls the container.
    """
    state, frame = call.state, call.frame
    if tensor.storage <= frame.env.id:
        return False
    closure, scope = frame.closure, state.heap[frame.env.id]
    held = references(state, frame, ref, tensor)
    if not held:
        return True
    if closure is None or not isinstance(scope, Names):
        return False
    at = frame.caller.place.at if frame.built and frame.caller is not None else call.at
    body = closure.function.body
    return not closure.function.is_generator and all(
        name in scope.values and next_use.dies(body, at, name) for name in held
    )


def _rank(chance: _Chance) -> tuple[bool, int]:
    """Return what orders the calls of a place: the last is shown, which is recorded and has the most elements."""
    return chance.recorded, _size(chance.sizes, chance.layer)[0]


def _layer(call: Call) -> _Layer | None:
    """Return what the parameters of a layer say of its result: its bias, if it had one, is one number for a channel."""
    parts = {part.name: of_fact(call.binding, part.shape) for part in call.binding.op.state}
    bias, weight = parts.get("bias"), parts.get("weight")
    if bias is None or len(bias) != 1 or not isinstance(bias[0], int):
        return None
    return _Layer(bias[0], len(weight) if weight is not None and len(weight) > 2 else None)  # noqa: PLR2004 - a kernel


def _size(sizes: tuple[Size, ...] | None, layer: _Layer | None) -> tuple[int, str]:
    """Return the known factors of a number of elements, and the sizes in words: letters for those that are unknown."""
    if sizes is None and layer is not None and layer.axes is None:
        return layer.channels, f"{layer.channels} x ..."
    if sizes is None and layer is not None:
        sizes = (None,) * (layer.axes or 0)
    if sizes is None:
        return 1, ""
    if layer is not None and layer.axes == len(sizes):
        sizes = (sizes[0], layer.channels, *sizes[2:])
    known = 1
    for size in sizes:
        known *= size if isinstance(size, int) else 1
    letters = _LETTERS.get(len(sizes), "?" * len(sizes))
    words = [str(size) if isinstance(size, int) else letter for size, letter in zip(sizes, letters, strict=True)]
    return known, " x ".join(words)
