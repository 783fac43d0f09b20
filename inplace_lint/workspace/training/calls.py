"""
The calls of a file, with what each passes, and what is computed by what they call.

    self.blocks = nn.ModuleList([Block() for _ in range(depth)])    # the call of a `Block` returns what a layer with
    for block in self.blocks:                                       # parameters computes: so does `block(x)`
        x = block(x)
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, cached_property, partial
from typing import NamedTuple

from inplace_lint.core.remembered import remembered
from inplace_lint.knowledge.facts import framework, frameworks
from inplace_lint.workspace.training.chains import Part, parts_in
from inplace_lint.workspace.training.chosen import Chosen
from inplace_lint.workspace.training.functions import Function, functions_in, unrecorded_in, within
from inplace_lint.workspace.training.holders import called_word, items_of, makes_layer, parts_of
from inplace_lint.workspace.training.names import flags, layers, layers_with_parameters
from inplace_lint.workspace.training.passed import Bound, Handed, Passed, is_dropped, settings_of
from inplace_lint.workspace.training.uses import imports_of, last_word

_DEEPEST = 5  # classes that derive from each other


class Place(NamedTuple):
    """
    A parameter of a function: its position among those that a call passes; None for one that is passed by name only.

    `word` is the last name of what is called, `makes` whether that is a class whose objects are.
    """

    word: str
    makes: bool
    position: int | None
    param: str

    @property
    def is_first(self) -> bool:
        """Whether it is the first argument of a call of a module's object."""
        return self.makes and self.position == 0

    @property
    def is_side(self) -> bool:
        """Whether it comes after the first argument of a call of a module's object."""
        return self.makes and self.position != 0


class Calls:
    """
    The calls of a file by the last name of what is called, with the scope of each.

    `made` are the names that hold what a call returned, alone or among others; `items` those of a loop over others,
    `layers` those that hold layers of a framework with parameters; `classes` are those of the file. `sets_flags`: it
    says of something whether that is trained.
    """

    def __init__(
        self,
        path: str,
        tree: ast.Module,
        imported: Callable[[str, str, int | None], Handed | None],
        known: Callable[[str, str], tuple[Calls, ast.ClassDef] | None],
    ) -> None:
        self.path, self._imported, self._known = path, imported, known
        self.imports = imports_of(tree)
        self.functions = _functions(tree, self.imports)
        self.settings = dict(settings_of(tree))
        self.scopes = dict(functions_in(tree))
        self.names: dict[ast.AST, str] = {node: name for name, node in self.scopes.items()}
        self.calls: dict[str, list[tuple[ast.AST, ast.Call]]] = {}
        self.made: dict[str, set[str]] = {}
        self.layers: set[str] = set()
        self.classes = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}
        self.sets_flags = any(map(_sets_flag, ast.walk(tree)))
        self._parts: dict[str, set[str]] = {}
        self.items: dict[str, set[str]] = {}
        self._chosen = Chosen(tree)
        self._bound: dict[ast.AST, Bound] = {}
        self._running: set[str] = set()
        for scope in (tree, *(node for node in ast.walk(tree) if isinstance(node, Function))):
            for node in within(scope):
                self._visit(scope, node)

    def _visit(self, scope: ast.AST, node: ast.AST) -> None:
        match node:
            case ast.Call(function, arguments):
                self.calls.setdefault(called_word(function), []).append((scope, node))
                if isinstance(function, ast.Attribute) and function.attr in {"append", "add_module"}:
                    self._make([function.value], arguments)
            case ast.Assign(targets, value):
                self._make(targets, [value])
            case ast.Return(ast.Call(function)) if isinstance(scope, Function):
                self._parts.setdefault(scope.name, set()).add(last_word(function))
            case ast.For(target, iterable) | ast.comprehension(target, iterable):
                for of, name in items_of(iterable, target):
                    self.items.setdefault(of, set()).add(name)
            case _:
                pass

    def _make(self, targets: Sequence[ast.expr], values: Sequence[ast.expr]) -> None:
        """Note that targets hold what the calls in some values return: modules, or lists of them."""
        names = {last_word(target) for target in targets} - {""}
        if makes_layer(values):
            self.layers |= names
        for name in names:
            self._parts.setdefault(name, set()).update(_made_of(values))
        for part in (inner for value in values for inner in parts_of(value)):
            known = self.made if isinstance(part, ast.Call) else self.items
            known.setdefault(called_word(part), set()).update(names)

    def passed(self, path: str, place: Place) -> Iterator[Handed]:
        """Yield what the calls of a function pass for a parameter, or those of the objects that a class makes."""
        for scope, call in self.of(place):
            value = _argument(call, place)
            if value is not None:
                handed = self.scope(scope).passed(value, (path, self.names.get(scope, "")))
                yield handed._replace(cut=handed.cut or is_dropped(scope, call))
        if place.is_first and any(map(self._follows_layer, self._chained.get(place.word, ()))):
            yield Handed(Passed.COMPUTED, (path, ""), frozenset(), frozenset())

    def of(self, place: Place) -> Iterator[tuple[ast.AST, ast.Call]]:
        """Yield the calls of a function, or of the objects that a class makes, each with the scope that it is in."""
        for name in sorted(self._holders(place.word)) if place.makes else (place.word,):
            yield from self.calls.get(name, ())
        for scope, name in () if place.makes else self._chosen.under(place.word):
            yield from (one for one in self.calls.get(name, ()) if isinstance(scope, ast.Module) or one[0] is scope)

    def _holders(self, word: str) -> set[str]:
        """Return the names that hold what a class made, and those of loops over what holds it."""
        found = set(self.made.get(word, ()))
        for factory in self._factories(word):
            found |= self.made.get(factory, set())
        return found.union(*map(self._loops, found))

    def returned_by(self, function: str) -> set[str]:
        """Return the names of what a function of the file calls to return it."""
        return self._parts.get(function, set()) if function in self.scopes else set()

    def handed_out(self, method: str) -> set[str]:
        """Return the names of what a method calls to return it, alone or among others, under a variable or not."""
        scope = self.scopes.get(method)
        nodes = list(within(scope)) if scope is not None else []
        results = [part for node in nodes if isinstance(node, ast.Return) for part in _together(node.value)]
        names = {part.id for part in results if isinstance(part, ast.Name)}
        bound = [node for node in nodes if isinstance(node, ast.Assign)]
        results += [node.value for node in bound if not names.isdisjoint(map(last_word, node.targets))]
        return {called_word(part.func) for part in results if isinstance(part, ast.Call)}

    def _factories(self, word: str) -> Iterator[str]:
        """Yield the functions of the file that return an object of a class."""
        return (name for name, parts in self._parts.items() if word in parts and name in self.scopes)

    @remembered
    def _loops(self, word: str) -> frozenset[str]:
        """Return the names of loops over what a name holds."""
        found = set[str]()
        waiting = [word]
        while waiting:
            more = self.items.get(waiting.pop(), set()) - found
            found |= more
            waiting.extend(more)
        return frozenset(found)

    @cached_property
    def _chained(self) -> dict[str, list[Part]]:
        """Return what containers call one after the other, by the last name of what makes it."""
        found: dict[str, list[Part]] = {}
        for scope in self.scopes.values():
            for part in parts_in(scope):
                found.setdefault(called_word(part.node), []).append(part)
        return found

    def _follows_layer(self, part: Part) -> bool:
        """Check whether what is called just before a part of a container computes something with parameters."""
        for before in part.before:
            word = called_word(before) if isinstance(before, ast.Call) else ""
            kind = None if self.sets_flags else self.computed_by(word)
            if kind is None and word not in self.classes and word in layers():
                kind = Passed.COMPUTED if word in layers_with_parameters() else Passed.HANDED
            if kind is not Passed.HANDED:
                return kind is Passed.COMPUTED
        return False

    @cached_property
    def _of_layers(self) -> frozenset[str]:
        return frozenset(self.layers).union(*(self.items.get(name, ()) for name in self.layers))  # and loops over them

    @remembered
    def computes(self, word: str) -> bool:
        """
        Check whether what is held under a name computes something with parameters, and cuts no history.

        Of classes of the project all that it may hold hand on, or compute, what they are given, and one computes.
        """
        if word in self._of_layers or self.sets_flags:
            return word in self._of_layers
        names = {word, *(of for of in self._parts if word in self._loops(of))}
        parts = set[str]().union(*(self._parts.get(of, ()) for of in names))
        parts = parts.union(*(self._parts.get(one, ()) for one in parts if one in self.scopes))  # what functions return
        kinds = [self.computed_by(one) for one in sorted(parts)]
        known = [kind for kind in kinds if kind is not None]
        return Passed.COMPUTED in known and all(kind in {Passed.HANDED, Passed.COMPUTED} for kind in known)

    @remembered
    def computed_by(self, name: str, depth: int = 0) -> Passed | None:
        """Return what the call of an object of a class returns, of several results the least; None for no class."""
        if name not in self.classes and name not in self.imports:
            return None
        home = self._known(self.path, name)
        if home is None or depth > _DEEPEST:
            return None
        calls, cls = home
        if calls.sets_flags:
            return Passed.UNKNOWN  # its parameters may be frozen
        for method in sorted(called()):
            if f"{name}.{method}" in calls.scopes:
                return calls.least(f"{name}.{method}")
        above = (calls.computed_by(last_word(base), depth + 1) for base in cls.bases)
        return next((kind for kind in above if kind is not None), None)

    def least(self, qualname: str) -> Passed:
        """Return the least of what the returns of a method are; several tensors at once, or a cut, are unknown."""
        function = self.scopes[qualname]
        returns = [node for node in within(function) if isinstance(node, ast.Return)]
        if qualname in self._running or not set(returns).isdisjoint(unrecorded_in(function)):
            return Passed.UNKNOWN
        values = [node.value for node in returns]
        self._running.add(qualname)
        found = [self.scope(function).passed(one, (self.path, qualname)) for one in values if one is not None]
        self._running.remove(qualname)
        if not found or len(found) < len(values) or any(one.cut for one in found) or any(map(_is_several, values)):
            return Passed.UNKNOWN
        return min(one.kind for one in found)

    def scope(self, scope: ast.AST) -> Bound:
        """Return the variables of a function."""
        if scope not in self._bound:
            names = (self.functions, self.settings.get(scope, frozenset()), self.imports)
            returned = partial(self._called, self.names.get(scope, "").rpartition(".")[0])
            self._bound[scope] = Bound(scope, *names, returned, self.computes)
        return self._bound[scope]

    def _called(self, owner: str, name: str, own: bool, place: int | None) -> Handed | None:
        """Return what a function of a name returns, or the method of the class `owner`, where its code is known."""
        whole = f"{owner}.{name}" if own else name
        if whole in self.scopes:
            return self.returned(whole, place)
        return self._imported(self.path, name, place) if name in self.imports and not own else None

    @remembered
    def returned(self, qualname: str, place: int | None = None) -> Handed | None:
        """
        Return what a function or method of the file returns; None for a generator, and what runs it again.

        Of several results only the one at a place, if one is asked for.
        """
        function = self.scopes[qualname]
        nodes = [*within(function)]
        if qualname in self._running or any(isinstance(node, ast.Yield | ast.YieldFrom) for node in nodes):
            return None
        values = [node.value for node in nodes if isinstance(node, ast.Return) and node.value is not None]
        values = values if place is None else [_at(value, place) for value in values]
        self._running.add(qualname)
        found = self.scope(function).passed(ast.Tuple(values), (self.path, qualname))
        self._running.remove(qualname)
        return found


@cache
def called() -> frozenset[str]:
    """Return the names of the methods that a call of an object runs."""
    return frozenset({"__call__", *(framework(known).calls for known in frameworks())})


def _sets_flag(node: ast.AST) -> bool:
    """Check whether a part of a file may say that something is not trained."""
    is_set = isinstance(node, ast.Attribute) and (isinstance(node.ctx, ast.Store) or node.attr.endswith("_"))
    return is_set and isinstance(node, ast.Attribute) and node.attr.removesuffix("_") in flags()


def _made_of(values: Sequence[ast.expr]) -> Iterator[str]:
    """Yield the last names of what is called in some values."""
    return (last_word(node.func) for value in values for node in ast.walk(value) if isinstance(node, ast.Call))


def _at(value: ast.expr, place: int) -> ast.expr:
    """Return the result at a place of several, as far as that is seen; else all."""
    parts = value.elts[: place + 1] if isinstance(value, ast.Tuple) else []
    return value if len(parts) <= place or any(isinstance(one, ast.Starred) for one in parts) else parts[place]


def _is_several(value: ast.expr | None) -> bool:
    return isinstance(value, ast.Tuple | ast.List | ast.Dict)


def _argument(call: ast.Call, place: Place) -> ast.expr | None:
    """Return what a call passes for a parameter; None where that is not written there."""
    named = next((one.value for one in call.keywords if one.arg == place.param), None)
    if named is not None or place.position is None:
        return named
    before = call.args[: place.position + 1]
    if len(before) <= place.position or any(isinstance(one, ast.Starred) for one in before):
        return None
    return before[place.position]


def _functions(tree: ast.Module, imports: Iterable[str]) -> frozenset[str]:
    """Return the names of functions of a file, of what it imports and of Python's own functions: no layer is one."""
    own = (node.name for node in ast.walk(tree) if isinstance(node, Function))
    return frozenset((*dir(builtins), *imports, *own))


def _together(value: ast.expr | None) -> Iterator[ast.expr]:
    """Yield what a value has in rows and dicts, or is itself."""
    match value:
        case ast.Tuple(items) | ast.List(items) | ast.Dict(_, items):
            yield from items
        case ast.expr():
            yield value
        case _:
            pass
