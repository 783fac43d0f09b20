"""What calls of the modules of a library return, seen by running the analyzer on its sources."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from msgspec.structs import replace

from inplace_lint.core.runtime_limits import call_deep
from inplace_lint.domain import origins, tape, unknown_history
from inplace_lint.domain.heap import DictObject, Instance, ListObject, Tensor
from inplace_lint.domain.state import State
from inplace_lint.domain.values import ClassValue, Closure, Const, NodeId, Ref, Sym, Tuple, Value
from inplace_lint.effects.summary import Definition, all_run, outline
from inplace_lint.interp import entry_points
from inplace_lint.interp.assembly import TapeInterpreter
from inplace_lint.interp.context import Context
from inplace_lint.knowledge import facts
from inplace_lint.workspace.import_graph import project
from inplace_lint.workspace.module import Module
from inplace_lint.workspace.module_store import Project
from inplace_lint.workspace.places import Disk

_DEEPEST = 5
_NO_TENSORS = frozenset({"number", "text", "bool", "size"})
_WHOLE = frozenset({"int", "bool"})


@dataclass
class Class:
    """
    What was seen of a class: whether each run of its `forward` returned what parameters train; None without one.

    `bases` are the last words of its bases, of those of the library with the same name all. `parts` are its
    attributes that are modules, with whether those had trained parameters in each run, and `inside` the classes of the
    library that these are of, or that are in these containers.
    """

    trained: bool | None = None
    runs_own: bool = False
    parts: dict[str, bool] = field(default_factory=dict)
    inside: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    bases: set[str] = field(default_factory=set)


def layers(folder: Path, framework: str, only: Sequence[str]) -> tuple[list[str], list[str]]:
    """
    Return the names of the layers of a package, or of these folders and files in it, and of attributes that are layers.

    These are such in all classes that have them.
    """
    found: dict[str, Class] = defaultdict(Class)
    tables = {framework: facts.tables(framework)}
    calls = tables[framework].framework.calls
    packages = tables[framework].framework.packages
    read = project(folder.parent.as_posix(), packages, Disk({}))
    for path in sorted(folder.rglob("*.py")):
        inside = path.relative_to(folder).as_posix()
        if inside.startswith(tuple(only) or "") and "tests/" not in f"/{inside}":
            _run(path, read, tables, calls, found)
    held: dict[str, bool] = {}
    for known in list(found.values()):
        for name, trained in known.parts.items():
            hands_on = all(_is_layer(found, one, set()) for one in known.inside[name])
            held[name] = trained and hands_on and held.get(name, True)
    listed = sorted(name for name in found if _is_layer(found, name, set()))
    return listed, sorted(name for name, trained in held.items() if trained and not name.startswith("_"))


def _is_layer(found: Mapping[str, Class], name: str, seen: set[str]) -> bool:
    known = found.get(name)
    if known is None or name in seen:
        return False
    if known.runs_own or known.trained is not None:
        return known.trained is True
    return any(_is_layer(found, base, seen | {name}) for base in known.bases)


def _run(path: Path, read: Project, tables: Mapping[str, facts.Facts], calls: str, found: dict[str, Class]) -> None:
    """Run the classes of a file; of one that cannot be read nothing is known."""
    try:
        source = path.read_text(encoding="utf-8")
        outlined = outline(path.as_posix(), source, next(iter(tables.values())).framework.packages)
    except (SyntaxError, UnicodeDecodeError):
        return
    classes = {item.slice: item for item in outlined.items if item.kind == "class"}
    for item in classes.values():
        _note(found[item.name], item, calls)
    if not outlined.mentions:
        return
    context = Context(Module(path.as_posix(), source, all_run(outlined)), dict(tables), read)
    interp = TapeInterpreter(context)

    def give_back(state: State, value: Value) -> None:
        item = classes.get(context.coverage.root) if context.coverage.root is not None else None
        if item is not None and context.coverage.method == calls and isinstance(value, Tuple):
            known = found[item.name]
            trained = _is_trained(state, value.items[0])
            known.trained = known.trained if trained is None else trained and known.trained is not False
            _note_parts(state, value.items[1], known)

    interp.listeners = replace(interp.listeners, give_back=give_back)
    call_deep(lambda: entry_points.run_all(interp))


def _note(known: Class, item: Definition, calls: str) -> None:
    known.runs_own = known.runs_own or any(method.name == calls for method in item.methods)
    known.bases.update(base.rpartition(".")[2] for base in item.bases)


def _is_trained(state: State, value: Value) -> bool | None:
    """Check whether all tensors that a call returned lead back to parameters that require grad; None without one."""
    kinds = {_leads_back(state, part) for part in _parts(state, value, 0)} - {None}
    return False not in kinds if kinds else None


def _leads_back(state: State, value: Value) -> bool | None:
    """Check whether a value does; None for what is no tensor with a gradient, and for what was not run to its end."""
    tensor = state.tensor(value)
    if tensor is None:
        if isinstance(value, Const) or (isinstance(value, Sym) and value.kind in _NO_TENSORS):
            return None
        match state.symbols.key(value) if isinstance(value, Sym) else None:
            case (origins.RESULT, Closure(), *_):
                return None
            case _:
                pass
        return isinstance(value, Sym) and _reaches(state, unknown_history.nodes_behind(state, value))
    return None if tensor.dtype in _WHOLE else _reaches(state, tensor.nodes)


def _parts(state: State, value: Value, depth: int) -> Iterator[Value]:
    """Yield what is in a result, in its tuples, lists, dicts and attributes."""
    inner = state.object(value) if isinstance(value, Ref) and state.tensor(value) is None else None
    held: Sequence[Value] | None = None
    if isinstance(value, Tuple):
        held = value.items
    elif isinstance(inner, ListObject):
        held = inner.items
    elif isinstance(inner, DictObject):
        held = tuple(inner.items.values())
    elif isinstance(inner, Instance):
        held = tuple(inner.attrs.values())
    if held is None or depth > _DEEPEST:
        yield value
        return
    for part in held:
        yield from _parts(state, part, depth + 1)


def _note_parts(state: State, value: Value, known: Class) -> None:
    """Record what the attributes of an object are that are modules."""
    receiver = state.instance(value)
    for name, part in receiver.attrs.items() if receiver is not None else ():
        if state.instance(part) is not None:
            known.parts[name] = _has_parameters(state, part, 0) and known.parts.get(name, True)
            known.inside[name].update(_classes(state, part, 0))


def _classes(state: State, value: Value, depth: int) -> Iterator[str]:
    """Yield the name of the class of the library that a module is of; of a container those of its items."""
    inner = state.instance(value)
    if inner is None or depth > _DEEPEST:
        return
    if isinstance(inner.cls, ClassValue):
        yield inner.cls.name
    for item in _items(state, inner):
        yield from _classes(state, item, depth + 1)


def _items(state: State, module: Instance) -> Sequence[Value]:
    listed = state.object(module.children) if module.children is not None else None
    items = listed.items if isinstance(listed, ListObject) else ()
    return tuple(listed.items.values()) if isinstance(listed, DictObject) else items


def _has_parameters(state: State, value: Value, depth: int) -> bool:
    """Check whether a module has parameters that are trained, in itself or in its parts."""
    tensor, inner = state.tensor(value), state.instance(value)
    if tensor is not None or inner is None:
        return tensor is not None and tensor.param and tensor.rg is True
    parts = (*inner.attrs.values(), *_items(state, inner))
    return depth <= _DEEPEST and any(_has_parameters(state, part, depth + 1) for part in parts)


def _reaches(state: State, nodes: Iterable[NodeId]) -> bool:
    """Check whether a history leads back to a parameter that requires grad, by whatever way."""
    leaves = (state.heap.get(leaf) for number in tape.reachable(state, nodes) for leaf in state.nodes[number].leaves)
    return any(isinstance(leaf, Tensor) and leaf.param and leaf.rg is True for leaf in leaves)
