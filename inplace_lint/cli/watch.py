"""Runs `inplace-lint check` again after each change of a file, in one process that keeps what it read."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

import click

from inplace_lint.cli import terminal
from inplace_lint.config.settings import marked_root
from inplace_lint.core.errors import InplaceLintError
from inplace_lint.driver.store import Store
from inplace_lint.workspace.memory import Memory

_EXTENSIONS = (".ipynb", ".toml", ".jsonl")  # beside Python files: notebooks, configuration and facts
_WAIT_MS = 200  # editors write a file in several steps


class Lasting(NamedTuple):
    """What one run of a process leaves to the next."""

    memory: Memory
    store: Store


def watch(run: Callable[[Lasting], int], paths: Iterable[Path], *, excluded: Iterable[str]) -> int:
    """
    Run, and run again after each change below the paths or in their project, until the user interrupts.

    An error of one run is printed, and the next change is waited for. `excluded` are options that were given and do not
    go with it.

    Raises: `click.UsageError` for such an option and where `watchfiles` is not installed; KeyboardInterrupt at the end.
    """
    for option in excluded:
        msg = f"--watch cannot be combined with {option}"
        raise click.UsageError(msg)
    try:
        from watchfiles import PythonFilter  # noqa: PLC0415 - an extra
        from watchfiles import watch as changes  # noqa: PLC0415
    except ImportError as error:
        msg = "--watch needs `watchfiles`: `pip install 'inplace-lint[watch]'`"
        raise click.UsageError(msg) from error
    folders = sorted({_folder(path) for path in paths})
    lasting = Lasting(Memory(), Store(None))
    files = PythonFilter(extra_extensions=_EXTENSIONS)
    is_first = True
    # The first run is done once it watches, so that no change is missed.
    for found in changes(*folders, watch_filter=files, debounce=_WAIT_MS, rust_timeout=_WAIT_MS, yield_on_timeout=True):
        if is_first or found:
            is_first = False
            if sys.stdout.isatty():
                click.clear()
            _run_once(run, lasting)
    return 0


def _run_once(run: Callable[[Lasting], int], lasting: Lasting) -> None:
    try:
        run(lasting)
    except click.ClickException as error:
        terminal.report_error(("error: ", error.format_message()), None)
    except InplaceLintError as error:
        terminal.report_error(("error: ", str(error)), None)
    terminal.report_error(("watching for changes; press `Ctrl+C` to stop",), None)


def _folder(path: Path) -> Path:
    """Return the folder to watch for a path: its project, or the folder itself where nothing marks one."""
    folder = path if path.is_dir() else path.parent
    return marked_root(folder.absolute(), own=True) or folder
