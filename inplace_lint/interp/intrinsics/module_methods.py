"""
Methods of unknown values that only modules have, and the unknown values that the code around a call uses as modules.

    def step(net, x):
        loss = net(x).mean()            # `net` is a module: the next line lists its parameters
        for p in net.parameters(): ...
        net.zero_grad()                 # of what has parameters, this removes their gradients
        net = net.train()               # and this is `net`
"""

from __future__ import annotations

from inplace_lint.domain import origins, traits
from inplace_lint.domain.heap import Names
from inplace_lint.domain.state import State
from inplace_lint.domain.values import NOT_TENSORS, Dotted, Sym, SymId, Value
from inplace_lint.interp.frame import Frame
from inplace_lint.interp.interpreter import Interpreter
from inplace_lint.interp.intrinsics import opaque_modules
from inplace_lint.ir import nodes as ir
from inplace_lint.ir.walk import walk
from inplace_lint.knowledge.layers import is_part
from inplace_lint.knowledge.op import Op

_CHILDREN = "children"
_LISTINGS = frozenset({"parameters", "named_parameters"})
_OF_MODULES = frozenset(  # of what has parameters: others have these as well
    {"module_requires_grad_", "zero_module", "train", "eval", "itself", "converted", "apply_function"}
)


def behind(interp: Interpreter, state: State, function: Value) -> tuple[Op, Sym] | None:
    """Return the method of modules that an attribute of an unknown value is, with that; None if others have it too."""
    match state.symbols.key(function) if isinstance(function, Sym) else None:
        case (origins.ATTRIBUTE, int(number), str(name)):
            owner = Sym(SymId(number))
        case _:
            return None
    form = _method(interp, name)
    if form is None or owner.kind in NOT_TENSORS:
        return None
    if form.act in _LISTINGS or (form.act in _OF_MODULES and state.has_trait(traits.PARAMETERS, owner.id)):
        return form, owner
    return None


def called(interp: Interpreter, state: State, function: Value) -> Value:
    """Return the unknown module that a call of the method that it runs calls: `net.forward(x)`; else what is called."""
    match state.symbols.key(function) if isinstance(function, Sym) else None:
        case (origins.ATTRIBUTE, int(number), name) if name == interp.context.default().framework.calls:
            owner = Sym(SymId(number))
            return owner if state.has_trait(traits.PARAMETERS, owner.id) else function
        case _:
            return function


def _method(interp: Interpreter, name: str) -> Op | None:
    """Return what is known of a method of modules."""
    default = interp.context.default()
    return next(iter(default.forms(f"{default.framework.module}.{name}")), None)


def is_listed_around(interp: Interpreter, frame: Frame, state: State, value: Sym) -> bool:
    """Check whether the function that is running lists the parameters of an unknown value, before or after this."""
    return any(_is(state, frame, owner, value) for owner in _owners(interp, frame))


def _owners(interp: Interpreter, frame: Frame) -> tuple[ir.Expr, ...]:
    """Return the expressions of which the function that is running lists the parameters."""
    function = None if frame.closure is None else frame.closure.function
    key = (frame.slice, "" if function is None else function.qualname)
    known = interp.context.listing.get(key)
    if known is None:
        body = interp.context.code(frame.slice).body if function is None else function.body
        calls = (node.func for node in walk(body) if isinstance(node, ir.Call) and isinstance(node.func, ir.Attr))
        named = [(func.value, _method(interp, func.name)) for func in calls]
        known = tuple(value for value, form in named if form is not None and form.act in _LISTINGS)
        interp.context.listing[key] = known
    return known


def _is(state: State, frame: Frame, expr: ir.Expr, value: Value) -> bool:
    """Check whether a variable, or an attribute reached from one, has a value now."""
    match expr:
        case ir.Name(_, name):
            scope = state.heap[frame.env.id]
            return isinstance(scope, Names) and scope.values.get(name) == value
        case ir.Attr(_, ir.Name(_, name), attribute):
            scope = state.heap[frame.env.id]
            owner = scope.values.get(name) if isinstance(scope, Names) else None
            instance = None if owner is None else state.instance(owner)
            if instance is not None and attribute in instance.attrs:
                return instance.attrs[attribute] == value
            number: object = owner.id if isinstance(owner, Sym) else owner
            return isinstance(value, Sym) and state.symbols.key(value) == (origins.ATTRIBUTE, number, attribute)
        case _:
            return False


def network_of(state: State, child: Value) -> tuple[Sym, int] | None:
    """
    Return the layer of a library whose `children()` a value is one of, with its position; None for other values.

    self.features = nn.Sequential(*list(resnet50().children())[:-2])
    """
    match state.symbols.key(child) if isinstance(child, Sym) else None:
        case (origins.TURN, Sym() as listed, int() as position, *_):
            owner = opaque_modules.listed_by(state, listed, _CHILDREN)
            return (owner, position) if isinstance(owner, Sym) and state.has_trait(traits.LAYER, owner.id) else None
        case _:
            return None


def note_part(interp: Interpreter, state: State, part: Value) -> None:
    """
    Record that a part of a network of a library is a layer: one that is listed, or the first of its children.

    What the first child is given is no activation yet.
    """
    found = network_of(state, part)
    network = _network_with(interp, state, part) if found is None else found[0] if found[1] == 0 else None
    if network is not None and isinstance(part, Sym):
        ref = state.trait(traits.LAYER, network.id)
        weight = None if ref is None else state.tensor(ref)
        if weight is not None and weight.rg and not state.has_trait(traits.PASSED_ON, network.id):
            opaque_modules.note_layer(state, part)


def _network_with(interp: Interpreter, state: State, part: Value) -> Sym | None:
    """Return the network of a library of which a value is an attribute that is listed as a layer."""
    match state.symbols.key(part) if isinstance(part, Sym) else None:
        case (origins.ATTRIBUTE, int(number), str(name)):
            match state.symbols.keys[number]:
                case (origins.RESULT, Dotted() as made, *_) if is_part(_framework(interp), made.name, name):
                    return Sym(SymId(number))
                case _:
                    return None
        case _:
            return None


def _framework(interp: Interpreter) -> str:
    return interp.context.default().framework.name


def layer_behind(state: State, part: Value) -> Sym | None:
    """Return the layer of a library that a part of a module is, or is one of the children of; None for other parts."""
    if not isinstance(part, Sym):
        return None
    found = network_of(state, part)
    return part if state.has_trait(traits.LAYER, part.id) else None if found is None else found[0]
