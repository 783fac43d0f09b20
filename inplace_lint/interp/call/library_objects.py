"""
Library objects that hold tensors and compute with them, such as probability distributions.

    dist = Normal(mean, std)         # holds both
    logp = dist.log_prob(action)     # one node, with edges to both; backward needs `std`
    action = dist.sample()           # no history

The fact `NAME.ARGUMENT.CLASS` says what the constructor makes of an argument, and `NAME.of.METHOD` what a method
computes from the tensors that the object holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from inplace_lint.domain.heap import Instance
from inplace_lint.domain.values import NONE, Dotted, Ref, Value
from inplace_lint.interp.frame import Arguments
from inplace_lint.interp.intrinsics.call import IntrinsicCall
from inplace_lint.interp.outcome import Results

_DEEPEST = 1  # an independent distribution wraps another one


def _object(act: IntrinsicCall) -> Results:
    """Construct a library object that holds its arguments, or what its constructor makes of them."""
    name, state = act.form.name, act.state
    facts = act.interp.context.facts_of(name)
    assert facts is not None
    attrs: dict[str, Value] = {}
    for position, param in enumerate(act.form.args):
        value = act.value(param.name)
        made = f"{name}.{param.name}.{name.rpartition('.')[2]}"
        if value != NONE and facts.forms(made):
            expr = act.arguments.exprs.get(position) or act.arguments.exprs.get(param.name)
            given = Arguments((value,), (), {} if expr is None else {0: expr})
            value = act.interp.apply_op(act.frame, state, made, given, act.at)[0][1]
        if value != NONE:
            attrs[param.name] = value
    return [(state, state.new(Instance(Dotted(name), attrs, opaque=True)))]


def _of_object(act: IntrinsicCall) -> Results:
    """Call a method of a library object."""
    owner, _, method = act.form.name.rpartition(".")
    given = act.arguments
    rest = Arguments(given.positional[1:], given.keywords, given.shifted(-1), given.unknown)
    name = f"{owner}.of.{method}"
    return act.interp.apply_op(act.frame, act.state, name, rest, act.at, instance=act.receiver())


def _of_objects(act: IntrinsicCall) -> Results:
    """Call a function on library objects: it may read all tensors that they hold."""
    name = act.form.name
    kept = tuple(found for value in act.values.values() for found in _kept(act, value, 0))
    inner = f"{name}.of.{name.rpartition('.')[2]}"
    return act.interp.apply_op(act.frame, act.state, inner, Arguments(kept), act.at)


def _kept(act: IntrinsicCall, value: Value, depth: int) -> Iterator[Value]:
    instance = act.state.instance(value)
    for attribute in instance.attrs.values() if instance is not None and depth <= _DEEPEST else ():
        if act.state.tensor(attribute) is not None and isinstance(attribute, Ref):
            yield attribute
        else:
            yield from _kept(act, attribute, depth + 1)


INTRINSICS: dict[str, Callable[[IntrinsicCall], Results]] = {
    "object": _object,
    "of_object": _of_object,
    "of_objects": _of_objects,
}
