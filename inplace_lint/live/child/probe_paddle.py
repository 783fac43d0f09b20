"""
What differs where an operator of Paddle is probed.

A write that is not counted cannot be made in Paddle without moving the tensor. What is kept behind the counter is found
by a counted write that backward does not refuse, and that changes a gradient.
"""

from __future__ import annotations

import importlib
from typing import Any, Callable, Dict, Iterator, List, Optional

from .attempt import attempt
from .probe_main import Call, Probe


class PaddleProbe(Probe):
    """One operator of Paddle, with arguments on which it runs."""

    stale = "modified by an inplace operation"

    @staticmethod
    def framework() -> Any:
        """Return the framework."""
        return importlib.import_module("paddle")

    def copy(self, tensor: Any) -> Any:
        """Return a tensor of the same values, with a history if it can have one."""
        fresh = tensor.detach().clone()
        return self.leaf(fresh) * 1 if fresh.is_floating_point() else fresh

    def leaf(self, tensor: Any) -> Any:
        """Return a leaf of the same values that requires grad."""
        fresh = tensor.detach().clone()
        fresh.stop_gradient = False
        return fresh

    def version(self, tensor: Any) -> int:
        """Return how often a tensor was written."""
        return int(tensor.inplace_version)

    def device(self, called: Call) -> str:
        """Return where the tensors of a call are."""
        return "gpu" if any("gpu" in str(one.place) for one in called.tensors.values()) else "cpu"

    def equal(self, one: Any, other: Any) -> bool:
        """Check whether two tensors have the same values."""
        return bool(self.torch.equal_all(one.detach(), other.detach()))

    def shares(self, one: Any, other: Any) -> bool:
        """Check whether two tensors have the same memory."""
        return bool(one._is_shared_buffer_with(other))

    def unfit(self, wanted: str) -> Dict[str, Callable[[str, Any], Any]]:
        """Return for each check how an argument is made that does not pass it."""

        def as_leaf(name: str, tensor: Any) -> Any:
            return self.leaf(tensor) if self.owners[name] == wanted and tensor.is_floating_point() else tensor

        with self.torch.no_grad():
            always = self.call(as_leaf).error is not None
        return {"leaf_always" if always else "leaf": as_leaf}

    def history(self, written: List[str]) -> str:
        """Return what becomes of the history of the first tensor that is written; empty where nothing is written."""
        before: Dict[str, Any] = {}

        def note(name: str, tensor: Any) -> Any:
            before[name] = _node(tensor)
            return tensor

        again = self.call(note)
        for name in written[:1]:
            after = again.tensors[name]
            if before[name] is not None and after.stop_gradient:
                return "cut"
            return "keep_old" if before[name] == _node(after) else "keep_base"
        return ""

    def saved(self, name: str, pick: Callable[[Call], Any], usual: Dict[str, Any]) -> Iterator[Dict[str, Any]]:
        """Yield the save of one tensor, if backward needs it."""
        called = self.call()
        tensor = pick(called)
        if not isinstance(tensor, self.torch.Tensor) or not tensor.is_floating_point():
            return
        # A result that is written itself is read by an operation before, which needs only its node.
        sums = [one.sum() for one in self.outputs(called)]
        with self.torch.no_grad():
            tensor.add_(self.torch.ones_like(tensor))
        given = [one for one in called.tensors.values() if one.is_floating_point()]
        made, error = attempt(lambda: self.torch.grad(sums, given, allow_unused=True))
        if error is not None and self.stale in str(error):
            yield {"of": name}
        elif error is None and not all(self.alike(usual[key], made[at]) for at, key in enumerate(usual)):
            yield {"of": name, "checked": False}

    def alike(self, one: Any, other: Any) -> bool:
        """Check whether two gradients are the same."""
        return (one is None) == (other is None) and (one is None or bool(self.torch.allclose(one, other)))

    def outputs(self, called: Call) -> List[Any]:
        """Return the tensors in a result, or what was written, that have a history."""
        result = called.result if isinstance(called.result, (tuple, list)) else [called.result]
        found = [one for one in result if one is not None] or [*called.tensors.values()]
        return [one for one in found if isinstance(one, self.torch.Tensor) and not one.stop_gradient]

    def gradients(self, called: Call) -> Optional[Dict[str, Any]]:
        """Return the gradients of the arguments; None where there is no backward."""
        floats = {name: one for name, one in called.tensors.items() if one.is_floating_point()}
        sums = [one.sum() for one in self.outputs(called)]
        if not sums:
            return None
        made, error = attempt(lambda: self.torch.grad(sums, [*floats.values()], allow_unused=True))
        return None if error is not None else {name: made[position] for position, name in enumerate(floats)}

    def kind(self, tensor: Any, result: Any) -> Dict[str, str]:
        """Return the kind of a view, where it is not the usual one."""
        before = self.version(tensor)
        with self.torch.no_grad():
            result.add_(self.torch.zeros_like(result))
        if self.version(tensor) == before:
            return {"kind": "untracked"}
        return {"kind": "detach"} if result.stop_gradient and not tensor.stop_gradient else {}


def _node(tensor: Any) -> Any:
    """Identify the node that gives a tensor its gradient."""
    return None if tensor.grad_fn is None else tensor.grad_fn.node_ptr()
