"""
Contexts and decorators of which nothing is known, such as those of a library that is not read: they may turn gradients
off.

    with frozen():            # frozen = torch.no_grad
        weight.clamp_(0)      # refused only if the context leaves gradients on

It is assumed that they leave them on. The assumption ends with a context in which nothing was recorded, and is settled
when the program runs backward from what was recorded in the context: gradients were on.
"""

from __future__ import annotations

import sys

from inplace_lint.domain import origins, traits
from inplace_lint.domain.heap import Tensor
from inplace_lint.domain.state import State
from inplace_lint.domain.values import Closure, Dotted, Sym, SymId, Value
from inplace_lint.interp.frame import text_of
from inplace_lint.interp.interpreter import Interpreter
from inplace_lint.ir import nodes as ir


def enter(interp: Interpreter, state: State, context: ir.Expr, value: Value, *, known: bool) -> str:
    """Assume that a context leaves gradients on, if it is not `known`; return the assumption, empty for none."""
    called = context.func if isinstance(context, ir.Call) else context
    if _intercepts(interp, state, value):
        state.assume(f"`{text_of(called) or 'the context'}` leaves operations as they are")
    if known or not is_unknown(interp, state, value):
        return ""
    return suppose(state, text_of(called) or "the context")


def _intercepts(interp: Interpreter, state: State, value: Value) -> bool:
    """Check whether the class of a context, which the program defines, decides what operations inside of it do."""
    instance = state.instance(value)
    bases = () if instance is None else interp.context.mro(instance.cls)
    classes = interp.context.default().framework.interceptors
    return any(isinstance(base, Dotted) and base.name in classes for base in bases)


def suppose(state: State, context: str) -> str:
    """Assume that a context or decorator leaves gradients on; return the assumption, empty where that is settled."""
    sentence = f"`{context}` leaves gradients on"
    known = (
        state.trait(traits.RECORDED_IN, sentence) if sentence in state.assumptions else (state.next_id, state.next_id)
    )
    if state.modes.grad is False or known is None or known[1] is None:
        return ""
    state.assume(sentence)
    state.set_trait(traits.RECORDED_IN, sentence, (known[0], None))
    return sentence


def leave(state: State, sentence: str) -> None:
    """Leave a context; drop the assumption if nothing was recorded inside."""
    known = state.trait(traits.RECORDED_IN, sentence)
    if known is None:
        return
    state.set_trait(traits.RECORDED_IN, sentence, (known[0], state.next_id))
    if not any(number >= known[0] for number in state.nodes):
        state.withdraw(sentence)


def note_backward(state: State, roots: list[Tensor]) -> None:
    """Settle the assumptions about contexts without whose records there would be nothing to run backward through."""
    for sentence, (first, end) in list(state.all_traits(traits.RECORDED_IN)):
        if not state.has_trait(traits.WAS_ON, sentence) and _all_from(state, roots, first, end or state.next_id):
            state.set_trait(traits.WAS_ON, sentence, True)


def _all_from(state: State, roots: list[Tensor], first: int, end: int) -> bool:
    """Return whether each way from the roots to a leaf leads through a node with a number from `first` to `end`."""
    waiting = [node for tensor in roots for node in tensor.nodes]
    seen: set[int] = set()
    met = False
    while waiting:
        number = waiting.pop()
        if first <= number < end:
            met = True
        elif number not in seen:
            seen.add(number)
            node = state.nodes[number]
            if node.leaves or node.passes or node.doubts:
                return False
            waiting.extend(node.inputs)
    return met


def is_unknown(interp: Interpreter, state: State, value: Value) -> bool:
    """Check whether a context or decorator is of a library that is not read, or of an object that is not known."""
    inner: object = value
    while isinstance(inner, Sym):
        match state.symbols.key(inner):
            case (origins.ATTRIBUTE, int(owner), _):
                inner = Sym(SymId(owner))
            case (origins.ATTRIBUTE, Dotted(), str()):
                return True  # a function of a framework that the program may have replaced
            case (origins.ATTRIBUTE | origins.ITEM | origins.RESULT, owner, *_):
                inner = owner
            case (origins.CALL, str(name), *_):
                inner = Dotted(name)
            case (origins.PARAMETER, *_):
                return True
            case _:
                return inner != value
    if isinstance(inner, Closure):  # an attribute that a decorator gave it, such as `register`
        return inner is not value and bool(inner.unread)
    return _is_unread(interp, inner) if isinstance(inner, Dotted) else inner is not value


def _is_unread(interp: Interpreter, value: Dotted) -> bool:
    top, framework = value.name.partition(".")[0], interp.context.default().framework
    facts = interp.context.facts_of(value.name)
    if facts is not None and "._" in value.name and not facts.forms(value.name):
        return True  # an inner part of a framework, such as a guard of its dispatcher
    known = top in interp.context.roots or top in sys.stdlib_module_names
    return not (known or top in framework.arrays or top in framework.neutral)
