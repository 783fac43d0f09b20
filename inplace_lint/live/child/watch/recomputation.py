"""
Watching functions that backward runs again, on what is in their storages then.

    y = checkpoint(lambda t: t * scale, x)   # the first run; `scale` is read from outside
    scale.mul_(10)
    y.sum().backward()                       # the second run, on another `scale`: other gradients

While such a function runs first, what it reads from outside is recorded as if it were saved. When it runs again, and
some of that was written since, the calls that use it are followed: once a value that comes from it is saved for
backward, the gradients are those of another function. What the function sets anew before it reads it is not a value
from outside.
"""

from __future__ import annotations

import abc
import contextlib
import functools
import importlib
from typing import Any, Callable, ClassVar, Dict, Iterator, List, NamedTuple, Optional, Sequence, Set, Tuple, Union

from .ledger import Save, Write
from .patches import Patches

_Origin = Tuple[Save, str, Write]


class First:
    """
    The first run of a function.

    `reads` are what it read from outside, by storage, each with the op that did; `own` are storages that are not from
    outside. `stale` is what had changed by then already, where a function around it runs again. `packed` counts what it
    saved, in place of which backward gets what the later run saved: `saves`, in the same order.
    """

    def __init__(self, own: Set[int]) -> None:
        self.reads: Dict[int, Tuple[Save, str]] = {}
        self.own = own
        self.stale: Dict[int, _Origin] = {}
        self.packed = 0
        self.saves: List[Save] = []


class _Held(NamedTuple):
    """What a node keeps: which save of a first run it was, and what the hook of the framework made of it."""

    first: First
    number: int
    packed: Any


class Again:
    """A later run: `stale` are storages that hold a changed value, or what was computed from one, with its origin."""

    def __init__(self, first: First, stale: Dict[int, _Origin]) -> None:
        self.first, self.stale = first, stale
        self.origin: Optional[_Origin] = None  # of the call that runs now
        self.held: List[Any] = []  # so that no storage is used twice


class Recomputation(abc.ABC):
    """The functions of one watch that run again; `running` are those at work, the outermost first."""

    module: ClassVar[str]  # that runs functions again
    function: ClassVar[str]  # its autograd function, whose first run has no graph
    with_graph: ClassVar[str]  # its function whose first run has a graph, if the release has one

    def __init__(self, watch: Any) -> None:
        self.watch = watch
        self.running: List[Union[First, Again]] = []
        self.is_packing = False  # whether the framework's own hook is at work

    def patch(self, patches: Patches) -> None:
        """Follow every function that runs again until the patches are closed."""
        module = importlib.import_module(self.module)
        function = getattr(module, self.function)
        patches.replace(function, "forward", staticmethod(self.without_graph_followed(function.forward)))
        if hasattr(module, self.with_graph):
            patches.replace(module, self.with_graph, self.with_graph_followed(getattr(module, self.with_graph)))

    def without_graph_followed(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """Follow both runs where the first has no graph."""

        @functools.wraps(original)
        def forward(ctx: Any, function: Callable[..., Any], *args: Any, **options: Any) -> Any:
            return original(ctx, self.twice(function, args), *args, **options)

        return forward

    @abc.abstractmethod
    def with_graph_followed(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """Follow both runs where the first has a graph."""

    @abc.abstractmethod
    def checked(self, args: Sequence[Any]) -> Set[int]:
        """Return the storages of those arguments whose versions the framework compares itself."""

    @abc.abstractmethod
    def resaved(self, tensor: Any) -> Save:
        """Record a save of a later run, and report it where it comes from something changed."""

    def hooks(self, pack: Callable[[Any], Any], unpack: Callable[[Any], Any]) -> Tuple[Callable[[Any], Any], ...]:
        """
        Wrap hooks by which a framework gives backward what a later run saved.

        It compares no versions there: what the later run overwrites is what backward gets.
        """

        def packed(tensor: Any) -> Any:
            run = self.running[-1] if self.running else None
            if isinstance(run, First):
                run.packed += 1
                return _Held(run, run.packed - 1, pack(tensor))
            self.is_packing = True
            try:
                return pack(tensor)  # it may raise to end the later run
            finally:
                self.is_packing = False
                if run is not None:
                    run.first.saves.append(self.resaved(tensor))

        def unpacked(held: Any) -> Any:
            if not isinstance(held, _Held):
                return unpack(held)
            saves, number = held.first.saves, held.number
            if number < len(saves) and self.watch.is_named(saves[number]):
                return saves[number].tensor
            value = unpack(held.packed)  # which runs the function again if this is the first
            if number >= len(held.first.saves):
                return value
            save = held.first.saves[number]
            self.watch.report_uncounted(save)
            return value if save.undone is None else save.undone

        return packed, unpacked

    @abc.abstractmethod
    def followed(self, run: Again, call: Callable[[], Any]) -> Any:
        """Run a function again, and report where something changed is saved."""

    def twice(self, function: Callable[..., Any], args: Sequence[Any]) -> Callable[..., Any]:
        """Wrap a function whose first call is its first run, and whose later calls are runs by backward."""
        first = First(self.checked(args))
        has_run: List[bool] = []

        @functools.wraps(function)
        def run(*values: Any, **named: Any) -> Any:
            if has_run:
                return self.again(first, functools.partial(function, *values, **named))
            has_run.append(True)
            with self.at_work(first):
                return function(*values, **named)

        return run

    @contextlib.contextmanager
    def at_work(self, run: Union[First, Again]) -> Iterator[None]:
        """Show the calls of the framework to a run."""
        self.running.append(run)
        try:
            yield
        finally:
            self.running.remove(run)

    def again(self, first: First, call: Callable[[], Any]) -> Any:
        """Run a function again; it is followed if it saves, or if something that it read from outside was written."""
        stale = dict(first.stale)
        for storage, (save, op) in first.reads.items():
            write = self.watch.overwritten(save)
            if write is not None:
                stale[storage] = save, op, write
        first.saves = []
        if not (stale or first.packed) or not self.watch.ledger.active:
            return call()
        return self.followed(Again(first, stale), call)

    def begin_call(self, read: Sequence[Any], set_anew: Sequence[Any], op: str) -> None:
        """Note what a call is about to read, and what it sets as a whole without reading it."""
        for run in self.running:
            if isinstance(run, First):
                self._note(run, read, set_anew, op)
            else:
                origins = [run.stale.get(self.watch.storage_of(one)) for one in read]
                run.origin = next((one for one in origins if one is not None), None)

    def _note(self, run: First, read: Sequence[Any], set_anew: Sequence[Any], op: str) -> None:
        for tensor in read:
            storage = self.watch.storage_of(tensor)
            if storage not in run.own and storage not in run.reads:
                run.reads[storage] = self.watch.save(tensor), op
                around = [one.stale[storage] for one in self.running if one is not run and storage in one.stale]
                if around:
                    run.stale[storage] = around[0]
        run.own |= {self.watch.storage_of(one) for one in set_anew if self.watch.is_whole(one)} - run.reads.keys()

    def end_call(self, made: Sequence[Any], wrote: Sequence[Any]) -> None:
        """Note what a call made and wrote."""
        made = self.tensors(made)
        for run in self.running:
            if isinstance(run, First):
                run.own |= {self.watch.storage_of(one) for one in made} - run.reads.keys()
                continue
            self._follow(run, made, wrote)
            run.origin = None

    def _follow(self, run: Again, made: Sequence[Any], wrote: Sequence[Any]) -> None:
        """Mark what a call on a changed value made and wrote; what another call wrote as a whole is good again."""
        for tensor in (*made, *wrote):
            storage = self.watch.storage_of(tensor)
            if run.origin is not None and storage is not None:
                run.stale.setdefault(storage, run.origin)
                run.held.append(tensor)
        for tensor in self.tensors(wrote) if run.origin is None else ():
            if self.watch.is_whole(tensor):
                run.stale.pop(self.watch.storage_of(tensor), None)

    def tensors(self, values: Sequence[Any]) -> List[Any]:
        """Return those values that are tensors with a storage."""
        return [one for one in values if self.watch.storage_of(one) is not None]


def items_of(value: Any) -> List[Any]:
    """Return the items of a list, tuple or dict; anything else alone."""
    if isinstance(value, dict):
        return list(value.values())
    return list(value) if isinstance(value, (list, tuple)) else [value]
