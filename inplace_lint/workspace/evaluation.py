"""
Which functions of a project run in evaluation only, by where they are called: in branches that training leaves, and
where no gradients are recorded.

    def forward(self, x):
        out = self.head(x)
        if self.training:
            return self.loss(out)
        return self.decode(out)       # `decode` runs in evaluation only, and so does what only `decode` calls

    with torch.no_grad():
        weight = taps(positions)      # so does `taps`
    if not torch.is_grad_enabled():
        weight = taps(positions)      # here as well, and where a variable holds that condition

    class Solve(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a, b):
            return solve(a, b)        # and `solve`: the function has a backward of its own
"""

from __future__ import annotations

import ast
from functools import cache

from msgspec import Struct

from inplace_lint.core.remembered import remembered
from inplace_lint.effects.mode_conditions import (
    Conditions,
    asks_for_modes,
    returned_by,
)
from inplace_lint.knowledge.facts import framework, frameworks
from inplace_lint.workspace.import_graph import Graph
from inplace_lint.workspace.training.uses import Use, Walk

DEEPEST = 4  # functions that call each other, from the one that is asked for outwards
MOST = 200  # files with a name, which are parsed; a name that more of them have is no name of one thing


class Trees(Struct, dict=True):
    """The syntax trees of the files that a graph knows; each is parsed once."""

    graph: Graph

    @remembered
    def of(self, path: str) -> ast.Module | None:
        """Return the tree of a file; None if it cannot be parsed."""
        try:
            return ast.parse(self.graph.text(path))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None


class Evaluation(Struct, dict=True):
    """What the files that a graph knows run in evaluation only, found on demand."""

    graph: Graph
    trees: Trees

    @remembered
    def runs(self, path: str, name: str, *, member: bool, depth: int = 0) -> bool:
        """
        Check whether all that uses functions, or methods, of a name runs in evaluation; false if nothing does.

        The files that may use the one at `path` are looked at. One that hands on to another of its name in evaluation
        is what others call, but those that train.

            @torch.no_grad()
            def process(self, x):
                return self.model.process(x)
        """
        if name in _inferring():
            return True
        if not name or name.startswith("__") or name in trained():
            return False
        paths = self.graph.mentioning(path, name)
        if not 0 < len(paths) <= MOST:
            return False
        found = [(user, use) for user in paths for use in self.uses_in(user, name)]
        handed = any(use.evaluates and use.member and member for _, use in found if use.user == name)
        uses = [(user, use) for user, use in found if use.user != name and not (use.quoted or (member and use.bare))]
        return (bool(uses) or handed) and all(
            (handed and not (self.is_run(use) or self.asks(user, use))) or self._evaluates(path, use, depth)
            for user, use in uses
        )

    def uses(self, path: str, file: str, user: str, name: str) -> bool:
        """Check whether a function in a file uses the functions of a name, which `path` defines, in evaluation only."""
        found = [use for use in self._uses(file, name) if use.user == user and not use.quoted]
        return bool(found) and all(self._evaluates(path, use, 0) for use in found)

    def all_uses(self, path: str, name: str, *, member: bool) -> list[tuple[str, Use]] | None:
        """
        Return the uses of functions, or methods, of a name in files that may use the one at `path`, with these files.

        None if they are not all seen: a name that too many files have, that an import gives another name, or that may
        be looked up in a module, as in `getattr(losses, kind)`.
        """
        paths = self.graph.mentioning(path, name)
        if (
            len(paths) > MOST
            or any(self.trees.of(user) is None or name in self._walked(user).renamed for user in paths)
            or not (member or name.startswith("_") or not self.is_searched(path))
        ):
            return None
        found = ((user, use) for user in paths for use in self._uses(user, name))
        return [(user, use) for user, use in found if not (use.quoted or use.local or (member and use.bare))]

    @remembered
    def is_searched(self, path: str) -> bool:
        """Check whether something that imports a file as a whole, or what has all its names, looks up names in it."""
        files = {path, *(user for user, names in self.graph.users(path).items() if "*" in names)}
        users = {user for file in files for user, names in self.graph.users(file).items() if "" in names}
        return any(self.package_of(user, word) for user in users for word in self._walked(user).searched)

    def made_by(self, path: str, name: str) -> set[str]:
        """Return the names that a file assigns what a call of a name returns."""
        return self._walked(path).made.get(name, set())

    def package_of(self, path: str, name: str) -> str:
        """Return the package from which a file imports a name, or that the name is; empty without an import."""
        return self._walked(path).packages.get(name, "")

    def is_run(self, use: Use) -> bool:
        """Check whether what is around a use is a method that a call of a module runs."""
        return use.member and use.user in trained() | _fed()

    def asks(self, path: str, use: Use) -> bool:
        """Check whether what is around a use asks for a gradient."""
        asking = (*self._uses(path, "backward"), *self._uses(path, "grad"))
        return any(one.called and (one.user, one.around) == (use.user, use.around) for one in asking)

    def _evaluates(self, path: str, use: Use, depth: int) -> bool:
        return use.evaluates or (depth < DEEPEST and self.runs(path, use.user, member=use.member, depth=depth + 1))

    def uses_in(self, path: str, name: str) -> tuple[Use, ...]:
        """Return the uses of a name in a file; of what cannot be read one that may be for training."""
        if self.trees.of(path) is None:
            return (Use("", member=False, evaluates=False),)
        return tuple(self._walked(path).uses.get(name, ()))

    def _uses(self, path: str, name: str) -> tuple[Use, ...]:
        """Return the uses of a name in a file that are not in functions of this name."""
        return tuple(use for use in self.uses_in(path, name) if use.user != name)

    @remembered
    def _walked(self, path: str) -> Walk:
        tree, walk = self.trees.of(path), Walk()
        body = [] if tree is None else tree.body
        if asks_for_modes(self.graph.text(path)):
            walk.asks, walk.held = True, Conditions(returned_by(body))
        walk.block(body)
        return walk


@cache
def _inferring() -> frozenset[str]:
    """Return the names of functions that are only called to infer."""
    return frozenset().union(*(framework(known).infers for known in frameworks()))


@cache
def trained() -> frozenset[str]:
    """Return the names of the methods that a call of a module runs."""
    return frozenset(framework(known).calls for known in frameworks())


@cache
def _fed() -> frozenset[str]:
    """Return the names of the methods by which modules that are trained as a whole are given data."""
    return frozenset().union(*(framework(known).fed for known in frameworks()))
