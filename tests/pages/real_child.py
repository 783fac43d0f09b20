"""The child of `real.py`: reads paths of programs from its input, runs each, writes what happened as a line of JSON."""

from __future__ import annotations

import builtins
import importlib
import json
import os
import random
import runpy
import sys
import traceback
import warnings

_BACKWARD = ("backward", "grad", "_engine_run_backward")


def main(framework: str) -> None:
    """Answer each path on standard input; the programs' own output goes to standard error."""
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    warnings.simplefilter("ignore")
    builtins.reveal = lambda value: value  # type: ignore[attr-defined]  # the analyzer tells what it knows there
    module = importlib.import_module(framework)
    parts = (module, module.nn, module.nn.functional, module.Tensor)
    layers = (part for part in vars(module.nn).values() if isinstance(part, type))
    before = [(part, dict(vars(part))) for part in (*parts, *layers)]
    for line in sys.stdin:
        path = line.rstrip("\n")
        _reset(framework, module)
        _restore(before)
        answers.write(json.dumps(_run(path)) + "\n")


def _reset(framework: str, module: object) -> None:
    """Undo what a program may have left behind in the process."""
    random.seed(0)
    seed = module.manual_seed if framework == "torch" else module.seed  # type: ignore[attr-defined]
    seed(0)
    if framework == "torch":
        module.set_grad_enabled(True)  # type: ignore[attr-defined]
        module.set_default_dtype(module.float32)  # type: ignore[attr-defined]


def _restore(before: list[tuple[object, dict[str, object]]]) -> None:
    """Set the attributes of the framework to what they were before a program set them."""
    for part, names in before:
        now = vars(part)
        for name, value in names.items():
            if now.get(name) is not value:
                setattr(part, name, value)
        for name in now.keys() - names.keys() if isinstance(part, type) else ():
            delattr(part, name)


def _run(path: str) -> dict[str, object]:
    folder = os.path.dirname(path)  # noqa: PTH120 - a string is what `sys.path` holds
    sys.path.insert(0, folder)
    try:
        runpy.run_path(path, run_name="__main__")
    except BaseException as error:  # noqa: BLE001 - whatever a program raises is its result, SystemExit too
        frames = traceback.extract_tb(error.__traceback__)
        own = [place for place, frame in enumerate(frames) if frame.filename == path]
        last = own[-1] if own else 0
        inner = [frame for frame in frames[last + 1 :] if frame.name in _BACKWARD]
        return {
            "verdict": "raised",
            "error": type(error).__name__,
            "message": str(error),
            "line": (frames[last].lineno or 0) if own else 0,
            "in_backward": bool(inner),
        }
    finally:
        sys.path.remove(folder)
        for name, module in list(sys.modules.items()):
            if (getattr(module, "__file__", None) or "").startswith(folder + os.sep):
                del sys.modules[name]  # the next program may have a module of the same name
    return {"verdict": "ran"}


if __name__ == "__main__":
    main(sys.argv[1])
