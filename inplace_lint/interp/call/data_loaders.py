"""
Data loaders: a loop over one asks the data set of the program for items, and joins these to batches.

    loader = DataLoader(Pairs(transform=Jitter()), batch_size=8)
    for x, y in loader: ...           # runs `Pairs.__getitem__`; `x` is a new tensor, `stack` of several items
"""

from __future__ import annotations

from collections.abc import Sequence

from inplace_lint.core.span import Place
from inplace_lint.domain import origins, traits
from inplace_lint.domain.heap import DictObject, ListObject
from inplace_lint.domain.state import State
from inplace_lint.domain.values import NONE, ClassValue, Const, Dotted, Ref, Sym, Tuple, Value
from inplace_lint.interp.frame import Arguments, Frame
from inplace_lint.interp.fuel import UNKNOWN_TURNS
from inplace_lint.interp.interpreter import Interpreter
from inplace_lint.interp.outcome import Items, Results, taken


def note(results: Results, stack: str, arguments: Arguments) -> None:
    """
    Remember the data set of a loader that was made, if its class is the program's own; `stack` joins its items.

    No gradient comes to what a loader yields.
    """
    dataset = arguments.positional[0] if arguments.positional else arguments.named("dataset")
    size = arguments.named("batch_size")
    several = isinstance(size, Const) and isinstance(size.value, int) and size.value > 1
    for state, made in results:
        if isinstance(made, Sym):
            state.set_trait(traits.NO_GRADIENT, made.id, True)
        inner = None if dataset is None else state.instance(dataset)
        if (
            isinstance(made, Sym)
            and isinstance(dataset, Ref)
            and inner is not None
            and isinstance(inner.cls, ClassValue)
        ):
            loader = traits.Loader(
                dataset, "" if size == NONE else stack, arguments.named("collate_fn") or NONE, several
            )
            state.set_trait(traits.LOADER, made.id, loader)


def yielded(interp: Interpreter, state: State, cls: Value, items: Sequence[Value]) -> None:
    """Remember that no gradient comes to what an object yields whose class derives from a framework's loaders."""
    unknown = [item for item in items if isinstance(item, Sym)]
    bases = interp.context.mro(cls) if unknown and isinstance(cls, ClassValue) else ()
    if any(isinstance(base, Dotted) and _is_loader(interp, base.name) for base in bases):
        for item in unknown:
            state.set_trait(traits.NO_GRADIENT, item.id, True)


def _is_loader(interp: Interpreter, name: str) -> bool:
    facts = interp.context.facts_of(name)
    return facts is not None and facts.canonical(name) in facts.framework.loaders


def batches(interp: Interpreter, frame: Frame, state: State, value: Value, at: int) -> Items | None:
    """Return the batches of a loader; None if its data set is unknown, or its items are no tensors of the program."""
    loader = state.trait(traits.LOADER, value.id) if isinstance(value, Sym) else None
    if loader is None:
        return None
    found: list[Value] = []
    before: tuple[Value, ...] = ()
    for turn in range(UNKNOWN_TURNS):
        items = _items(interp, frame, state, loader.dataset, at)
        if not items:
            return None
        # A batch has several items as those of two turns: each is fetched before any is copied.
        interp.listeners.collect(state, Place(frame.slice, at), items[0], before if loader.several else ())
        before = items
        found.append(_batch(interp, frame, state, loader, items, turn, at))
    return Items(tuple(found), exact=True)


def _items(interp: Interpreter, frame: Frame, state: State, dataset: Ref, at: int) -> tuple[Value, ...]:
    """Return an item of a data set. IMPRECISE: of several outcomes of its methods, the first one is followed."""
    position = state.symbols.sym((origins.TURN, dataset, 0, state.next_id), "number")
    own = interp.special_method(frame, state, dataset, "__getitem__", (position,), at)
    streamed = own is None
    if own is None:
        own = interp.special_method(frame, state, dataset, "__iter__", (), at)
    item = taken(state, own or [])
    if item is None:
        return ()
    return interp.items_of(frame, state, item, None, at).items[:1] if streamed else (item,)


def _batch(
    interp: Interpreter, frame: Frame, state: State, loader: traits.Loader, items: tuple[Value, ...], turn: int, at: int
) -> Value:
    if loader.collate != NONE:
        given = Arguments((state.new(ListObject(items, exact=False)),))
        made = taken(state, interp.call(frame, state, loader.collate, given, at))
        return made if made is not None else _unknown(state, loader, turn)
    return _joined(interp, frame, state, loader, items[0], turn, at) if loader.stack else items[0]


def _joined(
    interp: Interpreter, frame: Frame, state: State, loader: traits.Loader, item: Value, turn: int, at: int
) -> Value:
    """Return a batch of items like this one: tensors are stacked, in tuples, lists and dicts each part of its own."""

    def joined(part: Value) -> Value:
        return _joined(interp, frame, state, loader, part, turn, at)

    if isinstance(item, Tuple):
        return Tuple(tuple(joined(part) for part in item.items), item.exact)
    match state.object(item):
        case ListObject(items, exact):
            return state.new(ListObject(tuple(joined(part) for part in items), exact))
        case DictObject(items, exact):
            return state.new(DictObject({key: joined(part) for key, part in items.items()}, exact))
        case _ if state.tensor(item) is not None:
            parts = state.new(ListObject((item,), exact=False))
            made = taken(state, interp.apply_op(frame, state, loader.stack, Arguments((parts,)), at))
            return made if made is not None else _unknown(state, loader, turn)
        case _:
            return _unknown(state, loader, turn)


def _unknown(state: State, loader: traits.Loader, turn: int) -> Sym:
    return state.symbols.sym((origins.TURN, loader.dataset, turn, state.next_id))
