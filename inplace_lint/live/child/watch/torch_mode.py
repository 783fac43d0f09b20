"""The mode in which PyTorch shows each call before it happens, and what a call writes."""

from __future__ import annotations

from typing import Any, Callable, Dict, Sequence, Tuple

# Calls that write arguments of which their schema says nothing, if they run for training.
_UNDECLARED = {f"aten::{name}batch_norm" for name in ("native_", "cudnn_", "miopen_")}
STATISTICS = ("running_mean", "running_var")  # of a batch norm in training: no result of the call needs them
_NUMBERS = (bool, int, float, complex)
Written = Tuple[Tuple[int, str], ...]  # the places and names of arguments


def mode(torch: Any, call: Callable[[Any, Tuple[Any, ...], Dict[str, Any]], Any]) -> Any:
    """Return a mode in which `call` makes each call: it gets the function, its arguments and its options."""

    class Watching(torch.utils._python_dispatch.TorchDispatchMode):  # type: ignore[misc]
        """Shows every call."""

        @classmethod
        def _should_skip_dynamo(cls) -> bool:
            return False  # skipping it would import it, which takes longer than importing all the rest

        @classmethod
        def ignore_compile_internals(cls) -> bool:
            return True  # or what is to be compiled would run as it is written

        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            try:
                return call(func, args, kwargs or {})
            except RuntimeError:
                boxed = _boxed(torch, func, args)
                if boxed is args:
                    raise
            return call(
                func, boxed, kwargs or {}
            )  # out here, the error of the first call is not the context of another

    return Watching()


def _boxed(torch: Any, func: Any, args: Tuple[Any, ...]) -> Tuple[Any, ...]:
    """Return arguments with tensors for plain numbers: a mode gets those of `torch.jit` without their tensors."""
    schema = getattr(func, "_schema", None)
    wanted = [str(item.type) for item in schema.arguments] if schema is not None else []
    numbers = {at for at, kind in enumerate(wanted[: len(args)]) if kind == "Tensor" and isinstance(args[at], _NUMBERS)}
    return tuple(torch.tensor(value) if at in numbers else value for at, value in enumerate(args)) if numbers else args


def declared(func: Any) -> Written:
    """Return the arguments that a call writes, as its schema says."""
    schema = getattr(func, "_schema", None)
    arguments = enumerate(schema.arguments) if schema is not None else ()
    return tuple((at, item.name) for at, item in arguments if item.alias_info is not None and item.alias_info.is_write)


def written_by(func: Any) -> Written:
    """Return the arguments that a call writes; those of a batch norm end with `training`, which decides."""
    schema = getattr(func, "_schema", None)
    if schema is not None and schema.name in _UNDECLARED:
        names = {*STATISTICS, "training"}
        return tuple((at, item.name) for at, item in enumerate(schema.arguments) if item.name in names)
    return declared(func)


def value_at(args: Sequence[Any], options: Dict[str, Any], at: int, name: str) -> Any:
    """Return an argument, by its place or its name; None where it is not given."""
    return args[at] if at < len(args) else options.get(name)
