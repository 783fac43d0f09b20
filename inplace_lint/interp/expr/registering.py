"""
The top-level statements that register operators, in the file under analysis and in those that it imports.

    torch.library.define("mine::scale_", "(Tensor(a!) x) -> ()")      # is run before `torch.ops.mine.scale_` is called

Nothing reads a name that such a statement binds: it is found by the last word of the calls in it.
"""

from __future__ import annotations

from collections.abc import Iterator

from inplace_lint.domain.state import State
from inplace_lint.domain.values import NONE
from inplace_lint.effects.summary import Definition
from inplace_lint.interp.context import Context
from inplace_lint.interp.expr import environment
from inplace_lint.interp.found import Found, collect
from inplace_lint.interp.frame import Frame
from inplace_lint.interp.interpreter import Interpreter
from inplace_lint.interp.module_scope import module_env
from inplace_lint.interp.outcome import Outcome, Outcomes
from inplace_lint.ir.nodes import ImportFrom, ImportName

_MOST_IMPORTED = 64


def run(interp: Interpreter, state: State) -> None:
    """Run the statements that register operators, unless they ran on this path."""
    context = interp.context
    if context.registers is None:
        context.registers = tuple((path, item) for path in _files(context) for item in _items(context, path))
    for path, item in context.registers:
        environment.run_once(interp, state, path, module_env(state, path), item)


def run_alone(interp: Interpreter) -> list[Found]:
    """Run the statements of the file under analysis that register operators, as an import of it does."""
    context = interp.context
    items = tuple(_items(context, context.path))
    if not items:
        return []
    interp.fuel.start_root()
    context.coverage.root = None
    state = State(context.symbols)
    for item in items:
        environment.run_once(interp, state, context.path, module_env(state, context.path), item)
    interp.fuel.end_root(finished=True)
    return collect(interp, [(state, NONE)], calls=True)


def is_part_of_script(context: Context, item: Definition) -> bool:
    """
    Check whether the script runs a top-level item in its turn: a statement, or what something of the file decorates.

        @HEADS.register("small")        # fills a registry before a statement further down reads it
        class Small(Head): ...

    So it does a definition of a name that other items bind as well, as an import does.
    """
    if item.kind == "statement" or len(context.main.items(item.name)) > 1:
        return True
    first = {decorator.partition(".")[0] for decorator in item.decorators}
    return any(context.main.items(name) and not context.main.imports(name) for name in first)


def run_in_turn(interp: Interpreter, state: State, item: Definition) -> Outcomes:
    """Run a statement of the script, a definition of a name that others bind, or the decorators of another one."""
    path = interp.context.path
    if item.kind != "statement" and len(interp.context.main.items(item.name)) > 1:
        environment.run_item(interp, state, path, module_env(state, path), item)
        return [Outcome(state)]
    if item.kind != "statement":
        environment.find(interp, state, path, item.name)
        return [Outcome(state)]
    frame = Frame(module_env(state, path), path, item.slice)
    return interp.execute(frame, state, interp.context.code(item.slice).body)


def _items(context: Context, path: str) -> Iterator[Definition]:
    """Yield the top-level items of a file that register operators."""
    module = context.module(path)
    items = {item.slice: item for word in sorted(context.registering) for item in module.calling(word)}
    return iter(items.values())


def _files(context: Context) -> list[str]:
    """Return the file under analysis and those that it imports, directly or not."""
    found = [context.path]
    for path in found:
        for name in sorted(context.module(path).names) if len(found) < _MOST_IMPORTED else ():
            targets = (_imported_file(context, path, *one) for one in context.module(path).imports(name))
            new = dict.fromkeys(target for target in targets if target is not None and target not in found)
            found.extend(target for target in new if context.project.module(target) is not None)
    return found


def _imported_file(context: Context, path: str, node: ImportName | ImportFrom, name: str) -> str | None:
    project = context.project
    if isinstance(node, ImportName):
        return project.resolve(path, node.module, 0)
    target = project.resolve(path, node.module, node.level)
    if target is None:
        return project.part(path, node.module, name, node.level)
    return project.submodule(target, name) or target
