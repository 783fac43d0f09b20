"""
Template methods: a method of a library's base class that calls what the program's class defines.

    class Conv(MessagePassing):
        def forward(self, x, edge_index):
            return self.propagate(edge_index, x=x)     # calls `message`, and what `aggregate` and `update` are

        def message(self, x_j): ...                    # on `x[edge_index[0]]`, which is a new tensor

A method in which a layer of a library calls its own layers, and that a derived class calls, is described alike:

    class Block(nn.TransformerEncoderLayer):
        def forward(self, x):
            return x + self._ff_block(x)     # `linear1`, `activation`, `dropout`, `linear2`, `dropout2`
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from inplace_lint.domain import origins
from inplace_lint.domain.state import State
from inplace_lint.domain.values import NONE, Bound, Closure, Const, Dotted, Ref, Tuple, Value
from inplace_lint.interp.call.unknown_calls import unknown_call
from inplace_lint.interp.frame import Arguments
from inplace_lint.interp.intrinsics.call import IntrinsicCall
from inplace_lint.interp.outcome import Results
from inplace_lint.knowledge.op import Step
from inplace_lint.knowledge.words import ArgumentKind


def _template(act: IntrinsicCall) -> Results:
    """Call the methods of the receiver one after the other, each on what the one before returned."""
    receiver = act.receiver()
    if receiver is None or act.state.instance(receiver) is None or act.arguments.unknown:
        return unknown_call(act.interp, act.frame, act.state, Dotted(act.form.name), act.arguments, act.at)
    results: Results = [(act.state, NONE)]
    for position, step in enumerate(act.form.steps):
        results = [
            called
            for state, before in results
            for called in _call(act, state, receiver, step, () if position == 0 else (before,))
        ]
    return act.interp.fuel.first(results)


def _call(act: IntrinsicCall, state: State, receiver: Ref, step: Step, first: tuple[Value, ...]) -> Results:
    """Call one method on what the one before returned, or a layer on the arguments that its step names."""
    instance = state.instance(receiver)
    method = None if instance is None else act.interp.lookup(state, instance.cls, step.to)
    if method is None:
        return _call_part(act, state, receiver, step, first)
    if not isinstance(method, Closure | Dotted):
        return unknown_call(act.interp, act.frame, state, Dotted(act.form.name), act.arguments, act.at)
    given = dict(act.arguments.keywords)
    keywords: list[tuple[str, Value]] = []
    for name, optional in [*_parameters(act, method)][1 + len(first) :]:
        value = _lifted(act, state, step, given, name)
        if value is None and not optional:
            value = state.symbols.sym((origins.ARGUMENT, name, state.next_id))
        keywords.extend([] if value is None else [(name, value)])
    arguments = Arguments(first, tuple(keywords))
    return act.interp.call(act.frame, state, Bound(receiver, method), arguments, act.at)


def _call_part(act: IntrinsicCall, state: State, receiver: Ref, step: Step, first: tuple[Value, ...]) -> Results:
    """Call an attribute of the receiver, on the arguments that the step names or on what was returned before."""
    positional = tuple(act.value(name) for name in step.on) or first
    keywords = tuple(
        (name, act.value(given) if isinstance(given, str) else Const(given)) for name, given in step.given.items()
    )
    return [
        _part(act, after, value, step.item)
        for found, part in act.interp.get_attribute(act.frame, state, receiver, step.to, act.at)
        for after, value in act.interp.call(act.frame, found, part, Arguments(positional, keywords), act.at)
    ]


def _part(act: IntrinsicCall, state: State, value: Value, item: int | None) -> tuple[State, Value]:
    """Return the part of a result that the next step takes; of what is no known tuple, something that depends on it."""
    if item is None:
        return state, value
    if isinstance(value, Tuple) and value.exact and len(value.items) > item:
        return state, value.items[item]
    return unknown_call(act.interp, act.frame, state, Dotted(act.form.name), Arguments((value,)), act.at)[0]


def _parameters(act: IntrinsicCall, method: Closure | Dotted) -> Iterator[tuple[str, bool]]:
    """Yield the names of the parameters of a method, and which of them may be left out."""
    if isinstance(method, Closure):
        optional = method.optional
        for param in method.function.params:
            if not param.kind.startswith("var-"):
                yield param.name, param.name in optional
        return
    for form in act.interp.context.forms(method.name)[:1]:
        for argument in form.args:
            if argument.kind in {ArgumentKind.PLAIN, ArgumentKind.KEYWORD}:
                yield argument.name, argument.optional


def _lifted(act: IntrinsicCall, state: State, step: Step, given: Mapping[str, Value], name: str) -> Value | None:
    """Return the argument of a name: a keyword of the call, or what is made of one; None where there is no such."""
    ending = next((one for one in step.lifts if name.endswith(one)), None)
    if ending is None:
        return given.get(name)
    value = given.get(name.removesuffix(ending))
    if isinstance(value, Tuple) and value.exact and len(value.items) > step.lifts[ending]:
        value = value.items[step.lifts[ending]]
    if value is None or isinstance(value, Const):
        return value
    return act.interp.apply_op(act.frame, state, step.by, Arguments((value,)), act.at)[0][1]


INTRINSICS: dict[str, Callable[[IntrinsicCall], Results]] = {"template": _template}
