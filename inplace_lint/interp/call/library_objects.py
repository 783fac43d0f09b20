"""
Library objects that hold tensors and compute with them, such as probability distributions.

    dist = Normal(mean, std)         # holds both
    logp = dist.log_prob(action)     # one node, with edges to both; backward needs `std`
    action = dist.sample()           # no history

    norm = build_norm_layer(dict(type="BN"), 8)    # a function of a library that makes the layer that is asked for

The fact `NAME.ARGUMENT.CLASS` says what the constructor makes of an argument, and `NAME.of.METHOD` what a method
computes from the tensors that the object holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from inplace_lint.domain.heap import DictObject, Instance
from inplace_lint.domain.values import NONE, Closure, Const, Dotted, Ref, Tuple, Value
from inplace_lint.interp.call.unknown_calls import unknown_call
from inplace_lint.interp.frame import Arguments
from inplace_lint.interp.intrinsics.call import IntrinsicCall
from inplace_lint.interp.outcome import Results
from inplace_lint.knowledge.op import Step
from inplace_lint.knowledge.words import ArgumentKind

_RECEIVER = "self"
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


def _built(act: IntrinsicCall) -> Results:
    """
    Return what a configuration asks for: an object of the class that a step names for its `type`, with its items.

    Where the step names it, the name comes first, with what the arguments in braces are.
    """
    asked = _asked(act)
    if asked is None or act.arguments.unknown or _has_function(act):
        return unknown_call(act.interp, act.frame, act.state, Dotted(act.form.name), act.arguments, act.at)
    step, items = asked
    positional, keywords = _handed(act, step)
    given = Arguments(positional, (*items.items(), *keywords))
    results = act.interp.call(act.frame, act.state, Dotted(step.to), given, act.at)
    if not step.name:
        return results
    name = _named(act, step.name)
    return [(state, Tuple((name, made), exact=True)) for state, made in results]


def _has_function(act: IntrinsicCall) -> bool:
    """Return whether the object whose method is called was given a function, which may be what makes the layer."""
    owner = act.state.instance(act.values.get(_RECEIVER, NONE))
    return owner is not None and any(isinstance(value, Closure) for value in owner.attrs.values())


def _asked(act: IntrinsicCall) -> tuple[Step, dict[str, Value]] | None:
    """Return the step for a configuration, the first argument, and its other items; None if it is not sure."""
    value = next(act.value(one.name) for one in act.form.args if one.name != _RECEIVER)
    inner = act.state.object(value)
    items: dict[str, Value] = {}
    if isinstance(inner, DictObject) and inner.exact:
        items = {str(key): item for key, item in inner.items.items()}
    elif value != NONE:
        return None
    step = _of_type(act, items.pop("type", NONE))
    needed = (
        [(items.pop(key, Const(flag)), Const(flag)) for key, flag in step.needs.items()] if step is not None else []
    )
    return (step, items) if step is not None and all(has == wanted for has, wanted in needed) else None


def _of_type(act: IntrinsicCall, kind: Value) -> Step | None:
    """Return the step for a type that a configuration names; None for one that is unknown."""
    return next((step for step in act.form.steps if isinstance(kind, Const) and str(kind.value) in step.when), None)


def _class_of_type(act: IntrinsicCall) -> Results:
    """Return the class that a step names for a type."""
    step = _of_type(act, act.value(act.form.args[-1].name))
    if step is None:
        return unknown_call(act.interp, act.frame, act.state, Dotted(act.form.name), act.arguments, act.at)
    return [(act.state, Dotted(step.to))]


def _named(act: IntrinsicCall, template: str) -> Value:
    """Return a name with its arguments in braces filled in; an unknown value if one of these is unknown."""
    values = {one.name: act.value(one.name) for one in act.form.args if f"{{{one.name}}}" in template}
    known = {name: value.value for name, value in values.items() if isinstance(value, Const)}
    return Const(template.format_map(known)) if len(known) == len(values) else act.unknown()


def _handed(act: IntrinsicCall, step: Step) -> tuple[tuple[Value, ...], list[tuple[str, Value]]]:
    """Return what a step passes on: the arguments that it names, or those for which the function has no name."""
    keywords = [(name, act.value(of) if isinstance(of, str) else Const(of)) for name, of in step.given.items()]
    named = [one.name for one in act.form.args if one.kind is ArgumentKind.PLAIN]
    keywords += [(name, value) for name, value in act.arguments.keywords if name not in named]
    rest = act.arguments.positional[len(named) :]
    return tuple(act.value(name) for name in step.on) or rest, keywords


INTRINSICS: dict[str, Callable[[IntrinsicCall], Results]] = {
    "asked": _class_of_type,
    "built": _built,
    "object": _object,
    "of_object": _of_object,
    "of_objects": _of_objects,
}
