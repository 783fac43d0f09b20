"""
What a path knows, as text for people: `inplace-lint check FILE --dump-state LINE`, and `reveal(x)` in our examples.

    h = torch.exp(w)
    h += 1
    reveal(h)          # tensor: requires grad, no leaf, version 1, made by __iadd__
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from inplace_lint.core.event import Touch
from inplace_lint.domain.heap import DictObject, Instance, ListObject, Names, Node, Tensor
from inplace_lint.domain.origins import NONE, Origin
from inplace_lint.domain.state import State
from inplace_lint.domain.values import (
    Bound,
    Builtin,
    ClassValue,
    Closure,
    Const,
    Dotted,
    ModuleValue,
    Partial,
    Ref,
    RefId,
    Sym,
    SymId,
    Tuple,
    Value,
)
from inplace_lint.interp.frame import Frame
from inplace_lint.ir import nodes as ir

_DEEPEST = 3


def of_value(state: State, value: Value, depth: int = 0) -> str:
    """Return a value in one line; what it holds is shown down to a depth."""
    tensor = state.tensor(value)
    if tensor is not None:
        return "tensor" if depth else f"tensor: {', '.join(_of_tensor(state, tensor))}"
    match value:
        case Const(constant):
            return repr(constant)
        case Sym(number, kind):
            return f"unknown{' ' if kind else ''}{kind}: {_key(state, state.symbols.keys[number])}"
        case Tuple(items, exact):
            return f"({_held(state, items, exact, depth)})"
        case Closure(function):
            return f"function {function.qualname}"
        case ClassValue(name):
            return f"class {name}"
        case Dotted(name) | Builtin(name) | ModuleValue(name):
            return name
        case Bound(_, function):
            return f"method of {of_value(state, function, depth)}"
        case Partial(function):
            return f"partial of {of_value(state, function, depth)}"
        case _:
            return _of_object(state, value, depth)


def _of_object(state: State, value: Value, depth: int) -> str:
    match state.object(value):
        case ListObject(items, exact, kind):
            return f"{kind} [{_held(state, items, exact, depth)}]"
        case DictObject(mapping, exact):
            return f"dict {{{_named(state, mapping, exact, depth)}}}"
        case Instance(cls, attrs, opaque):
            return f"{cls.name.rpartition('.')[2]}({_named(state, attrs, not opaque, depth)})"
        case _:
            return type(value).__name__.lower()


def _held(state: State, items: Iterable[Value], exact: bool, depth: int) -> str:
    shown = (of_value(state, item, depth + 1) for item in items) if depth < _DEEPEST else iter(("...",))
    return "; ".join([*shown, *([] if exact else ["..."])])


def _named(state: State, items: Mapping[str, Value] | Mapping[object, Value], exact: bool, depth: int) -> str:
    if depth >= _DEEPEST:
        return "..."
    names = (of_value(state, name, depth + 1) if isinstance(name, Sym) else name for name in items)
    shown = (f"{name}: {of_value(state, item, depth + 1)}" for name, item in zip(names, items.values(), strict=True))
    return "; ".join([*shown, *([] if exact else ["..."])])


def _of_tensor(state: State, tensor: Tensor) -> Iterator[str]:
    storage = state.storages[tensor.storage]
    yield {True: "requires grad", False: "no grad", None: "may require grad"}[tensor.rg]
    yield {True: "leaf", False: "no leaf", None: "may be a leaf"}[tensor.leaf]
    if tensor.param:
        yield "parameter"
    if tensor.view is not None:
        yield f"view ({tensor.view.value})"
    yield f"version {storage.version}"
    if len(storage.writes) != storage.version:
        yield f"writes {len(storage.writes)}"
    if tensor.made is not None:
        yield f"made by {tensor.made.op.rpartition('.')[2]}"


def of_state(state: State, frame: Frame) -> list[str]:
    """Return the lines that say what a path knows where a frame is about to run a statement."""
    scope = state.heap[frame.env.id]
    values = scope.values if isinstance(scope, Names) else {}
    tensors = {number: thing for number, thing in state.heap.items() if isinstance(thing, Tensor)}
    modes = ", ".join(f"{name}={getattr(state.modes, name)}" for name in ("grad", "inference", "autocast", "compiled"))
    parts = {
        "variables": [f"{name} = {_numbered(state, value)}" for name, value in values.items()],
        "tensors": [_tensor_line(state, number, tensor) for number, tensor in tensors.items()],
        "storages": [
            f"{number}: version {storage.version}{''.join(f', {_touch(write.touch)}' for write in storage.writes)}"
            for number, storage in state.storages.items()
        ],
        "tape": [_node_line(number, node, number in state.freed) for number, node in state.nodes.items()],
        "conditions": [f"{_key(state, key)} is {side.value}" for key, side in state.facts.items()],
        "assumptions": sorted(state.assumptions),
        "modes": [modes],
    }
    return [line for title, lines in parts.items() if lines for line in (title, *(f"  {line}" for line in lines))]


def _numbered(state: State, value: Value) -> str:
    """Return a value in one line, with its number in the heap."""
    ref = state.ref(value)
    return f"{'' if ref is None else f'#{ref.id} '}{of_value(state, value)}"


def _tensor_line(state: State, number: RefId, tensor: Tensor) -> str:
    base = f", view of #{tensor.base.id}" if tensor.base is not None else ""
    nodes = f", nodes {', '.join(map(str, tensor.nodes))}" if tensor.nodes else ""
    why = f", to be assumed: {tensor.why}" if tensor.rg is None and tensor.why else ""
    return f"#{number}: storage {tensor.storage}, {', '.join(_of_tensor(state, tensor))}{base}{nodes}{why}"


def _node_line(number: int, node: Node, freed: bool) -> str:
    saves = "".join(f", saves {_touch(save.touch)} at version {save.version}" for save in node.saves)
    inputs = f", of {', '.join(map(str, node.inputs))}" if node.inputs else ""
    return f"{number}: {node.op.rpartition('.')[2] or 'unknown call'}{inputs}{saves}{', freed' if freed else ''}"


def _touch(touch: Touch) -> str:
    """Return an access as its op and the tensor, spelled as in the program or by its part."""
    return f"{touch.op.rpartition('.')[2]} of {touch.symbol or touch.part}"


def _key(state: State, key: object) -> str:
    """Return how an unknown or a condition came about, without the numbers of objects and moments."""
    match key:
        case Origin():
            return key.name
        case Const(constant):
            return repr(constant)
        case Sym(number) | int(number):
            return f"({_key(state, state.symbols.keys[number])})"
        case (Origin() as origin, int(number), *items) if origin.by_number or origin is NONE:
            return _key(state, (origin, Sym(SymId(number)), *items))
        case Dotted(name) | Builtin(name) | Closure(ir.Function(name)) | str(name):
            return name
        case (Origin(name=name), *items):
            parts = (_key(state, part) for part in items if not isinstance(part, int))
            return " ".join(filter(None, (name, *parts)))
        case Ref(number):
            return f"#{number}"
        case Tuple(items):
            return " ".join(filter(None, (_key(state, part) for part in items)))
        case _:
            return ""
