"""
Watching checkpointed functions: backward runs them again, on what is in their memory then.

While such a function runs first, what it reads from outside is booked as if it were saved. When it runs again, and some
of that was written since, the calls that use it are followed: once a value that comes from it is kept for backward, the
gradients are those of another function. What the function sets anew before it reads it, is no value from outside; nor
are its arguments, whose versions PyTorch compares.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence, Set, Tuple, Union

from .ledger import Save, Write

_SETTERS = {"copy_", "fill_", "zero_", "normal_", "uniform_", "bernoulli_", "random_", "exponential_", "set_"}
_Origin = Tuple[Save, str, Write]


class First:
    """
    The first run of a function.

    `reads` are what it read from outside, by memory, each with the op that did; `own` is memory that is not from there.
    `stale` is what had changed by then already, where a function around runs again.
    """

    def __init__(self, own: Set[int]) -> None:
        self.reads: Dict[int, Tuple[Save, str]] = {}
        self.own = own
        self.stale: Dict[int, _Origin] = {}


class Again:
    """A later run: `stale` is memory that holds a changed value, or what was computed from one, with its origin."""

    def __init__(self, stale: Dict[int, _Origin]) -> None:
        self.stale = stale
        self.origin: Optional[_Origin] = None  # of the call that runs now
        self.held: List[Any] = []  # so that no memory is used twice


class Checkpoints:
    """The checkpointed functions of one watch; `running` are those at work, the outermost first."""

    def __init__(self, watch: Any) -> None:
        self._watch = watch
        self.running: List[Union[First, Again]] = []

    @contextlib.contextmanager
    def watched(self) -> Iterator[None]:
        """Look at everything that is checkpointed inside."""
        module = importlib.import_module("torch.utils.checkpoint")
        function, name = module.CheckpointFunction, "_checkpoint_without_reentrant_generator"
        generator, forward = getattr(module, name, None), function.forward
        function.forward = staticmethod(self._forward(forward))
        if generator is not None:
            setattr(module, name, self._generator(generator))
        try:
            yield
        finally:
            function.forward = staticmethod(forward)
            if generator is not None:
                setattr(module, name, generator)

    def _forward(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """Look at both runs where the first has no graph (`use_reentrant=True`)."""

        @functools.wraps(original)
        def forward(ctx: Any, function: Callable[..., Any], preserve: bool, *args: Any) -> Any:
            first = First(self._memory_of(args))
            has_run: List[bool] = []

            def twice(*values: Any) -> Any:
                if has_run:
                    return self._again(first, functools.partial(function, *values))
                has_run.append(True)
                with self._at_work(first):
                    return function(*values)

            return original(ctx, twice, preserve, *args)

        return forward

    def _generator(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """Look at both runs where the first has a graph; the caller runs the function while the generator waits."""

        @functools.wraps(original)
        def generator(function: Callable[..., Any], *args: Any, **options: Any) -> Iterator[None]:
            first = First(self._memory_of([*args, *options.values()]))

            def again(*values: Any, **named: Any) -> Any:
                return self._again(first, functools.partial(function, *values, **named))

            yield from self._between(first, original(again, *args, **options))

        return generator

    def _between(self, first: First, steps: Iterator[None]) -> Iterator[None]:
        for _ in steps:
            with self._at_work(first):
                yield

    @contextlib.contextmanager
    def _at_work(self, run: Union[First, Again]) -> Iterator[None]:
        self.running.append(run)
        try:
            yield
        finally:
            self.running.remove(run)

    def _again(self, first: First, call: Callable[[], Any]) -> Any:
        stale = dict(first.stale)
        for memory, (save, op) in first.reads.items():
            write = self._watch.reached(save)
            if write is not None:
                stale[memory] = save, op, write
        if not stale or not self._watch.ledger.active:
            return call()
        return self._followed(Again(stale), call)

    def _followed(self, again: Again, call: Callable[[], Any]) -> Any:
        """Run a function again, and tell where something changed is kept."""
        top = self._watch.torch._C._autograd._top_saved_tensors_default_hooks(True)
        pack, unpack = top if top is not None else (self._watch.pack, self._watch.unpack)

        def look(tensor: Any) -> Any:
            origin = again.stale.get(self._watch.identity(tensor))
            if origin is not None:
                self._watch.say_recomputed(*origin)
            return pack(tensor)

        with self._watch.torch.autograd.graph.saved_tensors_hooks(look, unpack), self._at_work(again):
            return call()

    def calls(self, func: Any, args: Sequence[Any], options: Dict[str, Any], written: Any) -> None:
        """Note what a call is about to read and to set."""
        places = {at for at, _ in written}
        arguments = func._schema.arguments
        read: List[Any] = []
        set_anew: List[Any] = []
        for at, item in enumerate(arguments):
            value = args[at] if at < len(args) else options.get(item.name)
            tensors = [one for one in _several(value) if self._watch.identity(one) is not None]
            is_set = at in places and (item.name == "out" or _name(func) in _SETTERS or item.name in _STATISTICS)
            (set_anew if is_set else read).extend(tensors)
        self._begin(read, set_anew, _name(func))

    def _begin(self, read: List[Any], set_anew: List[Any], op: str) -> None:
        for run in self.running:
            if isinstance(run, First):
                self._note(run, read, set_anew, op)
            else:
                origins = [run.stale.get(self._watch.identity(one)) for one in read]
                run.origin = next((one for one in origins if one is not None), None)

    def _note(self, run: First, read: List[Any], set_anew: List[Any], op: str) -> None:
        for tensor in read:
            memory = self._watch.identity(tensor)
            if memory not in run.own and memory not in run.reads:
                run.reads[memory] = self._watch.held(tensor), op
                around = [other.stale[memory] for other in self.running if other is not run and memory in other.stale]
                if around:
                    run.stale[memory] = around[0]
        run.own |= {self._watch.identity(one) for one in set_anew if self._watch.is_whole(one)} - run.reads.keys()

    def gave(self, result: Any, args: Sequence[Any], written: Any) -> None:
        """Note what a call made and wrote."""
        self._end(_several(result), [one for at, _ in written if at < len(args) for one in _several(args[at])])

    def _end(self, result: Sequence[Any], wrote: Sequence[Any]) -> None:
        made = [one for one in result if self._watch.identity(one) is not None]
        for run in self.running:
            if isinstance(run, First):
                run.own |= {self._watch.identity(one) for one in made} - run.reads.keys()
                continue
            self._follow(run, made, wrote)
            run.origin = None

    def _follow(self, run: Again, made: Sequence[Any], wrote: Sequence[Any]) -> None:
        """Mark what a call on a changed value made and wrote; what one on others wrote as a whole is good again."""
        for tensor in (*made, *wrote):
            memory = self._watch.identity(tensor)
            if run.origin is not None and memory is not None:
                run.stale.setdefault(memory, run.origin)
                run.held.append(tensor)
        for tensor in wrote if run.origin is None else ():
            if self._watch.identity(tensor) is not None and self._watch.is_whole(tensor):
                run.stale.pop(self._watch.identity(tensor), None)

    def _memory_of(self, values: Sequence[Any]) -> Set[int]:
        return {
            memory for value in values for one in _several(value) for memory in [self._watch.identity(one)] if memory
        }


_STATISTICS = ("running_mean", "running_var")  # of a batch norm in training: they are written, and no result needs them


def _name(func: Any) -> str:
    return str(func._schema.name).rpartition("::")[2]


def _several(value: Any) -> Sequence[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, (list, tuple)) else (value,)
