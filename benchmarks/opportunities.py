"""
Proves what `inplace-lint opportunities` proposes: `python -m benchmarks.opportunities --corpus FOLDER`.

`opportunities.jsonl` holds models of public libraries, in the form of `mutants/models.jsonl`; FOLDER has each
library unpacked in a folder of its name. Every call of a model's files that could set `inplace=True` and may gain by
that (`leaky_relu` and its like) is a mutant: the model is built and trained for one step as it stands, with
each mutant alone, and with all that is proposed for its files, each in a process of its own that imports the edited
text. Loss and gradients are compared as they are by the other mutants; bytes kept for backward, but for parameters, are
counted by storage, as `saved_tensors_hooks` shows them, in a step that is not compared, since PyTorch compares no
versions where hooks see what is saved.
"""

from __future__ import annotations

import argparse
import ast
import builtins
import gc
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.machinery import SourceFileLoader
from pathlib import Path
from typing import Any

import torch

from benchmarks.mutants import models, step
from benchmarks.mutants.label import NoAnswerError, in_fork

_GAINS = frozenset({"celu", "elu", "leakyrelu", "rrelu", "selu"})
_LONGEST = 120.0
Place = tuple[str, int, int]


@dataclass(frozen=True, slots=True)
class Ran:
    """What a step did: bytes kept for backward, loss and gradients, the places that were met, the library's files."""

    kept: int
    outcome: step.Outcome
    met: frozenset[Place]
    files: tuple[str, ...] = ()


@dataclass
class Count:
    """What all models showed: places by what the call did in place, in the best of the models that met it."""

    raises: set[Place]
    gains: set[Place]
    nothing: set[Place]
    proposed: set[Place]

    def show(self) -> None:
        """Print what was asked of the advice."""
        met = self.raises | self.gains | self.nothing
        ran = self.proposed & met
        print(f"{len(self.proposed)} proposals, {len(ran)} of them run")
        print(f"  the same loss and gradients, and fewer bytes: {len(ran & self.gains - self.raises)}")
        print(f"  the same, and no fewer: {len(ran & self.nothing)}; something else: {len(ran & self.raises)}")
        gains = self.gains - self.raises
        print(f"{len(met)} calls run: {len(gains)} gain, of which {len(gains & self.proposed)} are proposed")
        print(f"  {len(self.raises)} raise or train differently, {len(self.raises & self.proposed)} are proposed")


def main() -> None:
    """Print a line for each model and each of its calls, and the sums."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--corpus", type=Path, default=Path(tempfile.gettempdir()) / "corpus" / "src")
    parser.add_argument("--only", nargs="+", default=[], help="libraries")
    chosen = parser.parse_args()
    corpus = chosen.corpus.resolve()
    models.install(corpus)
    count, known = Count(set(), set(), set(), set()), dict[str, dict[Place, str]]()
    for model in models.read(Path(__file__).with_suffix(".jsonl")):
        if not chosen.only or model.library in chosen.only:
            try:
                _measure(model, corpus / model.library, count, known)
            except NoAnswerError as error:
                print(f"{model.library} {model.build}: {str(error).strip().splitlines()[-1]}", flush=True)
    count.show()


def _measure(model: models.Model, root: Path, count: Count, known: dict[str, dict[Place, str]]) -> None:
    plain = in_fork(partial(_ran, model, root, {}), _LONGEST)
    found = [place for path in plain.files for place in _flags(Path(path).read_bytes(), path)]
    new = [path for path in plain.files if path not in known and any(place[0] == path for place in found)]
    known |= {path: {} for path in new} | _proposals(new)
    proposed = {place for path in plain.files for place in known.get(path, {})}
    count.proposed |= proposed
    every = _told(plain, lambda: _ran(model, root, proposed))
    print(
        f"{model.library} {model.build}: {len(proposed)} proposals, {plain.kept:,} bytes; with all {every[1]}",
        flush=True,
    )
    for place in found:
        kind, said = _told(plain, partial(_ran, model, root, {place}))
        if kind:
            {"raises": count.raises, "gains": count.gains, "nothing": count.nothing}[kind].add(place)
            mark = "proposed" if place in proposed else "silent"
            print(f"  {Path(place[0]).relative_to(root)}:{place[1]} {mark}: {said}", flush=True)
    count.nothing -= count.gains


def _told(plain: Ran, run: Callable[[], Ran]) -> tuple[str, str]:
    """Return what a step with edits did beside the plain one, as a word and in words; no word if it met no edit."""
    try:
        edited = in_fork(run, _LONGEST)
    except NoAnswerError as error:
        return "raises", str(error).strip().splitlines()[-1][:150]
    if not edited.met:
        return "", "met none"
    label = step.compared(edited.outcome, plain.outcome)
    same = "same bits" if _numbers(edited.outcome) == _numbers(plain.outcome) else label
    said = f"{same}, {edited.kept:,} bytes ({100 * (edited.kept - plain.kept) / plain.kept:+.1f} %)"
    if label != "equal":
        return "raises", said
    return ("gains" if edited.kept < plain.kept else "nothing"), said


def _numbers(outcome: step.Outcome) -> list[bytes]:
    return [outcome.loss.tobytes(), *(one.tobytes() for one in outcome.gradients.values() if one is not None)]


def _ran(model: models.Model, root: Path, edits: Iterable[Place]) -> Ran:
    """Build a model and run two steps, of which the first counts bytes. It has to run in a process of its own."""
    met: set[Place] = set()

    def note(path: str, line: int, column: int) -> bool:
        met.add((path, line, column))
        return True

    builtins.__met__ = note  # type: ignore[attr-defined]
    _import_edited({path: _edited(path, edits) for path in {path for path, _, _ in edits}})
    held: list[Any] = []
    sizes: dict[int, int] = {}

    def pack(tensor: torch.Tensor) -> torch.Tensor:
        held.append(tensor)
        sizes[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage().nbytes()
        return tensor

    training = step.built(model)
    step.forward(training)  # some build what they need, or estimate a spectrum, in the first step
    gc.collect()
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        held.append(step.called(training))
    for parameter in training.module.parameters():  # there anyway
        sizes.pop(parameter.untyped_storage().data_ptr(), None)
    training = step.built(model)
    outcome = step.backward(training, step.forward(training))
    loaded = {vars(module).get("__file__") or "" for module in list(sys.modules.values())}  # lazy ones stay as they are
    files = tuple(sorted(path for path in loaded if path.startswith(f"{root}/") and path.endswith(".py")))
    return Ran(sum(sizes.values()), outcome, frozenset(met), files)


def _import_edited(texts: Mapping[str, bytes]) -> None:
    """Make imports of these files read these texts."""
    data, stats = SourceFileLoader.get_data, SourceFileLoader.path_stats

    def get_data(self: SourceFileLoader, path: str) -> bytes:
        return texts[path] if path in texts else data(self, path)

    def path_stats(self: SourceFileLoader, path: str) -> Mapping[str, Any]:
        if path in texts:
            raise OSError  # so that no bytecode is read or written
        return stats(self, path)

    SourceFileLoader.get_data = get_data  # type: ignore[method-assign]
    SourceFileLoader.path_stats = path_stats  # type: ignore[method-assign]


def _flags(source: bytes, path: str) -> Iterator[Place]:
    """Yield the places of the calls that may gain by a flag which they leave alone."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and all(word.arg not in {None, "inplace"} for word in node.keywords):
            of, _, name = ast.unparse(node.func).rpartition(".")
            is_made = of.partition(".")[0] != "self"  # a module is called otherwise
            if is_made and name.lower().replace("_", "") in _GAINS and not name.endswith("_"):
                yield path, node.lineno, node.col_offset


def _edited(path: str, edits: Iterable[Place]) -> bytes:
    """Return the text of a file in which these calls write in place, and note that they are met."""
    source = Path(path).read_bytes()
    lines = source.splitlines(keepends=True)
    starts = [sum(map(len, lines[:number])) for number in range(len(lines) + 1)]
    wanted = {(line, column) for where, line, column in edits if where == path}
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    closes = {}
    for node in calls:
        if (node.lineno, node.col_offset) in wanted and ast.unparse(node.func).rpartition(".")[2].lower().replace(
            "_", ""
        ) in _GAINS:
            assert node.end_lineno is not None and node.end_col_offset is not None  # noqa: PT018 - both or none
            closes[starts[node.end_lineno - 1] + node.end_col_offset - 1] = node
    for close, node in sorted(closes.items(), reverse=True, key=lambda one: one[0]):
        head = source[:close].rstrip()
        comma = "" if head.endswith((b"(", b",")) else ", "
        flag = f"{comma}inplace=__met__({path!r}, {node.lineno}, {node.col_offset})"
        source = head + flag.encode() + source[close:]
    return source


def _proposals(paths: Sequence[str]) -> dict[str, dict[Place, str]]:
    """Return the places that are proposed in these files, with what is said of each."""
    if not paths:
        return {}
    words = [sys.executable, "-m", "inplace_lint", "opportunities", *paths, "--output-format", "json"]
    done = subprocess.run(words, capture_output=True, text=True, check=False, cwd=Path(__file__).parents[1])
    found: dict[str, dict[Place, str]] = {}
    for row in json.loads(done.stdout):
        place = (row["filename"], row["location"]["row"], row["location"]["column"] - 1)
        found.setdefault(row["filename"], {})[place] = row["message"]
    return found


if __name__ == "__main__":
    main()
