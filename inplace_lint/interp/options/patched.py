"""
Of which class a function becomes a method that the program sets on a class or on an object.

    Block.forward = with_exp                            # so `with_exp` has a `Block` first

    def patch(net):
        for part in net.modules():
            if isinstance(part, Block):
                part.forward = MethodType(with_exp, part)   # here as well; `with_exp.__get__(part)`, `partial` too
"""

from __future__ import annotations

from inplace_lint.interp.interpreter import Interpreter
from inplace_lint.ir import nodes as ir
from inplace_lint.ir import promises
from inplace_lint.ir.walk import walk

_BINDING = frozenset({"MethodType", "partial"})


def owner(interp: Interpreter, function: ir.Function) -> str:
    """Return the name, in its file, of the class of whose objects a function becomes a method; empty where of none."""
    module, name = interp.context.module(function.slice.path), function.qualname
    if not any(item.slice == function.slice for item in module.items(name)):
        return ""
    statements = [item.slice for item in module.fills(name) if item.kind == "statement"]
    # Which functions use a name is asked of the file under analysis alone.
    users = module.users_of(name) if module.path == interp.context.path else ()
    slices = (*statements, *(user.slice for _, user in users if user.slice not in statements))
    found = (_owner(module.code(slice_).body, name) for slice_ in slices)
    return next((named for named in found if named), "")


def _owner(body: tuple[ir.Stmt, ...], name: str) -> str:
    """Return the class on which a piece of code sets a function, or of which the object is on which it does."""
    nodes = list(walk(body))
    for node in nodes:
        match node:
            case ir.Assign(_, (ir.Attr(_, cls, _),), ir.Name(_, value)) if value == name and promises.named(cls):
                return _class_of(nodes, cls, node.at) or promises.named(cls)
            case ir.Call(_, ir.Name(_, "setattr"), (cls, _, ir.Name(_, value))) if value == name:
                return promises.named(cls)
            case ir.Call(_, ir.Attr(_, ir.Name(_, value), "__get__"), (_, cls, *_)) if value == name:
                return promises.named(cls)
            case ir.Call(_, ir.Attr(_, ir.Name(_, value), "__get__"), (bound,)) if value == name:
                return _class_of(nodes, bound, node.at)
            case ir.Call(_, func, (ir.Name(_, value), bound, *_)) if value == name and _binds(func):
                return _class_of(nodes, bound, node.at)
            case _:
                pass
    return ""


def _binds(func: ir.Expr) -> bool:
    return promises.named(func).rpartition(".")[2] in _BINDING


def _class_of(nodes: list[ir.Node], value: ir.Expr, at: int) -> str:
    """Return the name of the class of which a piece of code says that a variable is, by what stands nearest before."""
    name = promises.named(value)
    before = [said for one in nodes if (said := _said(one, name))[0] < at and said[1]] if name else []
    return max(before)[1] if before else ""


def _said(node: ir.Node, name: str) -> tuple[int, str]:
    """Return where a test, an assignment or an annotation says a variable to be of a class, and which class."""
    match node:
        case ir.Call(at, ir.Name(_, "isinstance"), (tested, cls)) if promises.named(tested) == name:
            return at, promises.named(cls)
        case ir.Assign(at, (ir.Name(_, target),), ir.Call(_, cls)) if target == name:
            return at, promises.named(cls)
        case ir.Param(at, param, annotation=cls) if param == name:
            return at, promises.named(cls)
        case _:
            return 0, ""
