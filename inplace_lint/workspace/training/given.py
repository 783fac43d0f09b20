"""
What the calls of a project pass for a parameter: data, something that is trained, or what nobody in it makes.

    compute_loss = ComputeLoss(model)
    for images, targets in loader:                     # what a loop that runs backward goes through is data
        loss = compute_loss(model(images), targets)    # the first is trained, the second is data
        loss.backward()

    heatmap = torch.zeros(8, 8)
    draw(heatmap, box)                               # so is what a framework's function has made

    def forward(self, x, laplacian):
        for layer in self.layers:
            x = layer(x, laplacian)                  # handed on: what the callers of this function pass is asked

A call that passes data says what a parameter is for, unless another one passes something that is trained. What most
calls pass is not known: it says nothing. Nor does what comes first in the call of a module that nothing calls: such are
activations. What comes after it, and is only handed on, is side information. Syntax decides, of the files that import
the function.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from functools import cache
from typing import TypeGuard

from msgspec import Struct

from inplace_lint.core.remembered import remembered
from inplace_lint.knowledge.facts import framework, frameworks
from inplace_lint.workspace.evaluation import MOST, Evaluation, Trees
from inplace_lint.workspace.import_graph import Graph
from inplace_lint.workspace.training.calls import Calls, Place, called
from inplace_lint.workspace.training.fields import Stored, Stores
from inplace_lint.workspace.training.functions import Function, functions_in, within
from inplace_lint.workspace.training.passed import (
    Handed,
    Passed,
    is_step,
    trains_alone,
)
from inplace_lint.workspace.training.uses import last_word

_MOST = 60  # files that import a function, which are parsed; one that more of them do is used for many things
_FIELD = ""  # in place of a function: what is asked for is stored under a key
_Part = tuple[str, str, str]  # the path of a file, a function or method by its qualified name, a parameter


class Parameters(Struct, dict=True):
    """What the files that a graph knows pass for parameters, found on demand."""

    graph: Graph
    trees: Trees
    evaluation: Evaluation

    @remembered
    def is_data(self, part: _Part, key: str = "") -> bool:
        """
        Check whether calls say that no gradient comes to a parameter, or to what it holds under a key.

        Some call passes data for it, or all hand on what comes from outside of the project beside an activation; and
        none passes something that is trained. Under the key, data is stored, and nothing that is trained.
        """
        found = self._kinds(part, key)
        return _is_untrained(found) and (Passed.DATA in found or found == {Passed.HANDED})

    def is_trained(self, part: _Part) -> bool | None:
        """Check whether some call passes something that is trained for a parameter; None where no call is seen."""
        return not _is_untrained(self._kinds(part, "")) if self._passed(part) else None

    def is_computed(self, part: _Part) -> bool:
        """Check whether some call passes what a layer that has parameters computes, with its history."""
        return Passed.COMPUTED in self._kinds(part, "")

    def is_maker(self, path: str, function: str, name: str) -> bool:
        """Check whether a function of a file returns an object of a class, or what a function of this name returns."""
        return name in self._calls(path).returned_by(function)

    def hands_out(self, path: str, method: str, name: str) -> bool:
        """Check whether a method of a file returns an object of a class, alone or among others."""
        return name in self._calls(path).handed_out(method)

    @remembered
    def tells(self, path: str, qualname: str) -> bool:
        """Check whether a function returns data only, such as a comparison, and keeps nothing in an object."""
        function = _find(self._tree(path), qualname)
        if function is None or any(map(_keeps, within(function))):
            return False
        returned = self._calls(path).returned(qualname)
        return returned is not None and returned.kind is Passed.DATA

    @remembered
    def trains_itself(self, part: _Part) -> bool:
        """Check whether a parameter is one of a function that runs a backward and drops gradients: it is data to it."""
        function = _find(self._tree(part[0]), part[1])
        return function is not None and is_step(function, part[2])

    @remembered
    def trains_alone(self, path: str, qualname: str) -> bool:
        """Check whether a function runs a step of training itself: what it returns tells how that went."""
        function = _find(self._tree(path), qualname)
        return function is not None and trains_alone(function)

    @remembered
    def is_left_out(self, part: _Part) -> bool:
        """Check whether a parameter has a default, and calls are seen, all of which leave it at that."""
        path, qualname, param = part
        function, place = _find(self._tree(path), qualname), self._place(part)
        if function is None or place is None or param not in _optional(function) or self._passed(part):
            return False
        calls = [call for user in self._users(part) for _, call in self._calls(user).of(place)]
        return bool(calls) and not any(map(_is_open, calls))

    @remembered
    def _kinds(self, part: _Part, key: str) -> frozenset[Passed]:
        """Return what calls, and the callers of their callers, pass for a parameter, or store under a key of it."""
        seen = {part} if part[1] else set[_Part]()
        seen |= {(part[0], _FIELD, key)} if key else set()
        found, waiting, cut = set[Passed](), sorted(seen), False
        while waiting:
            one = waiting.pop()
            passed = self._stored(one) if one[1] == _FIELD else self._passed(one)
            if not passed:
                outside = one[1] != _FIELD and not key
                found.add(self._from_outside(one, started=one == part) if outside else Passed.UNKNOWN)
            for handed in passed:
                cut |= handed.cut
                if handed.kind is not Passed.HANDED:
                    found.add(handed.kind)
                    continue
                outer = {(*handed.within, name) for name in handed.params}
                outer |= {(part[0], _FIELD, name) for name in handed.fields}
                waiting.extend(sorted(outer - seen))
                seen |= outer
        return frozenset(min(kind, Passed.TRAINED) if cut else kind for kind in found)

    @remembered
    def _stored(self, part: _Part) -> tuple[Handed, ...]:
        """Return what the project stores under a key; what a call of a module stores may be trained if in doubt."""
        name = re.escape(part[2])
        spelled = re.compile(rf"""['".]{name}\b|\b{name}\s*=""".encode())
        paths = [path for path in self.graph.mentioning(part[0], part[2]) if spelled.search(self.graph.text(path))]
        if len(paths) > MOST:
            return (Handed(Passed.TRAINED, ("", ""), frozenset(), frozenset()),)
        return tuple(self._one_stored(path, one) for path in paths for one in self._stores(path).of(part[2]))

    def _one_stored(self, path: str, stored: Stored) -> Handed:
        """Return what is stored in one place: no call is one of a layer where neither modules nor backward are."""
        if stored.by_data_set:
            return Handed(Passed.DATA, ("", ""), frozenset(), frozenset())
        calls = self._calls(path)
        handed = calls.scope(stored.scope).passed(stored.value, (path, calls.names.get(stored.scope, "")))
        if handed.kind >= Passed.TRAINED and not self._stores(path).trains:
            return handed._replace(kind=Passed.UNKNOWN)
        return handed._replace(kind=Passed.TRAINED) if stored.by_module and handed.kind is Passed.UNKNOWN else handed

    @remembered
    def _stores(self, path: str) -> Stores:
        return Stores(self._tree(path))

    def _from_outside(self, part: _Part, *, started: bool) -> Passed:
        """Return what a parameter is that no call passes; what is trained as a whole, or trains, is called on data."""
        path, qualname, param = part
        owner, _, name = qualname.rpartition(".")
        bases = next((cls.bases for cls in ast.walk(self._tree(path)) if _is_class(cls, owner)), [])
        if not started and name in called() and not _whole().isdisjoint(map(last_word, bases)):
            return Passed.DATA
        function = None if started else _find(self._tree(path), qualname)
        if function is not None and is_step(function, param):
            return Passed.DATA
        return Passed.HANDED if self._is_side(part, started=started) else Passed.UNKNOWN

    def _is_side(self, part: _Part, *, started: bool) -> bool:
        """
        Check whether a parameter that no call passes is side information.

        It comes after an activation in the call of a module, which does nothing but hand it on to its own parts, beside
        what other parts have returned. Where it was handed on to what was asked for, that is seen.
        """
        place = self._place(part)
        if place is None or not place.is_side:
            return False
        path, qualname, param = part
        function = _find(self._tree(path), qualname)
        return not started or (function is not None and self._calls(path).scope(function).is_carried(param))

    @remembered
    def _place(self, part: _Part) -> Place | None:
        path, qualname, param = part
        owner, _, name = qualname.rpartition(".")
        function = _find(self._tree(path), qualname)
        if function is None:
            return None
        names = [argument.arg for argument in (*function.args.posonlyargs, *function.args.args)]
        is_bound = bool(owner) and "staticmethod" not in map(last_word, function.decorator_list)
        names, makes = names[is_bound:], is_bound and name in called()
        position = names.index(param) if param in names else None
        if position is None and param not in {argument.arg for argument in function.args.kwonlyargs}:
            return None
        return Place(owner if makes or name == "__init__" else name, makes, position, param)

    @remembered
    def _passed(self, part: _Part) -> tuple[Handed, ...]:
        """Return what each call passes for a parameter; in evaluation only data says what it is for."""
        path, place = part[0], self._place(part)
        if place is None:
            return ()
        found = (handed for user in self._users(part) for handed in self._calls(user).passed(user, place))
        return tuple(one for one in found if one.kind is Passed.DATA or not self._evaluates(path, one, place))

    def _users(self, part: _Part) -> list[str]:
        """Return the files that may call a function, or what its class makes; none of one that most files do."""
        path, qualname, _ = part
        owner, _, name = qualname.rpartition(".")
        users = self.graph.users(path)
        paths = [path, *(user for user, known in users.items() if not known.isdisjoint({owner or name, "", "*"}))]
        return paths if len(paths) <= _MOST else []

    def _evaluates(self, path: str, handed: Handed, place: Place) -> bool:
        """Check whether a function that passes something does so in evaluation only."""
        file, qualname = handed.within
        return not place.makes and self.evaluation.uses(path, file, qualname.rpartition(".")[2], place.word)

    @remembered
    def _calls(self, path: str) -> Calls:
        return Calls(path, self._tree(path), self._imported, self._class)

    @remembered
    def _imported(self, path: str, name: str, place: int | None) -> Handed | None:
        """Return what a function returns that a file imports, all or one, if the project has one of this name only."""
        homes = [file for file in self.graph.mentioning(path, f"def {name}") if name in self._calls(file).scopes]
        return self._calls(homes[0]).returned(name, place) if len(homes) == 1 else None

    @remembered
    def _class(self, path: str, name: str) -> tuple[Calls, ast.ClassDef] | None:
        """Return a class that a file has or imports, if it is the only one of its name, and the calls of its file."""
        homes = [file for file in self.graph.mentioning(path, f"class {name}") if name in self._calls(file).classes]
        return (self._calls(homes[0]), self._calls(homes[0]).classes[name]) if len(homes) == 1 else None

    def _tree(self, path: str) -> ast.Module:
        return self.trees.of(path) or ast.Module([], [])


def _is_untrained(found: Iterable[Passed]) -> bool:
    return max(found, default=Passed.UNKNOWN) < Passed.TRAINED


@cache
def _whole() -> frozenset[str]:
    """Return the last names of the classes of modules that are trained as a whole."""
    return frozenset(one.rpartition(".")[2] for known in frameworks() for one in framework(known).trained)


def _is_class(node: ast.AST, name: str) -> TypeGuard[ast.ClassDef]:
    return isinstance(node, ast.ClassDef) and node.name == name


def _keeps(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)


def _find(tree: ast.Module, qualname: str) -> Function | None:
    return next((node for name, node in functions_in(tree) if name == qualname), None)


def _optional(function: Function) -> frozenset[str]:
    """Return the parameters of a function that have a default."""
    plain = [*function.args.posonlyargs, *function.args.args]
    defaults = function.args.defaults
    named = zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True)
    after = plain[len(plain) - len(defaults) :] if defaults else []
    return frozenset([*(one.arg for one in after), *(one.arg for one, default in named if default is not None)])


def _is_open(call: ast.Call) -> bool:
    """Check whether a call passes what a list or a mapping has, which may be anything."""
    return any(isinstance(one, ast.Starred) for one in call.args) or any(one.arg is None for one in call.keywords)
