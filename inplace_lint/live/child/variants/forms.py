"""
What variants of a program need at run time: functions that their text calls, and changes of the framework.

Three variants change the framework and not the text: in `undone`, backward gets the values from before the write;
`direct` runs checkpointed functions once, `uncompiled` runs without the compiler.
"""

from __future__ import annotations

import builtins
import copy
import functools
import inspect
import sys
from typing import Any, Callable, Dict, Set

from ..attempt import attempt
from ..framework_adapter import FrameworkAdapter
from .rewrite import Form
from .tree import HELPER

UNDOING = ("undone", "direct")  # variants in which backward gets the values from before the write
_CHECKPOINTS = {"torch": ("torch.utils.checkpoint", "checkpoint"), "paddle": ("", "recompute")}
_OPTIONS = ("use_reentrant", "preserve_rng_state", "context_fn", "determinism_check", "debug", "early_stop")


def prepare(adapter: FrameworkAdapter, form: Form) -> Forms:
    """Change the framework for a variant, before anything of the program is imported."""
    forms = Forms(adapter)
    setattr(builtins, HELPER, forms)
    if form.kind == "direct":
        _run_once(adapter)
    elif form.kind == "uncompiled":
        _leave_uncompiled(adapter)
    return forms


class Forms:
    """
    The functions that the text of a variant calls; `ran` are the numbers of the places that ran.

    `undo` is called before the statement of a place, and what it returned after it. `counts_nodes`: the history of what
    a statement writes is a number to compare.
    """

    def __init__(self, adapter: FrameworkAdapter) -> None:
        self.adapter = adapter
        self.ran: Set[int] = set()
        self.undo: Callable[[int], Callable[[], None]] = lambda _number: lambda: None
        self.counts_nodes = False
        self._undone: Dict[int, Callable[[], None]] = {}

    def reached(self, number: int) -> None:
        """Note that a place is about to run."""
        self.ran.add(number)
        self._undone[number] = self.undo(number)

    def left(self, number: int, written: Any = None) -> None:
        """Note that the statement of a place ended, and what it wrote."""
        self._undone.pop(number, lambda: None)()
        if self.counts_nodes and self.is_tensor(written):
            self.adapter.note_history(written)

    def is_tensor(self, value: Any) -> bool:
        """Check whether a value is a tensor."""
        return isinstance(value, self.adapter.tensor)

    def copied(self, tensor: Any) -> Any:
        """Return a copy with the history of the tensor; a leaf that requires grad is returned itself."""
        is_leaf = self.adapter.requires_grad(tensor) and tensor.is_leaf
        return tensor if is_leaf else self.value(tensor)

    def owned(self, tensor: Any) -> Any:
        """Return a copy of a tensor; if it is a view, mark the numbers of the run as unusable."""
        self.adapter.is_spoiled = self.adapter.is_spoiled or tensor._base is not None
        return self.copied(tensor)

    def recording(self) -> Any:
        """Return a context in which operations are recorded."""
        return self.adapter.framework.enable_grad()

    def unrecorded(self) -> Any:
        """Return a context in which no operations are recorded."""
        return self.adapter.framework.no_grad()

    def value(self, value: Any) -> Any:
        """Return a copy of a tensor with its history; anything else unchanged."""
        return value.clone() if isinstance(value, self.adapter.tensor) else value

    def detached(self, value: Any) -> Any:
        """Return a tensor without its history; anything else unchanged."""
        return value.detach() if isinstance(value, self.adapter.tensor) else value

    def kept(self, value: Any) -> Any:
        """Return a value with all tensors and layers in lists, tuples and dicts copied; anything else unchanged."""
        return self._mapped(self._kept_alone, value)

    def operand(self, value: Any) -> Any:
        """Return a value with all tensors in lists, tuples and dicts copied with their history."""
        return self._mapped(self.value, value)

    def _kept_alone(self, value: Any) -> Any:
        if isinstance(value, self.adapter.layer):
            return copy.deepcopy(value)
        if not isinstance(value, self.adapter.tensor) or not (self.adapter.requires_grad(value) and value.is_leaf):
            return self.value(value)
        with self.adapter.framework.no_grad():
            return self.adapter.trained(value.clone())

    def _mapped(self, copied: Callable[[Any], Any], value: Any) -> Any:
        if type(value) in (list, tuple):
            return type(value)(self._mapped(copied, item) for item in value)
        if isinstance(value, dict):
            found = copy.copy(value)
            for key, item in value.items():
                found[key] = self._mapped(copied, item)
            return found
        return copied(value)

    def slice(self, *ends: Any) -> Any:
        """Return a slice with these ends and step."""
        return builtins.slice(*ends)

    def seen(self, value: Any, line: int) -> Any:
        """Record the numbers that an assertion compares."""
        self.adapter.note(value, f"the value asserted in line {line}")
        return value

    def asserted(self, value: Any, line: int) -> None:
        """Record whether an assertion holds, where one number says so."""
        if not isinstance(value, self.adapter.tensor) or value.shape in ([], ()):
            self.adapter.note(bool(value), f"the truth of the assertion in line {line}")

    def updated(self, target: Any, value: Any) -> None:
        """Write a value into a tensor."""
        with self.adapter.framework.no_grad():
            target.set_value(value)


def _run_once(adapter: FrameworkAdapter) -> None:
    """Replace the checkpoint function by one that calls its argument, so that backward does not run it again."""
    place, name = _CHECKPOINTS[adapter.framework.__name__]
    if place:
        attempt(lambda: __import__(place))
        originals = [getattr(sys.modules[place], name)]
    else:
        attempt(lambda: __import__("paddle.distributed.fleet.utils"))
        originals = [
            value for module in list(sys.modules.values()) for value in [vars(module).get(name)] if _is_recompute(value)
        ]

    @functools.wraps(originals[0])
    def direct(function: Callable[..., Any], *args: Any, **options: Any) -> Any:
        return function(*args, **{key: value for key, value in options.items() if key not in _OPTIONS})

    for module in list(sys.modules.values()):
        for key, value in list(vars(module).items()):
            if any(value is original for original in originals):
                setattr(module, key, direct)


def _is_recompute(value: Any) -> bool:
    return inspect.isfunction(value) and value.__module__.startswith("paddle.distributed.fleet")


def _leave_uncompiled(adapter: FrameworkAdapter) -> None:
    """Replace compilers by functions that return their argument."""
    if not adapter.is_torch:
        adapter.framework.jit.enable_to_static(False)
        return

    def compile(model: Any = None, **_: Any) -> Any:  # noqa: A001 - the framework's own name
        return model if model is not None else (lambda function: function)

    adapter.framework.compile = compile
    adapter.layer.compile = lambda *_, **__: None
