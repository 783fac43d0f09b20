"""Functions of Python's standard library that tensor programs use, and progress bars: `partial`, `chain`, `tqdm`."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from types import UnionType

from msgspec.structs import replace

from inplace_lint.domain import origins, traits
from inplace_lint.domain.heap import DictObject, ListObject, Names, Tensor, View
from inplace_lint.domain.state import State
from inplace_lint.domain.values import (
    NONE,
    PARTIAL_METHOD,
    Bound,
    Builtin,
    ClassValue,
    Closure,
    Const,
    Dotted,
    ModuleValue,
    Partial,
    Ref,
    Sym,
    Tuple,
)
from inplace_lint.interp.call import enums
from inplace_lint.interp.expr import item_stores
from inplace_lint.interp.frame import Arguments, Frame
from inplace_lint.interp.interpreter import Interpreter
from inplace_lint.interp.outcome import Raised, Results
from inplace_lint.interp.pylib import (
    builtins,
    constant_folding,
    dataclass_fields,
    iterators,
    mappings,
    operator_functions,
    rearranging,
)
from inplace_lint.interp.pylib.duplicates import duplicate
from inplace_lint.ir import nodes as ir


def call(interp: Interpreter, frame: Frame, state: State, name: str, arguments: Arguments, at: int) -> Results | None:
    """Run a function of the standard library; None if it is not modelled."""
    if name in _AS_BUILTINS:
        return builtins.call(interp, frame, state, Builtin(_AS_BUILTINS[name]), arguments, at)
    known = (
        None if arguments.unknown else constant_folding.function(state, name, arguments.positional, arguments.keywords)
    )
    if known is not None:
        return [(state, known)]
    if name.startswith("itertools."):
        rearranged = rearranging.rearrange(interp, frame, state, name, arguments, at)
        if rearranged is not None:
            return rearranged
    if name.startswith(operator_functions.NAME):
        return operator_functions.call(interp, frame, state, name, arguments, at)
    if name.startswith("math."):
        return [(state, state.symbols.sym((origins.ARITHMETIC, name[5:], arguments.positional), "number"))]
    if name in _PURE:
        return [(state, state.symbols.sym((origins.STANDARD_LIBRARY, name, arguments.positional)))]
    if name.startswith(_RANDOM):
        return _random(interp, frame, state, name, arguments)
    if name.startswith(mappings.NAME):
        return mappings.call(interp, frame, state, name, arguments, at)
    handler = _HANDLERS.get(name)
    return None if handler is None else handler(interp, frame, state, arguments, at)


Handler = Callable[[Interpreter, Frame, State, Arguments, int], Results]
_BARS = ("tqdm", "tqdm.std", "tqdm.auto", "tqdm.notebook", "tqdm.autonotebook", "tqdm.rich")
_AS_BUILTINS = {
    "collections.OrderedDict": "dict",
    **dict.fromkeys((f"{module}.trange" for module in _BARS), "range"),
    **{name: name for name in (*iterators.FILTERS, "itertools.starmap")},
    **{f"{module}.{name}": name for module in ("builtins", "six.moves") for name in ("filter", "map", "range", "zip")},
    "six.moves.xrange": "range",
}
_PURE = frozenset({"os.path.join", "warnings.warn", "logging.getLogger", "time.time", "random.random"})
_RANDOM = "random."
_GENERATORS = {"random.Random", "random.SystemRandom"}
_DRAWS_ITEMS = {"random.choice", "random.choices", "random.sample", "random.shuffle"}


def _random(interp: Interpreter, frame: Frame, state: State, name: str, arguments: Arguments) -> Results | None:
    """
    Return what a function of `random` draws: a number, or items at unknown places of a sequence that is known.

    None for items of any other sequence. A generator is the module.
    """
    if name in _GENERATORS:
        return [(state, Dotted("random"))]
    number = state.symbols.sym((origins.STANDARD_LIBRARY, name, state.fresh()), "number")
    if name not in _DRAWS_ITEMS:
        return [(state, number)]
    sequence = arguments.positional[0] if arguments.positional else NONE
    known = isinstance(sequence, Tuple) or isinstance(state.object(sequence), ListObject)
    if name == "random.shuffle" or not known:
        return None
    drawn = interp.get_item(frame, state, sequence, number, ir.Const(None))
    if name == "random.choice":
        return drawn
    return [(after, after.new(ListObject((item,), exact=False))) for after, item in drawn]


def _partial(_interp: Interpreter, _frame: Frame, state: State, arguments: Arguments, _at: int) -> Results:
    if not arguments.positional:
        return [(state, NONE)]
    return [(state, Partial(arguments.positional[0], arguments.positional[1:], arguments.keywords))]


def _partial_method(_interp: Interpreter, _frame: Frame, state: State, arguments: Arguments, _at: int) -> Results:
    return [(state, Partial(PARTIAL_METHOD, arguments.positional, arguments.keywords))]


def _weak(_interp: Interpreter, _frame: Frame, state: State, arguments: Arguments, _at: int) -> Results:
    """Return what gives an object when it is called, as if the object were alive: `weakref.ref(x)()` is `x`."""
    # IMPRECISE: the object may be gone, and the call then gives None (tests/semantics/leaves.md)
    return [(state, Partial(Dotted("typing.cast"), (NONE, *arguments.positional[:1]), ()))]


def _method(_interp: Interpreter, _frame: Frame, state: State, arguments: Arguments, at: int) -> Results:
    """Bind a function to an object: `net.forward = types.MethodType(forward, net)`."""
    match arguments.positional:
        case (Closure() as function, receiver):
            return [(state, Bound(receiver, function))]
        case _:
            return [(state, state.symbols.sym((origins.STANDARD_LIBRARY, "types.MethodType", state.fresh(), at)))]


def _environment(_interp: Interpreter, _frame: Frame, state: State, arguments: Arguments, _at: int) -> Results:
    """Return the text of a variable of the environment, which usually has none unless the program has set it."""
    place = item_stores.unknown(state, Dotted("os.environ"))
    kept = state.trait(traits.ITEMS, place.id) if isinstance(place, Sym) else None
    known = dict(kept or ())
    if arguments.positional and arguments.positional[0] in known:
        return [(state, known[arguments.positional[0]])]
    value = state.symbols.sym((origins.STANDARD_LIBRARY, "os.getenv", arguments.positional, arguments.keywords))
    if len(arguments.values) == 1:
        state.set_trait(traits.NONE_BY_DEFAULT, value.id, True)
    return [(state, value)]


def _progress(_interp: Interpreter, frame: Frame, state: State, arguments: Arguments, at: int) -> Results:
    """Return what a progress bar goes over: its items are those of its argument."""
    over = arguments.positional[0] if arguments.positional else arguments.named("iterable")
    return [(state, state.symbols.sym((origins.STANDARD_LIBRARY, frame.site(at))) if over is None else over)]


def _reduce(interp: Interpreter, frame: Frame, state: State, arguments: Arguments, at: int) -> Results:
    if len(arguments.positional) < 2:  # noqa: PLR2004 - reduce takes a function and items
        return [(state, NONE)]
    function, iterable = arguments.positional[:2]
    items = list(interp.turns(frame, state, iterable, None, at).items)
    if len(arguments.positional) > 2:  # noqa: PLR2004 - and may take a start
        items.insert(0, arguments.positional[2])
    if not items:
        return [(state, NONE)]
    going: Results = [(state, items[0])]
    for item in items[1:]:
        going = [
            result
            for before, total in going
            for result in interp.call(frame, before, function, Arguments((total, item)), at)
        ]
    return going


def _repeat(_interp: Interpreter, _frame: Frame, state: State, arguments: Arguments, _at: int) -> Results:
    value, times = (*arguments.positional, NONE, NONE)[:2]
    count = times.value if isinstance(times, Const) else None
    if type(count) is not int or not 0 <= count <= _MOST_REPEATS:
        return [(state, Tuple((value, value), exact=False))]
    return [(state, Tuple((value,) * count))]


def _counter(interp: Interpreter, frame: Frame, state: State, arguments: Arguments, at: int) -> Results:
    """Return how often each of some constants is among the items of an iterable; any other is missing, so 0."""
    given = arguments.positional[0] if arguments.positional else Tuple(())
    found = interp.items_of(frame, state, given, None, at)
    known = found.exact and not arguments.keywords and all(isinstance(item, Const) for item in found.items)
    if not known or isinstance(state.object(state.contents(given)), DictObject):
        return [(state, state.new(DictObject({}, exact=False)))]
    counts = Counter(item.value for item in found.items if isinstance(item, Const))
    return [(state, state.new(DictObject({key: Const(count) for key, count in counts.items()}, default=Const(0))))]


def _named_tuple(interp: Interpreter, frame: Frame, state: State, arguments: Arguments, at: int) -> Results:
    """Return the class that `namedtuple("Pair", "left right")` creates: a partial that is called with the fields."""
    given = arguments.positional[1] if len(arguments.positional) > 1 else arguments.named("field_names")
    held = state.object(given) if given is not None else None
    items = given.items if isinstance(given, Tuple) else held.items if isinstance(held, ListObject) else ()
    if isinstance(given, Const) and isinstance(given.value, str):
        items = tuple(Const(word) for word in given.value.replace(",", " ").split())
    items = tuple(item.items[0] if isinstance(item, Tuple) and item.items else item for item in items)  # with types
    if not items or not all(isinstance(item, Const) and isinstance(item.value, str) for item in items):
        return [(state, state.symbols.sym((origins.NAMED_TUPLE, arguments.positional, state.next_id), "callable"))]
    usual = interp.items_of(frame, state, arguments.named("defaults") or Tuple(()), None, at)
    last = usual.items if usual.exact else ()
    return [(state, Partial(Dotted(_NEW_TUPLE), (Tuple(items), Tuple(last)), ()))]


def _new_tuple(_interp: Interpreter, _frame: Frame, state: State, arguments: Arguments, _at: int) -> Results:
    fields, last, *values = arguments.positional
    assert isinstance(fields, Tuple)
    assert isinstance(last, Tuple)
    names = tuple(str(field.value) for field in fields.items if isinstance(field, Const))
    usual = dict(zip(names[len(names) - len(last.items) :], last.items, strict=True))
    given = usual | dict(zip(names, values, strict=False)) | dict(arguments.keywords)
    items = tuple(given.get(name, state.symbols.sym((origins.FIELD, name, state.next_id))) for name in names)
    return [(state, Tuple(items, exact=True, fields=names))]


def _import_module(interp: Interpreter, frame: Frame, state: State, arguments: Arguments, _at: int) -> Results:
    """Return a module of a known name, by `import_module(".x", __package__)` one of the package of the file itself."""
    name = arguments.positional[0] if arguments.positional else arguments.named("name")
    text = name.value if isinstance(name, Const) and isinstance(name.value, str) else ""
    module = text.lstrip(".")
    level = len(text) - len(module)
    within = arguments.exprs.get(1) or arguments.exprs.get("package")
    is_own = isinstance(within, ir.Name) and within.id in {"__package__", "__name__"}
    if not module or (level and not is_own):
        return [(state, state.symbols.sym((origins.IMPORT, arguments.positional)))]
    path = interp.context.project.resolve(frame.module, module, level)
    if path is not None and interp.context.project.module(path) is not None:
        return [(state, ModuleValue(path))]
    return [(state, state.symbols.sym((origins.IMPORT, arguments.positional)) if level else Dotted(text))]


def _import_top(interp: Interpreter, frame: Frame, state: State, arguments: Arguments, at: int) -> Results:
    """Return the module of `__import__("pkg.layers", fromlist=["Block"])`, or of one that is in no package."""
    name = arguments.positional[0] if arguments.positional else NONE
    names = arguments.positional[3] if len(arguments.positional) > 3 else arguments.named("fromlist")  # noqa: PLR2004
    inner = names if isinstance(names, Tuple) else state.object(NONE if names is None else names)
    is_asked = isinstance(inner, Tuple | ListObject) and bool(inner.items)
    if is_asked or (isinstance(name, Const) and isinstance(name.value, str) and "." not in name.value):
        return _import_module(interp, frame, state, Arguments((name,)), at)
    return [(state, state.symbols.sym((origins.IMPORT, arguments.positional)))]


def _cast(_interp: Interpreter, _frame: Frame, state: State, arguments: Arguments, _at: int) -> Results:
    """Return the value that `typing.cast` takes: it does nothing at run time."""
    value = arguments.positional[1] if len(arguments.positional) > 1 else arguments.named("val")
    return [(state, NONE if value is None else value)]


def _find_spec(interp: Interpreter, _frame: Frame, state: State, arguments: Arguments, _at: int) -> Results:
    """Evaluate `find_spec`: frameworks, libraries with facts and the standard library are installed, others are not."""
    # IMPRECISE: code that depends on other optional packages is not explored.
    name = arguments.positional[0] if arguments.positional else NONE
    if not isinstance(name, Const) or not isinstance(name.value, str):
        return [(state, state.symbols.sym((origins.FOUND_PACKAGE, arguments.positional)))]
    top = name.value.partition(".")[0]
    known = top in interp.context.roots or top in sys.stdlib_module_names
    return [(state, Dotted(f"importlib.machinery.ModuleSpec.{top}") if known else NONE)]


def _copy(_interp: Interpreter, _frame: Frame, state: State, arguments: Arguments, _at: int) -> Results:
    value = arguments.positional[0] if arguments.positional else NONE
    thing = state.object(value)
    if isinstance(thing, Tensor) and not thing.has_history:
        return [(state, value)]
    if isinstance(thing, Tensor):  # another leaf on the same memory, which counts its own writes
        thing = replace(thing, view=View.DATA, leaf=True, nodes=(), counted=False, base=None, param=False)
    return [(state, value if thing is None or isinstance(thing, Names) else state.new(thing))]


def _deep_copy(_interp: Interpreter, _frame: Frame, state: State, arguments: Arguments, _at: int) -> Results:
    value = arguments.positional[0] if arguments.positional else NONE
    ref = state.ref(value)
    tensor = None if ref is None else state.tensor(ref)
    if isinstance(value, Sym) and (ref is None or (tensor is not None and not tensor.sure)):
        return [(state, state.symbols.sym((origins.COPY, value.id, state.fresh()), value.kind))]
    return [(state, duplicate(state, value if ref is None else ref, {}))]


def _fields(interp: Interpreter, _frame: Frame, state: State, arguments: Arguments, at: int) -> Results:
    value = arguments.positional[0] if arguments.positional else NONE
    known = dataclass_fields.descriptions(interp, state, value)
    return [(state, known or state.symbols.sym((origins.STANDARD_LIBRARY, "dataclasses.fields", value, at)))]


def _annotations(interp: Interpreter, _frame: Frame, state: State, arguments: Arguments, at: int) -> Results:
    """Return what a class says of its variables, and those that it derives from."""
    cls = arguments.positional[0] if arguments.positional else NONE
    if isinstance(cls, ClassValue):
        return [(state, dataclass_fields.annotated(interp, state, cls, inherited=True))]
    return [(state, state.symbols.sym((origins.STANDARD_LIBRARY, "typing.get_type_hints", cls, at)))]


def _field(_interp: Interpreter, _frame: Frame, state: State, arguments: Arguments, at: int) -> Results:
    default = dataclass_fields.field_of(arguments)
    key = (origins.STANDARD_LIBRARY, "dataclasses.field", arguments.keywords, at)
    return [(state, state.symbols.sym(key) if default is None else default)]


def _as_dict(interp: Interpreter, _frame: Frame, state: State, arguments: Arguments, at: int) -> Results:
    value = arguments.positional[0] if len(arguments.values) == 1 else NONE
    known = dataclass_fields.as_dict(interp, state, value)
    return [(state, known or state.symbols.sym((origins.STANDARD_LIBRARY, "dataclasses.asdict", value, at)))]


def _deque(_interp: Interpreter, frame: Frame, state: State, arguments: Arguments, at: int) -> Results:
    """Return a deque, which may have so many items as `maxlen` says: those that were put in last."""
    most = arguments.positional[1] if len(arguments.positional) > 1 else arguments.named("maxlen") or NONE
    limit = most.value if isinstance(most, Const) else None
    results: Results = []
    for after, made in builtins.call(
        _interp, frame, state, Builtin("list"), Arguments(arguments.positional[:1], unknown=arguments.unknown), at
    ):
        inner = after.object(made)
        if isinstance(made, Ref) and isinstance(inner, ListObject):
            limited = ListObject((), most=limit if isinstance(limit, int) else None)
            after.put(
                made, limited.extended(inner.items, exact=inner.exact and (most == NONE or isinstance(limit, int)))
            )
        results.append((after, made))
    return results


def _auto(_interp: Interpreter, _frame: Frame, state: State, _arguments: Arguments, at: int) -> Results:
    """Return what stands for the value that an enumeration gives a member, another one for each call."""
    return [(state, Partial(enums.AUTO, (Const(at),), ()))]


def _queue(_interp: Interpreter, _frame: Frame, state: State, _arguments: Arguments, _at: int) -> Results:
    """Return a queue: what was put in first is got first, and how many items it may have stops nobody."""
    return [(state, state.new(ListObject((), kind="queue")))]


def _context(_interp: Interpreter, _frame: Frame, state: State, arguments: Arguments, _at: int) -> Results:
    """Return a context variable; what it is by default, nobody knows of a run that does not set it."""
    default = arguments.named("default")
    value = state.symbols.sym((origins.STANDARD_LIBRARY, "contextvars.ContextVar", state.fresh()))
    if isinstance(default, Const):
        state.set_trait(traits.DEFAULT, value.id, default)
    return [(state, state.new(ListObject(() if default is None else (value,), kind="context")))]


def _inspect(kinds: type | UnionType) -> Handler:
    """Return what says whether a value is a class, function or module: no tensor, text or object of a class is."""

    def run(_interp: Interpreter, _frame: Frame, state: State, arguments: Arguments, at: int) -> Results:
        value = arguments.positional[0] if arguments.positional else NONE
        if isinstance(value, ClassValue | Closure | Const | ModuleValue | Ref | Tuple):
            return [(state, Const(isinstance(value, kinds)))]
        return [(state, state.symbols.sym((origins.STANDARD_LIBRARY, "inspect", value, at)))]

    return run


def _exit(interp: Interpreter, frame: Frame, state: State, _arguments: Arguments, at: int) -> Results:
    """Leave the program."""
    return interp.fuel.leave(state, Raised(Builtin("SystemExit"), frame.site(at)))


_MOST_REPEATS = 64
_NEW_TUPLE = "collections.namedtuple()"
_HANDLERS: dict[str, Handler] = {
    "functools.partial": _partial,
    "functools.partialmethod": _partial_method,
    "functools.reduce": _reduce,
    "itertools.repeat": _repeat,
    "collections.deque": _deque,
    **dict.fromkeys(("queue.Queue", "queue.SimpleQueue"), _queue),
    "collections.ChainMap": mappings.chain_map,
    "collections.Counter": _counter,
    enums.AUTO.name: _auto,
    "collections.defaultdict": mappings.default_dict,
    **dict.fromkeys(("collections.namedtuple", "typing.NamedTuple"), _named_tuple),
    _NEW_TUPLE: _new_tuple,
    "importlib.import_module": _import_module,
    "builtins.__import__": _import_top,
    "importlib.util.find_spec": _find_spec,
    **dict.fromkeys((*(f"{module}.tqdm" for module in _BARS), "rich.progress.track"), _progress),
    "os.getenv": _environment,
    "os.environ.get": _environment,
    "contextvars.ContextVar": _context,
    "inspect.isclass": _inspect(ClassValue),
    "inspect.isfunction": _inspect(Closure),
    "inspect.ismodule": _inspect(ModuleValue),
    **dict.fromkeys(("sys.exit", "os._exit", "os.abort"), _exit),
    "types.MethodType": _method,
    "weakref.ref": _weak,
    "typing.cast": _cast,
    "typing_extensions.cast": _cast,
    "typing.get_type_hints": _annotations,
    "dataclasses.asdict": _as_dict,
    "dataclasses.fields": _fields,
    **dict.fromkeys(("dataclasses.field", "attr.ib", "attrs.field", "pydantic.Field"), _field),
    "dataclasses.replace": dataclass_fields.replaced,
    "copy.copy": _copy,
    "copy.deepcopy": _deep_copy,
    **mappings.NAMESPACES,
}
