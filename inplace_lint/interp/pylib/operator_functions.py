"""
Functions of the module `operator` on tensors, and what calls a method or reads an item by its name.

    operator.iadd(x, y)                 # `x += y`
    operator.setitem(x, 0, y)           # `x[0] = y`
    operator.methodcaller("name")(x)    # `x.name()`
"""

from __future__ import annotations

from inplace_lint.domain.state import State
from inplace_lint.domain.values import Const, Dotted, Partial
from inplace_lint.interp.frame import Arguments, Frame
from inplace_lint.interp.interpreter import Interpreter
from inplace_lint.interp.outcome import Results
from inplace_lint.interp.transfer import materialise
from inplace_lint.ir import nodes as ir

NAME = "operator."
_MADE = frozenset({"methodcaller", "attrgetter", "itemgetter"})
_CALL = "()"


def call(interp: Interpreter, frame: Frame, state: State, name: str, arguments: Arguments, at: int) -> Results | None:
    """Run a function of `operator`; None where its first argument is no tensor."""
    function = name.removeprefix(NAME)
    if function in _MADE:
        return [(state, Partial(Dotted(name + _CALL), arguments.positional, arguments.keywords))]
    if function.endswith(_CALL):
        return _call_made(interp, frame, state, function.removesuffix(_CALL), arguments, at)
    facts = materialise.framework_of(interp, state, arguments.positional[0]) if arguments.positional else None
    if facts is None:
        return None
    framework, method = facts.framework, f"__{function.strip('_')}__"
    out_of_place = f"__{function[1:]}__"
    if (
        function.startswith("i")
        and method not in framework.augmented.values()
        and facts.forms(f"{framework.tensor}.{out_of_place}")
    ):
        method = out_of_place
    return interp.call(frame, state, Dotted(f"{framework.tensor}.{method}"), arguments, at)


def _call_made(
    interp: Interpreter, frame: Frame, state: State, maker: str, arguments: Arguments, at: int
) -> Results | None:
    """Call what `methodcaller` and its like return, on the last argument."""
    name, *given, value = arguments.positional if len(arguments.positional) > 1 else (None, None)
    if value is None or name is None:
        return None
    if maker == "itemgetter":
        return None if given else interp.get_item(frame, state, value, name, ir.Name(at, maker))
    if not isinstance(name, Const) or not isinstance(name.value, str) or "." in name.value:
        return None
    found = interp.get_attribute(frame, state, value, name.value, at)
    if maker == "attrgetter":
        return None if given else found
    rest = Arguments(tuple(given), arguments.keywords)
    return [result for after, method in found for result in interp.call(frame, after, method, rest, at)]
