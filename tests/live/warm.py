"""
The child that runs many programs under watch: it imports a framework once, and forks for each program.

What a program prints is dropped; a line of JSON has the records of its watch and what it raised.
"""

from __future__ import annotations

import importlib
import json
import os
import runpy
import sys

from inplace_lint.live.child.watch.manager import WatchManager

# What optimizers, checkpoints and compiled functions import when they first run: seconds for each program otherwise.
_IMPORTED_LATE = {"torch": ("torch._dynamo", "torch.utils.checkpoint"), "paddle": ()}


def main(framework: str) -> None:
    """Answer each path on standard input."""
    answers = os.dup(1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    module = importlib.import_module(framework)
    for name in _IMPORTED_LATE[framework]:
        importlib.import_module(name)
    if framework == "torch":
        module.set_num_threads(1)  # a pool of threads does not survive a fork
    for line in sys.stdin:
        if os.fork() == 0:
            os.write(answers, json.dumps(_run(line.rstrip("\n"))).encode() + b"\n")
            os._exit(0)
        os.wait()


def _run(path: str) -> dict[str, object]:
    records: list[dict[str, object]] = []
    watches = WatchManager(records.append)
    watches.start()
    error = ""
    try:
        runpy.run_path(path, run_name="__main__")
    except BaseException as raised:  # noqa: BLE001 - whatever a program raises is its result
        watches.ended_by(raised)
        error = f"{type(raised).__name__}: {raised}"
    return {"records": records, "error": error}


if __name__ == "__main__":
    main(sys.argv[1])
