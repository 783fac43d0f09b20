"""The call of an op that a transfer function runs."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct, field

from inplace_lint.core.event import Failure, Refused, Spelling, Touch
from inplace_lint.core.span import Place
from inplace_lint.domain.heap import Instance, Tensor
from inplace_lint.domain.state import State
from inplace_lint.domain.values import Builtin, Ref, Value
from inplace_lint.interp.frame import Arguments, Frame, text_of
from inplace_lint.interp.interpreter import Interpreter
from inplace_lint.interp.outcome import Raised
from inplace_lint.interp.transfer import shapes
from inplace_lint.interp.transfer.binding import Binding
from inplace_lint.ir import nodes as ir
from inplace_lint.knowledge.argument import Argument
from inplace_lint.knowledge.facts import Facts
from inplace_lint.knowledge.words import ShapeRule

STEP = "parametrizations.{}.{}"  # the name of a module that computes it, by the number of that
_ANY = "kwargs"


class Call(Struct):
    """
    A framework call: its binding, its place, and the flag that makes it write, if any; `state` is the binding's.

    `doubt` is what its form assumes; `written` are the arguments that it writes in any form that it may have.
    """

    interp: Interpreter
    frame: Frame
    facts: Facts
    binding: Binding
    at: int
    spelled: Spelling
    name: str
    flag: Place | None = None
    flagged: bool = False
    doubt: frozenset[str] = frozenset()
    written: frozenset[str] = frozenset()
    grads: list[tuple[Ref, Tensor]] = field(default_factory=list)

    @property
    def state(self) -> State:
        """The state in which it is bound."""
        return self.binding.state

    def touch(self, part: str, expr: ir.Expr | None = None, tensor: Tensor | None = None) -> Touch:
        """Return a description of an access of this call to one of its tensors."""
        return Touch(
            op=self.name,
            site=self.frame.site(self.at),
            part=part,
            symbol=text_of(expr),
            spelled=self.spelled,
            flag=self.flag,
            module=self.binding.instance is not None,
            param=tensor is not None and tensor.param,
            producer=tensor.made.op if tensor is not None and tensor.made is not None else "",
            built=self.frame.built,
            dropped=self.at in self.frame.dropped,
        )


def is_object(call: Call, value: Value) -> bool:
    """Check whether a value is a module, or an object of a class that derives from classes of the program only."""
    thing, context = call.state.instance(value), call.interp.context
    return thing is not None and (context.is_module(thing.cls) is not None or context.has_all_code(thing.cls))


def replace_call(call: Call, binding: Binding, name: str, flag: Place | None) -> Call:
    """Return the same call as a call of another op."""
    return Call(call.interp, call.frame, call.facts, binding, call.at, call.spelled, name, flag, True, call.doubt)


def refusal(call: Call) -> Raised | None:
    """
    Return what a call certainly raises since shapes or dtypes do not fit, where something handles that.

    A product of matrices ends the path anywhere: `return torch.empty(0)` is no path to what follows one.
    """
    returns, waiting = call.binding.op.returns, call.interp.fuel.lacks
    fact = returns[0].shape if len(returns) == 1 else shapes.result_of(call.binding)
    product = fact is not None and fact.rule is ShapeRule.MATMUL
    if not product and not waiting:
        return None
    errors = call.facts.framework.errors
    index = shapes.is_indexed(call.binding.op)
    handled = {*(_INDEX if index else errors), "Exception", "BaseException"}
    waits = any(name in handled for _, name in waiting)
    if not waits and not product:
        return None
    if not shapes.refused(call.binding) and (index or not waits or not _mixes_dtypes(call)):
        return None
    error = "IndexError" if index else next(iter(errors)) if len(errors) == 1 else None
    return Raised(None if error is None else Builtin(error), call.frame.site(call.at))


def _mixes_dtypes(call: Call) -> bool:
    """Check whether an op that refuses operands of different dtypes gets some, which autocast does not make alike."""
    if call.binding.op.name not in call.facts.framework.autocast:
        return False
    tensors = [call.state.tensor(value) for value in call.binding.values.values()]
    return len({tensor.dtype for tensor in tensors if tensor is not None} & _NUMBERS) > 1


_INDEX = frozenset({"IndexError", "LookupError"})
_NUMBERS = frozenset({"bool", "complex", "float", "int"})


def check_flag(
    interp: Interpreter, frame: Frame, state: State, name: str, taken: Iterable[Argument], arguments: Arguments, at: int
) -> None:
    """Report a call that passes the flag for writing in place to an op that does not accept it."""
    facts = interp.context.facts_of(name)
    word = facts.framework.words.get("flag", "") if facts is not None else ""
    if facts is None or not word or arguments.named(word) is None:
        return
    if not any(argument.name == word or argument.kind == _ANY for argument in taken):
        touch = Touch(name, frame.site(at), word, word)
        state.report(Refused(facts.framework.name, Failure.KEYWORD, touch, None, state.assumptions))


def computed_names(instance: Instance) -> tuple[str, ...]:
    """Return the names of the parameters of a layer that modules of the program compute on each read."""
    start, end = STEP.format("", 0).split("..")
    return tuple(key.split(".")[1] for key in instance.attrs if key.startswith(f"{start}.") and key.endswith(f".{end}"))
