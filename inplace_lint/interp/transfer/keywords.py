"""Keyword arguments that request a write and that the framework does not accept: `nn.ReLU(inplace=True)` in Paddle."""

from __future__ import annotations

from collections.abc import Iterable

from inplace_lint.core.event import Failure, Refused, Touch
from inplace_lint.domain.state import State
from inplace_lint.interp.frame import Arguments, Frame
from inplace_lint.interp.interpreter import Interpreter
from inplace_lint.knowledge.argument import Argument

_ANY = "kwargs"


def check(
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
