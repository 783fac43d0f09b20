"""
Results that tests of several processes need: computed by the first that asks, read by the others.

They live as long as one run of the tests: nothing is taken from a run before.
"""

from __future__ import annotations

import functools
import hashlib
import os
import pickle
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import ParamSpec, TypeVar

FOLDER = "INPLACE_LINT_TESTS_ONCE"  # the variable that names the folder of this run, for the processes of pytest-xdist
Params = ParamSpec("Params")
Result = TypeVar("Result")


def once(function: Callable[Params, Result]) -> Callable[Params, Result]:
    """Compute each result of a function, which depends on its arguments only, in one of the processes of a run."""

    @functools.cache
    def remembered(*args: Params.args, **keywords: Params.kwargs) -> Result:
        folder = os.environ.get(FOLDER)
        if folder is None:  # there is no run of tests
            return function(*args, **keywords)
        called = pickle.dumps((function.__module__, function.__qualname__, args, sorted(keywords.items())))
        kept = Path(folder) / hashlib.sha256(called).hexdigest()
        if kept.exists():
            return pickle.loads(kept.read_bytes())  # type: ignore[no-any-return]
        result = function(*args, **keywords)
        with tempfile.NamedTemporaryFile(dir=kept.parent, delete=False) as written:
            pickle.dump(result, written)
        Path(written.name).replace(kept)
        return result

    return remembered
