"""
Measures which harmless mutants keep less for backward: `python benchmarks/mutant_gains.py BENCH [RESULTS]`.

Each mutant of BENCH (the folder of `labels.jsonl`) that trained the same is run as its labels were made: the model in a
process of its own, with the code of the mutated functions swapped. Bytes are counted by storage, as
`saved_tensors_hooks` shows them. One line is printed for each mutant that keeps less than the unedited code does, and
one for all; RESULTS gets all of them as lines of JSON.
"""

from __future__ import annotations

import argparse
import gc
import json
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any


def main() -> None:
    """Run each mutant on the model that its label came from."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("bench", type=Path)
    parser.add_argument("results", type=Path, nargs="?")
    chosen = parser.parse_args()
    sys.path.insert(0, str(chosen.bench))
    label, models = __import__("label"), __import__("models")
    label.preload(models)
    rows = [json.loads(line) for line in (chosen.bench / "labels.jsonl").read_text(encoding="utf-8").splitlines()]
    by_model = defaultdict(list)
    for row in rows:
        if row["label"] == "equal":
            by_model[row["model"]].append(row)
    found = []
    for name, mutants in sorted(by_model.items()):
        status, measured = label.forked(lambda: list(_measured(label, models.ENTRIES[name], mutants)), 600)  # noqa: B023
        found += measured if status == "ok" else [{**row, "problem": str(measured)[:200]} for row in mutants]
        for row in found[-len(mutants) :]:
            if row.get("after", 0) < row.get("before", 0):
                place = f"{row['path']}:{row['line']} {row['kind']} {row['on']}"
                print(f"{place}: {row['before']:,} to {row['after']:,} bytes")
    if chosen.results is not None:
        chosen.results.write_text("".join(f"{json.dumps(row)}\n" for row in found), encoding="utf-8")
    ran = [row for row in found if "problem" not in row]
    gains = sum(row["after"] < row["before"] for row in ran)
    more = sum(row["after"] > row["before"] for row in ran)
    print(f"{len(ran)} of {len(found)} mutants ran: {gains} keep less, {more} keep more")


def _measured(label: Any, entry: Any, mutants: list[dict[str, Any]]) -> Any:  # noqa: ANN401 - modules of the bench
    """Yield the mutants of one model with the bytes that each keeps."""
    status, before = label.forked(lambda: _kept(label, entry), 60)
    functions = label.live_functions()
    for row in mutants:
        result, after = label.forked(lambda: _mutated(label, entry, row, functions), 60)  # noqa: B023
        if status == result == "ok":
            yield {**row, "before": before, "after": after}
        else:
            yield {**row, "problem": str(before if status != "ok" else after)[:200]}


def _mutated(label: Any, entry: Any, row: dict[str, Any], functions: Any) -> int:  # noqa: ANN401 - modules of the bench
    file = str(label.libs.CORPUS / row["library"] / row["path"])
    text = label.mutate.apply(Path(file).read_bytes(), row["kind"], row["line"], row["col"])
    label.swap(functions[file], compile(text, file, "exec", dont_inherit=True))
    return _kept(label, entry)


def _kept(label: Any, entry: Any) -> int:  # noqa: ANN401 - modules of the bench
    import torch  # noqa: PLC0415 - after the bench has chosen its libraries

    held: list[Any] = []
    sizes: dict[int, int] = {}

    def pack(tensor: Any) -> Any:  # noqa: ANN401 - tensors
        held.append(tensor)
        sizes[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage().nbytes()
        return tensor

    model = label.build(entry)
    gc.collect()
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        label.forward(entry, model, label.call_inputs(entry))
    return sum(sizes.values())


if __name__ == "__main__":
    main()
