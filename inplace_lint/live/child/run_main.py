"""
Runs a program as the interpreter would, under watch: `RECORDS -m MODULE ARGS…` or `RECORDS SCRIPT ARGS…`.

What is found goes to the file RECORDS, a line of JSON each, as soon as it is found: the program may be killed. Nothing
else of the program changes: its arguments, its folder, its `__main__`, its streams, how it ends. Frameworks are watched
from the moment at which the program itself has imported them.
"""

from __future__ import annotations

import builtins
import importlib.machinery
import importlib.util
import io
import json
import os
import runpy
import sys
import types
import zipfile
from typing import Any, Dict, List, Optional

from .watch import manager

_HERE = os.path.dirname(os.path.abspath(__file__))


def main() -> None:
    """Run the program that the command line names, and end as it ends."""
    records, words = sys.argv[1], sys.argv[2:]
    file = os.open(records, os.O_WRONLY | os.O_APPEND)

    def emit(record: Dict[str, Any]) -> None:
        os.write(file, (json.dumps(record) + "\n").encode())

    if words[0] == "-m" and not _is_there(words[1]):
        emit({"kind": "unrunnable", "reason": f"no module named {words[1]!r}"})
        return
    watches = manager.WatchManager(emit)
    watches.start()
    watches.also_in_threads(_is_ours)
    sys.excepthook = _from_the_program(sys.excepthook)
    try:
        if words[0] == "-m":
            _run_module(words[1], words[2:])
        else:
            _run_script(words)
    finally:
        watches.ended_by(sys.exc_info()[1])


def _is_there(name: str) -> bool:
    folder = os.getcwd()
    sys.path.insert(0, folder)
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False
    finally:
        sys.path.remove(folder)


def _run_module(name: str, words: List[str]) -> None:
    """Run a module as `python -m NAME` does."""
    sys.argv = ["-m", *words]
    _enter(os.getcwd())
    _new_main(None)
    runpy._run_module_as_main(name)  # type: ignore[attr-defined]


def _run_script(words: List[str]) -> None:
    """Run a script as `python SCRIPT` does: a file of source, a folder or an archive."""
    script = words[0]
    sys.argv = words
    path = os.path.abspath(script)
    if os.path.isdir(path) or zipfile.is_zipfile(path):
        _enter(script)
        _new_main(None)
        runpy._run_module_as_main("__main__", False)  # type: ignore[attr-defined]
        return
    _enter(os.path.dirname(os.path.realpath(script)))
    with io.open_code(path) as file:
        source = file.read()
    namespace = _new_main(path)
    exec(compile(source, path, "exec", dont_inherit=True), namespace)


def _enter(folder: str) -> None:
    if not getattr(sys.flags, "safe_path", False):
        sys.path.insert(0, folder)


def _new_main(path: Optional[str]) -> Dict[str, Any]:
    """Make a new `__main__`, as empty as the interpreter would."""
    module = types.ModuleType("__main__")
    module.__dict__["__builtins__"] = builtins
    if path is not None:
        loader = importlib.machinery.SourceFileLoader("__main__", path)
        module.__dict__.update(__file__=path, __cached__=None, __loader__=loader)
    sys.modules["__main__"] = module
    return module.__dict__


def _is_ours(name: str) -> bool:
    return name.startswith(os.path.join(_HERE, "")) or name in {runpy.__file__, "<frozen runpy>"}


def _from_the_program(hook: Any) -> Any:
    """Wrap a hook for exceptions, so that a traceback begins where the program does."""

    def show(kind: Any, error: BaseException, _trace: Any) -> None:
        hook(kind, error, manager.cleaned(error, _is_ours))

    return show
