"""The shape of the code, from its text alone: who imports whom, how long a module is, where the frameworks may be."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "inplace_lint"
MODULES = sorted(PACKAGE.rglob("*.py"))

# From the top down: a module imports from its own row's package and from lower rows.
LAYERS = (
    ("__main__",),
    ("cli",),
    ("show", "proving", "output"),
    ("runs",),
    ("terminal",),
    ("adopt",),
    ("mend",),
    ("options", "baseline", "since", "explain"),
    ("session",),
    ("sources",),
    ("live",),
    ("report", "fix", "scope", "pool", "cache", "files", "suppress", "silence", "faults"),
    ("notebook", "agreement", "pins"),
    ("selection",),
    ("config", "asked"),
    ("kinds", "usage"),
    ("keys",),
    ("patterns",),
    ("rules",),
    ("interp",),
    ("lower", "outline", "domain", "knowledge"),
    ("ir", "finding"),
    ("event", "process"),
    ("span", "errors", "room"),
    ("records",),
    ("",),
)
RANK = {name: rank for rank, names in enumerate(LAYERS) for name in names}
FRAMEWORKS = {"torch", "paddle"}


def name_of(path: Path) -> str:
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return "" if parts == ("__init__",) else parts[0]


def imports_of(path: Path) -> Iterator[str]:
    """
    Give the dotted names of all modules that a file imports anywhere.

    Only the files that run beside a user's program import one another by relative names: see their package.
    """
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == (1 if node.level and path.parent.name == "child" else 0), f"{path.name}:{node.lineno}"
            if node.level:
                yield f"inplace_lint.live.child.{node.module}"
                continue
            yield node.module or ""
            if node.module == "inplace_lint":
                yield from (f"inplace_lint.{alias.name}" for alias in node.names)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_a_module_imports_only_lower_layers(path):
    name = name_of(path)
    assert name in RANK, f"{name} has no place in LAYERS"
    for imported in imports_of(path):
        root, _, rest = imported.partition(".")
        if root != "inplace_lint":
            continue
        other = rest.partition(".")[0]
        other = other if other in RANK else ""  # `from inplace_lint import __version__`
        assert other == name or RANK[other] > RANK[name], f"{name} imports {imported}"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_a_module_has_at_most_400_lines(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 400


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_a_function_has_at_most_40_lines(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    assert [node.name for node in functions if (node.end_lineno or 0) - node.lineno >= 40] == []


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_frameworks_and_libcst_are_imported_only_where_they_may_be(path):
    name = name_of(path)
    roots = {imported.partition(".")[0] for imported in imports_of(path)}
    if name != "live":
        assert roots & FRAMEWORKS == set()
    if name not in {"lower", "fix"}:
        assert "libcst" not in roots
    assert not any(imported.startswith("libcst.matchers") for imported in imports_of(path))


def test_every_layer_is_a_module_or_still_to_come():
    there = {name_of(path) for path in MODULES}
    assert set(RANK) - there == set()


def test_every_module_says_what_it_knows():
    silent = [path.name for path in MODULES if ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) is None]
    assert silent == []


def test_no_module_is_a_drawer():
    drawers = {"utils", "util", "common", "helpers", "manager", "base", "misc"}
    assert [path.name for path in MODULES if path.stem in drawers] == []


def test_every_exception_is_caught_in_two_places_only():
    """A file that crashes us is the session's; a program of a user may raise anything where `--confirm` runs it."""
    catchers = set()
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            caught = node.type if isinstance(node, ast.ExceptHandler) else False
            if caught is None or (isinstance(caught, ast.Name) and caught.id in {"Exception", "BaseException"}):
                catchers.add(path.relative_to(PACKAGE).as_posix())
    assert catchers == {"session.py", "live/child/attempt.py"}


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, id=str(path.relative_to(PACKAGE)))
        for part in ("domain", "interp", "rules")
        for path in sorted((PACKAGE / part).glob("*.py"))
    ],
)
def test_the_engine_names_no_framework(path):
    """Frameworks are data: only docstrings and comments may speak of one."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef)
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, documented) and node.body and isinstance(node.body[0], ast.Expr)
    }
    words = [
        node.value if isinstance(node, ast.Constant) else node.id
        for node in ast.walk(tree)
        if (isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings)
        or isinstance(node, ast.Name)
    ]
    assert [word for word in words if "torch" in word or "paddle" in word] == []
