"""
Whether somebody in a project calls a function or method where gradients are recorded.

    class Block(nn.Module):
        def load(self, weights): self.weight.copy_(weights)    # refused, unless all calls are as below

    with torch.no_grad():
        for block in net.blocks: block.load(weights)
"""

from __future__ import annotations

from msgspec import Struct

from inplace_lint.core.remembered import remembered
from inplace_lint.workspace.evaluation import DEEPEST, MOST, Evaluation, trained
from inplace_lint.workspace.import_graph import Graph
from inplace_lint.workspace.training.leads import Leads, Part
from inplace_lint.workspace.training.uses import Use


class Recorded(Struct, dict=True):
    """Where the files that a graph knows record gradients, found on demand."""

    graph: Graph
    evaluation: Evaluation
    leads: Leads

    @remembered
    def of(self, part: Part, depth: int = 0) -> bool | None:
        """
        Check whether somebody may call a function or method where gradients are recorded.

        True if the project does, or nothing in it uses them; None if it only hands them on, to what may call them
        anywhere, or if it certainly calls them without, and something that may be them with gradients.
        """
        if part.name in {*trained(), "__call__"}:
            return not self._is_called_unrecorded(part.path, part.owner)
        paths = self.graph.mentioning(part.path, part.name)
        uses = [(user, use) for user in paths[:MOST] for use in self.evaluation.uses_in(user, part.name)]
        asked = [(user, use) for user, use in uses if _may_be_of(part, use)]
        known = [(user, use, sure) for user, use in asked if (sure := self._is(part, user, use)) is not False]
        if len(paths) > MOST or not known:
            return True
        found = {(self._records(user, use, depth), sure) for user, use, sure in known}
        records = {recorded for recorded, _ in found}
        if (True, True) in found or (True in records and False not in records):
            return True
        return None if True in records or False not in records else False

    @remembered
    def passed(self, path: str, option: str, depth: int = 0) -> bool:
        """
        Check whether gradients may be recorded where an option such as `init=True` is passed by its name.

        So they may where nothing in the project passes it, or only what is reached from itself does.
        """
        if depth > DEEPEST:
            return True
        key = option[: option.find("=") + 1]
        paths = self.graph.mentioning(path, key)
        asked = [(user, one) for user in paths[:MOST] for one in (key, option)]
        uses = [(user, use) for user, one in asked for use in self.evaluation.uses_in(user, one)]
        passed = [(user, use) for user, use in uses if not self.leads.is_class(user, use.receiver)]
        return (
            not passed or len(paths) > MOST or any(self._records(user, use, depth) is not False for user, use in passed)
        )

    def _is(self, part: Part, path: str, use: Use) -> bool | None:
        """Check whether a use of a name is one of a function or method; None if it may be one."""
        return None if use.quoted or not use.called else self.leads.is_use(part, path, use)

    def _is_called_unrecorded(self, path: str, name: str) -> bool:
        """Check whether the project calls variables that it assigns objects of a class to, and all of them so."""
        paths = self.graph.mentioning(path, name)[:MOST]
        names = {bound for user in paths for bound in self.evaluation.made_by(user, name)}
        return self._are_unrecorded({(user, bound) for user in paths for bound in names})

    @remembered
    def never(self, path: str, name: str) -> bool:
        """
        Check whether the project calls objects of a class, and all of them where no gradients are recorded.

        Whatever has the name of a variable that it assigns such an object to counts, in all of its files.
        """
        paths = self.graph.mentioning(path, name)
        names = {bound for user in paths[:MOST] for bound in self.evaluation.made_by(user, name)}
        users = {(user, bound) for bound in names for user in self.graph.mentioning(path, bound)}
        return len(paths) <= MOST and len(users) <= MOST and self._are_unrecorded(users)

    def _are_unrecorded(self, users: set[tuple[str, str]]) -> bool:
        """Check whether names are used in files, and nothing but called, where no gradients are recorded."""
        uses = [(user, use) for user, bound in users for use in self.evaluation.uses_in(user, bound)]
        return bool(uses) and all(use.called and self._records(user, use, 0) is False for user, use in uses)

    def _records(self, path: str, use: Use, depth: int) -> bool | None:
        if use.unrecorded or not all(self.passed(path, f"{name}=True", depth + 1) for name in use.when):
            return False
        certain = use.called and not use.unsure
        if not use.user or use.user.startswith("__") or use.user in trained() or depth >= DEEPEST:
            return True if certain else None
        above = self.of(Part(path, use.around if use.member else "", use.user), depth + 1)
        return above if certain or above is False else None


def _may_be_of(part: Part, use: Use) -> bool:
    """Check whether a use of a name may be of a method, or function, and is not in itself."""
    if use.user == part.name and (use.around == part.owner or not use.member):
        return False
    return not (use.bare if part.owner else use.own) and (not use.own or use.around == part.owner)
