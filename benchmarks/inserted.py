"""
How much of a library's `forward` methods the analyzer sees through, without labels and without running anything.

    python -m benchmarks.inserted LIBRARY... [--missed]     # folders; --missed prints each place without an error
    python -m benchmarks.inserted LIBRARY --under models    # only files of a folder in it
    python -m benchmarks.inserted LIBRARY --only Net.conv   # only this place: an option that is off needs its own run

After `x = self.part(...)` in a `forward` method two lines are inserted that raise in training whatever the part does,
unless `x` is no tensor or nobody trains through it:

    x = torch.sigmoid(x)
    x.mul_(2)

All places of a library are checked in one run. What is no tensor ends the paths there and hides the places behind it,
so that those without an error are inserted once more, without the others, below `if torch.is_tensor(x) and
torch.is_floating_point(x):`. Those of options that are off share the few further runs of a class: an edit of its own
would be found more often. `--more` also takes `x = name(...)` and `x = x + ...`, below that condition from the start.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

_HERE = {"PYTHONPATH": str(Path(__file__).resolve().parents[1])}
_FRAMEWORK = re.compile(r"^(?:import|from) (torch|paddle)\b", re.MULTILINE)
_SAVED = {"torch": "torch.sigmoid({0})", "paddle": "paddle.nn.functional.sigmoid({0})"}
_WRITTEN = {"torch": "{0}.mul_(2)", "paddle": "{0}.scale_(2.0)"}
_FLOATS = "if {1}.is_tensor({0}) and {1}.is_floating_point({0}):"


@dataclass(frozen=True)
class Spot:
    """The place behind an assignment to `name`: its file in the library, its last line, and what is called there."""

    path: Path
    line: int
    name: str
    what: str
    indent: str
    framework: str
    sure: bool
    """Whether a part of the module is called: what returns is a tensor more often than not."""

    def lines(self, *, guarded: bool) -> list[str]:
        """Return the lines that save what was assigned and write it; with `guarded` only where it has a gradient."""
        deeper = "    " if guarded or not self.sure else ""
        head = [self.indent + _FLOATS.format(self.name, self.framework)] if deeper else []
        saved, written = (form[self.framework].format(self.name) for form in (_SAVED, _WRITTEN))
        return [*head, f"{self.indent}{deeper}{self.name} = {saved}", f"{self.indent}{deeper}{written}"]


def main() -> None:
    """Print for each library how many inserted writes are errors, are warnings only, and are missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("libraries", nargs="+", type=Path)
    parser.add_argument("--missed", action="store_true")
    parser.add_argument("--more", action="store_true", help="also behind other calls and sums")
    parser.add_argument("--under", default=".", metavar="FOLDER", help="only behind what is in this folder")
    parser.add_argument("--only", action="append", metavar="CLASS.PART", help="only behind these calls")
    parser.add_argument("--into", type=Path, metavar="FOLDER", help="keep the libraries of the last run there")
    chosen = parser.parse_args()
    for library in chosen.libraries:
        with tempfile.TemporaryDirectory() as name:
            places = spots(library, chosen.under, more=chosen.more)
            asked = [spot for spot in places if not chosen.only or spot.what in chosen.only]
            copy = (chosen.into or Path(name)) / library.name
            found = scores(library, copy, asked, chosen.under)
        counts = Counter(found.values())
        print(f"{library.name}: " + ", ".join(f"{counts[key]} {key}" for key in ("error", "warning", "missed")))
        for spot, severity in found.items() if chosen.missed else ():
            if severity != "error":
                print(f"    {severity} {spot.path}:{spot.line} {spot.what} {spot.name}")


def scores(library: Path, copy: Path, places: Iterable[Spot], under: str = ".") -> dict[Spot, str]:
    """Return what is found at each place: of all at once, then of those without an error, where they have a float."""
    found: dict[Spot, str] = {}
    for guarded in (False, True):
        if not (left := [spot for spot in places if found.get(spot) != "error"]):
            break
        at = insert(library, copy, left, guarded=guarded)
        severity = severities(copy, under)
        for place, spot in at.items():
            found[spot] = max(found.get(spot, "missed"), severity.get(place, "missed"), key=_RANKS.index)
    return found


_RANKS = ("missed", "warning", "error")


def spots(library: Path, under: str = ".", *, more: bool = False) -> list[Spot]:
    """Return the places behind calls of parts in the `forward` methods of a library, with `more` of other calls."""
    found: list[Spot] = []
    for path in sorted((library / under).rglob("*.py")):
        text = path.read_text(encoding="utf-8", errors="surrogateescape")
        framework = _FRAMEWORK.search(text)
        try:
            parts = dict(_parts(text)) if framework else {}
        except SyntaxError:
            continue
        for line, (name, what, indent, sure) in sorted(parts.items()):
            if framework and (sure or more):
                found.append(Spot(path.relative_to(library), line, name, what, indent, framework[1], sure))
    return found


def _parts(text: str) -> Iterator[tuple[int, tuple[str, str, str, bool]]]:
    """Yield the last line of each `x = ...(...)` in `forward` methods: the name, what is called, the indent."""
    lines = text.split("\n")
    classes = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ClassDef))
    methods = ((cls, one) for cls in classes for one in cls.body)
    for cls, method in methods:
        if not isinstance(method, ast.FunctionDef) or method.name != "forward":
            continue
        for node in ast.walk(method):
            match node:
                case ast.Assign([ast.Name(name)], ast.Call(ast.Attribute(ast.Name("self"), part))):
                    what, sure = part, True
                case ast.Assign([ast.Name(name)], ast.Call(called)):
                    what, sure = ast.unparse(called).split("\n")[0], False
                case ast.Assign([ast.Name(name)], ast.BinOp()):
                    what, sure = "+", False
                case _:
                    continue
            indent = lines[node.lineno - 1].encode()[: node.col_offset].decode()
            if not indent.strip():  # not `if self.norm: x = self.norm(x)`
                yield node.end_lineno or node.lineno, (name, f"{cls.name}.{what}", indent, sure)


def insert(library: Path, copy: Path, places: Iterable[Spot], *, guarded: bool) -> dict[tuple[Path, int], Spot]:
    """Copy a library with the lines of each place inserted; return the place of each write in the copy."""
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(library, copy, ignore=lambda _, names: [one for one in names if one == "__pycache__"])
    at: dict[tuple[Path, int], Spot] = {}
    by_file: dict[Path, dict[int, Spot]] = {}
    for spot in places:
        by_file.setdefault(spot.path, {})[spot.line] = spot
    for path, here in by_file.items():
        lines: list[str] = []
        text = (copy / path).read_text(encoding="utf-8", errors="surrogateescape")
        for number, line in enumerate(text.split("\n"), 1):
            lines.append(line)
            if number in here:
                lines += here[number].lines(guarded=guarded)
                at[copy / path, len(lines)] = here[number]
        whole = f"import {next(iter(here.values())).framework}"
        lines += [] if whole in lines else [whole]  # behind the rest: `from __future__` is first
        (copy / path).write_text("\n".join(lines), encoding="utf-8", errors="surrogateescape")
    return at


def severities(folder: Path, under: str = ".") -> dict[tuple[Path, int], str]:
    """Return the severity of what is found on each line of the files of a folder, the surest."""
    options = ["--isolated", "--no-cache", "--output-format", "json"]
    command = [sys.executable, "-P", "-m", "inplace_lint", "check", *options, under]
    # From the folder itself: a package without `__init__.py` is found from there only. The status is 1 for findings.
    run = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder, env=os.environ | _HERE)
    output = run.stdout
    found: dict[tuple[Path, int], str] = {}
    for one in json.loads(output):
        place = folder / one["filename"], one["location"]["row"]
        found[place] = "error" if "error" in {one["severity"], found.get(place)} else one["severity"]
    return found


if __name__ == "__main__":
    main()
