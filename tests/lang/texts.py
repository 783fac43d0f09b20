"""
The English texts that stand in the sources, as instances: every side of a condition, every hole filled.

A text is a string that a user may be shown. Which strings of a module these are is said by where they stand: whatever
reads like words in the rules and in the interpreter, what is put into another language (`say(...)`), what a `Finding`
or a fix is made of.
"""

from __future__ import annotations

import ast
import errno
import itertools
import os
import re
from collections.abc import Iterator
from pathlib import Path

from tests.pages.examples import ROOT

PACKAGE = ROOT / "inplace_lint"
_HOLE = re.compile(r"\{\w+\}")
_SHOWN = {"message", "label", "help"}
_FIXES = {"Plan", "Fix"}
_DECLARES = {"origins.py", "traits.py"}  # names that only those who work on the tool see
_NAMED = {"what", "verb", "subject", "cure"}


def of_rules() -> Iterator[tuple[str, ...]]:
    """Give each text of the rules as its alternatives, in which a hole is `{}`."""
    for path in sorted((PACKAGE / "rules").rglob("*.py")):
        yield from (forms(node) for node in _strings(path) if _reads_like_words(node))


def of_assumptions() -> Iterator[tuple[str, ...]]:
    """Give each sentence that the interpreter assumes."""
    for path in sorted(path for folder in ("domain", "interp") for path in (PACKAGE / folder).rglob("*.py")):
        if path.name in _DECLARES:
            continue
        yield from (forms(node) for node in _strings(path) if _reads_like_words(node))


def of_reports() -> Iterator[tuple[str, ...]]:
    """Give what is said around findings, and findings that no rule makes."""
    for path in sorted(PACKAGE.rglob("*.py")):
        if path.is_relative_to(PACKAGE / "live" / "child"):
            continue  # what runs beside a user's program speaks to the tool, not to people
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and _is_say(node.func):
                yield from (forms(part) for part in node.args if _is_text(part))
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Finding":
                yield from (forms(part.value) for part in node.keywords if part.arg in _SHOWN and _is_text(part.value))
            if isinstance(node, ast.Assign) and {one.id for one in node.targets if isinstance(one, ast.Name)} & _NAMED:
                parts = node.value.values if isinstance(node.value, ast.BoolOp) else [node.value]
                yield from (forms(part) for part in parts if _is_text(part) and any(" " in one for one in forms(part)))


def of_fixes() -> Iterator[tuple[str, ...]]:
    """Give the sentence about each fix."""
    for path in sorted((PACKAGE / "fix").glob("*.py")):
        for function in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(function, ast.FunctionDef):
                yield from (forms(node) for node in _sentences(function, path.name))


def of_rounds() -> Iterator[tuple[str, ...]]:
    """Give why a fix is taken back."""
    yield from (forms(node) for node in _strings(PACKAGE / "fix" / "apply" / "rounds.py") if _reads_like_words(node))


def spelled() -> str:
    """Give all strings of the sources, and the words of the system for its errors: what a complaint is made of."""
    found = [os.strerror(number).lower() for number in errno.errorcode]
    for path in sorted(PACKAGE.rglob("*.py")):
        nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        found.extend(str(node.value) for node in nodes if isinstance(node, ast.Constant))
    return "\n".join(found)


def _sentences(function: ast.FunctionDef, where: str) -> Iterator[ast.expr]:
    """Give the second argument of each `Plan` or `Fix` of a function, or what the variable there is bound to."""
    named: dict[str, list[ast.expr]] = {}
    for node in ast.walk(function):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                named.setdefault(target.id if isinstance(target, ast.Name) else "", []).append(node.value)
    for node in ast.walk(function):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or node.func.id not in _FIXES:
            continue
        given = [part.value for part in node.keywords if part.arg == "message"] or node.args[1:2]
        found = [
            text for part in given for text in (named.get(part.id, [part]) if isinstance(part, ast.Name) else [part])
        ]
        if found and all(isinstance(text, ast.Attribute) and text.attr == "message" for text in found):
            continue  # the sentence of another one
        assert found, f"{where}:{node.lineno}: no sentence about this fix"
        assert all(_is_text(text) for text in found), f"{where}:{node.lineno}: no text about this fix"
        yield from found


def instances(form: str) -> Iterator[str]:
    """Give a form with its holes filled: with words, with numbers, with some of both."""
    holes = form.count("{}")
    for kinds in itertools.product(("Q", "1"), repeat=holes):
        yield form.format(*(f"{kind}{at}" for at, kind in enumerate(kinds)))


def forms(node: ast.expr) -> tuple[str, ...]:
    """Give every text that an expression can give, its holes as `{}`; one that is all hole is no text of its own."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return (_HOLE.sub("{}", node.value),)
    if isinstance(node, ast.IfExp):
        return tuple(form for side in (node.body, node.orelse) for form in forms(side) if form != "{}")
    if isinstance(node, ast.JoinedStr):
        parts = [_part(part) for part in node.values]
        return tuple("".join(chosen) for chosen in itertools.product(*parts))
    return ("{}",)


def _part(node: ast.expr) -> tuple[str, ...]:
    if isinstance(node, ast.FormattedValue):
        match node.value:
            case ast.IfExp():
                return forms(node.value)
            case ast.BoolOp(op=ast.Or(), values=[_, ast.Constant(value=str(last))]):
                return ("{}", last)
        return ("{}",)
    return forms(node)


def _strings(path: Path) -> Iterator[ast.expr]:
    """Give the outermost strings of a module that are neither documentation, nor keys, nor compared with anything."""
    pending: list[ast.AST] = [ast.parse(path.read_text(encoding="utf-8"))]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Constant | ast.JoinedStr):
            if _is_text(node):
                yield node
            continue
        match node:
            case ast.Expr(value=ast.Constant()) | ast.Compare() | ast.MatchValue() | ast.Subscript():
                continue
            case ast.Tuple() if not path.is_relative_to(PACKAGE / "rules"):
                continue  # keys of symbols: ("attr", value, "name")
            case ast.Dict():
                pending.extend(node.values)
            case ast.Call(func=ast.Attribute(value=ast.Name(id="re"))):
                continue
            case _:
                pending.extend(ast.iter_child_nodes(node))


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.JoinedStr | ast.IfExp) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str)
    )


def _reads_like_words(node: ast.expr) -> bool:
    return any(" " in form and re.search(r"[a-z]{2}", form.replace("{}", "")) for form in forms(node))


def _is_say(function: ast.expr) -> bool:
    match function:
        case ast.Name(id="say") | ast.Attribute(attr="say") | ast.Call(func=ast.Name(id="sayer")):
            return True
    return False
