"""
The same program under other names: `target` becomes `v3`, `_step` becomes `_v7`, and each stays on its line.

    python -m tests.pages.renaming PATH...      # judge files, and the files below folders, under both names

Renamed are the variables, parameters, functions, classes, methods and attributes that a program itself introduces.
What it shares with others keeps its name: imports, keyword arguments of calls that lead elsewhere, special methods,
attributes that the framework or Python knows, names in strings, parameters that a decorator names, methods that a
template method of a library calls and their parameters, and what `framework.json` lists as names.
"""

from __future__ import annotations

import builtins
import enum
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from difflib import ndiff
from functools import cache
from pathlib import Path

import libcst as cst
from libcst import matchers as m

from inplace_lint.core.finding import Finding
from inplace_lint.driver.analyze_file import Options, check_file, packages
from inplace_lint.knowledge.facts import framework, frameworks
from inplace_lint.workspace.claims import reader
from inplace_lint.workspace.import_resolver import Lookup
from inplace_lint.workspace.module_store import Project
from tests.facts.tables import spelled
from tests.fix.mending import found

_WORD = re.compile(r"[^\W\d]\w*")
_OF_PYTHON = frozenset(
    name for kind in (str, bytes, list, dict, set, tuple, int, float, enum.Enum, Exception) for name in dir(kind)
) | {"name", "value", "func", "args", "keywords"}


@cache
def listed() -> frozenset[str]:
    """Give the names that some framework's `framework.json` lists."""
    known = [framework(one) for one in frameworks()]
    return frozenset(name for one in known for name in (*one.names, *one.infers))


@cache
def known_attributes() -> frozenset[str]:
    """Give the names that attributes and methods have in a framework, by its facts, or in Python."""
    found = set(_OF_PYTHON) | listed()
    for name in frameworks():
        table, known = framework(name), spelled(name)
        rows = [row for rows in known.values() for row in rows]
        found |= {word for op in (*known, *table.kin) for word in op.split(".")}
        found |= {argument.split("=")[0].strip("*") for row in rows for argument in row.get("init", ())}
        found |= {word for row in rows for word in re.findall(r"self\.(\w+)", str(row))}
        found |= {*table.attributes, *table.fields, table.calls, table.sets_up, table.needs, table.requires_grad}
        found |= {"data", "grad", "training"}
    found |= called_by_templates()
    return frozenset(found)


@cache
def called_by_templates() -> frozenset[str]:
    """Give the methods that a template method of a library calls, with arguments by their names."""
    rows = (row for name in frameworks() for rows in spelled(name).values() for row in rows)
    return frozenset(step["to"] for row in rows for step in row.get("calls", ()))


class _Collector(cst.CSTVisitor):
    """The names of a program by what they are used for."""

    def __init__(self) -> None:
        self.bound: set[str] = set()
        self.imported: set[str] = set()
        self.members: set[str] = set()
        self.texts: set[str] = set()
        self.words: set[str] = set()
        self.told: set[str] = set()
        self.called: set[str] = set()
        self.loaded_attributes: set[str] = set()
        self.parameters: dict[str, list[set[str]]] = {}
        self.open_ended: set[str] = set()
        self.keywords: list[tuple[str, str]] = []
        self.unpacks = False
        self.hands_locals = False
        self._scopes: list[str] = ["module"]
        self._owners: list[str] = []

    def visit_ClassDef(self, node: cst.ClassDef) -> None:
        self._bind(node.name.value)
        self._scopes.append("class")
        self._owners.append(node.name.value)

    def leave_ClassDef(self, original_node: cst.ClassDef) -> None:
        self._scopes.pop()
        self._owners.pop()

    def visit_FunctionDef(self, node: cst.FunctionDef) -> None:
        name = node.name.value
        self._bind(name)
        told = {part.raw_value for one in node.decorators for part in m.findall(one, m.SimpleString())}
        params = {param.name.value for param in node.params.params}
        self.told |= params if name in called_by_templates() else told & params
        owner = self._owners[-1] if self._scopes[-1] == "class" and name in {"__init__", "__new__"} else name
        self._take(owner, node.params)
        self._scopes.append("function")

    def leave_FunctionDef(self, original_node: cst.FunctionDef) -> None:
        self._scopes.pop()

    def visit_Lambda(self, node: cst.Lambda) -> None:
        self._take("<lambda>", node.params)

    def _take(self, owner: str, params: cst.Parameters) -> None:
        names = {param.name.value for param in (*params.params, *params.kwonly_params, *params.posonly_params)}
        self.parameters.setdefault(owner, []).append(names)
        self.bound |= names
        if isinstance(params.star_arg, cst.Param):
            self.bound.add(params.star_arg.name.value)
        if params.star_kwarg is not None:
            self.bound.add(params.star_kwarg.name.value)
            self.open_ended.add(owner)

    def _bind(self, name: str) -> None:
        (self.members if self._scopes[-1] == "class" else self.bound).add(name)

    def visit_AssignTarget(self, node: cst.AssignTarget) -> None:
        self._target(node.target)

    def visit_AnnAssign(self, node: cst.AnnAssign) -> None:
        self._target(node.target)
        if self._scopes[-1] == "class" and isinstance(node.target, cst.Name):
            self.parameters.setdefault(self._owners[-1], []).append({node.target.value})

    def visit_AugAssign(self, node: cst.AugAssign) -> None:
        self._target(node.target)

    def visit_NamedExpr(self, node: cst.NamedExpr) -> None:
        self._target(node.target)

    def visit_For(self, node: cst.For) -> None:
        self._target(node.target)

    def visit_CompFor(self, node: cst.CompFor) -> None:
        self._target(node.target)

    def visit_AsName(self, node: cst.AsName) -> None:
        self._target(node.name)

    def visit_MatchAs(self, node: cst.MatchAs) -> None:
        if node.name is not None:
            self._target(node.name)

    def visit_MatchStar(self, node: cst.MatchStar) -> None:
        if node.name is not None:
            self._target(node.name)

    def visit_MatchMapping(self, node: cst.MatchMapping) -> None:
        if node.rest is not None:
            self._target(node.rest)

    def visit_MatchKeywordElement(self, node: cst.MatchKeywordElement) -> None:
        self.words.add(node.key.value)

    def _target(self, node: cst.CSTNode) -> None:
        match node:
            case cst.Name(name):
                self._bind(name)
            case cst.Attribute(_, cst.Name(name)):
                self.members.add(name)
            case cst.Tuple() | cst.List():
                for element in node.elements:
                    self._target(element.value)
            case cst.StarredElement():
                self._target(node.value)
            case _:
                pass

    def visit_ImportAlias(self, node: cst.ImportAlias) -> bool:
        text = cst.Module([]).code_for_node(node)
        self.imported |= set(_WORD.findall(text))
        return False

    def visit_Attribute(self, node: cst.Attribute) -> None:
        self.loaded_attributes.add(node.attr.value)

    def visit_Call(self, node: cst.Call) -> None:
        callee = _last(node.func)
        if isinstance(node.func, cst.Name):
            self.called.add(callee)
            inside = self._scopes[-1] == "function" and not node.args
            self.hands_locals = self.hands_locals or (inside and callee in {"locals", "vars"})
        for argument in node.args:
            if argument.keyword is not None:
                self.keywords.append((callee if _is_plain(node.func) else "", argument.keyword.value))
            self.unpacks = self.unpacks or argument.star == "**"

    def visit_SimpleStatementLine(self, node: cst.SimpleStatementLine) -> bool:
        only = node.body[0]
        return not (isinstance(only, cst.Expr) and isinstance(only.value, cst.SimpleString | cst.ConcatenatedString))

    def visit_SimpleString(self, node: cst.SimpleString) -> None:
        self._string(node.raw_value)

    def visit_FormattedStringText(self, node: cst.FormattedStringText) -> None:
        self._string(node.value)

    def _string(self, text: str) -> None:
        self.texts.add(text)
        self.words |= set(_WORD.findall(text))


def _last(node: cst.CSTNode) -> str:
    match node:
        case cst.Name(name) | cst.Attribute(_, cst.Name(name)):
            return name
        case _:
            return ""


def _is_plain(node: cst.CSTNode) -> bool:
    """Say whether a callee is a bare name, or a method of a bare name: who it is, is known from the text."""
    return isinstance(node, cst.Name) or (isinstance(node, cst.Attribute) and isinstance(node.value, cst.Name))


class Names:
    """What the names of a program, in one file or several, become."""

    def __init__(self, trees: Iterable[cst.Module], *, several: bool = False) -> None:
        seen = _Collector()
        for tree in trees:
            tree.visit(seen)
        fixed = seen.imported | listed() | {"_"}
        self.own = {name for name in seen.parameters if name != "<lambda>"} - seen.imported
        parameters = {name for groups in seen.parameters.values() for names in groups for name in names}
        ambiguous = {name for callee, name in seen.keywords if not self._leads_to(seen, callee, name)}
        if seen.unpacks:
            ambiguous |= parameters & (seen.words | {name for _, name in seen.keywords})
        members = {
            name
            for name in seen.members
            if name not in fixed | known_attributes() | seen.words | ambiguous
            and not any(name.startswith(text) for text in seen.texts if len(text) > 1)
            and not (name.lower() in seen.words and "StrEnum" in seen.imported)  # auto() gives that
        }
        of_builtins = {name for name in seen.bound if hasattr(builtins, name)} & (seen.called | seen.members)
        kept = fixed | seen.told | (ambiguous & parameters) | of_builtins | (seen.bound & seen.words & seen.members)
        kept |= seen.loaded_attributes if several else set()
        if seen.called & {"globals", "vars", "eval"} or "modules" in seen.loaded_attributes:
            kept |= seen.bound & seen.words  # strings are names there, or how these begin
            kept |= {name for name in seen.bound if any(name.startswith(text) for text in seen.texts if len(text) > 1)}
        kept |= parameters & seen.words if "__kwdefaults__" in seen.loaded_attributes else set()
        kept |= seen.bound & (seen.words | seen.loaded_attributes) if seen.hands_locals else set()
        # A class holds what is bound in its body as attributes: one name is one thing everywhere.
        kept |= seen.members - members
        variables = {name for name in seen.bound - kept if not _is_special(name)}
        members = {name for name in members - (seen.bound - variables) if not _is_special(name)}
        used = seen.bound | seen.members | seen.loaded_attributes | seen.imported | seen.words
        fresh = (name for name in (f"v{number}" for number in range(1, 10**6)) if name not in used)
        self.new = {name: _around(name, next(fresh)) for name in sorted(variables | members)}
        self.members = members
        self.variables = variables

    @staticmethod
    def _leads_to(seen: _Collector, callee: str, name: str) -> bool:
        """Say whether a keyword argument goes to a parameter of the program, or certainly to none."""
        groups = seen.parameters.get(callee, [])
        if not groups:
            return False
        return all(name in names for names in groups) or (
            callee not in seen.open_ended and any(name in names for names in groups)
        )


def _is_special(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")


def _around(name: str, new: str) -> str:
    """Return a new name with those underscores of the old one that mean something to Python or to a framework."""
    suffix = "_" if "*_" in listed() and name.endswith("_") and name.strip("_") else ""
    return name[: len(name) - len(name.lstrip("_"))] + new + suffix


class _Renamer(cst.CSTTransformer):
    """Puts the new names where the old ones stood."""

    def __init__(self, names: Names) -> None:
        self.names = names

    def visit_ImportAlias(self, node: cst.ImportAlias) -> bool:
        return False

    def visit_ImportFrom(self, node: cst.ImportFrom) -> bool:
        return False

    def leave_Name(self, original_node: cst.Name, updated_node: cst.Name) -> cst.Name:
        new = self.names.new.get(original_node.value)
        return updated_node if new is None else updated_node.with_changes(value=new)

    def leave_Attribute(self, original_node: cst.Attribute, updated_node: cst.Attribute) -> cst.Attribute:
        name = original_node.attr.value
        new = self.names.new[name] if name in self.names.members else name
        return updated_node.with_changes(attr=cst.Name(new))

    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.Call:
        callee = _last(original_node.func)
        local = _is_plain(original_node.func) and callee in self.names.own
        arguments = [
            after if before.keyword is None or local else after.with_changes(keyword=before.keyword)
            for before, after in zip(original_node.args, updated_node.args, strict=True)
        ]
        return updated_node.with_changes(args=arguments)

    def leave_MatchKeywordElement(
        self, original_node: cst.MatchKeywordElement, updated_node: cst.MatchKeywordElement
    ) -> cst.MatchKeywordElement:
        return updated_node.with_changes(key=original_node.key)


def renamed(files: Mapping[str, str]) -> dict[str, str]:
    """Return a program, by file, with its own names replaced by such as say nothing; lines stay as they are."""
    trees = {path: cst.parse_module(source) for path, source in files.items()}
    names = Names(trees.values(), several=len(files) > 1)
    return {path: tree.visit(_Renamer(names)).code for path, tree in trees.items()}


def verdicts(files: Mapping[str, str]) -> Iterator[str]:
    """Yield line, severity and code of each finding in the files of a program, opinions included."""
    for path in files:
        for one in _found(files, path):
            yield f"{path} {one.span.path}:{one.span.line} {one.severity.value} {one.code}"


def _found(files: Mapping[str, str], path: str) -> tuple[Finding, ...]:
    if len(files) == 1:
        return found(files[path], opinions=True, fixes=True)
    project = Project(Lookup(files.__contains__, frameworks=frozenset(packages())), reader(files))
    return check_file(path, files[path], Options(opinions=True), project).findings


def differences(files: Mapping[str, str]) -> list[str]:
    """Return how the verdicts on a program change when its own names are replaced."""
    return [line for line in ndiff(sorted(verdicts(files)), sorted(verdicts(renamed(files)))) if line[:1] in "+-"]


def main() -> int:
    """Print how the verdicts on each file change, and return 1 if one does."""
    paths = [Path(text) for text in sys.argv[1:]]
    files = [file for path in paths for file in ([path] if path.is_file() else sorted(path.rglob("*.py")))]
    changed = 0
    for file in files:
        lines = differences({file.as_posix().lstrip("/"): file.read_text(encoding="utf-8")})
        changed += bool(lines)
        print("".join(f"{line}\n" for line in lines), end="", flush=True)
    print(f"{len(files)} files, {changed} with other verdicts")
    return 1 if changed or not files else 0


if __name__ == "__main__":
    raise SystemExit(main())
