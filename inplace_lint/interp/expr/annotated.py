"""
What an annotation says of a value from outside.

    def reset(targets: list[Target]):       # `Target` is a named tuple of the project
        for target in targets:
            target.weight[0] = 0            # the field of a record, and no parameter of a module
"""

from __future__ import annotations

from inplace_lint.core.span import Slice
from inplace_lint.domain import origins
from inplace_lint.domain.state import State
from inplace_lint.domain.values import ClassValue, Sym, SymId
from inplace_lint.interp.expr import environment
from inplace_lint.interp.interpreter import Interpreter
from inplace_lint.ir import nodes as ir
from inplace_lint.ir import promises
from inplace_lint.ir.walk import walk


def is_field(interp: Interpreter, state: State, number: SymId) -> bool:
    """
    Check whether a value is an attribute of what an annotation says to be of a class that is no module.

    So is what such an object lists, if it is of a class with methods that return arrays: `-> list[np.ndarray]`.
    """
    match state.symbols.keys[number]:
        case (origins.ATTRIBUTE, int(owner), str()):
            return any(interp.context.is_module(cls) is None for cls in _classes(interp, state, Sym(SymId(owner))))
        case (origins.LISTED, Sym() as whole, int()):
            classes = [cls for cls in _classes(interp, state, whole) if interp.context.is_module(cls) is None]
            return any(_returns_array(interp, method) for cls in classes for method in cls.methods.values())
        case _:
            return False


def _returns_array(interp: Interpreter, method: Slice) -> bool:
    nodes = (node for node in interp.context.code(method).body if isinstance(node, ir.FunctionDef))
    return any(promises.kind_of(node.returns) == "array" for node in nodes)


def _classes(interp: Interpreter, state: State, value: Sym) -> list[ClassValue]:
    """Return the classes of the project that the annotation of a parameter names, for it or what it holds."""
    while True:
        match state.symbols.keys[value.id]:
            case (origins.ITEM | origins.TURN | origins.ROW, Sym() as outer, *_):
                value = outer
            case (origins.PARAMETER, _, str(name), Slice() as slice_):
                nodes = (node for node in interp.context.code(slice_).body if isinstance(node, ir.FunctionDef))
                params = (param for node in nodes for param in node.function.params if param.name == name)
                words = [word.id for one in params for word in walk(one.annotation) if isinstance(word, ir.Name)]
                found = (environment.find(interp, state, slice_.path, word) for word in dict.fromkeys(words))
                return [cls for cls in found if isinstance(cls, ClassValue)]
            case _:
                return []
