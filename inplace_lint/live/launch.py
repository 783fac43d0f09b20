"""
Runs a program of a user in a child process, with the user's own interpreter, and collects the records of its watches.

The program keeps its streams, its folder and its environment. Signals from the keyboard reach it from the terminal;
others that reach us are passed on.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from msgspec import Struct

from inplace_lint.config.settings import Settings
from inplace_lint.core.errors import InplaceLintError
from inplace_lint.live.record import Record, record_of

CHILD = Path(__file__).parent / "child" / "start.py"
_OLDEST = (3, 8)
_PASSED_ON = ("SIGTERM", "SIGHUP")


class Ended(Struct, frozen=True):
    """How a program ended, as a shell would say it, and what was seen of it."""

    status: int
    records: tuple[Record, ...]


def interpreter(chosen: str | None, settings: Settings) -> str:
    """
    Return the interpreter to run a program with: the one chosen, that of the environment or the project, or our own.

    Raises: `InplaceLintError` where an interpreter that was chosen is missing.
    """
    wanted = chosen or settings.python
    if wanted is not None:
        base = Path() if chosen else settings.root
        found = _executable(base / Path(wanted).expanduser())
        if found is None:
            msg = f"{wanted}: no such interpreter"
            raise InplaceLintError(msg)
        return found
    active = os.environ.get("VIRTUAL_ENV")
    for folder in (Path(active) if active else None, settings.root / ".venv"):
        found = _executable(folder) if folder is not None else None
        if found is not None:
            return found
    return sys.executable


def _executable(path: Path) -> str | None:
    """Return the interpreter at a path: a file, or the one in a virtual environment."""
    places = (path, path / "bin" / "python", path / "Scripts" / "python.exe")
    return next((str(place.absolute()) for place in places if place.is_file() and os.access(place, os.X_OK)), None)


def run(python: str, words: Sequence[str]) -> Ended:
    """
    Run a program to its end: `words` are `-m MODULE ARGS…` or `SCRIPT ARGS…`.

    Raises: `InplaceLintError` where there is nothing to run, or the interpreter is too old.
    """
    if words[0] != "-m" and not Path(words[0]).exists():
        msg = f"{words[0]}: no such file"
        raise InplaceLintError(msg)
    _check_version(python)
    with tempfile.TemporaryDirectory(prefix="inplace-lint-", ignore_cleanup_errors=True) as folder:
        file = Path(folder) / "records"
        file.touch()
        command = [python, str(CHILD), "run_main", str(file), *words]
        with subprocess.Popen(command) as child, _outliving(child):  # noqa: S603 - what the user asked to run
            status = child.wait()
        lines = file.read_text(encoding="utf-8").splitlines()
    records = tuple(record_of(json.loads(line)) for line in lines)
    for record in records:
        if record.kind == "unrunnable":
            raise InplaceLintError(record.note)
    return Ended(status if status >= 0 else 128 - status, records)


def probed(python: str, name: str, arguments: str) -> dict[str, Any]:
    """
    Return the fact of an operator, `MODULE:FUNCTION`, from calls of it on arguments as in a call; empty for guesses.

    Raises: `InplaceLintError` where it cannot be called.
    """
    _check_version(python)
    with tempfile.TemporaryDirectory(prefix="inplace-lint-", ignore_cleanup_errors=True) as folder:
        file = Path(folder) / "fact"
        command = [python, str(CHILD), "probe_main", str(file), name, arguments]
        status = subprocess.run(command, check=False).returncode  # noqa: S603 - what the user asked to run
        if not file.is_file():
            msg = f"{name}: the process that called it ended with status {status}"
            raise InplaceLintError(msg)
        found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    if "problem" in found:
        raise InplaceLintError(found["problem"])
    return found


def _check_version(python: str) -> None:
    try:
        question = [python, "-c", "import sys; print(*sys.version_info[:2])"]
        printed = subprocess.run(question, check=True, capture_output=True, text=True).stdout  # noqa: S603 - the user's own
        version = int(printed.split()[0]), int(printed.split()[1])
    except (OSError, subprocess.CalledProcessError, ValueError, IndexError) as error:
        msg = f"{python}: does not run as a Python interpreter"
        raise InplaceLintError(msg) from error
    if version < _OLDEST:
        msg = f"{python}: Python {version[0]}.{version[1]} is too old to be watched, 3.8 is the oldest"
        raise InplaceLintError(msg)


@contextmanager
def _outliving(child: subprocess.Popen[bytes]) -> Iterator[None]:
    """Outlive the child: an interrupt from the keyboard reaches it without us, other signals are passed on."""
    before = {signal.SIGINT: signal.signal(signal.SIGINT, signal.SIG_IGN)}
    for name in _PASSED_ON:
        number = getattr(signal, name, None)
        if number is not None:
            before[number] = signal.signal(number, lambda got, _frame: child.send_signal(got))
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
