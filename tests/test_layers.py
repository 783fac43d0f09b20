"""The shape of the code, read from its text: who imports whom, how large a file is, where frameworks may be named."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "inplace_lint"
MODULES = {
    path.relative_to(PACKAGE).with_suffix("").as_posix().removesuffix("__init__").rstrip("/"): path
    for path in sorted(PACKAGE.rglob("*.py"))
}
FOLDERS = sorted({path.parent.relative_to(PACKAGE).as_posix() for path in MODULES.values()})

# From the top down: a module imports from its own row's folder and from lower rows. The longest prefix of a module's
# path counts, so that one module of a folder can stand above or below the others.
LAYERS = (
    ("__main__",),
    ("cli",),
    ("fleet",),
    ("server",),
    ("policy/apply",),
    ("fix/apply", "live/confirm", "policy/baseline", "cli/options"),
    ("live",),
    ("driver",),
    ("fix", "policy/add_noqa"),
    ("report", "policy"),
    ("rules",),
    ("interp/entry_points",),
    ("interp",),
    ("workspace",),
    ("config", "effects", "frontend", "domain", "workspace/notebook"),
    ("ir", "knowledge", "cli/streams"),
    ("core",),
    ("",),
)
RANK = {prefix: rank for rank, prefixes in enumerate(LAYERS) for prefix in prefixes}
FRAMEWORKS = {"torch", "paddle"}
MOST_IN_A_CIRCLE = 5
in_each_folder = pytest.mark.parametrize("folder", FOLDERS)


@cache
def tree_of(module: str) -> ast.Module:
    return ast.parse(MODULES[module].read_text(encoding="utf-8"))


@cache
def nodes_of(module: str) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(tree_of(module)))


def modules_in(folder: str) -> list[str]:
    return [name for name, path in MODULES.items() if path.parent.relative_to(PACKAGE).as_posix() == folder]


def within(*tops: str) -> list[str]:
    """Return some folders of the package and all folders in them."""
    return [folder for folder in FOLDERS if folder.partition("/")[0] in tops]


@cache
def imports_of(module: str) -> frozenset[str]:
    """
    Return the dotted names of all that a module imports anywhere, under `if TYPE_CHECKING` and in functions too.

    `from package import name` imports the module `package.name` where there is one, else `package`.
    """
    found: set[str] = set()
    for node in nodes_of(module):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            source = _source(module, node)
            full = [f"{source}.{alias.name}" for alias in node.names]
            found.update(name if _in_package(name) in MODULES else source for name in full)
    return frozenset(found)


def _source(module: str, node: ast.ImportFrom) -> str:
    """
    Return the absolute name of the module that `from … import` names.

    The files of `live/child` import one another by relative names, and only those: see their package.
    """
    if not node.level:
        return node.module or ""
    package = MODULES[module].parent.relative_to(PACKAGE).parts
    kept = package[: len(package) + 1 - node.level]
    assert kept[:2] == ("live", "child"), f"{module}:{node.lineno} imports by a relative name"
    return ".".join(["inplace_lint", *kept, *([node.module] if node.module else [])])


def _in_package(dotted: str) -> str | None:
    """Return the path of a module inside the package, `""` for the package itself, None for any other name."""
    root, _, rest = dotted.partition(".")
    return rest.replace(".", "/") if root == "inplace_lint" else None


@cache
def ours_of(module: str) -> frozenset[str]:
    """Return the modules of the package that a module imports."""
    return frozenset(path for name in imports_of(module) if (path := _in_package(name)) in MODULES and path != module)


def is_package(module: str) -> bool:
    return MODULES[module].name == "__init__.py"


def prefix_of(module: str) -> str:
    """Return the longest prefix of a module's path that has a row."""
    parts = module.split("/")
    prefixes = ["/".join(parts[:length]) for length in range(len(parts), 0, -1)]
    return next((prefix for prefix in prefixes if prefix in RANK), "")


def strings_of(module: str) -> Iterator[ast.Constant]:
    """Return the strings of a module that are no documentation."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docstrings = {
        id(node.body[0].value)
        for node in nodes_of(module)
        if isinstance(node, documented) and node.body and isinstance(node.body[0], ast.Expr)
    }
    for node in nodes_of(module):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield node


# -- layers and circles ------------------------------------------------------------------------------------------------


@in_each_folder
def test_a_module_imports_only_lower_layers(folder):
    wrong = []
    for module in modules_in(folder):
        prefix = prefix_of(module)
        assert prefix or not module, f"{module} has no place in LAYERS"
        for other in ours_of(module):
            lower = prefix_of(other)
            if lower != prefix and RANK[lower] <= RANK[prefix]:
                wrong.append(f"{module} imports {other}")
    assert wrong == []


def test_every_row_of_the_layers_is_needed():
    assert set(RANK) - {prefix_of(module) for module in MODULES} == set()


def circles() -> list[list[str]]:
    """Return the modules that import one another, directly or through others, as strongly connected components."""
    reached = {module: _reachable(module) for module in MODULES}
    found = {
        tuple(sorted(other for other in reached[module] if module in reached[other]))
        for module in MODULES
        if module in reached[module]
    }
    return sorted(map(list, found), key=len)


def _reachable(module: str) -> set[str]:
    found: set[str] = set()
    waiting = list(ours_of(module))
    while waiting:
        other = waiting.pop()
        if other not in found:
            found.add(other)
            waiting.extend(ours_of(other))
    return found


def test_few_modules_import_one_another_in_a_circle():
    """Imports for the type checker count as those of a run: who reads one of the files has to read them all."""
    assert [circle for circle in circles() if len(circle) > MOST_IN_A_CIRCLE] == []


def test_the_search_for_circles_finds_those_that_there_are():
    assert ["ir/expressions", "ir/nodes"] in circles()


@in_each_folder
def test_frameworks_and_libcst_are_imported_only_where_they_may_be(folder):
    top = folder.partition("/")[0]
    for module in modules_in(folder):
        roots = {imported.partition(".")[0] for imported in imports_of(module)}
        if top != "live":
            assert roots & FRAMEWORKS == set(), module
        if top not in {"frontend", "fix"}:
            assert "libcst" not in roots, module
        assert not any(imported.startswith("libcst.matchers") for imported in imports_of(module)), module


# -- sizes -------------------------------------------------------------------------------------------------------------


def test_nothing_but_the_entry_stands_at_the_top_of_the_package():
    there = {path.name for path in PACKAGE.iterdir() if path.is_file()}
    assert there == {"__init__.py", "__init__.pyi", "__main__.py", "py.typed"}


@in_each_folder
def test_a_folder_has_at_most_16_modules(folder):
    assert len([module for module in modules_in(folder) if not is_package(module)]) <= 16


@in_each_folder
def test_a_module_has_at_most_400_lines(folder):
    lengths = {name: len(MODULES[name].read_text(encoding="utf-8").splitlines()) for name in modules_in(folder)}
    assert {name: length for name, length in lengths.items() if length > 400} == {}


@in_each_folder
def test_a_function_has_at_most_40_lines(folder):
    functions = [
        (module, node)
        for module in modules_in(folder)
        for node in nodes_of(module)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    assert [f"{module}:{node.name}" for module, node in functions if (node.end_lineno or 0) - node.lineno >= 40] == []


# -- what code may say -------------------------------------------------------------------------------------------------


def test_every_module_says_what_it_knows():
    assert [module for module in MODULES if ast.get_docstring(tree_of(module)) is None] == []


def test_no_module_is_a_drawer():
    drawers = {"utils", "util", "common", "helpers", "manager", "base", "misc"}
    # `watch/manager.py` is the context manager that a watched run is wrapped in.
    assert [name for name in MODULES if name.rpartition("/")[2] in drawers] == ["live/child/watch/manager"]


RAY = "driver/executors/ray_cluster"  # Ray raises the class `Exception` itself where it cannot start


def test_every_exception_is_caught_in_five_places_only():
    """
    A file that crashes us is the session's, any other defect of ours ends the process; a program of a user may raise
    anything where `--confirm` runs it, and so may the rules of other packages.
    """
    catchers = set()
    for module in MODULES:
        for node in nodes_of(module):
            caught = node.type if isinstance(node, ast.ExceptHandler) else False
            if caught is None or (isinstance(caught, ast.Name) and caught.id in {"Exception", "BaseException"}):
                catchers.add(module)
    assert catchers == {"__main__", "driver/check_task", RAY, "live/child/attempt", "rules/plugins"}


@pytest.mark.parametrize(
    "folder", [name for name in FOLDERS if name.partition("/")[0] in {"domain", "interp", "rules"}]
)
def test_the_engine_names_no_framework(folder):
    """Frameworks are data: only docstrings and comments may speak of one."""
    for module in modules_in(folder):
        names = [node.id for node in nodes_of(module) if isinstance(node, ast.Name)]
        words = [*names, *(str(node.value) for node in strings_of(module))]
        assert [word for word in words if any(name in word for name in FRAMEWORKS)] == [], module


@pytest.mark.parametrize("folder", sorted(set(FOLDERS) - set(within("rules"))))
def test_only_rules_name_the_code_of_a_rule(folder):
    """What depends on the rule is said by the rule's own table, so that a rule is added or changed in one place."""
    spelled = re.compile(r"\bIPL\d")
    wrong = {
        f"{module}:{node.lineno}"
        for module in modules_in(folder)
        for node in strings_of(module)
        if spelled.search(str(node.value))
    }
    assert wrong == set()


def tagged(module: str) -> Iterator[tuple[ast.Tuple, ast.AST]]:
    """Return each tuple that a string literal opens and something else than a literal goes on, with what holds it."""
    for holder in nodes_of(module):
        for node in ast.iter_child_nodes(holder):
            if isinstance(node, ast.Tuple) and node.elts and not all(isinstance(e, ast.Constant) for e in node.elts):
                first = node.elts[0]
                if isinstance(first, ast.Constant) and isinstance(first.value, str):
                    yield node, holder


def _makes_a_symbol(holder: ast.AST) -> bool:
    return isinstance(holder, ast.Call) and isinstance(holder.func, ast.Attribute) and holder.func.attr == "sym"


@pytest.mark.parametrize("folder", within("domain", "interp"))
@pytest.mark.parametrize("of_symbols", [False, True], ids=["of-a-path", "of-symbols"])
def test_no_key_of_program_state_is_a_tuple_that_starts_with_a_word(folder, of_symbols):
    """
    What a path remembers, `bindings.get(("graded", leaf))`, has a declared type instead, as has the key of a symbol.

    A tuple that is returned, yielded or collected is no key.
    """
    keys = (ast.Call, ast.Compare, ast.Subscript, ast.Assign, ast.AnnAssign, ast.NamedExpr)
    wrong = [
        f"{module}:{node.lineno} {ast.unparse(node)}"
        for module in modules_in(folder)
        for node, holder in tagged(module)
        if isinstance(holder, keys) and _makes_a_symbol(holder) is of_symbols
    ]
    assert wrong == []
