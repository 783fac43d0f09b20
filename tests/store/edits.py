"""Random edits of a small library, of every kind that an editor or a branch makes."""

from __future__ import annotations

import ast
import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path

Edit = Callable[[random.Random, Path], None]

_STATEMENTS = (
    "x = x.exp()",
    "x = x + 1",
    "x += 1",
    "x.mul_(2)",
    "x = x.relu_()",
    "y = x.sigmoid(); y += 1; x = y",
    "x = x.clone()",
    "x.detach_()",
    "x = x.tanh().add_(1)",
)
_DEFAULTS = ("True", "False", "None", "'relu'", "'swish'", "'gate'", "1.0", "0", "8", "Gate", "missing")
_IMPORTS = (
    "from .helpers import *",
    "from ..layers.norm import *",
    "from zoo.layers import *",
    "from zoo.layers.helpers import bump as shift_",
    "from zoo.layers import helpers as tools",
    "from ..layers.act import *",
    "import torch.nn.functional as F",
)
_NEW_FILES = ("layers/block/__init__.py", "layers/helpers/__init__.py", "norm.py", "models/norm.py", "layers/extra.py")
_REGISTRY = ('LAYERS["relu6"] = Gate', 'LAYERS["swish"] = Gate', 'MODELS["small"] = Gate', "LAYERS.clear()")

_CLASSES = (
    "class Wheel:\n    def rotate_by(self, x, steps):\n        return x * steps\n",
    "class Wheel(Ring):\n    def span_of(self, x):\n        return x\n",
    "class Wheel:\n    span_of = 1\n\n    def rotate_by(self, x, steps):\n        return x.sigmoid()\n",
)


def files_of(folder: Path) -> list[Path]:
    """Return the files of a library, in order."""
    return sorted(folder.rglob("*.py"))


def contents(folder: Path) -> dict[Path, bytes]:
    """Return what the files of a library hold: what a cold run finds depends on nothing else."""
    return {path: path.read_bytes() for path in files_of(folder)}


def edit(rng: random.Random, folder: Path) -> str:
    """Make one edit; return what was done. The edited file parses if it did before."""
    done = rng.choice(_EDITS)
    path = rng.choice(files_of(folder))
    before = path.read_text(encoding="utf-8")
    after = done(rng, folder, before)
    if after is not None and after != before:
        try:
            ast.parse(after)
        except SyntaxError:
            if rng.random() > 0.02:  # people save files that do not parse
                return ""
        path.write_text(after, encoding="utf-8")
    return f"{done.__name__} {path.relative_to(folder)}"


def _functions(text: str, kinds: tuple[type[ast.stmt], ...]) -> Iterator[ast.stmt]:
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return
    yield from (node for node in ast.walk(tree) if isinstance(node, kinds))


def _insert(text: str, line: int, new: str) -> str:
    lines = text.splitlines(keepends=True)
    return "".join([*lines[:line], new, *lines[line:]])


def insert_statement(rng: random.Random, _: Path, text: str) -> str | None:
    """Insert a statement into a function."""
    nodes = list(_functions(text, (ast.FunctionDef,)))
    if not nodes:
        return None
    node = rng.choice(rng.choice(nodes).body)
    return _insert(text, node.lineno - 1, " " * node.col_offset + rng.choice(_STATEMENTS) + "\n")


def remove_line(rng: random.Random, _: Path, text: str) -> str | None:
    """Remove a line."""
    lines = text.splitlines(keepends=True)
    if not lines:
        return None
    del lines[rng.randrange(len(lines))]
    return "".join(lines)


def remove_function(rng: random.Random, _: Path, text: str) -> str | None:
    """Remove a function, a method or a class."""
    nodes = list(_functions(text, (ast.FunctionDef, ast.ClassDef)))
    if not nodes:
        return None
    node = rng.choice(nodes)
    lines = text.splitlines(keepends=True)
    return "".join([*lines[: node.lineno - 1], *lines[node.end_lineno or node.lineno :]])


def insert_comment(rng: random.Random, _: Path, text: str) -> str | None:
    """Insert a comment or an empty line."""
    line = rng.randrange(text.count("\n") + 1)
    return _insert(text, line, rng.choice(("# a comment\n", "\n", "    # a comment\n")))


def change_docstring(rng: random.Random, _: Path, text: str) -> str | None:
    """Give a function a docstring."""
    nodes = list(_functions(text, (ast.FunctionDef,)))
    if not nodes:
        return None
    node = rng.choice(nodes).body[0]
    words = rng.choice(("Do it.", "Do it in place.", "Do more."))
    return _insert(text, node.lineno - 1, " " * node.col_offset + f'"""{words}"""\n')


def change_default(rng: random.Random, _: Path, text: str) -> str | None:
    """Change a default, or the value of a keyword."""
    found = list(re.finditer(r"(?<=\w)=(?!=)[\w.'\"]+", text))
    if not found:
        return None
    match = rng.choice(found)
    return f"{text[: match.start()]}={rng.choice(_DEFAULTS)}{text[match.end() :]}"


def rename(rng: random.Random, _: Path, text: str) -> str | None:
    """Rename something in one file, as a half-done renaming does; or give it the name of something else."""
    names = sorted(set(re.findall(r"\b[A-Za-z_]{4,}\b", text)) - {"import", "from", "return", "class", "self"})
    if not names:
        return None
    return re.sub(rf"\b{rng.choice(names)}\b", rng.choice([*names, "other"]), text)


def change_import(rng: random.Random, _: Path, text: str) -> str | None:
    """Add or remove an import."""
    imports = [line for line in text.splitlines(keepends=True) if line.startswith(("from ", "import "))]
    if imports and rng.random() < 0.5:
        return text.replace(rng.choice(imports), "", 1)
    return rng.choice(_IMPORTS) + "\n" + text


def register(rng: random.Random, _: Path, text: str) -> str | None:
    """Add an entry to a registry."""
    return f"{text}\n{rng.choice(_REGISTRY)}\n"


def add_class(rng: random.Random, _: Path, text: str) -> str | None:
    """Add a class with methods that another one has."""
    return f"{text}\n{rng.choice(_CLASSES)}\n"


def add_file(rng: random.Random, folder: Path, _: str) -> None:
    """Add a file; it may win a lookup. Or remove such a file."""
    path = folder / rng.choice(_NEW_FILES)
    if path.exists():
        path.unlink()
        if path.parent.name in {"block", "helpers"}:
            path.parent.rmdir()
        return
    path.parent.mkdir(exist_ok=True)
    path.write_text(rng.choice(files_of(folder)).read_text(encoding="utf-8"), encoding="utf-8")


def remove_file(rng: random.Random, folder: Path, _: str) -> None:
    """Remove a file."""
    if rng.random() < 0.2:
        rng.choice(files_of(folder)).unlink()


def swap_files(rng: random.Random, folder: Path, _: str) -> None:
    """Swap the contents of two files, as moves between modules do."""
    if rng.random() < 0.2:
        one, other = rng.sample(files_of(folder), 2)
        texts = one.read_bytes(), other.read_bytes()
        one.write_bytes(texts[1])
        other.write_bytes(texts[0])


_EDITS = (
    *(insert_statement,) * 4,
    *(change_default,) * 3,
    remove_line,
    remove_function,
    insert_comment,
    change_docstring,
    rename,
    change_import,
    register,
    add_class,
    add_file,
    remove_file,
    swap_files,
)
