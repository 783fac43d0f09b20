"""
Arguments that are modules: what a file trains where nobody in it says on what, and what is None by default.

    class Net(nn.Module): ...

    def fit(model, batches):            # is run once more on a `Net`, which is the only network of the file
        for x in batches:
            model(x).backward()

    class Attention(nn.Module):
        def __init__(self, dim, rope: Rope | None = None):      # is run once more on a `Rope`

    class Block(nn.Module):
        def __init__(self, dim, norm: type[Norm]):              # and this on the classes that derive from `Norm`

    class Net(nn.Module):
        def __init__(self, block):                              # and this on the modules of the file that it may make
            self.block = block(8, width=16)
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from inplace_lint.core.span import Slice
from inplace_lint.domain.values import ClassValue, Closure, Sym, SymId
from inplace_lint.effects.may_write import set_up_methods
from inplace_lint.effects.reachability import reachable
from inplace_lint.effects.summary import Definition
from inplace_lint.interp.call import closures
from inplace_lint.interp.expr import environment
from inplace_lint.interp.frame import Arguments
from inplace_lint.interp.interpreter import Interpreter
from inplace_lint.interp.options.coverage import Choice, Option
from inplace_lint.ir import nodes as ir
from inplace_lint.ir.walk import walk
from inplace_lint.workspace import trainers

_MOST_CLASSES = 3
_FEWEST_PASSED = 2


def all_choices(interp: Interpreter, item: Definition) -> Iterator[Choice]:
    """Yield what to run an entry point on, each after the run on the one before."""
    for found in (choices, optional, classes, shown, makers):
        yield from found(interp, item)


def optional(interp: Interpreter, item: Definition) -> list[Choice]:
    """Return what to run an entry point on that may be passed a module, of a class whose call leads to a write."""
    given = [(number, option.cls) for number, option in _options(interp, _functions(item))]
    return [Choice(instances=((number, cls),)) for number, cls in given if cls is not None and _leads(interp, cls)]


def classes(interp: Interpreter, item: Definition) -> list[Choice]:
    """Return what to run an entry point on that may be passed a class: those of the file that derive as it says."""
    given = [(number, option.base) for number, option in _options(interp, _functions(item))]
    known = ((number, _derived(interp, base)[:_MOST_CLASSES]) for number, base in given if base is not None)
    return [Choice(options=((number, cls),)) for number, derived in known for cls in derived]


def shown(interp: Interpreter, item: Definition) -> list[Choice]:
    """Return what to run an entry point on that uses methods of an argument which few classes of the program have."""
    given = [(number, option.shown) for number, option in _options(interp, _functions(item))]
    return [Choice(instances=((number, cls),)) for number, few in given if len(few) <= _MOST_CLASSES for cls in few]


def makers(interp: Interpreter, item: Definition) -> list[Choice]:
    """Return what to run a class on that writes and calls an argument of its constructor: modules that it may make."""
    if not any(method.writes and method.name not in set_up_methods(item) for method in item.methods):
        return []
    options = interp.context.coverage.options
    return [
        Choice(options=((number, cls),), makes=(f"`{options[number].name}` makes a `{cls.name}`",))
        for (root, number), arguments in interp.context.coverage.called.items()
        if root == item.slice and len(arguments.values) >= _FEWEST_PASSED
        for cls in _fitting(interp, item, arguments)[:_MOST_CLASSES]
    ]


def _fitting(interp: Interpreter, item: Definition, arguments: Arguments) -> list[ClassValue]:
    """Return the modules of the file whose constructor takes some arguments; none that an item uses, or that use it."""
    uses = interp.context.file_effects().uses
    modules = [one for one in _own_classes(interp) if interp.context.is_module(one) is not None]
    others = [one for one in modules if one.name not in uses[item.name]]
    return [cls for cls in others if _takes(interp, cls, arguments) and item.name not in reachable({cls.name}, uses)]


def _takes(interp: Interpreter, cls: ClassValue, arguments: Arguments) -> bool:
    init = None if interp.context.base is None else interp.lookup(interp.context.base, cls, "__init__")
    if not isinstance(init, Closure):
        return False
    params = {param.name for param in init.function.params if not param.kind.startswith("var-")}
    return closures.fits(init, arguments) and params.issuperset(name for name, _ in arguments.keywords)


def _options(interp: Interpreter, functions: Collection[Slice]) -> Iterator[tuple[SymId, Option]]:
    """Yield the parameters of some functions, by the symbols of their arguments."""
    coverage = interp.context.coverage
    for _, number in sorted(pair for one in functions for pair in coverage.owned.get(one, ())):
        yield number, coverage.options[number]


def _functions(item: Definition) -> frozenset[Slice]:
    """Return a function, or the methods of a class."""
    return frozenset((item.slice, *(method.slice for method in item.methods)))


def _derived(interp: Interpreter, base: ClassValue) -> list[ClassValue]:
    """Return the classes of the file that derive from a class; the class itself where none does."""
    return [cls for cls in _own_classes(interp) if cls is not base and base in interp.context.mro(cls)] or [base]


def _own_classes(interp: Interpreter) -> list[ClassValue]:
    state, path = interp.context.base, interp.context.path
    names = [name for name, one in interp.context.file_effects().named.items() if one.kind == "class"]
    values = [] if state is None else [environment.module_variable(interp, state, path, name) for name in names]
    return [value for value in values if isinstance(value, ClassValue)]


def _leads(interp: Interpreter, cls: ClassValue) -> bool:
    """Check whether a call of a module leads to a write, or of a method of another object, as far as the file tells."""
    if interp.context.is_module(cls) is None:
        return interp.context.writes_in_methods(cls)
    known = interp.context.file_effects().known.get((cls.slice.path, cls.name))
    return interp.context.coverage.writes(cls.slice.path, cls.name) if known is None else known.calls is not None


def choices(interp: Interpreter, item: Definition) -> list[Choice]:
    """
    Return what to run an entry point on that asks for a gradient and calls one argument of which nothing is known.

    That is an instance of the only module class of the file that is no part of another one, and that none of its
    statements makes: what these make is run by them.
    """
    asking = [part for part in (item.methods or (item,)) if trainers.asks(part)]
    cls = _network(interp, item) if asking else None
    given = None if cls is None else _called_argument(interp, item, asking)
    if cls is None or given is None:
        return []
    methods = [part.member if item.methods else "" for part in asking]
    return [Choice(method, instances=((given, cls),)) for method in methods]


def _network(interp: Interpreter, item: Definition) -> ClassValue | None:
    file = interp.context.file_effects()
    names = [name for name, one in file.named.items() if one is not item and trainers.is_module(one)]
    inner = frozenset[str]().union(*(file.uses[name] - {name} for name in names))
    networks = [name for name in names if name not in inner]
    users = {user.name for name in (item.name, *networks) for user, _ in interp.context.main.users_of(name)}
    if len(networks) != 1 or not users <= {item.name, *networks}:
        return None
    base = interp.context.base
    found = None if base is None else environment.module_variable(interp, base, interp.context.path, networks[0])
    return found if isinstance(found, ClassValue) else None


def _called_argument(interp: Interpreter, item: Definition, asking: list[Definition]) -> SymId | None:
    """Return the only argument of a function that it calls, or of a constructor that methods call as an attribute."""
    init = next((method for method in item.methods if method.name == "__init__"), item)
    calls = frozenset[str]().union(*(part.calls for part in asking))
    called = {name for name, attribute in _kept(interp, init) if attribute in calls} if item.methods else calls
    found = [number for number, name in _arguments(interp, init.slice) if name in called]
    return found[0] if len(found) == 1 else None


def _arguments(interp: Interpreter, function: Slice) -> Iterator[tuple[SymId, str]]:
    """Yield the parameters of a function of which nothing is known, by the symbols of their arguments."""
    for number, option in _options(interp, {function}):
        if isinstance(option.value, Sym) and not option.kind:
            yield number, option.name


def _kept(interp: Interpreter, init: Definition) -> Iterator[tuple[str, str]]:
    """Yield the names that a constructor assigns to attributes, or moves there, with `self.` and the attribute."""
    for part in walk(interp.context.code(init.slice).body):
        if isinstance(part, ir.Assign):
            value = part.value
            while isinstance(value, ir.Call) and isinstance(value.func, ir.Attr):
                value = value.func.value
            for target in part.targets:
                if isinstance(value, ir.Name) and isinstance(target, ir.Attr) and isinstance(target.value, ir.Name):
                    yield value.id, f"{target.value.id}.{target.name}"
