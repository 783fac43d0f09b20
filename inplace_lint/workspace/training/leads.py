"""
Whether the uses of a function or method, followed from caller to caller, lead to training.

    def bandwidth(x): ...                     # only `fit` uses it
    class Density(nn.Module):
        def fit(self, x): bandwidth(x)        # only `collect` uses it
    def collect(net, images):                 # is in no `forward`, and no backward runs in it
        net.density.fit(net.features(images))

Uses lead to training where a call of a module runs them, or a function that asks for a gradient. A use in evaluation
leads nowhere, and neither does a call in a constructor. What becomes of a function that is passed on is not known.
Names decide, with what is seen of the objects whose methods are called.
"""

from __future__ import annotations

import ast
import builtins
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from inplace_lint.core.remembered import remembered
from inplace_lint.workspace.evaluation import Evaluation, Trees
from inplace_lint.workspace.import_graph import Graph
from inplace_lint.workspace.training.receivers import Receivers
from inplace_lint.workspace.training.uses import Use

_MOST = 64  # definitions that are looked at for one function


class Part(NamedTuple):
    """A function of a file, or a method of the class `owner`."""

    path: str
    owner: str
    name: str


@dataclass
class Leads:
    """What the files that a graph knows train through, found on demand; `trains` says it of a class as a whole."""

    graph: Graph
    trees: Trees
    evaluation: Evaluation
    trains: Callable[[str, str], bool | None]

    @remembered
    def to_training(self, path: str, owner: str, name: str) -> bool | None:
        """
        Check whether the uses of a function, or of a method of a class, lead to training.

        False if they are known and none does; None if nothing uses it, or it is not known what does.
        """
        if name.startswith("__"):
            return None  # Python runs it
        start = Part(path, owner, name)
        seen, waiting, open_ = {start}, [start], False
        while waiting and len(seen) < _MOST:
            part = waiting.pop()
            uses = self._uses(part)
            if not uses and (part == start or uses is None or self._is_called_unseen(part)):
                open_ = True
            for user, use in uses or ():
                above = False if use.evaluates else self._above(user, use)
                if above is True:
                    return True
                open_ |= above is None or (use.passed and not use.evaluates)
                more = {above} - seen if isinstance(above, Part) else set()
                waiting.extend(more)
                seen |= more
        return None if open_ or waiting else False

    def _uses(self, part: Part) -> list[tuple[str, Use]] | None:
        """Return the uses of a function or method, with their files; None if not all are seen."""
        uses = self.evaluation.all_uses(part.path, part.name, member=bool(part.owner))
        return None if uses is None else [(user, use) for user, use in uses if self._may_be(part, user, use)]

    def _above(self, path: str, use: Use) -> Part | bool | None:
        """Return the function or method that a use is in, or whether that trains; None if it is not known."""
        if self.evaluation.asks(path, use):
            return True
        if not use.user:
            return Part(path, "", use.bound) if use.bound else None
        if use.user == "__init__":
            return False if use.called else None  # what a constructor computes is in no loss; what it keeps may be
        if use.user.startswith("__"):
            return self.trains(path, use.around)
        return Part(path, use.around if use.member else "", use.user)

    def _may_be(self, part: Part, path: str, use: Use) -> bool:
        """Check whether a use of a name may be one of a function, or of a method of a class."""
        if use.receiver and self._is_foreign(path, use.receiver):
            return False
        if use.bare:
            return path == part.path or self._is_imported(path, part.name)
        if not part.owner:
            return not use.own
        if use.own:
            return self._is_related(path, use.around, part.owner)
        if use.receiver == "self" and part.name in self._receivers(path).attributes:
            return self._is_related(path, use.around, part.owner)  # else the object has its own attribute of this name
        if use.receiver in {"", "self"}:
            return True
        known = self._receivers(path).classes_of(use.receiver)
        if not known and self._above_class(path, use.receiver) is not None:
            known = frozenset({use.receiver})  # a method of a class that is named: `Net.step(net)`
        return not known or any(self._is_related(path, one, part.owner) for one in known)

    def _is_imported(self, path: str, name: str) -> bool:
        """Check whether a file imports a name from its own package."""
        names = (name, "*")
        return any(self.evaluation.package_of(path, one) and not self._is_foreign(path, one) for one in names)

    def _is_foreign(self, path: str, name: str) -> bool:
        """Check whether a file imports a name from another package than its own."""
        package = self.evaluation.package_of(path, name)
        return package not in {"", "."} and not self.graph.has(path, package)

    def _is_related(self, path: str, one: str, other: str) -> bool:
        """Check whether one class may derive from another, or that from it; what is no class may return either."""
        if one == other:
            return True
        above = self._above_class(path, one)
        if above is None:
            return not (self._is_foreign(path, one) or hasattr(builtins, one))
        return other in above or one in (self._above_class(path, other) or ())

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

    def _is_called_unseen(self, part: Part) -> bool:
        """Check whether another library may call what nothing uses: a decorated function, or a method."""
        if not part.owner:
            body = (self.trees.of(part.path) or ast.Module([], [])).body
            functions = (node for node in body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
            return any(node.decorator_list for node in functions if node.name == part.name)
        above = self._above_class(part.path, part.owner)
        return above is None or any(self._is_of_library(part.path, base) for base in above)

    def _is_of_library(self, path: str, name: str) -> bool:
        known = self.evaluation.package_of(path, name) in sys.stdlib_module_names or hasattr(builtins, name)
        return not known and self._above_class(path, name) is None
