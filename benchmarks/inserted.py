"""
How much of a library's `forward` methods the analyzer sees through, without labels and without running anything.

    python -m benchmarks.inserted LIBRARY... [--missed]     # folders; --missed prints each place without an error

After `x = self.part(...)` in a `forward` method two lines are inserted that raise in training whatever the part does,
unless `x` is no tensor or nobody trains through it:

    x = torch.sigmoid(x)
    x.mul_(2)

All places of a library are checked in one run. Those of options that are off share its few further runs, so that an
edit of its own would be found more often.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

_HERE = {"PYTHONPATH": str(Path(__file__).resolve().parents[1])}
_SAVED = {"torch": "torch.sigmoid({0})", "paddle": "paddle.nn.functional.sigmoid({0})"}
_WRITTEN = {"torch": "{0}.mul_(2)", "paddle": "{0}.scale_(2.0)"}


def main() -> None:
    """Print for each library how many inserted writes are errors, are warnings only, and are missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("libraries", nargs="+", type=Path)
    parser.add_argument("--missed", action="store_true")
    chosen = parser.parse_args()
    for library in chosen.libraries:
        with tempfile.TemporaryDirectory() as name:
            copy = Path(name, library.name)
            shutil.copytree(library, copy, ignore=lambda _, names: [one for one in names if one == "__pycache__"])
            places = dict(inserted(copy))
            found = severities(copy)
        counts = Counter(found.get(place, "missed") for place in places)
        print(f"{library.name}: " + ", ".join(f"{counts[key]} {key}" for key in ("error", "warning", "missed")))
        for (path, line), what in places.items() if chosen.missed else ():
            if found.get((path, line)) != "error":
                print(f"    {found.get((path, line), 'missed')} {path.relative_to(copy)}:{line} {what}")


def inserted(folder: Path) -> Iterator[tuple[tuple[Path, int], str]]:
    """Insert the two lines into the files of a folder; yield the place of each write and the part before it."""
    for path in sorted(folder.rglob("*.py")):
        text = path.read_text(encoding="utf-8", errors="surrogateescape")
        framework = next((name for name in _SAVED if f"import {name}\n" in text), "")
        try:
            parts = dict(_parts(text)) if framework else {}
        except SyntaxError:
            continue
        lines: list[str] = []
        for number, line in enumerate(text.split("\n"), 1):
            lines.append(line)
            if number in parts:
                name, what, indent = parts[number]
                lines.append(f"{indent}{name} = {_SAVED[framework].format(name)}")
                lines.append(indent + _WRITTEN[framework].format(name))
                yield (path, len(lines)), what
        if parts:
            path.write_text("\n".join(lines), encoding="utf-8", errors="surrogateescape")


def _parts(text: str) -> Iterator[tuple[int, tuple[str, str, str]]]:
    """Yield the last line of each `x = self.part(...)` in `forward` methods, with the name, the part and the indent."""
    lines = text.split("\n")
    classes = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ClassDef))
    methods = ((cls, one) for cls in classes for one in cls.body)
    for cls, method in methods:
        if not isinstance(method, ast.FunctionDef) or method.name != "forward":
            continue
        for node in ast.walk(method):
            match node:
                case ast.Assign([ast.Name(name)], ast.Call(ast.Attribute(ast.Name("self"), part))):
                    indent = lines[node.lineno - 1][: node.col_offset]
                    if not indent.strip():  # not `if self.norm: x = self.norm(x)`
                        yield node.end_lineno or node.lineno, (name, f"{cls.name}.{part}", indent)
                case _:
                    pass


def severities(folder: Path) -> dict[tuple[Path, int], str]:
    """Return the severity of what is found on each line of the files of a folder, the surest."""
    options = ["--isolated", "--no-cache", "--output-format", "json"]
    command = [sys.executable, "-P", "-m", "inplace_lint", "check", *options, "."]
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
