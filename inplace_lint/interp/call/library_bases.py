"""What a class of the program inherits from a class of a framework: parameters, children and methods."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from inplace_lint.domain import origins, traits
from inplace_lint.domain.heap import DictObject, Instance, ListObject, Tensor, dict_of
from inplace_lint.domain.state import State
from inplace_lint.domain.values import NONE, Builtin, ClassValue, Const, Dotted, Ref, Tuple, Value, may_be_key
from inplace_lint.interp.call import module_registry
from inplace_lint.interp.frame import Arguments, Frame
from inplace_lint.interp.interpreter import Interpreter
from inplace_lint.interp.intrinsics import optimizers
from inplace_lint.interp.outcome import Items
from inplace_lint.interp.pylib import mappings
from inplace_lint.interp.pylib.duplicates import duplicate
from inplace_lint.interp.transfer import shapes
from inplace_lint.interp.transfer.binding import Binding, bind, default_values
from inplace_lint.interp.transfer.tensor_types import dtypes
from inplace_lint.knowledge.guard import holds
from inplace_lint.knowledge.op import StatePart

_MOST_COPIES = 2
MAPPINGS = frozenset(
    {
        Builtin("dict"),
        Dotted("collections.OrderedDict"),
        Dotted("collections.UserDict"),
        Dotted("typing.TypedDict"),
        Dotted("typing_extensions.TypedDict"),
    }
)
_SEQUENCES = frozenset({Builtin("list"), Builtin("tuple"), Dotted("collections.UserList"), Dotted("collections.deque")})


def fill(interp: Interpreter, state: State, ref: Ref, name: str, arguments: Arguments) -> None:
    """Set on an instance what the constructor of a library module sets."""
    form = interp.context.forms(name)[0]
    instance = state.instance(ref)
    assert instance is not None
    bound = bind(form.init or (), arguments)
    values = default_values(form.init or (), {} if bound is None else bound[0])
    repeated = {name: _repeated(values[name], count) for name, count in form.repeats.items() if name in values}
    attrs = {**instance.attrs, **values, **repeated}
    facts = interp.context.facts_of(name)
    framework = "" if facts is None else facts.framework.name
    environment = Binding(state, form, values, frozenset(), {})
    asked = values.get("dtype", NONE)
    default = dtypes.default(state, "" if facts is None else facts.framework.default_dtype)
    dtype = default if asked == NONE else dtypes.named(asked) or dtypes.Kind("float")
    for part in form.state:
        kind = dtypes.named(Const(part.dtype)) or dtype
        if part.made:
            _set_part(interp, state, attrs, part, values)
        elif holds(part.condition, environment) is False or values.get(part.options) == Const(value=False):
            _put_last(attrs, part.name, NONE)
        else:
            trains = part.param and module_registry.trains(state, values.get(part.options, NONE))
            tensor = Tensor(
                state.new_storage(),
                rg=trains,
                why="" if trains is not None else "a parameter requires grad",
                leaf=True,
                dtype=kind.kind,
                exact=kind.exact,
                sizes=shapes.of_fact(environment, part.shape),
                contiguous=True,
                param=part.param,
                framework=framework,
            )
            _put_last(attrs, part.name, state.new(tensor))
            if not part.param:
                state.set_trait(traits.BUFFER, (ref.id, part.name), True)
    state.put(ref, replace(instance, attrs=attrs))


def _put_last(attrs: dict[str, Value], name: str, value: Value) -> None:
    """Set an attribute after those that are set: parameters are listed in the order in which they are made."""
    attrs.pop(name, None)
    attrs[name] = value


def _repeated(value: Value, count: int) -> Value:
    """Return a tuple of so many equal numbers for a number; any other value itself."""
    return Tuple((value,) * count) if isinstance(value, Const) and type(value.value) is int else value


def _set_part(
    interp: Interpreter, state: State, attrs: dict[str, Value], part: StatePart, values: Mapping[str, Value]
) -> None:
    """Set a module that a constructor makes of its arguments, or the function that it has if none is passed."""
    forms = interp.context.forms(part.made)
    if forms and forms[0].init is not None:
        attrs[part.name] = _made(interp, state, part, values)
    elif len(part.copies) == 1:
        attrs.pop(part.copies[0], None)  # the object has the copy alone
        attrs[part.name] = duplicate(state, values.get(part.copies[0], NONE), {})
    elif part.copies:
        attrs[part.name] = _copies(state, part, values)
    elif isinstance(attrs.get(part.name, NONE), Const):
        passed = attrs.get(part.name, NONE)
        attrs[part.name] = Dotted(part.made) if passed == NONE else state.symbols.sym((origins.FIELD, part.name, ""))


def _made(interp: Interpreter, state: State, part: StatePart, values: Mapping[str, Value]) -> Ref:
    """Return a module that is made of arguments of the outer constructor, and of modules that are made for it."""
    given = tuple(
        (name, _made(interp, state, one, values) if isinstance(one, StatePart) else values[one])
        for name, one in part.given
        if isinstance(one, StatePart) or one in values
    )
    ref = state.new(Instance(Dotted(part.made), {"training": Const(True)}))
    fill(interp, state, ref, part.made, Arguments((), given, unknown=True))
    return ref


def _copies(state: State, part: StatePart, values: Mapping[str, Value]) -> Ref:
    """Return a container of copies of a module, of which the first stand for all."""
    of, count = (values.get(name, NONE) for name in part.copies)
    number = count.value if isinstance(count, Const) and isinstance(count.value, int) else None
    most = _MOST_COPIES if number is None else min(number, _MOST_COPIES)
    items = tuple(duplicate(state, of, {}) for _ in range(most))
    children = state.new(ListObject(items, exact=number == most))
    return state.new(Instance(Dotted(part.made), {"training": Const(True)}, children=children))


def _fill_container(interp: Interpreter, frame: Frame, state: State, ref: Ref, arguments: Arguments, at: int) -> None:
    # One that takes keywords takes one argument: `LayerList(sublayers=blocks)`.
    values = arguments.positional or tuple(value for _, value in arguments.keywords)
    exact = not arguments.unknown
    instance = state.instance(ref)
    assert instance is not None
    children: ListObject | DictObject = _paired(state, Items(values, exact)) or ListObject(values, exact)
    if not values and exact:
        children = _empty(interp, instance.cls)
    if len(values) == 1:
        inner = state.object(values[0])
        if isinstance(inner, DictObject):
            children = DictObject(dict(inner.items), inner.exact)
        elif not isinstance(inner, Instance) or inner.children is not None:
            items = interp.items_of(frame, state, values[0], None, at)
            items = items if items.exact and items.items else interp.turns(frame, state, values[0], None, at)
            children = _paired(state, items) or ListObject(items.items, items.exact)
        if isinstance(inner, Instance) and inner.children is not None and len(values) == 1:
            children = ListObject(values, exact)
    state.put(ref, replace(instance, children=state.new(children)))


def _empty(interp: Interpreter, cls: Value) -> ListObject | DictObject:
    """Return what a container of modules holds at first: a dict where it lists its modules with their names."""
    name = cls.name if isinstance(cls, Dotted) else library_base(interp, cls, act="container")
    return DictObject({}) if interp.context.forms(f"{name}.items") else ListObject(())


def _paired(state: State, items: Items) -> DictObject | None:
    """Return the dict of a list of (name, module) pairs, which may be lists themselves."""
    pairs: list[tuple[Value, Value]] = []
    for item in items.items:
        pair = item if isinstance(item, Tuple) else state.object(item)
        if not isinstance(pair, Tuple | ListObject) or len(pair.items) != 2 or not may_be_key(pair.items[0]):  # noqa: PLR2004
            return None
        pairs.append((pair.items[0], pair.items[1]))
    return dict_of(pairs, exact=items.exact) if pairs else None


def prepare_container(interp: Interpreter, state: State, cls: ClassValue, ref: Ref) -> None:
    """Set empty children on an instance whose class derives from a module container."""
    if library_base(interp, cls, act="container") is not None:
        instance = state.instance(ref)
        assert instance is not None
        state.put(ref, replace(instance, children=state.new(_empty(interp, cls))))


def prepare_contents(interp: Interpreter, state: State, cls: ClassValue, ref: Ref) -> Ref | None:
    """Set an empty dict or list behind an instance whose class derives from one, and return it."""
    bases = interp.context.mro(cls)
    if any(base in MAPPINGS for base in bases):
        inner = state.new(DictObject({}))
    elif any(base in _SEQUENCES for base in bases) and interp.lookup(state, cls, "__new__") is None:
        inner = state.new(ListObject(()))
    else:
        return None
    state.set_trait(traits.CONTENTS, ref.id, inner)
    return inner


def library_base(interp: Interpreter, cls: Value, act: str = "") -> str | None:
    """Return the library module with facts of its own that a class derives from, if any."""
    for entry in interp.context.mro(cls):
        if isinstance(entry, Dotted):
            forms = interp.context.forms(entry.name)
            if forms and (forms[0].act == act if act else forms[0].init is not None):
                return forms[0].name
    return None


def library_init(
    interp: Interpreter, frame: Frame, state: State, ref: Ref, base: str, arguments: Arguments, at: int
) -> None:
    """Run the constructor of a library base on an instance."""
    forms = interp.context.forms(base)
    if forms and forms[0].init is not None:
        fill(interp, state, ref, forms[0].name, arguments)
    elif forms and forms[0].act == "container":
        _fill_container(interp, frame, state, ref, arguments, at)
    elif forms and forms[0].act == "optimizer":
        leaves = interp.context.default().framework.optimizes_leaves
        optimizers.prepare_derived(state, ref, arguments, leaves=leaves)
    elif any(base in facts.framework.optimizers for facts in (interp.context.facts_of(base),) if facts is not None):
        optimizers.prepare(state, ref, arguments)


def library_method(interp: Interpreter, base: str, name: str) -> Value | None:
    """Return a method of a library base: its own, or one that every module has."""
    key = (base, name)
    if key not in interp.context.library_methods:
        interp.context.library_methods[key] = _library_method(interp, base, name)
    return interp.context.library_methods[key]


def _library_method(interp: Interpreter, base: str, name: str) -> Value | None:
    if base in mappings.BASES and f"{mappings.NAME}{name}" in mappings.METHODS:
        return Dotted(f"{mappings.NAME}{name}")
    facts = interp.context.facts_of(base)
    if facts is None:
        return None
    framework = facts.framework
    if name == "__init__" and facts.canonical(base) not in {framework.module, framework.function}:
        return Dotted(f"{facts.canonical(base)}.__init__")
    for owner in (base, facts.canonical(base), framework.module):
        if facts.forms(f"{owner}.{name}"):
            return Dotted(f"{owner}.{name}")
    return None


def is_method(interp: Interpreter, name: str) -> bool:
    """Check whether a dotted name is that of a method, so that it binds its receiver."""
    return bool(interp.context.forms(name)) or name.endswith(".__init__") or name in mappings.METHODS


def takes_class(interp: Interpreter, name: str) -> bool:
    """Check whether a library method is called on the class instead of an instance."""
    forms = interp.context.forms(name)
    return bool(forms) and forms[0].act == "apply_custom"
