"""
Names with two underscores, which Python takes for those of the class around the text.

    class Block:
        def __init__(self):
            self.__act = relu        # the attribute `_Block__act`: a derived class may have an `__act` of its own
"""

from __future__ import annotations

from inplace_lint.core.span import Slice
from inplace_lint.domain.state import State
from inplace_lint.domain.values import ClassValue, Value
from inplace_lint.interp.frame import Frame
from inplace_lint.interp.interpreter import Interpreter


def attribute(interp: Interpreter, frame: Frame, state: State, value: Value, name: str) -> str:
    """Return the name of the attribute of a value that a name after a dot stands for in the running code."""
    if name[:2] != "__" or name[-2:] == "__" or frame.closure is None:
        return name
    owner = _class_around(frame.closure.function.qualname) or _class_with(interp, state, value, frame.slice)
    return f"_{owner.lstrip('_')}{name}" if owner else name


def in_body(cls: ClassValue, name: str) -> str:
    """Return the name that the body of a class has for one of its attributes."""
    if name[:1] != "_" or "__" not in name[1:]:
        return name
    prefix = f"_{cls.name.lstrip('_')}__"
    return name[len(prefix) - 2 :] if name.startswith(prefix) else name


def _class_around(qualname: str) -> str:
    """Return the innermost class around a function in its slice; "" if there is none."""
    *around, _ = qualname.split(".")
    while around:
        name = around.pop()
        if name != "<locals>":
            return name
        around.pop()  # the function that this one is local to
    return ""


def _class_with(interp: Interpreter, state: State, value: Value, method: Slice) -> str:
    """Return which class of a value, or which base of that, has a method that is a slice of its own."""
    instance = state.instance(value)
    cls = value if instance is None else instance.cls
    order = interp.context.mro(cls) if isinstance(cls, ClassValue) else ()
    return next((one.name for one in order if isinstance(one, ClassValue) and method in one.methods.values()), "")
