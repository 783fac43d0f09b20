"""Prints what the analysis knows at a line: for people who look for the cause of a wrong answer."""

from __future__ import annotations

from pathlib import Path

from inplace_lint.core.span import Place
from inplace_lint.domain.state import State
from inplace_lint.driver import state_text
from inplace_lint.driver.analyze_file import Options, Resolver, check_file
from inplace_lint.interp.frame import Frame
from inplace_lint.interp.interpreter import Interpreter
from inplace_lint.ir import nodes as ir
from inplace_lint.knowledge.locate import framework_names
from inplace_lint.workspace import files, import_graph
from inplace_lint.workspace.places import Disk

REVEAL = "reveal"


class _AtLine:
    """An observer that collects what each path knows before it runs a statement that starts at a line of a file."""

    def __init__(self, path: str, line: int) -> None:
        self.path, self.line = path, line
        self.found: dict[str, None] = {}
        self._lines: dict[Place, int] = {}
        self._resolver: Resolver | None = None

    def __call__(self, interp: Interpreter, frame: Frame, state: State, statement: ir.Stmt) -> None:
        """Collect the state, if the statement is the one that was asked for."""
        at = getattr(statement, "at", None)
        if at is None or frame.slice.path != self.path or not frame.slice.first <= self.line <= frame.slice.last:
            return
        place = Place(frame.slice, at)
        if place not in self._lines:
            self._resolver = self._resolver or Resolver(interp.context)
            self._lines[place] = self._resolver.span(place).line
        if self._lines[place] == self.line:
            self.found["\n".join(self.lines(interp, frame, state, statement))] = None

    def lines(self, interp: Interpreter, frame: Frame, state: State, statement: ir.Stmt) -> list[str]:
        """Return the lines about one path."""
        del interp, statement
        return state_text.of_state(state, frame)


class _Reveal(_AtLine):
    """An observer of `reveal(x)`: of the value of `x`."""

    def lines(self, interp: Interpreter, frame: Frame, state: State, statement: ir.Stmt) -> list[str]:
        """Return the value that is revealed, for each way in which its expression is evaluated."""
        match statement:
            case ir.ExprStmt(_, ir.Call(_, ir.Name(_, name), (expr,))) if name == REVEAL:
                return [
                    state_text.of_value(after, value) for after, value in interp.evaluate(frame, state.fork(), expr)
                ]
            case _:
                return []


def state_at(path: Path, line: int, options: Options) -> str:
    """Return what is known at a line of a file, one block for each path that knows something else."""
    name = files.shown(path)
    observer = _AtLine(name, line)
    project = import_graph.project(import_graph.root_of(path), framework_names(), Disk({}))
    check_file(name, files.decode(path.read_bytes()), options, project, observer=observer)
    blocks = (f"path {number} at {name}:{line}\n{text}\n" for number, text in enumerate(observer.found, 1))
    return "\n".join(blocks) or f"no path runs a statement that starts at {name}:{line}\n"


def revealed(path: str, source: str, line: int) -> list[str]:
    """Return the values that `reveal(x)` at a line of a program has, on each path."""
    observer = _Reveal(path, line)
    check_file(path, source, Options(), observer=observer)
    return list(observer.found)
