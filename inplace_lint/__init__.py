"""inplace-lint finds in-place operations that break or silently corrupt training."""

import importlib
from typing import Any

__version__ = "0.1.0"
_WATCHING = dict.fromkeys(("assert_arguments_unchanged", "assert_no_inplace_bugs", "watch"), "inplace_lint.live.watch")
_HOMES = {**_WATCHING, "Finding": "inplace_lint.core.finding"}


def __getattr__(name: str) -> Any:  # noqa: ANN401 - each has a type of its own
    """Return what tests of users need, imported when it is first asked for."""
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    msg = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(msg)
