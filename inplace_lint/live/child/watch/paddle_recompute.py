"""
Watching Paddle's `recompute`: backward runs the function again, on what is in the memory of its arguments then.

The books are those of PyTorch's checkpoints. Paddle compares no versions of what a function is given, so arguments are
values from outside as all others are. Memory is known by the address of a tensor's first element.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
from typing import Any, Callable, FrozenSet, Iterator, List, Sequence, Union

from .torch_checkpoint import Again, Checkpoints, First, _several

_PLACE = "paddle.distributed.fleet.recompute.recompute"
_BOTH_WAYS = ("add", "sub", "mul", "truediv", "div", "floordiv", "mod", "pow", "matmul")
_OPERATORS = (
    *(f"__{side}{name}__" for name in _BOTH_WAYS for side in ("", "r")),
    *("__neg__", "__abs__", "__getitem__", "clone", "detach", "cast", "astype"),
)  # calls that do not go through `_C_ops`
_SETTERS = {
    *("fill_", "set_value", "copy_", "assign_out_", "__setitem__"),
    *("uniform_inplace_", "gaussian_inplace_", "exponential_"),
}


class Recomputes(Checkpoints):
    """The recomputed functions of one watch; `running` are those at work, the outermost first."""

    keeps: Any = None  # the code that keeps the arguments of such a function
    _operands: FrozenSet[Any] = frozenset()  # memory that the call that runs reads

    @contextlib.contextmanager
    def watched(self) -> Iterator[None]:
        """Look at everything that is recomputed inside."""
        module = importlib.import_module(_PLACE)
        function, name = module.RecomputeFunction, "_recompute_without_reentrant"
        forward, hooked = function.forward, getattr(module, name, None)
        function.forward = staticmethod(self._forward(forward))
        if hooked is not None:
            setattr(module, name, self._hooked(hooked))
        try:
            yield
        finally:
            function.forward = staticmethod(forward)
            if hooked is not None:
                setattr(module, name, hooked)

    def _forward(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """Look at both runs where the first has no graph; the place of `save_for_backward` is that of no user."""
        self.keeps = original.__code__

        @functools.wraps(original)
        def forward(ctx: Any, function: Callable[..., Any], *args: Any, **options: Any) -> Any:
            return original(ctx, self._twice(function), *args, **options)

        return forward

    def _hooked(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """Look at both runs where the first has a graph whose saves are made anew."""

        @functools.wraps(original)
        def recompute(function: Callable[..., Any], *args: Any, **options: Any) -> Any:
            return original(self._twice(function), *args, **options)

        return recompute

    @contextlib.contextmanager
    def _at_work(self, run: Union[First, Again]) -> Iterator[None]:
        with contextlib.ExitStack() as stack:
            tensor = self._watch.tensor
            for name in _OPERATORS if not self.running else ():
                original = getattr(tensor, name, None)
                if original is not None:
                    stack.callback(setattr, tensor, name, original)
                    setattr(tensor, name, self._watch.wrapped(original, name, writes=False))
            stack.enter_context(super()._at_work(run))
            yield

    def _twice(self, function: Callable[..., Any]) -> Callable[..., Any]:
        first = First(set())
        has_run: List[bool] = []

        @functools.wraps(function)
        def twice(*values: Any, **named: Any) -> Any:
            if has_run:
                return self._again(first, functools.partial(function, *values, **named))
            has_run.append(True)
            with self._at_work(first):
                return function(*values, **named)

        return twice

    def _followed(self, again: Again, call: Callable[[], Any]) -> Any:
        with self._at_work(again):
            return call()

    def saved(self, tensor: Any) -> None:
        """Tell where something is kept for backward that comes from a value which was overwritten."""
        memory = self._watch.identity(tensor)
        for run in self.running:
            if isinstance(run, Again):
                # What is neither changed nor an operand is what the call that runs makes of its operands.
                origin = run.stale.get(memory) or (run.origin if memory not in self._operands else None)
                if origin is not None:
                    self._watch.say_recomputed(*origin)

    def reads(self, name: str, args: Sequence[Any], options: Any, target: Any) -> None:
        """Note what a call is about to read and to set."""
        values = [one for value in (*args, *options.values()) for one in _several(value)]
        tensors = [one for one in values if self._watch.identity(one) is not None]
        self._operands = frozenset(self._watch.identity(one) for one in tensors)
        set_anew = [one for one in _several(target) if name in _SETTERS and self._watch.identity(one) is not None]
        self._begin([one for one in tensors if all(one is not other for other in set_anew)], set_anew, name)

    def made(self, result: Any, target: Any) -> None:
        """Note what a call made and wrote."""
        self._end(_several(result), () if target is None else _several(target))
