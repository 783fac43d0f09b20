"""The fields of dataclasses of the program."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from inplace_lint.domain import origins, traits
from inplace_lint.domain.heap import DictObject, Instance, ListObject
from inplace_lint.domain.state import State
from inplace_lint.domain.values import (
    NONE,
    Builtin,
    ClassValue,
    Closure,
    Const,
    Dotted,
    Partial,
    Ref,
    Sym,
    Tuple,
    Value,
)
from inplace_lint.interp.context import Field
from inplace_lint.interp.frame import Arguments, Frame
from inplace_lint.interp.interpreter import Interpreter
from inplace_lint.interp.outcome import Results
from inplace_lint.ir import nodes as ir
from inplace_lint.ir.spelling import spells

# Decorators, and classes of libraries, that give classes a constructor which takes their fields.
_DECORATORS = ("dataclass", "attrs", "define", "frozen")
_BASES = frozenset(
    ["pydantic.BaseModel", "pydantic.main.BaseModel", "pydantic_settings.BaseSettings", "msgspec.Struct"]
)


def makes_data(interp: Interpreter, node: ir.ClassDef, bases: Sequence[Value]) -> bool:
    """Return whether a class is a dataclass, or a library gives it such a constructor: by a decorator or a base."""
    declares = any(isinstance(statement, ir.Declare) for statement in node.body)
    names = _DECORATORS if declares else _DECORATORS[:1]  # the others are common words
    if any(spells(decorator, name) for decorator in node.decorators for name in names):
        return True
    known = [base for cls in bases for base in interp.context.mro(cls)]
    return any(
        base.name in _BASES
        if isinstance(base, Dotted)
        else isinstance(base, ClassValue) and _transforms(interp.context.definition(base))
        for base in known
    )


def _transforms(node: ir.ClassDef | None) -> bool:
    """Check whether a class says that those which derive from it are dataclasses (PEP 681)."""
    return node is not None and any(spells(one, "dataclass_transform") for one in node.decorators)


def constructor(interp: Interpreter, state: State, cls: ClassValue) -> Closure | ClassValue | None:
    """Return the `__init__` that a class has or inherits, or the dataclass whose fields it takes; None if neither."""
    init = interp.lookup(state, cls, "__init__")
    for entry in interp.context.mro(cls):
        if isinstance(entry, ClassValue):
            if isinstance(init, Closure) and init.owner is entry:
                return init
            if entry.is_data:
                return entry
    return init if isinstance(init, Closure) else None


def names(interp: Interpreter, cls: ClassValue) -> list[str]:
    """Return the names of the fields that a class has and inherits, in their order."""
    return [name for name, field in declared(interp, cls).items() if not field.passed]


def passed(interp: Interpreter, cls: ClassValue) -> list[str]:
    """Return the names of the fields that the constructor of a class takes."""
    return [name for name, field in declared(interp, cls).items() if field.init]


def class_attribute(interp: Interpreter, state: State, cls: ClassValue, name: str) -> Value:
    """Return an attribute that a class does not define: its annotations, its fields, their names for patterns."""
    if name == "__annotations__":
        return annotated(interp, state, cls, inherited=False)
    if name == "__match_args__" and cls.is_data:
        return Tuple(tuple(map(Const, names(interp, cls))))
    if name == "__dataclass_fields__" and cls.is_data:
        return state.new(DictObject({one: _described(state, one) for one in names(interp, cls)}))
    if name in {"_fields", "__match_args__"} and (fields := of_named_tuple(interp, cls)) is not None:
        return Tuple(tuple(map(Const, fields)))
    return state.symbols.sym((origins.ATTRIBUTE, cls.slice, cls.name, name))


def part_of_tuple(interp: Interpreter, value: Tuple, name: str) -> Value:
    """Return a part of a tuple by its field name, or by the name that the framework has for parts of its results."""
    if value.fields and (name == "_fields" or name in value.fields):
        return Tuple(tuple(map(Const, value.fields))) if name == "_fields" else value.items[value.fields.index(name)]
    place = interp.context.default().framework.fields.get(name)
    return Builtin(name, value) if place is None or place >= len(value.items) else value.items[place]


def of_named_tuple(interp: Interpreter, cls: ClassValue) -> tuple[str, ...] | None:
    """Return the names of the fields of a class that derives from `NamedTuple`; None for any other class."""
    bases = {base.name.rpartition(".")[2] for base in interp.context.mro(cls) if isinstance(base, Dotted)}
    node = interp.context.definition(cls)
    if "NamedTuple" not in bases or node is None:
        return None
    declared = (statement.target for statement in node.body if isinstance(statement, ir.Declare))
    return tuple(target.id for target in declared if isinstance(target, ir.Name))


def annotated(interp: Interpreter, state: State, cls: ClassValue, *, inherited: bool) -> Ref:
    """Return the annotations of a class by name, those that it inherits first; what they say is not known."""
    order = interp.context.mro(cls)[::-1] if inherited else [cls]
    found: dict[object, Value] = {}
    for base in order:
        node = interp.context.definition(base) if isinstance(base, ClassValue) else None
        for statement in () if node is None else node.body:
            if isinstance(statement, ir.Declare) and isinstance(statement.target, ir.Name):
                name = statement.target.id
                found[name] = state.symbols.sym((origins.ATTRIBUTE, cls.slice, cls.name, f"{name}:"))
    return state.new(DictObject(found, exact=not inherited or interp.context.has_all_code(cls)))


def have_defaults(interp: Interpreter, cls: ClassValue) -> bool:
    """Return whether all fields that a class has and inherits have a default."""
    return all(field.default is not None for field in declared(interp, cls).values())


def has_defaults(interp: Interpreter, state: State, cls: ClassValue) -> bool:
    """Return whether a class can be constructed without arguments."""
    init = constructor(interp, state, cls)
    if isinstance(init, Closure):
        plain = (param for param in init.function.params[1:] if param.kind in {"plain", "keyword-only"})
        return all(param.name in init.optional for param in plain)
    return init is not None and have_defaults(interp, init)


def declared(interp: Interpreter, cls: ClassValue) -> dict[str, Field]:
    """Return what each field is, and each value that is only passed to `__post_init__`, as the last class says."""
    known = interp.context.fields.get(id(cls))
    if known is None:
        known = interp.context.fields[id(cls)] = (cls, _read(interp, cls))
    return known[1]


def _read(interp: Interpreter, cls: ClassValue) -> dict[str, Field]:
    bases = (base for base in reversed(interp.context.mro(cls)) if isinstance(base, ClassValue))
    found: dict[str, Field] = {}
    for base in bases:
        node, by_name = interp.context.definition(base), False
        for statement in () if node is None else node.body:
            if not isinstance(statement, ir.Declare) or not isinstance(statement.target, ir.Name):
                continue
            if _says(statement.annotation, "KW_ONLY"):
                by_name = True
            elif not _says(statement.annotation, "ClassVar"):
                default, call = statement.value, statement.value
                keyword = _keyword(call, "kw_only") if isinstance(call, ir.Call) else None
                init = not isinstance(call, ir.Call) or _keyword(call, "init") is not False
                named = by_name if keyword is None else keyword is True
                found[statement.target.id] = Field(default, init, named, _says(statement.annotation, "InitVar"))
    return found


def _says(annotation: ir.Expr, name: str) -> bool:
    """Check whether an annotation is a name, or that with parameters: `ClassVar[int]`."""
    if isinstance(annotation, ir.Const):
        return str(annotation.value).partition("[")[0].rpartition(".")[2] == name
    return spells(annotation.value if isinstance(annotation, ir.Subscript) else annotation, name)


def field_of(arguments: Arguments) -> Value | None:
    """Return the default that `field` gives, or what stands for the function that makes it; None for neither."""
    factory = arguments.named("default_factory") or arguments.named("factory")
    if factory is not None:
        return Partial(MADE, (factory,), ())
    default = arguments.positional[0] if arguments.positional else arguments.named("default")
    return None if default == Const(...) else default


MADE = Dotted("dataclasses.field")  # what stands for a default that is made anew for each object, by its argument


def compared(interp: Interpreter, cls: ClassValue, *, in_order: bool) -> list[str] | None:
    """
    Return the names of the fields by which two objects of one class are equal, or less than each other (`in_order`).

    None where no dataclass among its bases gives it such a comparison: `eq=False`, or no `order=True`.
    """
    for base in interp.context.mro(cls):
        if not isinstance(base, ClassValue):
            return None
        if base.is_data and _option(interp, base, "order" if in_order else "eq", default=not in_order):
            found = declared(interp, base).items()
            return [name for name, field in found if not field.passed and _is_compared(field.default)]
    return None


def _is_compared(default: ir.Expr | None) -> bool:
    """Check whether comparisons regard a field: its default does not say `field(compare=False)`."""
    return not isinstance(default, ir.Call) or _keyword(default, "compare") is not False


def is_frozen(interp: Interpreter, cls: ClassValue) -> bool:
    """Check whether an assignment to an attribute of an object of this class raises, as its decorator says so."""
    node = interp.context.definition(cls) if cls.is_data else None
    frozen = node is not None and any(spells(one, "frozen") for one in node.decorators)
    return cls.is_data and _option(interp, cls, "frozen", default=frozen)


def _option(interp: Interpreter, cls: ClassValue, name: str, *, default: bool) -> bool:
    """Return a flag that the decorator of a dataclass is called with, or its default."""
    node = interp.context.definition(cls)
    calls = () if node is None else (one for one in node.decorators if isinstance(one, ir.Call))
    found = (_keyword(one, name) for one in calls if any(spells(one, word) for word in _DECORATORS))
    return next((flag for flag in found if isinstance(flag, bool)), default)


def _keyword(call: ir.Call, name: str) -> object:
    """Return the constant that a keyword of a call is; None for none."""
    values = (one.value for one in call.keywords if one.name == name)
    return next((value.value for value in values if isinstance(value, ir.Const)), None)


def descriptions(interp: Interpreter, state: State, value: Value) -> Tuple | None:
    """Return what `dataclasses.fields` does for a dataclass or an object of one; None for anything else."""
    instance = state.instance(value)
    cls = value if instance is None else instance.cls
    if not isinstance(cls, ClassValue) or not cls.is_data:
        return None
    return Tuple(tuple(_described(state, name) for name in names(interp, cls)))


def _described(state: State, name: str) -> Ref:
    return state.new(Instance(_FIELD, {"name": Const(name)}))


def as_dict(interp: Interpreter, state: State, value: Value) -> Value | None:
    """Return what `dataclasses.asdict` does for an object of a dataclass, and those in its fields; None for others."""
    instance = state.instance(value)
    if instance is None or not isinstance(instance.cls, ClassValue) or not instance.cls.is_data:
        return None
    found = {name: instance.attrs.get(name) for name in names(interp, instance.cls)}
    if None in found.values():
        return None
    parts: dict[object, Value] = {
        name: as_dict(interp, state, item) or item for name, item in found.items() if item is not None
    }
    return state.new(DictObject(parts))


def replaced(interp: Interpreter, frame: Frame, state: State, arguments: Arguments, at: int) -> Results:
    """
    Return a copy of an object of a dataclass with other fields; where more is computed from these it is unknown.

    IMPRECISE: of one without tensors in which a field holds a tuple, a function or an object, or may have another
    value, as options of entry points have, only the fields are known, and none of its tuples, functions and classes.
    All that it configures would be run.
    """
    value = arguments.positional[0] if arguments.positional else NONE
    instance = state.instance(value)
    key = (origins.STANDARD_LIBRARY, "dataclasses.replace", arguments.positional, arguments.keywords, at)
    copied = state.symbols.sym(key)
    if arguments.unknown:
        return [(state, copied)]
    fields = {**_fields(state, value, instance), **dict(arguments.keywords)}
    if instance is not None and type(instance.cls) is ClassValue:
        if all(_is_plain(state, value) for value in fields.values()):
            given = Arguments((), tuple([(one, fields[one]) for one in passed(interp, instance.cls) if one in fields]))
            return interp.call(frame, state, instance.cls, given, at)
        if interp.lookup(state, instance.cls, "__post_init__") is not None:
            return [(state, copied)]
        if any(state.tensors_in(value) for value in instance.attrs.values()):
            return [(state, state.new(replace(instance, attrs=fields)))]
    for name, field in fields.items():
        if isinstance(field, Const | Ref):
            state.set_trait(traits.UNKNOWN_ATTRIBUTE, (copied.id, name), field)
    return [(state, copied)]


def _fields(state: State, value: Value, instance: Instance | None) -> dict[str, Value]:
    """Return the attributes of an object, or those that are known of an unknown one."""
    if instance is not None:
        return dict(instance.attrs)
    known = state.all_traits(traits.UNKNOWN_ATTRIBUTE) if isinstance(value, Sym) else ()
    return {name: found for (owner, name), found in known if isinstance(value, Sym) and owner == value.id}


def _is_plain(state: State, value: Value) -> bool:
    """Check whether a field is a constant that no option gives, or a list of such."""
    inner = state.object(value)
    if isinstance(inner, ListObject):
        return inner.exact and all(_is_plain(state, item) for item in inner.items)
    return isinstance(value, Const) and value.source is None


_FIELD = Dotted("dataclasses.Field")
