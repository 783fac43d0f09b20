"""
The child of `oracle.py`: reads random programs, runs each, writes what happened as a line of JSON.

Where backward says that a saved tensor was written, the program is run again under a trace that looks at the version
of every tensor in reach after each line. The lines after which a version went past the one that backward expected are
those of the writes. Nothing of the analyzer is used.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import random
import re
import signal
import sys
import traceback
import warnings

NAME = "<random program>"
_BACKWARD = ("backward", "grad", "_engine_run_backward")
_VERSIONS = {
    "torch": re.compile(r"is at version (?P<now>\d+); expected version (?P<then>\d+)"),
    "paddle": re.compile(r"received tensor_version:(?P<now>\d+) != wrapper_version_snapshot:(?P<then>\d+)"),
}
_DEEPEST = 6
_SECONDS = 3.0  # of a processor; a program takes a hundredth of one second, if its loops end


class _EndlessError(BaseException):
    """A program did not end, as some do of which statements were taken away."""


def main(framework: str) -> None:
    """Say when the framework is there, then answer each program; the programs' own output goes to standard error."""
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    warnings.simplefilter("ignore")
    module = importlib.import_module(framework)
    answers.write("ready\n")
    for line in sys.stdin:
        program = json.loads(line)
        answer = run(framework, module, program)
        versions = _VERSIONS[framework].search(answer.get("message", ""))
        if versions is not None:
            answer["writes"] = _writes(framework, module, program, int(versions["then"]), int(versions["now"]))
        answers.write(json.dumps(answer) + "\n")


def run(framework: str, module: object, program: str, trace: object = None) -> dict[str, object]:
    """Run a program; say what it raised, on which line of its own, and whether in backward."""
    _reset(framework, module)
    names: dict[str, object] = {"__name__": "__main__"}
    try:
        code = compile(program, NAME, "exec")
        signal.signal(signal.SIGPROF, _end)
        signal.setitimer(signal.ITIMER_PROF, _SECONDS)
        sys.settrace(trace)
        exec(code, names)
    except _EndlessError:
        return {"verdict": "died"}
    except Exception as error:  # noqa: BLE001 - whatever a program raises is its result
        sys.settrace(None)
        frames = traceback.extract_tb(error.__traceback__)
        own = [place for place, frame in enumerate(frames) if frame.filename == NAME]
        last = own[-1] if own else 0
        return {
            "verdict": "raised",
            "error": type(error).__name__,
            "message": str(error),
            "line": (frames[last].lineno or 0) if own else 0,
            "in_backward": any(frame.name in _BACKWARD for frame in frames[last + 1 :]),
        }
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        sys.settrace(None)
        names.clear()
    return {"verdict": "ran"}


def _end(_number: int, _frame: object) -> None:
    raise _EndlessError


def _reset(framework: str, module: object) -> None:
    random.seed(0)
    if framework == "torch":
        module.manual_seed(0)
        module.set_grad_enabled(True)
    else:
        module.seed(0)


def _writes(framework: str, module: object, program: str, then: int, now: int) -> list[int]:
    watch = _Watch(framework, module)
    gc.disable()  # what is dead keeps its address
    try:
        run(framework, module, program, watch.trace)
    finally:
        gc.enable()
    return sorted(watch.passed(then, now))


class _Watch:
    """The versions of all tensors in reach of a program's frames, after each line of it."""

    def __init__(self, framework: str, module: object) -> None:
        self.tensor = module.Tensor
        self.module = module.nn.Module if framework == "torch" else module.nn.Layer
        self.version = "_version" if framework == "torch" else "inplace_version"
        self.kept: dict[int, object] = {}
        self.history: dict[int, list[tuple[int, int]]] = {}
        self.frames: list[object] = []
        self.lines: dict[object, int] = {}

    def trace(self, frame: object, event: str, _: object) -> object:
        """Look at all tensors whenever a line of the program begins or ends."""
        if frame.f_code.co_filename != NAME:
            return None
        if event == "call":
            self.frames.append(frame)
        before = self.lines.get(frame)
        if event == "call" and len(self.frames) > 1:
            before = self.lines.get(self.frames[-2])
        self._look(before)
        if event == "line":
            self.lines[frame] = frame.f_lineno
        elif event == "return":
            self.frames.remove(frame)
            self.lines.pop(frame, None)
        return self.trace

    def passed(self, then: int, now: int) -> set[int]:
        """Give the lines after which a tensor that ends at version `now` was past `then` for the first time."""
        self._look(None)
        found = set()
        for seen in self.history.values():
            if seen[-1][1] == now:
                found.update(line for line, version in [item for item in seen if item[1] > then][:1] if line)
        return found

    def _look(self, line: int | None) -> None:
        for tensor in self._tensors():
            key = id(tensor)
            self.kept[key] = tensor
        for key, tensor in self.kept.items():
            try:
                version = getattr(tensor, self.version)
            except (RuntimeError, AttributeError):
                continue
            seen = self.history.setdefault(key, [])
            if not seen or seen[-1][1] != version:
                seen.append((line or 0, version))

    def _tensors(self) -> list[object]:
        found, known = [], set()
        waiting = [(value, 0) for frame in self.frames for value in [*frame.f_locals.values()]]
        while waiting:
            value, depth = waiting.pop()
            if id(value) in known or depth > _DEEPEST:
                continue
            known.add(id(value))
            if isinstance(value, self.tensor):
                found.append(value)
            elif isinstance(value, (list, tuple)):
                waiting += [(item, depth + 1) for item in value]
            elif isinstance(value, dict):
                waiting += [(item, depth + 1) for item in value.values()]
            elif isinstance(value, self.module) or type(value).__module__ == "__main__":  # a class of the program
                waiting.append((getattr(value, "__dict__", None), depth + 1))
        return found


if __name__ == "__main__":
    main(sys.argv[1])
