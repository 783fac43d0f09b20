"""
Rewrites programs without changing their meaning, and checks that no verdict changes.

    python -m benchmarks.rewrites FOLDER      # every *.py of a folder: prints what changed, exits 1 if anything did
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from pathlib import Path

from inplace_lint.core.finding import Severity
from inplace_lint.driver.analyze_file import Options, check_file

Verdicts = frozenset[tuple[str, str, str]]


def verdicts(source: str) -> Verdicts:
    """Return the findings of a program as (code, severity, text of the line)."""
    lines = source.splitlines()
    return frozenset(
        (finding.code, finding.severity.value, lines[finding.span.line - 1].strip())
        for finding in check_file("program.py", source, Options()).findings
        if finding.severity is not Severity.INFO
    )


def plain(source: str) -> str:
    """Return the program as `ast.unparse` writes it: what the rewrites are compared with."""
    return ast.unparse(ast.parse(source))


def entry_renamed(source: str) -> str:
    """Rename every top-level function without parameters."""
    tree = ast.parse(source)
    names = {node.name: f"exercise_{node.name}" for node in tree.body if _is_entry(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in names:
            node.id = names[node.id]
        elif isinstance(node, ast.FunctionDef) and node.name in names:
            node.name = names[node.name]
    return ast.unparse(tree)


def entry_inlined(source: str) -> str:
    """Move the body of the last top-level function without parameters into the module, where nothing else calls it."""
    tree = ast.parse(source)
    entries = [node for node in tree.body if _is_entry(node)]
    if not entries:
        return plain(source)
    entry = entries[-1]
    body = [_without_return(statement) for statement in entry.body]
    kept = [node for node in tree.body if node is not entry and not _is_guard(node)]
    if any(isinstance(node, ast.Name) and node.id == entry.name for other in kept for node in ast.walk(other)):
        return plain(source)
    tree.body = [*kept, *body]
    return ast.unparse(ast.fix_missing_locations(tree))


def statements_wrapped(source: str) -> str:
    """Move the module's own statements into a function that is called at the end."""
    tree = ast.parse(source)
    kept = ast.Import | ast.ImportFrom | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    moved = [node for node in tree.body if not isinstance(node, kept) and not _is_guard(node)]
    names = {
        node.id
        for inner in moved
        for node in ast.walk(inner)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    rest = [node for node in tree.body if node not in moved]
    if not moved or any(isinstance(node, ast.Name) and node.id in names for other in rest for node in ast.walk(other)):
        return plain(source)
    function = ast.parse("def exercise():\n    pass\n\nexercise()").body
    assert isinstance(function[0], ast.FunctionDef)
    function[0].body = list(moved)
    tree.body = [*rest, *function]
    return ast.unparse(ast.fix_missing_locations(tree))


def classes_moved(source: str) -> str:
    """Define each top-level class inside a function that returns it."""
    tree = ast.parse(source)
    body: list[ast.stmt] = []
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and not node.decorator_list:
            maker = ast.parse(
                f"def make_{node.name}():\n    return {node.name}\n\n{node.name} = make_{node.name}()"
            ).body
            assert isinstance(maker[0], ast.FunctionDef)
            maker[0].body.insert(0, node)
            body.extend(maker)
        else:
            body.append(node)
    tree.body = body
    return ast.unparse(ast.fix_missing_locations(tree))


def _is_entry(node: ast.stmt) -> bool:
    return isinstance(node, ast.FunctionDef) and not node.args.args and not node.decorator_list


def _is_guard(node: ast.stmt) -> bool:
    return isinstance(node, ast.If) and "__name__" in ast.unparse(node.test)


def _without_return(node: ast.stmt) -> ast.stmt:
    if isinstance(node, ast.Return):
        return ast.Assign([ast.Name("result", ast.Store())], node.value or ast.Constant(None), lineno=node.lineno)
    return node


REWRITES: dict[str, Callable[[str], str]] = {
    "entry renamed": entry_renamed,
    "entry inlined": entry_inlined,
    "statements wrapped": statements_wrapped,
    "classes moved": classes_moved,
}


def changes(source: str) -> list[tuple[str, Verdicts]]:
    """Yield the rewrites that change a verdict, with what differs."""
    before = verdicts(plain(source))
    found = [(name, before ^ verdicts(rewrite(source))) for name, rewrite in REWRITES.items()]
    return [(name, difference) for name, difference in found if difference]


def main() -> int:
    """Check every program of a folder."""
    changed = 0
    files = sorted(Path(sys.argv[1]).rglob("*.py"))
    for path in files:
        for name, difference in changes(path.read_text(encoding="utf-8")):
            changed += 1
            print(f"{path.name}: {name}: {sorted(difference)}")
    print(f"{len(files)} programs, {len(REWRITES)} rewrites, {changed} changed verdicts")
    return 1 if changed else 0


if __name__ == "__main__":
    sys.exit(main())
