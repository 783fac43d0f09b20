"""
Python's dicts: how they are made, and methods of a class that defines `__getitem__` and `__iter__`, and `dict.get`.

    attend = ATTENTION.get(config.attention, eager)     # the default: the key may be none of the mapping's

Also objects of libraries whose attributes are what they are constructed of:

    config = OmegaConf.create({"model": {"width": 8}})      # config.model.width, config["model"]["width"]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from inplace_lint.domain import origins, traits
from inplace_lint.domain.heap import DictObject, Instance, ListObject, dict_of
from inplace_lint.domain.state import State
from inplace_lint.domain.values import NONE, Const, Dotted, Ref, Sym, Tuple, Value, is_absent, is_key, key_of, of_key
from inplace_lint.interp.control import path_condition
from inplace_lint.interp.frame import Arguments, Frame
from inplace_lint.interp.interpreter import Interpreter
from inplace_lint.interp.options.coverage import Option, is_alternative
from inplace_lint.interp.outcome import Results
from inplace_lint.interp.pylib.request import Request

NAME = "collections.abc.Mapping."
BASES = frozenset(
    f"{module}.{name}"
    for module in ("collections.abc", "typing", "collections")
    for name in ("Mapping", "MutableMapping")
)
_DEEPEST = 8
_OF_KEYWORDS = ("types.SimpleNamespace", "argparse.Namespace")
# These are mappings as well, and make such objects of the dicts in a dict.
_OF_DICTS = (
    *("addict.Dict", "box.Box", "easydict.EasyDict", "ml_collections.ConfigDict", "munch.Munch", "munch.munchify"),
    *("omegaconf.OmegaConf.create", "omegaconf.DictConfig"),
)


def call(interp: Interpreter, frame: Frame, state: State, name: str, arguments: Arguments, at: int) -> Results | None:
    """Run `Mapping.get` or `Mapping.__contains__` of an instance; None for any other call."""
    if len(arguments.positional) < 2 or name not in METHODS:  # noqa: PLR2004 - the instance and a key
        return None
    receiver, key = arguments.positional[:2]
    known = _contains(interp, frame, state, receiver, key, at)
    if name == f"{NAME}__contains__":
        asked = path_condition.contains(state, key, receiver)
        return [(state, asked if known is None else Const(known))]
    default = (*arguments.positional[2:], arguments.named("default") or NONE)[0]
    if known is False or (known is None and is_default(state, receiver, key, default)):
        return [(state, default)]
    return interp.special_method(frame, state, receiver, "__getitem__", (key,), at)


METHODS = frozenset({f"{NAME}get", f"{NAME}__contains__"})


def of_pairs(state: State, items: Sequence[Value], *, exact: bool) -> DictObject:
    """Return the dict of a list of keys and values; `exact`: it has no other items."""
    held = [state.object(item) if isinstance(item, Ref) else item for item in items]
    known = (item for item in held if isinstance(item, Tuple) or (isinstance(item, ListObject) and item.exact))
    pairs = [item.items for item in known if item.items]
    return dict_of(((pair[0], pair[-1]) for pair in pairs), exact=exact and len(pairs) == len(items))


def is_default(state: State, mapping: Value, key: Value, default: Value) -> bool:
    """Check whether `get` with an unknown key is taken to return its default: one to call, unless a test forbids it."""
    if is_key(key) or not is_alternative(state, default):
        return False
    asked = path_condition.contains(state, key, mapping)
    return path_condition.truth(state, asked) is not True


def of_dict(request: Request) -> Results:
    """Make a dict of another one or of pairs, and of keywords."""
    first, given = request.argument(0), DictObject({})
    inner = request.state.object(request.state.contents(first)) if first is not None else None
    if isinstance(inner, DictObject):
        given = inner
    elif first is not None:
        found = request.items(first)
        given = of_pairs(request.state, found.items, exact=found.exact)
    items: dict[object, Value] = {**given.items, **dict(request.arguments.keywords)}
    return [(request.state, request.state.new(DictObject(items, given.exact and not request.arguments.unknown)))]


def of_fromkeys(request: Request) -> Results:
    """Make a dict whose keys all lead to one value."""
    keys, state = request.argument(0), request.state
    value = request.argument(1) or NONE
    found = request.items(keys) if keys is not None else None
    known = found is not None and found.exact and all(isinstance(key, Const) for key in found.items)
    items: dict[object, Value] = {}
    if found is not None and known:
        items = {key.value: value for key in found.items if isinstance(key, Const)}
    if len(items) != 1:
        request.interp.listeners.repeat(state, (value,), request.frame.site(request.at).place)
    return [(state, state.new(DictObject(items, exact=known, default=None if known else value)))]


def with_option(interp: Interpreter, state: State, ref: Ref, mapping: DictObject, key: Value, default: Value) -> Value:
    """
    Return the default that `get` has for a key that a dict lacks; of the `**kwargs` of an entry point it is an option.

    scale = kwargs.get("scale", 1.0)        # whoever calls it may pass `scale=0.5`

    Another value that was chosen for it is in the dict from then on, where other look-ups find it.
    """
    coverage = interp.context.coverage
    if coverage.root is None or type(default) is not Const or not state.has_trait(traits.FORWARDED, ref.id):
        return default
    if type(key) is not Const or type(key.value) is not str or not is_absent(mapping.items, key):
        return default
    number = state.symbols.sym((origins.PARAMETER, "", key.value, coverage.root)).id
    value = coverage.option(number, Option(key.value, default, "", optional=default == NONE), coverage.root)
    if value != default:
        state.put(ref, mapping.stored(key, value))
    return value


def _contains(interp: Interpreter, frame: Frame, state: State, receiver: Value, key: Value, at: int) -> bool | None:
    """Return whether a key is one of those that the instance iterates over; None where that is unknown."""
    if not is_key(key):
        return None
    keys = interp.items_of(frame, state, receiver, None, at)
    found = any(is_key(other) and key_of(other) == key_of(key) for other in keys.items)
    return found if found or keys.exact else None


def alternative(state: State, mapping: DictObject, index: Value) -> Value:
    """
    Return what a dict of functions or classes has at an unknown index: the first item that the path allows.

    The index is its key from then on: with `ACTIVATIONS[name]`, a path on which `name == "silu"` holds runs no other.
    """
    first, *_ = mapping.items.values()
    if not isinstance(index, Sym) or not mapping.exact:
        return first
    for key, item in mapping.items.items():
        asked = state.symbols.sym((origins.COMPARE, "==", index, of_key(key)))
        if path_condition.truth(state, asked) is not False and path_condition.may_be(state, index, of_key(key)):
            path_condition.learn(state, asked, True)
            return item
    return first


def default_dict(_interp: Interpreter, _frame: Frame, state: State, arguments: Arguments, _at: int) -> Results:
    """Return a new dict that calls its first argument for the item of a key that it lacks."""
    factory = arguments.positional[0] if arguments.positional else NONE
    made = None if factory == NONE else factory
    return [(state, state.new(DictObject({}, made is not None and len(arguments.values) == 1, factory=made)))]


def chain_map(_interp: Interpreter, _frame: Frame, state: State, arguments: Arguments, _at: int) -> Results:
    """Return a dict of the items of several; IMPRECISE: what these get later it does not have."""
    maps = [state.object(value) for value in arguments.positional]
    joined = DictObject({}, exact=not arguments.unknown)
    for one in reversed(maps):
        joined = joined.joined(one if isinstance(one, DictObject) else DictObject({}, exact=False))
    return [(state, state.new(joined))]


def create_namespace(_interp: Interpreter, _frame: Frame, state: State, arguments: Arguments, _at: int) -> Results:
    """Return the object that a call constructs; it may have more attributes where what it is made of is unknown."""
    items: dict[object, Value] = {}
    exact = not arguments.unknown
    if arguments.positional:
        inner = state.object(state.contents(arguments.positional[0]))
        exact = exact and isinstance(inner, DictObject) and inner.exact
        items.update(inner.items if isinstance(inner, DictObject) else {})
    items.update(arguments.keywords)
    return [(state, _created(state, items, exact, 0))]


def _created(state: State, items: Mapping[object, Value], exact: bool, depth: int) -> Ref:
    made: dict[object, Value] = {}
    for name, value in items.items():
        inner = state.object(value)
        made[name] = value
        if isinstance(inner, DictObject) and depth < _DEEPEST:
            made[name] = _created(state, inner.items, inner.exact, depth + 1)
    mapping = state.new(DictObject(made, exact))
    ref = state.new(Instance(Dotted("types.SimpleNamespace"), {"__dict__": mapping}, opaque=not exact))
    state.set_trait(traits.CONTENTS, ref.id, mapping)
    return ref


NAMESPACES = dict.fromkeys((*_OF_KEYWORDS, *_OF_DICTS), create_namespace)
