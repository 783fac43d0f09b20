"""
Tracebacks of programs, as Python prints them, from forks of one process that has imported the framework.

    python -m tests.cli.raising torch     # reads a path a line, answers with the traceback of that program as JSON
"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import os
import sys
import traceback
from pathlib import Path


def main(framework: str) -> None:
    importlib.import_module(framework)
    for line in sys.stdin:
        reading, writing = os.pipe()
        if not os.fork():
            os.close(reading)
            with os.fdopen(writing, "w", encoding="utf-8") as answer:
                answer.write(raised(Path(line.rstrip("\n"))))
            os._exit(0)
        os.close(writing)
        with os.fdopen(reading, encoding="utf-8") as answer:
            sys.stdout.write(json.dumps(answer.read()) + "\n")
            sys.stdout.flush()
        os.wait()


def raised(path: Path) -> str:
    """Return what a program writes to stderr; the frame of this function is none of its own."""
    os.chdir(path.parent)
    sys.path[0] = str(path.parent)
    with contextlib.redirect_stderr(io.StringIO()) as told:
        try:
            exec(
                compile(path.read_text(encoding="utf-8"), path, "exec"), {"__name__": "__main__", "__file__": str(path)}
            )
        except Exception as error:  # noqa: BLE001 - whatever it raises is what is asked for
            frames = error.__traceback__
            traceback.print_exception(type(error), error, frames and frames.tb_next)
    return told.getvalue()


if __name__ == "__main__":
    main(sys.argv[1])
