"""
Operators that the program registers with the framework, by their names.

    @torch.library.custom_op("mine::scale_", mutates_args=("x",))
    def scale_(x: Tensor, by: float) -> None: ...

    scale_(h, 2.0); torch.ops.mine.scale_(h, 2.0)     # run the body in no-grad mode, then count a write of `h`

The framework does not check what such an operator writes, and the history of `h` does not get a node. A function that
is registered as an implementation only (`impl`) runs as if it were called itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from msgspec.structs import replace

from inplace_lint.core.event import Misdeclared, Touch
from inplace_lint.domain import origins, traits
from inplace_lint.domain.heap import Instance
from inplace_lint.domain.state import State
from inplace_lint.domain.traits import Operator
from inplace_lint.domain.values import NONE, Closure, Const, Dotted, Partial, Tuple, Value
from inplace_lint.interp.call import closures
from inplace_lint.interp.context import Declared
from inplace_lint.interp.frame import Arguments, Frame
from inplace_lint.interp.interpreter import Interpreter
from inplace_lint.interp.intrinsics import custom
from inplace_lint.interp.intrinsics.call import IntrinsicCall
from inplace_lint.interp.outcome import Results
from inplace_lint.ir import nodes as ir
from inplace_lint.knowledge import operator_schema
from inplace_lint.knowledge.argument import Argument
from inplace_lint.knowledge.op import Op, ReturnFact, WriteFact
from inplace_lint.knowledge.operator_schema import OperatorSchema, SchemaError
from inplace_lint.knowledge.words import KERNEL, OPERATOR, ArgumentKind, Check, History, Result, ValueKind

_SEPARATOR = "::"
_RECORDING, _SHAPES = "Autograd", "Meta"  # kinds of implementations: with a backward of its own, and for shapes alone
COUNTS = "the operator counts what it writes"
_NOTHING = ReturnFact(Result.VALUE, value=ValueKind.UNKNOWN)
_KINDS = {
    "keyword-only": ArgumentKind.KEYWORD,
    "var-positional": ArgumentKind.ARGS,
    "var-keyword": ArgumentKind.KWARGS,
}


def run(
    interp: Interpreter, frame: Frame, state: State, name: str, operator: Operator, arguments: Arguments, at: int
) -> Results:
    """Call a registered operator; `name` is that of the call."""
    body = operator.body
    if body is None:
        assert operator.schema is not None
        interp.context.operators[name] = Declared(_of_schema(name, operator.schema), frozenset({COUNTS}))
        return interp.apply_op(frame, state, name, arguments, at)
    if not operator.hides:
        return interp.call(frame, state, body, arguments, at)
    inner = replace(body, modes=(("grad", Const(False)), *body.modes))
    results: Results = []
    for after, value in interp.call(frame, state, inner, arguments, at):
        written = _written(interp, frame, after, name, operator, body, arguments, at)
        results.extend(_recorded(interp, frame, written, name, operator, arguments, value, at))
    return results


def _written(
    interp: Interpreter,
    frame: Frame,
    state: State,
    name: str,
    operator: Operator,
    body: Closure,
    arguments: Arguments,
    at: int,
) -> State:
    """Count the writes that are declared."""
    if not operator.writes:
        return state
    interp.context.operators[name] = Declared(_op(name, body, operator.writes))
    return interp.apply_op(frame, state, name, arguments, at)[0][0]


def registers(interp: Interpreter, value: Value) -> bool:
    """Check whether a value is a decorator that makes an operator, a part of one, or a kernel of a function."""
    decorator = value.function if isinstance(value, Partial) else value
    forms = interp.context.forms(decorator.name) if isinstance(decorator, Dotted) else ()
    return bool(forms) and forms[0].act.startswith((OPERATOR, KERNEL))


def _op(name: str, body: Closure, writes: Sequence[str]) -> Op:
    """Return what a call of an operator does besides running its body: it counts the writes that are declared."""
    args = args_of(body.function)
    facts = tuple(WriteFact(one.name, counted=True) for one in args if one.name in writes)
    return Op(name, args, writes=facts, grads=(), returns=(_NOTHING,), history=History.KEEP_OLD)


def args_of(function: ir.Function) -> tuple[Argument, ...]:
    """Return the parameters of a function as the arguments of an op."""
    kinds = ((one, _KINDS.get(one.kind, ArgumentKind.PLAIN)) for one in function.params)
    return tuple(Argument(one.name, kind, one.default is not None) for one, kind in kinds)


def _of_schema(name: str, schema: OperatorSchema) -> Op:
    """Return what a call of an operator does whose implementation is not in Python, as far as its schema says."""
    args = tuple(
        Argument(one.name, ArgumentKind.KEYWORD if one.keyword else ArgumentKind.PLAIN, one.optional)
        for one in schema.parameters
    )
    writes = tuple(WriteFact(one.name, True, frozenset({Check.LEAF})) for one in schema.parameters if one.writes)
    returned = ReturnFact(writes[0].to) if any(one.writes for one in schema.results) else _NOTHING
    return Op(name, args, writes=writes, returns=(returned,))


def _recorded(
    interp: Interpreter,
    frame: Frame,
    state: State,
    name: str,
    operator: Operator,
    arguments: Arguments,
    value: Value,
    at: int,
) -> Results:
    """Make the node of the results of an operator, which keeps what its `setup_context` saves."""
    bound = None if operator.body is None else closures.bind(interp, state, operator.body, arguments, frame)
    inputs = arguments.positional if bound is None else tuple(bound[0].values())
    made = list(state.tensors_in(value))
    if not made:
        return [(state, value)]
    site = frame.site(at)
    context = state.new(Instance(Dotted(custom.context_class(interp.context.default().framework)), {}))
    states = [state]
    if operator.set_up is not None:
        parts: list[Value] = [context, Tuple(inputs), value]
        if len(operator.set_up.function.params) > len(parts):  # those that are passed by keyword come before the result
            parts.insert(2, state.symbols.sym((origins.ARGUMENT, "keywords", state.next_id)))
        given = Arguments(tuple(parts))
        states = [after for after, _ in interp.call(frame, state, operator.set_up, given, at)] or [state]
    for after in states:
        saves = custom.saved(after, context, name, site, compared=True)
        node = custom.record(after, name, site, [pair for one in inputs for pair in after.tensors_in(one)], saves)
        if node is not None:
            for ref, tensor in made:
                after.put(ref, node.of(tensor))
    return [(after, value) for after in states]


def _register(act: IntrinsicCall) -> Results:
    """Register a function as an operator, which the call returns; without a function, return the decorator."""
    key, body = _key(act, act.value("name")), act.value("fn")
    _schema(act, act.value("schema"), partial(operator_schema.read, named=False))
    if not isinstance(body, Closure):
        return [(act.state, _decorator(act, without="schema"))]
    if not key:
        return [(act.state, body)]
    params = [param.name for param in body.function.params]
    given = act.value("mutates_args")
    items = act.interp.items_of(act.frame, act.state, given, None, act.at).items
    writes = params if given == Const("unknown") else [one.value for one in items if isinstance(one, Const)]
    known = act.state.trait(traits.OPERATOR, key) or Operator()
    told = tuple(name for name in params if name in writes)
    _put(act.state, key, replace(known, body=body, hides=True, writes=told))
    return [(act.state, Dotted(called(act, key)))]


def called(act: IntrinsicCall, key: str) -> str:
    """Return the dotted name by which an operator is called."""
    space = next(iter(act.interp.context.default().framework.operators), "")
    return ".".join((space, *key.split(_SEPARATOR)))


def _define(act: IntrinsicCall) -> Results:
    """Register the schema of an operator."""
    key, given, name = _key(act, act.value("name")), act.value("schema"), act.value("name")
    if given == NONE:
        schema = _schema(act, name, operator_schema.read)
    else:  # the first argument is a name, or a library
        apart = act.state.instance(name) is None
        schema = _schema(act, given, operator_schema.read_apart if apart else operator_schema.read)
    if key and schema is not None and any(one.writes for one in schema.parameters):
        _put(act.state, key, replace(act.state.trait(traits.OPERATOR, key) or Operator(), schema=schema))
    return [(act.state, NONE)]


def _schema(act: IntrinsicCall, given: Value, read: Callable[[str], OperatorSchema]) -> OperatorSchema | None:
    """Return what a schema says; report one that does not parse, unless something handles the error."""
    if not isinstance(given, Const) or not isinstance(given.value, str):
        return None
    try:
        return read(given.value)
    except SchemaError as error:
        if not act.interp.fuel.listens:
            touch = Touch(act.form.name, act.frame.site(act.at), dropped=True)
            framework = act.interp.context.default().framework.name
            act.state.report(Misdeclared(framework, touch, act.state.assumptions, str(error)))
    return None


def _implement(act: IntrinsicCall) -> Results:
    """Register a function as an implementation of an operator."""
    key = _key(act, act.value("name"))
    body = next((one for one in act.arguments.positional if isinstance(one, Closure)), act.value("fn"))
    if not isinstance(body, Closure):
        return [(act.state, _decorator(act))]
    known = act.state.trait(traits.OPERATOR, key) or Operator()
    words = [str(one.value) for one in (*act.arguments.positional, *act.values.values()) if isinstance(one, Const)]
    records = any(word.startswith(_RECORDING) for word in words)
    if key and (records or (known.body is None and _SHAPES not in words)):
        _put(act.state, key, replace(known, body=body))
    return [(act.state, body)]


def _with_autograd(act: IntrinsicCall) -> Results:
    """Register the backward of an operator: it hides what its body does from the tape, and saves what it is told to."""
    key, set_up = _key(act, act.value("name")), act.value("setup_context")
    known = act.state.trait(traits.OPERATOR, key) or Operator()
    if key:
        _put(act.state, key, replace(known, hides=True, set_up=set_up if isinstance(set_up, Closure) else None))
    return [(act.state, NONE)]


def _load(act: IntrinsicCall) -> Results:
    """Compile an extension: it is called by its name where the project describes what is in it."""
    name = act.value("name")
    described = isinstance(name, Const) and isinstance(name.value, str) and name.value in act.interp.context.described
    return [(act.state, Dotted(str(name.value)) if isinstance(name, Const) and described else act.unknown())]


def _decorator(act: IntrinsicCall, without: str = "") -> Value:
    """Return the decorator that a call gives which has no function yet, without an argument that was dealt with."""
    keywords = tuple((name, value) for name, value in act.arguments.keywords if name != without)
    return Partial(Dotted(act.form.name), act.arguments.positional, keywords)


def _put(state: State, key: str, operator: Operator) -> None:
    state.set_trait(traits.OPERATOR, key, operator)


def _key(act: IntrinsicCall, name: Value) -> str:
    """Return the name of an operator with its namespace; empty where it is not known."""
    if isinstance(name, Dotted):
        spaces = [space for space in act.interp.context.default().framework.operators if name.name.startswith(space)]
        return _SEPARATOR.join(name.name.removeprefix(f"{spaces[0]}.").split(".")[:2]) if spaces else ""
    library = act.state.instance(act.value("library"))
    if library is None and act.state.instance(name) is not None:  # `impl(library, "name", "CPU")`
        library, name = act.state.instance(name), act.value("types")
    space = library.attrs.get("ns") if library is not None else None
    text = str(name.value) if isinstance(name, Const) else ""
    if isinstance(space, Const) and text and _SEPARATOR not in text:
        text = f"{space.value}{_SEPARATOR}{text}"
    return text.partition("(")[0].partition(".")[0] if _SEPARATOR in text else ""


INTRINSICS: dict[str, Callable[[IntrinsicCall], Results]] = {
    "operator": _register,
    "operator_define": _define,
    "operator_impl": _implement,
    "operator_autograd": _with_autograd,
    "extension": _load,
}
