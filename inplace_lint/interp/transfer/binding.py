"""Binding of the arguments of a framework call to the argument names of a fact, and evaluation of the fact's guards."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from inplace_lint.domain import origins, rearrangement, traits, unknown_history
from inplace_lint.domain.heap import Instance, ListObject, Tensor
from inplace_lint.domain.state import State
from inplace_lint.domain.values import NONE, NOT_TENSORS, Const, Dotted, Ref, Sym, Three, Tuple, Value
from inplace_lint.interp.control import path_condition
from inplace_lint.interp.frame import Arguments, text_of
from inplace_lint.interp.intrinsics import opaque_modules
from inplace_lint.interp.transfer import layouts, shapes
from inplace_lint.interp.transfer.index import is_basic_index, is_dense, is_list, takes_all
from inplace_lint.interp.transfer.tensor_types import conversions, devices, dtypes
from inplace_lint.ir import nodes as ir
from inplace_lint.knowledge.argument import Argument
from inplace_lint.knowledge.guard import Atom, Guard, atoms, holds
from inplace_lint.knowledge.op import Op
from inplace_lint.knowledge.words import Predicate

ORIGINAL = "parametrizations.{}.original"  # the name of the parameter that another one is computed from on each read
_A_RATE = 0.5
_NUMBERS = frozenset({int, float})
_UNLIKE_TEXTS = frozenset({Sym, Tuple, ListObject})


class Binding(Struct):
    """
    A call bound to one form of an op: the environment in which the guards of the form are evaluated.

    `given` are the arguments that were passed; `values` also has the defaults. `instance` is the module, if any.
    `rates` are the numbers and flags, by their names, that guards were asked about and that other arguments may change.
    """

    state: State
    op: Op
    values: dict[str, Value]
    given: frozenset[str]
    exprs: Mapping[str, ir.Expr]
    instance: Instance | None = None
    module: Ref | None = None
    rates: dict[str, Const] = field(default_factory=dict)

    def value(self, name: str) -> Value | None:
        """Return an argument, or an attribute of the module (`self.weight`, or just `inplace`)."""
        found = self.values.get(name)
        if found is None and self.instance is not None:
            return next(iter(self._attributes(self.instance, name.removeprefix("self."))), None)
        return found

    def _attributes(self, instance: Instance, name: str) -> list[Value]:
        """Return what a module has at a path, in which `each` stands for each part of a container."""
        head, *rest = name.split(".")
        found = [instance.attrs[key] for key in (head, ORIGINAL.format(head)) if key in instance.attrs][:1]
        for part in rest:
            inner = [one for value in found if (one := self.state.instance(value)) is not None]
            lists = [self.state.object(one.children) for one in inner if one.children is not None and part == "each"]
            found = [one.attrs[part] for one in inner if part in one.attrs]
            found += [item for one in lists if isinstance(one, ListObject) for item in one.items]
        return found

    def truth(self, atom: Atom) -> Three:
        """Evaluate an atom of a guard in this call."""
        if not atom.name:
            return self._plain(atom.args[0])
        answer = _ATOMS.get(atom.name)
        return None if answer is None else answer(self, *atom.args)

    def _plain(self, name: str) -> Three:
        if name == "train":
            name = "training"
        if name == "autocast":
            return self.state.modes.autocast is not False
        value = self.value(name)
        if type(value) is Const:
            if value.value is False and value.source is not None:
                self.rates[name] = value
        elif value is not None and self.state.tensor(value) is not None:
            return True  # the module has this parameter
        return False if value is None else path_condition.truth(self.state, value)

    def compare(self, atom: Atom, op: str, constant: object) -> Three:
        """Compare an argument, an attribute, or the rank of a tensor with a constant."""
        if atom.name == "ndim":
            tensor = self.tensor(atom.args[0])
            return None if tensor is None or tensor.rank is None else _compared(op, tensor.rank, constant)
        value = self.value(atom.args[0])
        if value is not None and op in {"==", "!="} and type(self.state.object(value) or value) in _UNLIKE_TEXTS:
            differs = self._differs(atom.args[0], value, constant)
            if differs is not None:
                return differs is (op == "!=")
        match value:
            case None:
                found: object = None
            case Const():
                found = value.value
                if value.source is not None and found == constant == 0:
                    self.rates[atom.args[0]] = value
            case Dotted() if isinstance(constant, str):
                found = value.name.rpartition(".")[2]  # `paddle.float32` is "float32"
            case Tuple(items, True) if all(isinstance(item, Const) for item in items):
                found = tuple(item.value for item in items if isinstance(item, Const))
            case _:
                return None
        return _compared(op, found, constant)

    def may_write_at_a_rate(self) -> bool:
        """Check whether the call writes nothing for the only reason that a rate is 0, or a flag like `inplace` off."""
        other = replace(self, values={**self.values, **dict.fromkeys(self.rates, Const(_A_RATE))}, rates={})
        conditions = [fact.condition for fact in self.op.becomes] + [fact.condition for fact in self.op.writes]
        return any(holds(one, self) is False and holds(one, other) is not False for one in conditions)

    def _differs(self, name: str, value: Value, constant: object) -> bool | None:
        """
        Check whether an argument differs from a constant; None if that is unknown.

        Unless it is known, an unknown number is assumed to differ on this path. An argument that is a number by default
        is taken for one: that it is a text, as `padding="same"`, is the exception.
        """
        if not isinstance(value, Sym):
            return True if isinstance(constant, str) else None
        if type(constant) not in _NUMBERS:
            declared = (*self.op.args, *(self.op.init or ()))
            if not any(one.name == name and type(one.default) in _NUMBERS for one in declared):
                return None
        same = self.state.symbols.sym((origins.COMPARE, "==", value, Const(constant))).id
        if self.state.truth(same) is None:
            self.state.learn(same, side=False)
        return not self.state.truth(same)

    def tensor(self, name: str) -> Tensor | None:
        """Return the tensor that an argument is; None if it is none."""
        value = self.value(name)
        return None if value is None else self.state.tensor(value)

    def tensors(self, name: str) -> list[tuple[Ref, Tensor]]:
        """List the tensors of an argument, those in a tuple or list included."""
        if ".each." in name and self.instance is not None:
            values = self._attributes(self.instance, name.removeprefix("self."))
            return [found for value in values for found in self.state.tensors_in(value)]
        value = self.value(name)
        return [] if value is None or type(value) is Const else self.state.tensors_in(value)

    def sentence(self, guard: Guard | None) -> frozenset[str]:
        """Return the assumptions, as phrases, that an unknown guard depends on."""
        found: set[str] = set()
        for atom in atoms(guard):
            if holds(atom, self) is None:
                found.add(self._sentence(atom))
        return frozenset(found)

    def taken(self, guard: Guard | None) -> frozenset[str]:
        """Return the assumptions, as phrases, that operands of which only that is unknown are tensors, not numbers."""
        found: set[str] = set()
        for atom in atoms(guard):
            value = self.value(atom.args[0]) if atom.name == "tensor" else None
            if type(value) is Sym and not _is_shown(self.state, value):
                sentence = f"`{text_of(self.exprs.get(atom.args[0])) or atom.args[0]}` is a tensor"
                self.state.set_trait(traits.TAKEN_FOR_TENSOR, sentence, value.id)
                found.add(sentence)
        return frozenset(found)

    def _sentence(self, atom: Atom) -> str:
        tensor = self.tensor(atom.args[0])
        subject = text_of(self.exprs.get(atom.args[0])) or atom.args[0]
        if atom.name == "rg":
            return tensor.why if tensor is not None and tensor.why else f"`{subject}` requires grad"
        if atom.name == "rows" and len(atom.args) > 1:
            return f"the batch is not the first axis of `{subject}`"
        if atom.name in {"contiguous", "dense", "rows", "views", "kept_by_einsum", "kept_by_matmul"}:
            return f"`{subject}` is contiguous in memory"
        if atom.name == "basic":
            return "the index is made of numbers and slices"
        if atom.name in {"float", "int", "bool"}:
            return f"`{subject}` has a {atom.name} dtype"
        if atom.name == "centred":
            return "the kernel has an odd size, so that padding makes no copy"
        return f"`{atom.args[0]}` is set"


def _compared(op: str, found: object, constant: object) -> Three:
    try:
        return bool(_COMPARE[op](found, constant))
    except TypeError:
        return None


def _rg(call: Binding, name: str) -> Three:
    answers = [tensor.rg for _, tensor in call.tensors(name)]
    value = call.value(name)
    if isinstance(value, Sym) and not answers:
        return False if value.kind in NOT_TENSORS else None
    if isinstance(value, Sym) and None in answers and _is_data(call, name, value):
        return False
    return True if True in answers else None if None in answers else False


def _is_data(call: Binding, name: str, value: Sym) -> bool:
    """Check whether an operand is an item of an unknown value and has no known history: a scale, a field of a batch."""
    nodes = (call.state.nodes[node] for _, tensor in call.tensors(name) for node in tensor.nodes)
    return _is_part(call.state, value) and all(node.passes for node in nodes)


def _is_part(state: State, value: object) -> bool:
    key = state.symbols.key(value) if isinstance(value, Sym) else None
    match key:
        case (origins.ITEM, *_):
            return True
        case (origins.TURN, Sym(_, "number"), *_):
            return True
        case (origins.BINARY, _, left, right):
            return _is_part(state, left) and _is_part(state, right)
        case _:
            return isinstance(value, Const) or (isinstance(value, Sym) and value.kind == "number")


def _passed(call: Binding, name: str) -> Three:
    if name not in call.given:
        return False
    value = call.values.get(name, NONE)
    if isinstance(value, Sym):
        known = path_condition.truth(call.state, path_condition.is_none(call.state, value))
        return None if known is None and not value.kind else not known
    return value != NONE


def _same(call: Binding, one: str, other: str) -> Three:
    left, right = call.tensor(one), call.tensor(other)
    return left is not None and right is not None and left.storage == right.storage


def _dense(call: Binding, name: str) -> Three:
    tensor = call.tensor(name)
    return True if tensor is None else is_dense(tensor)


def _dtype(kind: str) -> Callable[[Binding, str], Three]:
    def check(call: Binding, name: str) -> Three:
        tensor = call.tensor(name)
        if tensor is None:
            found = dtypes.of_literal(call.state, call.value(name))
            return None if found is None else found == kind
        return None if tensor.dtype == "unknown" else tensor.dtype == kind

    return check


def _tensor(call: Binding, name: str) -> Three:
    value = call.value(name)
    if value is None:
        return False
    if call.state.tensor(value) is not None:
        return True
    if isinstance(value, Sym) and value.kind not in NOT_TENSORS:
        known = value.kind == "tensor" or opaque_modules.is_output(call.state, value)
        return True if known or _is_result_of_tensors(call.state, value) else None
    return False


def _is_result_of_tensors(state: State, value: Sym) -> bool:
    """Check whether what may be a module was called on tensors, and returned an unknown value or several with it."""
    key = state.symbols.keys[value.id]
    whole = key[1] if isinstance(key, tuple) and key[0] is origins.ITEM else value
    called = state.trait(traits.CALLED, whole.id) if isinstance(whole, Sym) else None
    return called is not None and any(state.tensor(one) is not None for one in called.given)


def _is_shown(state: State, value: Sym) -> bool:
    """Check whether an unknown value certainly is a tensor: it is used, annotated or computed as one."""
    known = value.kind == "tensor" or state.has_trait(traits.IS_TENSOR, value.id)
    return known or bool(unknown_history.nodes_behind(state, value))


def _basic(call: Binding, name: str) -> Three:
    value = call.value(name)
    if value is not None and is_list(call.state, value):
        return False
    return None if value is None else is_basic_index(call.state, value)


def _of_value(test: Callable[[Value | None], Three]) -> Callable[[Binding, str], Three]:
    return lambda call, name: test(call.value(name))


_ATOMS: dict[str, Callable[..., Three]] = {
    "rg": _rg,
    "passed": _passed,
    "same": _same,
    "contiguous": lambda call, name: None if (tensor := call.tensor(name)) is None else tensor.contiguous,
    "views": layouts.views,
    "keeps": conversions.keeps,
    "kept_by_einsum": layouts.kept_by_einsum,
    "kept_by_matmul": layouts.kept_by_matmul,
    "centred": shapes.centred,
    "rows": layouts.rows,
    "matrix": lambda call, name: call.compare(Atom(Predicate.NDIM, (name,)), "==", 2) is True,
    "sums": _of_value(rearrangement.sums),
    "permutes": _of_value(rearrangement.permutes),
    "turns": _of_value(rearrangement.turns),
    "dense": _dense,
    "float": _dtype("float"),
    "int": _dtype("int"),
    "bool": _dtype("bool"),
    "tensor": _tensor,
    "basic": _basic,
    "whole": _of_value(lambda value: value is not None and takes_all(value)),
    "dtype": _of_value(lambda value: value is not None and any(map(dtypes.named, devices.flat([value])))),
}
_COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
}


class _Signature(Struct, frozen=True):
    """
    The arguments of an op by what binding asks for: those by position, all with a name, those that must be passed.

    `defaults` are the values of those that may be left out. `params` is what it was made of.
    """

    params: tuple[Argument, ...]
    plain: tuple[str, ...]
    known: frozenset[str]
    open_ended: bool
    required: frozenset[str]
    defaults: tuple[tuple[str, Const], ...]


_SIGNATURES: dict[int, _Signature] = {}


def _signature(params: tuple[Argument, ...]) -> _Signature:
    """Return the signature of an op, which is made once."""
    found = _SIGNATURES.get(id(params))
    if found is None:
        plain = [param for param in params if param.kind == "plain"]
        found = _SIGNATURES[id(params)] = _Signature(
            params,
            tuple(param.name for param in plain),
            frozenset(param.name for param in params if param.kind in {"plain", "keyword"}),
            any(param.kind == "kwargs" for param in params),
            frozenset(param.name for param in plain if not param.optional),
            tuple((param.name, Const(param.default)) for param in params if param.optional),
        )
    return found


def bind(params: tuple[Argument, ...], arguments: Arguments) -> tuple[dict[str, Value], dict[str, ir.Expr]] | None:
    """Return the arguments by name, with their expressions; None if they do not fit."""
    values: dict[str, Value] = {}
    exprs: dict[str, ir.Expr] = {}
    signature = _signature(params)
    plain = signature.plain
    for position, value in enumerate(arguments.positional):
        if position < len(plain):
            name = plain[position]
            values[name] = value
            if position in arguments.exprs:
                exprs[name] = arguments.exprs[position]
        elif not _spread(params, arguments, position, values):
            return None
    for name, value in arguments.keywords:
        if name in values or (name not in signature.known and not signature.open_ended):
            return None
        values[name] = value
        if name in arguments.exprs:
            exprs[name] = arguments.exprs[name]
    if arguments.unknown:
        _spread(params, arguments, len(arguments.positional), values)  # `x.reshape(*sizes)` has some, not none
    elif not signature.required <= values.keys():
        return None
    return values, exprs


def _spread(params: tuple[Argument, ...], arguments: Arguments, position: int, values: dict[str, Value]) -> bool:
    for param in params:
        if param.kind == "args":
            values.setdefault(param.name, Tuple(arguments.positional[position:], exact=not arguments.unknown))
            return True
    return False


def default_values(params: tuple[Argument, ...], values: dict[str, Value]) -> dict[str, Value]:
    """Add the defaults of the arguments that were not passed."""
    full = dict(values)
    for name, default in _signature(params).defaults:
        full.setdefault(name, default)
    return full
