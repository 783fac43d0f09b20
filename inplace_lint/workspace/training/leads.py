"""
Whether the uses of a function or method, followed from caller to caller, lead to training.

    def bandwidth(x): ...                     # only `fit` uses it
    class Density(nn.Module):
        def fit(self, x): bandwidth(x)        # only `collect` uses it
    def collect(net, images):                 # is in no `forward`, and no backward runs in it
        net.density.fit(net.features(images))

Uses lead to training where a call of a module runs them, or a function that asks for a gradient. A use in evaluation
leads nowhere, and neither does a call in a constructor. What becomes of a function that is passed on is not known, and
neither is which method a call of an unknown object means. Names decide, with what is seen of these objects.
"""

from __future__ import annotations

import ast
import builtins
import sys
from collections.abc import Callable
from enum import Enum, IntEnum
from functools import cache
from typing import NamedTuple

from msgspec import Struct

from inplace_lint.core.remembered import remembered
from inplace_lint.knowledge.facts import framework, frameworks
from inplace_lint.workspace.evaluation import Evaluation, Trees, trained
from inplace_lint.workspace.import_graph import Graph
from inplace_lint.workspace.training.functions import functions_in
from inplace_lint.workspace.training.names import cuts_history
from inplace_lint.workspace.training.receivers import Receivers
from inplace_lint.workspace.training.uses import Use, last_word

_MOST = 64  # definitions that are looked at for one function


class Lead(Enum):
    """
    Where the uses of a function or method lead.

    `RETURNED`: to what a network returns, and no function on the way there cuts a history. `UNSEEN`: nothing in the
    project uses it, or what does, and another library may. `OPEN`: some use is lost.
    """

    RETURNED = "returned"
    TRAINING = "training"
    UNSEEN = "unseen"
    OPEN = "open"
    NOWHERE = "nowhere"


class _Way(IntEnum):
    """What is known of the uses on a way: whether all are certain, and whether a function there cuts a history."""

    UNSURE = 0
    CUT = 1
    WHOLE = 2


class Part(NamedTuple):
    """A function of a file, or a method of the class `owner`."""

    path: str
    owner: str
    name: str


def _has_no_history(node: ast.AST, called: str) -> bool:
    """Check whether a part of a function is a tensor without its history, or drops what a call of a name returns."""
    match node:
        case ast.Attribute(_, name):
            return cuts_history(name)
        case ast.Expr(ast.Call(function)):
            return last_word(function) == called
        case _:
            return False


@cache
def _modules() -> frozenset[str]:
    """Return the last names of the frameworks' module classes, which call no method but those that they name."""
    return frozenset(framework(known).module.rpartition(".")[2] for known in frameworks())


class Leads(Struct, dict=True):
    """
    What the files that a graph knows train through, found on demand; `trains` says it of a class as a whole.

    `tells` says of a function, by its file and qualified name, whether it returns data only, and keeps nothing.
    """

    graph: Graph
    trees: Trees
    evaluation: Evaluation
    trains: Callable[[str, str], bool | None]
    tells: Callable[[str, str], bool]

    @remembered
    def of(self, path: str, owner: str, name: str) -> Lead:
        """Return where the uses of a function, or of a method of a class, lead; to training only if all are certain."""
        if name.startswith("__"):
            return Lead.OPEN  # Python runs it
        start = Part(path, owner, name)
        seen, waiting, found = {start: _Way.WHOLE}, [start], {Lead.NOWHERE}
        while waiting and len(seen) < _MOST:
            part = waiting.pop()
            uses, way = self._uses(part), seen[part]
            if not uses:
                certain = way is not _Way.UNSURE and uses is not None
                found.add(self._unused(part, certain=certain, start=part == start))
            for user, use, sure in uses or ():
                above = False if use.evaluates else self._above(user, use)
                known = min(way, self._way(user, use, part.name)) if sure else _Way.UNSURE
                if above is True and known is _Way.WHOLE:
                    return Lead.RETURNED
                if above in {None, True} or (use.passed and not use.evaluates):
                    found.add(Lead.TRAINING if above is True and known is _Way.CUT else Lead.OPEN)
                if isinstance(above, Part) and (above not in seen or known > seen[above]):
                    seen[above] = known
                    waiting.append(above)
        if waiting:
            found.add(Lead.OPEN)
        return next(lead for lead in Lead if lead in found)

    def _way(self, path: str, use: Use, name: str) -> _Way:
        """Return whether a function that uses one of a name may return what that returns, and cuts nothing."""
        if not use.called or self.evaluation.asks(path, use):
            return _Way.CUT  # of what the gradient is, where one is asked for, is not known
        return _Way.CUT if self._cuts(path, frozenset({use.user, f"{use.around}.{use.user}"}), name) else _Way.WHOLE

    @remembered
    def _cuts(self, path: str, qualnames: frozenset[str], called: str) -> bool:
        tree = self.trees.of(path) or ast.Module([], [])
        known = (node for qualname, node in functions_in(tree) if qualname in qualnames)
        return any(_has_no_history(inner, called) for node in known for inner in ast.walk(node))

    def _uses(self, part: Part) -> list[tuple[str, Use, bool]] | None:
        """Return the uses of a function or method, with their files and whether they certainly are; None if not all."""
        uses = self.evaluation.all_uses(part.path, part.name, member=bool(part.owner))
        if uses is None:
            return None
        known = ((user, use, self.is_use(part, user, use)) for user, use in uses)
        return [(user, use, bool(sure)) for user, use, sure in known if sure is not False]

    def _above(self, path: str, use: Use) -> Part | bool | None:
        """Return the function or method that a use is in, or whether that trains; None if it is not known."""
        if self.evaluation.asks(path, use):
            return True if use.called or use.passed else None  # what a table of functions is called on is not known
        if self.evaluation.is_run(use):
            if self.tells(path, f"{use.around}.{use.user}"):
                return False
            return True if self._may_be_trained(path, use) else None
        if not use.user:
            return Part(path, "", use.bound) if use.bound else None
        if use.user == "__init__":
            # What a constructor computes is in no loss; what a module keeps is called.
            return False if use.called else self.trains(path, use.around)
        if use.user.startswith("__"):
            return self.trains(path, use.around)
        if use.own and not use.called and self._sets_call(path, f"{use.around}.{use.user}"):
            return self.trains(path, use.around)
        return Part(path, use.around if use.member else "", use.user)

    @remembered
    def _sets_call(self, path: str, qualname: str) -> bool:
        """Check whether a method says what a call of its object runs: `self.forward = {"loop": self.looped}[kind]`."""
        known = (node for name, node in functions_in(self.trees.of(path) or ast.Module([], [])) if name == qualname)
        stored = (one for node in known for one in ast.walk(node) if isinstance(one, ast.Attribute))
        return any(one.attr in trained() and isinstance(one.ctx, ast.Store) for one in stored)

    def _may_be_trained(self, path: str, use: Use) -> bool:
        """
        Check that the class around a use, or one that it derives from, may make something with parameters.

        Of one in a file from which nothing imports nobody is in sight who could tell.
        """
        above = self._above_class(path, use.around) if use.member and use.around else None
        if above is None or not self.graph.users(path) or any(self._is_of_library(path, base) for base in above):
            return True
        return any(self._makes_parts(path, name) for name in (use.around, *sorted(above)))

    @remembered
    def _makes_parts(self, path: str, name: str) -> bool:
        """Check whether a class of this name, anywhere in the project, has a constructor that makes parts."""
        return any(name in self._receivers(file).holders for file in self.graph.mentioning(path, f"class {name}"))

    def is_use(self, part: Part, path: str, use: Use) -> bool | None:
        """Check whether a use of a name is one of a function, or of a method of a class; None if it may be one."""
        if use.receiver and self._is_foreign(path, use.receiver):
            return False
        if use.bare:
            return path == part.path or self._is_imported(path, part.name)
        if not part.owner:
            return False if use.own else True if self.evaluation.package_of(path, use.receiver) else None
        if use.own or (use.receiver == "self" and part.name in self._receivers(path).attributes):
            return self._is_related(path, use.around, part.owner)  # of `self`, or its own attribute of this name
        if use.receiver == "self":
            return self._is_related(path, use.around, part.owner) or None
        known = self._receivers(path).classes_of(use.receiver) if use.receiver else frozenset()
        if use.receiver and not known and self._above_class(path, use.receiver) is not None:
            known = frozenset({use.receiver})  # a method of a class that is named: `Net.step(net)`
        related = {self._is_related(path, one, part.owner) for one in known}
        if known and None not in related:
            return True in related
        return True in related or self._is_only(part.path, part.name) or None

    @remembered
    def _is_only(self, path: str, name: str) -> bool:
        """
        Check whether only one function of the project has a name, in the file at a path, or only methods of networks.

        Of `self.encoder = build(cfg)`, each class with an `encode` may be the one that `self.encoder.encode(x)` calls.
        """
        files = [self._receivers(file) for file in self.graph.mentioning(path, f"def {name}")]
        defined = sum(file.functions[name] for file in files)
        return defined == 1 or defined == sum(file.held[name] for file in files)

    def _is_imported(self, path: str, name: str) -> bool:
        """Check whether a file imports a name from its own package."""
        names = (name, "*")
        return any(self.evaluation.package_of(path, one) and not self._is_foreign(path, one) for one in names)

    def _is_foreign(self, path: str, name: str) -> bool:
        """Check whether a file imports a name from another package than its own."""
        package = self.evaluation.package_of(path, name)
        return package not in {"", "."} and not self.graph.has(path, package)

    def _is_related(self, path: str, one: str, other: str) -> bool | None:
        """Check whether one class may derive from another, or that from it; None for a function, which returns any."""
        if one == other:
            return True
        above = self._above_class(path, one)
        if above is None:
            return False if self._is_foreign(path, one) or hasattr(builtins, one) else None
        return other in above or one in (self._above_class(path, other) or ())

    def is_class(self, path: str, name: str) -> bool:
        """Check whether the project has a class of a name."""
        return bool(name) and self._above_class(path, name) is not None

    @remembered
    def _above_class(self, path: str, name: str) -> frozenset[str] | None:
        """Return the names of all that a class derives from; None if it is no class that can be found."""
        found, waiting = set[str](), [name]
        while waiting and len(found) < _MOST:
            one = waiting.pop()
            files = [self._receivers(user) for user in self.graph.mentioning(path, f"class {one}")]
            bases = [file.bases[one] for file in files if one in file.bases]
            if not bases and one == name:
                return None
            more = frozenset[str]().union(*bases) - found - {""}
            found |= more
            waiting.extend(more)
        return frozenset(found)

    @remembered
    def _receivers(self, path: str) -> Receivers:
        return Receivers(self.trees.of(path) or ast.Module([], []))

    def _unused(self, part: Part, *, certain: bool, start: bool) -> Lead:
        """Return where what nothing uses leads: another library may call a decorated function, or a method."""
        if part.owner:
            above = self._above_class(part.path, part.owner)
            unseen = above is None or any(self._is_of_library(part.path, base) for base in above)
            is_open = start or bool(above and above & _modules())
        else:
            body = (self.trees.of(part.path) or ast.Module([], [])).body
            functions = (node for node in body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
            unseen = any(node.decorator_list for node in functions if node.name == part.name)
            is_open = start
        if unseen and certain:
            return Lead.UNSEEN
        return Lead.OPEN if unseen or is_open or not certain else Lead.NOWHERE

    def _is_of_library(self, path: str, name: str) -> bool:
        known = (
            name in _modules()
            or self.evaluation.package_of(path, name) in sys.stdlib_module_names
            or hasattr(builtins, name)
        )
        return not known and self._above_class(path, name) is None
