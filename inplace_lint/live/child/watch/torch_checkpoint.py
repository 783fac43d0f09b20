"""Watching functions that PyTorch checkpoints: PyTorch itself compares the versions of their arguments."""

from __future__ import annotations

import functools
from typing import Any, Callable, Dict, Iterator, List, Sequence, Set, cast

from .ledger import Save
from .recomputation import Again, First, Recomputation, items_of
from .torch_mode import STATISTICS, Written, value_at

_NAME = "checkpoint"
_SETTERS = {"copy_", "fill_", "zero_", "normal_", "uniform_", "bernoulli_", "random_", "exponential_", "set_"}


class Checkpoints(Recomputation):
    """The checkpointed functions of one watch."""

    module, function = "torch.utils.checkpoint", "CheckpointFunction"
    with_graph = "_checkpoint_without_reentrant_generator"

    def checked(self, args: Sequence[Any]) -> Set[int]:
        """Return the storages of all arguments."""
        return {self.watch.storage_of(one) for one in self.tensors([one for value in args for one in items_of(value)])}

    def with_graph_followed(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """Follow both runs; in the first, the caller runs the function while the generator waits."""

        @functools.wraps(original)
        def generator(function: Callable[..., Any], *args: Any, **options: Any) -> Iterator[None]:
            first = First(self.checked([*args, *options.values()]))

            def again(*values: Any, **named: Any) -> Any:
                return self.again(first, functools.partial(function, *values, **named))

            steps = original(again, *args, **options)
            self.watch.saver = _NAME
            try:
                next(steps)  # saves the arguments
            finally:
                self.watch.saver = ""
            with self._saving(), self.at_work(first):
                yield
            next(steps, None)

        return generator

    def followed(self, run: Again, call: Callable[[], Any]) -> Any:
        """Run a function again under hooks that see what is saved."""
        with self._saving(), self.at_work(run):
            return call()

    def _saving(self) -> Any:
        """Return a context in which what is saved is seen, and goes to the hooks that are in place."""
        torch, watch = self.watch.framework, self.watch
        top = torch._C._autograd._top_saved_tensors_default_hooks(True)
        return torch.autograd.graph.saved_tensors_hooks(*self.hooks(*(top or (watch.pack, watch.unpack))))

    def resaved(self, tensor: Any) -> Save:
        """Record a save of a later run, and report it where it comes from something changed."""
        run = self.running[-1]
        origin = run.stale.get(self.watch.storage_of(tensor))
        if origin is not None:
            self.watch.report_recomputed(*origin)
        with self.watch.without_modes():
            return cast("Save", self.watch.pack(tensor.detach()))

    def calls(self, func: Any, args: Sequence[Any], options: Dict[str, Any], written: Written) -> None:
        """Note what a call is about to read and to set."""
        places, op = {at for at, _ in written}, str(func._schema.name).rpartition("::")[2]
        read: List[Any] = []
        set_anew: List[Any] = []
        for at, item in enumerate(func._schema.arguments):
            is_set = at in places and (item.name == "out" or op in _SETTERS or item.name in STATISTICS)
            tensors = self.tensors(items_of(value_at(args, options, at, item.name)))
            (set_anew if is_set else read).extend(tensors)
        self.begin_call(read, set_anew, op)

    def gave(self, result: Any, args: Sequence[Any], written: Written) -> None:
        """Note what a call made and wrote."""
        self.end_call(items_of(result), [one for at, _ in written if at < len(args) for one in items_of(args[at])])
