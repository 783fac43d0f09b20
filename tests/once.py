"""
Results that tests of several processes need: computed by the first that asks, read by the others.

They live as long as one run of the tests: nothing is taken from a run before. So do the processes that all of them use:
a pipe in the folder of the run, `ALIVE`, is open for writing until it ends.
"""

from __future__ import annotations

import atexit
import functools
import hashlib
import os
import pickle
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import ParamSpec, TypeVar

FOLDER = "INPLACE_LINT_TESTS_ONCE"  # the variable that names the folder of this run, for the processes of pytest-xdist
ALIVE = "alive"
Params = ParamSpec("Params")
Result = TypeVar("Result")


def begin() -> Callable[[], None]:
    """Make the folder of a run, and name it for the processes of the run; return what ends the run."""
    kept = tempfile.TemporaryDirectory(prefix="once-")
    os.environ[FOLDER] = kept.name
    alive = -1
    if hasattr(os, "mkfifo"):
        os.mkfifo(Path(kept.name) / ALIVE)
        alive = os.open(Path(kept.name) / ALIVE, os.O_RDWR)

    def end() -> None:
        if alive >= 0:
            os.close(alive)
        kept.cleanup()

    return end


def folder() -> Path:
    """Return the folder of this run; a process that no run of the tests has started is one by itself."""
    if FOLDER not in os.environ:
        atexit.register(begin())
    return Path(os.environ[FOLDER])


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
