"""
Symbolic arguments of a method that is an entry point: what data sets, losses and optimizers are called on.

    def forward(self, x, target): ...       # of a loss: `target` has no gradient
"""

from __future__ import annotations

from msgspec.structs import replace

from inplace_lint.domain import origins, traits
from inplace_lint.domain.state import State
from inplace_lint.domain.values import NONE, Bound, ClassValue, Closure, Const, Dotted, Sym, Value
from inplace_lint.interp import gradients
from inplace_lint.interp.frame import Arguments
from inplace_lint.interp.interpreter import Interpreter
from inplace_lint.interp.symbolic_args import of_function


def of_method(
    interp: Interpreter, state: State, method: Closure, cls: ClassValue, *, passed: bool = False
) -> Arguments:
    """
    Return the arguments of a method of a class; `passed`: those that are None by default are passed.

    A data set is asked for items by their positions. What a loss compares its first argument with has no gradient, and
    neither has what the methods of an optimizer work on, or what a module that is trained as a whole is called on.
    """
    function, skip = method.function, 0 if method.wrapper == "static" else 1
    found = of_function(interp, state, function, interp.context.defaults_of(method), skip)
    if passed:
        _pass_all(state, found)
    name, framework = function.qualname, interp.context.default().framework
    if optimizes(interp, cls) or is_step(interp, cls, name):
        for given in (value for _, value in found.keywords if isinstance(value, Sym)):
            state.set_trait(traits.NO_GRADIENT, given.id, True)
    match found.keywords:
        case ((key, Sym(_, "input") as asked), *rest) if name == "__getitem__":
            if _derives(interp, cls, framework.datasets):
                return Arguments(found.positional, ((key, replace(asked, kind="number")), *rest))
        case _ if name == framework.calls and _derives(interp, cls, framework.losses):
            _compare_with_targets(interp, state, method, found)
    return found


def optimizes(interp: Interpreter, cls: ClassValue) -> bool:
    """Say whether a class is an optimizer: of what its methods return or keep no gradient is asked."""
    return _derives(interp, cls, interp.context.default().framework.optimizers)


def is_replaced(state: State, receiver: Value, name: str, method: Closure) -> bool:
    """Say whether an object has something else in place of a method: `self.forward = self.plain`."""
    instance = state.instance(receiver)
    own = None if instance is None else instance.attrs.get(name)
    return own is not None and not (isinstance(own, Bound) and own.function == method)


def is_unrecorded(interp: Interpreter, cls: ClassValue, name: str) -> bool:
    """Say whether what calls a method records no gradients: a custom function, or a library that evaluates a module."""
    framework = interp.context.default().framework
    evaluates = name in framework.evaluated and _derives(interp, cls, framework.trained)
    return evaluates or gradients.is_custom_function(interp, cls)


def is_step(interp: Interpreter, cls: ClassValue, name: str) -> bool:
    """Say whether a method is what a library calls to train a module as a whole: what it returns is trained through."""
    framework = interp.context.default().framework
    return name in framework.fed and _derives(interp, cls, framework.trained)


def _compare_with_targets(interp: Interpreter, state: State, method: Closure, arguments: Arguments) -> None:
    """Take the second of two inputs of a loss to have no gradient; what is a number by default is no input."""
    defaults = interp.context.defaults_of(method)
    numbers = {name for name, value in defaults.items() if isinstance(value, Const) and value != NONE}
    match [value for name, value in arguments.keywords if name not in numbers]:
        case [_, Sym(number)]:
            state.set_trait(traits.NO_GRADIENT, number, True)
        case _:
            pass


def _pass_all(state: State, arguments: Arguments) -> None:
    """Take the arguments that are None by default to be passed."""
    for _, value in arguments.keywords:
        if isinstance(value, Sym) and state.has_trait(traits.NONE_BY_DEFAULT, value.id):
            state.learn((origins.NONE, value.id), False)


def _derives(interp: Interpreter, cls: ClassValue, bases: frozenset[str]) -> bool:
    """Say whether a class derives from one of some classes of a framework."""
    return any(isinstance(base, Dotted) and base.name in bases for base in interp.context.mro(cls))
