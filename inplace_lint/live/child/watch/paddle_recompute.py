"""
Watching Paddle's `recompute`.

Paddle compares no versions of what a function is given, so arguments are values from outside as all others are. A
storage is known by the address of a tensor's first element.
"""

from __future__ import annotations

import contextlib
import functools
from typing import Any, Callable, FrozenSet, Iterator, Sequence, Set, Union, cast

from .ledger import Save
from .patches import Patches
from .recomputation import Again, First, Recomputation, items_of

_BOTH_WAYS = ("add", "sub", "mul", "truediv", "div", "floordiv", "mod", "pow", "matmul")
_OPERATORS = (
    *(f"__{side}{name}__" for name in _BOTH_WAYS for side in ("", "r")),
    *("__neg__", "__abs__", "__getitem__", "clone", "detach", "cast", "astype"),
)  # calls that do not go through `_C_ops`
_SETTERS = {
    *("fill_", "set_value", "copy_", "assign_out_", "__setitem__"),
    *("uniform_inplace_", "gaussian_inplace_", "exponential_"),
}


class Recomputes(Recomputation):
    """The recomputed functions of one watch."""

    module, function = "paddle.distributed.fleet.recompute.recompute", "RecomputeFunction"
    with_graph = "_recompute_without_reentrant"
    keeps: Any = None  # the code that saves the arguments of a function that runs first without a graph
    _operands: FrozenSet[Any] = frozenset()  # storages that the call that runs reads

    def checked(self, _args: Sequence[Any]) -> Set[int]:
        """Return nothing: Paddle compares no versions of arguments."""
        return set()

    def without_graph_followed(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """Follow both runs; `save_for_backward` is called there by no line of a user."""
        self.keeps = original.__code__
        return super().without_graph_followed(original)

    def with_graph_followed(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """Follow both runs; what the first saves is made anew by the second."""

        @functools.wraps(original)
        def recompute(function: Callable[..., Any], *args: Any, **options: Any) -> Any:
            return original(self.twice(function, args), *args, **options)

        return recompute

    @contextlib.contextmanager
    def at_work(self, run: Union[First, Again]) -> Iterator[None]:
        """Show the calls of the framework to a run, operators of tensors too."""
        with Patches() as patches:
            tensor = self.watch.tensor
            for name in _OPERATORS if not self.running else ():
                original = getattr(tensor, name, None)
                if original is not None:
                    patches.replace(tensor, name, self.watch.wrapped(original, name, writes=False))
            patches.enter_context(super().at_work(run))
            yield

    def followed(self, run: Again, call: Callable[[], Any]) -> Any:
        """Run a function again; the watch tells what is saved meanwhile."""
        with self.at_work(run):
            return call()

    def resaved(self, tensor: Any) -> Save:
        """Record a save of a later run, and report it where it comes from something changed."""
        return cast("Save", self.watch.pack(tensor))

    def saved(self, tensor: Any) -> None:
        """Report that something is saved for backward that comes from a value which was overwritten."""
        storage = self.watch.storage_of(tensor)
        for run in self.running:
            if isinstance(run, Again):
                # What is neither changed nor an operand is what the call that runs makes of its operands.
                origin = run.stale.get(storage) or (run.origin if storage not in self._operands else None)
                if origin is not None:
                    self.watch.report_recomputed(*origin)

    def reads(self, name: str, args: Sequence[Any], options: Any, target: Any) -> None:
        """Note what a call is about to read and to set."""
        tensors = self.tensors([one for value in (*args, *options.values()) for one in items_of(value)])
        self._operands = frozenset(self.watch.storage_of(one) for one in tensors)
        set_anew = self.tensors(items_of(target)) if name in _SETTERS else []
        self.begin_call([one for one in tensors if all(one is not other for other in set_anew)], set_anew, name)

    def made(self, result: Any, target: Any) -> None:
        """Note what a call made and wrote."""
        self.end_call(items_of(result), [] if target is None else items_of(target))
