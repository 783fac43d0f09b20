"""
Imports of packages that may not be installed.

    try:
        from kernels import fused_norm
        FUSED = True
    except ImportError:
        FUSED = False           # unknown from here on: code on both sides of `if FUSED` is run by somebody
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

from inplace_lint.domain import origins, traits
from inplace_lint.domain.heap import Names
from inplace_lint.domain.state import State
from inplace_lint.domain.values import Closure, Const, Value
from inplace_lint.interp.frame import Frame
from inplace_lint.interp.interpreter import Interpreter
from inplace_lint.ir import nodes as ir


def is_optional(interp: Interpreter, frame: Frame, node: ir.Try) -> bool:
    """
    Check whether a `try` of a module begins with the import of a package that is neither framework nor project.

    So it is of a part of the project that is not there, such as one that is compiled.
    """
    first = node.body[0]
    if frame.closure is not None or not isinstance(first, ir.ImportFrom | ir.ImportName):
        return False
    level, top = first.level if isinstance(first, ir.ImportFrom) else 0, _top(node)
    packages = interp.context.default().framework.packages
    known = not top if level else top in packages or top in sys.stdlib_module_names
    return not known and interp.context.project.resolve(frame.module, first.module, level) is None


def _top(node: ir.Try) -> str:
    first = node.body[0]
    assert isinstance(first, ir.ImportFrom | ir.ImportName)
    return first.module.partition(".")[0]


def instead(node: ir.Try) -> ir.Handler | None:
    """
    Return the handler that defines what the `try` binds, if one does.

    IMPRECISE: the package is then taken not to be installed, as in `find_spec`.
    """
    names = {name for part in node.body for name in _bound(part)}
    return next((one for one in node.handlers if any(not names.isdisjoint(_defines(part)) for part in one.body)), None)


def refuses(interp: Interpreter, frame: Frame, state: State, node: ir.Try) -> bool:
    """
    Check whether all that a handler bound instead of the package does nothing but raise.

        except ImportError:
            def fused_norm(*args):
                raise ImportError("build the kernels first")    # whoever gets further has the package
    """
    scope = state.heap[frame.env.id]
    names = {name for part in node.body for name in _bound(part)}
    found = [scope.values[name] for name in names if name in scope.values] if isinstance(scope, Names) else []
    return bool(found) and all(_is_refusal(interp, state, value) for value in found)


def _is_refusal(interp: Interpreter, state: State, value: Value) -> bool:
    """Check whether a function raises whenever it is called, a class when it is constructed, an object when used."""
    instance = state.instance(value)
    cls, used = (value, ("__init__",)) if instance is None else (instance.cls, ("__getattr__", "__call__"))
    called = [value] if isinstance(value, Closure) else [interp.lookup(state, cls, name) for name in used]
    return any(isinstance(one, Closure) and _only_raises(one.function.body) for one in called)


def _only_raises(body: tuple[ir.Stmt, ...]) -> bool:
    return isinstance(body[-1], ir.Raise) and all(isinstance(one, ir.ExprStmt | ir.Assign) for one in body[:-1])


def forget(interp: Interpreter, frame: Frame, state: State, node: ir.Try) -> None:
    """
    Make unknown what the handlers of a `try` set to a constant: `FUSED = False`, which it is without the package.

    What is imported from a package that is known stays that, although it may be None.
    """
    kept = frozenset[str]()
    if _top(node) in interp.context.roots:
        kept = frozenset(name for part in node.body if not isinstance(part, ir.Assign) for name in _bound(part))
    for part in (part for handler in node.handlers for part in handler.body):
        for name in (name for name in _bound(part) if name not in kept):
            unknown = state.symbols.sym((origins.GLOBAL, frame.module, name))
            if isinstance(part, ir.Assign) and isinstance(part.value, ir.Const):
                state.set_trait(traits.DEFAULT, unknown.id, Const(part.value.value))
            state.bind(frame.env, name, unknown)


def _bound(statement: ir.Stmt) -> Iterator[str]:
    """Yield the names that a statement binds, whatever to."""
    match statement:
        case ir.ImportName(_, module, alias):
            yield alias or module.partition(".")[0]
        case ir.Assign(_, targets, ir.Const()):
            yield from (target.id for target in targets if isinstance(target, ir.Name))
        case _:
            yield from _defines(statement)


def _defines(statement: ir.Stmt) -> Iterator[str]:
    """Yield the names that a statement binds to something that can be used; None says that there is nothing."""
    match statement:
        case ir.FunctionDef() | ir.ClassDef():
            yield statement.name
        case ir.ImportFrom(_, _, _, pairs):
            yield from (alias or name for name, alias in pairs)
        case ir.Assign(_, targets, value) if not isinstance(value, ir.Const):
            yield from (target.id for target in targets if isinstance(target, ir.Name))
        case _:
            pass
