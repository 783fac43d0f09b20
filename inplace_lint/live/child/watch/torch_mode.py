"""The mode in which PyTorch shows each call to the watcher, and what a call writes."""

from __future__ import annotations

from typing import Any, Tuple

# Calls that write arguments of which their schema says nothing, if they run for training.
_UNDECLARED = {f"aten::{name}batch_norm" for name in ("native_", "cudnn_", "miopen_")}
_STATISTICS = ("running_mean", "running_var")


def watching_mode(torch: Any, watch: Any) -> Any:
    """Give a mode that shows each call to a watch before it happens, and counts what the watch gives back."""
    wrote, checkpoints = watch.wrote, watch.checkpoints

    class Watching(torch.utils._python_dispatch.TorchDispatchMode):  # type: ignore[misc]
        """Shows every call."""

        @classmethod
        def _should_skip_dynamo(cls) -> bool:
            return False  # skipping it would import it, which takes longer than importing all the rest

        @classmethod
        def ignore_compile_internals(cls) -> bool:
            return True  # or what is to be compiled would run as it is written

        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            uncounted = wrote(func, args, kwargs or {})
            result = func(*args, **(kwargs or {}))
            if checkpoints.running:
                checkpoints.gave(result, args, written_by(func))
            if uncounted:
                torch.autograd.graph.increment_version(uncounted)
            return result

    return Watching()


def written_by(func: Any) -> Tuple[Tuple[int, str], ...]:
    """Give the places and names of the arguments that a call writes, as its schema says."""
    schema = getattr(func, "_schema", None)
    arguments = enumerate(schema.arguments) if schema is not None else ()
    if schema is not None and schema.name in _UNDECLARED:
        return tuple((at, item.name) for at, item in arguments if item.name in {*_STATISTICS, "training"})
    return tuple((at, item.name) for at, item in arguments if item.alias_info is not None and item.alias_info.is_write)
