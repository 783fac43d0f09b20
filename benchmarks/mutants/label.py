"""
What a training step of each mutant does on the real framework: `python -m benchmarks.mutants.label RUNS`.

Each model is built and trained in a process of its own, at first healthy, then with each edit of a function that its
step calls and whose operand is a tensor, in a fork of that process. The functions of a fork get the code of the edited
file. A line of JSON is added to RUNS for each mutant; models that are in it are not run again.
"""

from __future__ import annotations

import argparse
import builtins
import contextlib
import gc
import json
import multiprocessing
import os
import random
import re
import sys
import tempfile
import time
import traceback
import types
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from importlib.metadata import distributions
from pathlib import Path
from typing import Any, TypeVar

from benchmarks.mutants import models, step
from benchmarks.mutants.edits import Edit, edits, made, watched

_FORK = multiprocessing.get_context("fork")
_LONGEST = 20.0
_LONGEST_BUILD = 60.0
Row = dict[str, Any]
T = TypeVar("T")


def main() -> None:
    """Label the mutants of each model that RUNS does not hold."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("runs", type=Path)
    parser.add_argument("--corpus", type=Path, default=Path(tempfile.gettempdir()) / "corpus" / "src")
    parser.add_argument("--only", nargs="+", default=[], help="libraries")
    parser.add_argument("--seconds", type=float, default=60.0, help="of one model")
    chosen = parser.parse_args()
    models.install(chosen.corpus.resolve())
    done = {(row["library"], row["model"]) for row in _rows(chosen.runs)}
    imported: set[str] = set()  # here, so that it is not done again in each fork
    for number, model in enumerate(models.MODELS):
        if (model.library, model.build) in done or (chosen.only and model.library not in chosen.only):
            continue
        if model.library not in imported:
            with contextlib.suppress(Exception):  # told by the fork
                step.built(model)
                imported.add(model.library)
        begun = time.monotonic()
        labelled = partial(_mutants, model, chosen.corpus.resolve(), chosen.seconds)
        try:
            rows = in_fork(labelled, chosen.seconds + _LONGEST_BUILD)
        except NoAnswerError as error:
            print(f"{model.library} {number}: {error}", flush=True)
            continue
        with chosen.runs.open("a", encoding="utf-8") as out:
            out.writelines(json.dumps(row) + "\n" for row in rows)
        labels = dict(Counter(row["label"] for row in rows))
        print(f"{model.library} {number}: {time.monotonic() - begun:.0f} s {labels}", flush=True)


def _rows(path: Path) -> list[Row]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


class NoAnswerError(Exception):
    """A process did not end well, or not in time."""


def in_fork(work: Callable[[], T], seconds: float) -> T:
    """Return what `work` returns in a process of its own. Raises: NoAnswerError, where it returns nothing."""
    here, there = _FORK.Pipe(duplex=False)

    def run() -> None:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        try:
            there.send((work(), ""))
        except BaseException:  # noqa: BLE001 - the process ends with it
            there.send((None, traceback.format_exc()[-700:]))
        there.close()
        os._exit(0)  # what the parent would do at its end is not the fork's

    process = _FORK.Process(target=run)
    process.start()
    there.close()
    answer: T | None = None
    failure = "it took too long"
    if here.poll(seconds):
        try:
            answer, failure = here.recv()
        except EOFError:
            failure = "it died"
    process.kill()
    process.join()
    if answer is None:
        raise NoAnswerError(failure)
    return answer


def _mutants(model: models.Model, corpus: Path, seconds: float) -> list[Row]:
    """Return the row of each mutant of one model, as many as this time allows."""
    training = step.built(model)
    step.forward(training)  # what is imported at first use is there from here on
    building, stepping, healthy = _healthy(model, training.framework, corpus / model.library)
    functions = _functions(corpus / model.library)
    found = [
        (path, edit)
        for path in sorted({path for path, _ in building | stepping})
        for edit in edits(Path(path).read_bytes())
        if (path, edit.function) in building | stepping
    ]
    written = in_fork(partial(_written, model, found, functions), _LONGEST_BUILD)
    fresh = step.built(model)
    until = time.monotonic() + seconds
    version = next(iter(distributions(path=[str(corpus / model.library)]))).version
    rows = []
    for path, edit in _varied([item for number, item in enumerate(found) if number in written]):
        if time.monotonic() > until:
            break
        code = compile(made(Path(path).read_bytes(), edit), path, "exec", dont_inherit=True)
        used = None if (path, edit.function) in building else fresh
        try:
            result = in_fork(partial(_judged, model, used, functions[path], code, healthy), _LONGEST)
        except NoAnswerError as error:
            result = {"label": "other", "error": str(error)[:200]}
        if "raised" in result:
            result["raised"] = _innermost(result["raised"], corpus / model.library)
        place = {"path": str(Path(path).relative_to(corpus / model.library)), "line": edit.line, "column": edit.column}
        last = {"last_line": edit.last_line, "kind": edit.kind, "turn": edit.turn}
        rows.append({"library": model.library, "version": version, **place, **last, **result, "model": model.build})
    return rows


def _healthy(
    model: models.Model, framework: Any, root: Path
) -> tuple[set[tuple[str, str]], set[tuple[str, str]], step.Outcome]:
    """Return which functions of the library build the model, which its step calls, and what the step leads to."""
    building, stepping = set[tuple[str, str]](), set[tuple[str, str]]()
    with _called(building, str(root)):
        training = step.built(model)
    with _called(stepping, str(root)):
        loss = step.forward(training)
    healthy = step.backward(training, loss)
    again = step.built(model)
    if step.compared(step.backward(again, step.forward(again)), healthy) != "equal":
        raise RuntimeError("two healthy steps differ")
    if not any(item is not None for item in healthy.gradients.values()):
        raise RuntimeError("no gradient")
    return building, stepping, healthy


@contextlib.contextmanager
def _called(into: set[tuple[str, str]], root: str) -> Iterator[None]:
    def note(frame: types.FrameType, event: str, _argument: object) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(root):
            into.add((frame.f_code.co_filename, _function_name(frame.f_code)))

    sys.setprofile(note)
    try:
        yield
    finally:
        sys.setprofile(None)


def _function_name(code: types.CodeType) -> str:
    """Return the qualified name of the function that an edit in this code names."""
    return code.co_qualname.replace(".<locals>", "").split(".<")[0]


def _functions(root: Path) -> dict[str, list[types.FunctionType]]:
    found: dict[str, list[types.FunctionType]] = defaultdict(list)
    for item in gc.get_objects():
        if isinstance(item, types.FunctionType) and item.__code__.co_filename.startswith(str(root)):
            found[item.__code__.co_filename].append(item)
    return found


def _exchange(functions: Iterable[types.FunctionType], module: types.CodeType) -> None:
    """Give the functions of a file the code that they have in its new text."""
    new = {(code.co_qualname, code.co_firstlineno): code for code in _codes(module)}
    for function in functions:
        code = new.get((function.__code__.co_qualname, function.__code__.co_firstlineno))
        if code is not None and len(code.co_freevars) == len(function.__code__.co_freevars):
            function.__code__ = code


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    for item in code.co_consts:
        if isinstance(item, types.CodeType):
            yield item
            yield from _codes(item)


def _written(
    model: models.Model, found: list[tuple[str, Edit]], functions: dict[str, list[types.FunctionType]]
) -> set[int]:
    """Return the numbers of the edits whose operand is a tensor, or a module with an `inplace` that is off."""
    numbers: set[int] = set()
    framework = sys.modules[model.framework]

    def watch(number: int, value: Any) -> Any:
        module = getattr(value, "inplace", None) is False and getattr(value, "p", 1) != 0
        if module or isinstance(value, framework.Tensor):
            numbers.add(number)
        return value

    builtins.__watch__ = watch  # type: ignore[attr-defined]
    for path in {path for path, _ in found}:
        own = [(number, edit) for number, (where, edit) in enumerate(found) if where == path]
        _exchange(functions[path], compile(watched(Path(path).read_bytes(), own), path, "exec", dont_inherit=True))
    step.forward(step.built(model))
    return numbers


def _varied(found: list[tuple[str, Edit]]) -> Iterator[tuple[str, Edit]]:
    """Yield the edits so that files and kinds take turns."""
    turns: dict[tuple[str, str], list[tuple[str, Edit]]] = defaultdict(list)
    for path, edit in found:
        turns[path, edit.kind].append((path, edit))
    for queue in turns.values():
        random.Random(0).shuffle(queue)
    while turns:
        for key in list(turns):
            yield turns[key].pop()
            if not turns[key]:
                del turns[key]


def _judged(
    model: models.Model,
    training: step.Training | None,
    functions: list[types.FunctionType],
    code: types.CodeType,
    healthy: step.Outcome,
) -> Row:
    """Return the label of one mutant; where it raises, in which phase, what, and which operation's backward."""
    _exchange(functions, code)
    stage = "forward"
    try:
        training = training or step.built(model)
        loss = step.forward(training)
        stage = "backward"
        outcome = step.backward(training, loss)
    except Exception as error:  # noqa: BLE001 - whatever the mutant raises is its label
        if not step.is_in_place_error(error):
            return {"label": "other", "error": f"{type(error).__name__}: {error}"[:200]}
        frames = traceback.format_exc() if stage == "forward" else _saving_frames(model)
        said = next(line for line in str(error).splitlines() if step.is_in_place_error(Exception(line)))
        return {"label": "raises", "stage": stage, "raised": frames, "error": said.strip()[:200]}
    return {"label": step.compared(outcome, healthy)}


def _saving_frames(model: models.Model) -> str:
    """Return the frames of the call whose backward raises, where the framework can tell them."""
    if model.framework != "torch":
        return ""
    import torch  # noqa: PLC0415 - Paddle's models do without

    training = step.built(model)
    with warnings.catch_warnings(record=True) as told, torch.autograd.detect_anomaly(check_nan=False):
        warnings.simplefilter("always")
        with contextlib.suppress(RuntimeError):
            step.backward(training, step.forward(training))
    return "".join(str(item.message) for item in told if "Error detected in" in str(item.message))


def _innermost(frames: str, root: Path) -> str:
    """Return the last place in a library that a list of frames names."""
    places = re.findall(rf'File "{re.escape(str(root))}/(.+?)", line (\d+)', frames)
    return ":".join(places[-1]) if places else ""


if __name__ == "__main__":
    main()
