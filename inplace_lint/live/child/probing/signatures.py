"""The parameters of an operator, however it was made, and how a call passes them."""

from __future__ import annotations

import inspect
from typing import Any, Callable, Dict, Iterable, List, Tuple

from ..attempt import attempt

_WITHOUT_SETUP = "torch.autograd.function"  # where `setup_context` is that of a custom function that has none


def signature_of(function: Callable[..., Any]) -> inspect.Signature:
    """Return the signature of a function, of the one registered as an operator, or of a custom function's `apply`."""
    schema = _schema_of(function)
    if schema is not None:
        return inspect.Signature([_parameter(one) for one in schema.arguments])
    owner = getattr(function, "__self__", None)
    if isinstance(owner, type) and getattr(function, "__name__", "") == "apply" and hasattr(owner, "forward"):
        signature = inspect.signature(owner.forward)
        setup = getattr(owner, "setup_context", None)
        separate = getattr(setup, "__module__", _WITHOUT_SETUP) != _WITHOUT_SETUP
        return signature if separate else signature.replace(parameters=[*signature.parameters.values()][1:])
    return inspect.signature(getattr(function, "_init_fn", function))


def _schema_of(function: Any) -> Any:
    """Return the schema of an operator that was registered without Python: of its first overload; None for others."""
    overloads = getattr(function, "overloads", None)
    if callable(overloads) and hasattr(function, "_qualified_op_name"):
        function = getattr(function, overloads()[0])
    schema = getattr(function, "_schema", None)
    return schema if hasattr(schema, "arguments") else None


def _parameter(one: Any) -> inspect.Parameter:
    return inspect.Parameter(
        one.name,
        inspect.Parameter.KEYWORD_ONLY if one.kwarg_only else inspect.Parameter.POSITIONAL_OR_KEYWORD,
        default=one.default_value if one.has_default_value() else inspect.Parameter.empty,
        annotation=str(one.type),
    )


def argument_names(signature: inspect.Signature) -> List[str]:
    """Return the parameters as they stand in the list of arguments of an entry."""
    return written(signature.parameters.values())


def written(parameters: Iterable[inspect.Parameter]) -> List[str]:
    """Return parameters as they stand in the list of arguments of an entry, with the `*` before those by keyword."""
    found: List[str] = []
    for one in parameters:
        stars = "*" if one.kind is one.VAR_POSITIONAL else "**" if one.kind is one.VAR_KEYWORD else ""
        if one.kind is one.KEYWORD_ONLY and not any(before[:1] == "*" for before in found):
            found.append("*")
        name = f"{stars}{one.name}"
        found.append(name if one.default is one.empty else f"{name}={one.default!r}")
    return found


def bound(signature: inspect.Signature, given: Dict[str, Any]) -> Tuple[List[Any], Dict[str, Any]]:
    """Return the arguments of a call by position and by keyword; of one that is left out, the rest go by keyword."""
    positional: List[Any] = []
    named = {**given}
    complete = True
    for one in signature.parameters.values():
        if one.name not in named or one.kind in (one.KEYWORD_ONLY, one.VAR_KEYWORD):
            complete = False
        elif one.kind is one.VAR_POSITIONAL:
            positional.extend(named.pop(one.name))
        elif complete or one.kind is one.POSITIONAL_ONLY:
            positional.append(named.pop(one.name))
    return positional, named


def unfit(function: Any) -> str:
    """Return why the calls of something cannot be described; empty where they can."""
    if isinstance(function, type):
        return "it is a class"
    if hasattr(function, "forward") and hasattr(function, "parameters"):
        return "it is a module, and what becomes of its parameters would not be seen"
    if attempt(lambda: signature_of(function)).error is not None:
        return "its arguments are not known to Python"
    return ""
