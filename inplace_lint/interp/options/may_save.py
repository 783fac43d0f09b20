"""
Sides of conditions that no path took and in which a tensor is used that a path writes afterwards: they may save it.

    def forward(self, x):               # of a block, with `use_norm=False` by default
        if self.use_norm:
            x = self.norm(x)            # keeps `x` for backward
        return x * 2

    for block in self.blocks:
        x += block(x)                   # and here it is written
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct, field

from inplace_lint.core.span import Place
from inplace_lint.domain.heap import Names
from inplace_lint.domain.state import State
from inplace_lint.domain.values import Sym, Value
from inplace_lint.interp.frame import Frame
from inplace_lint.ir import nodes as ir
from inplace_lint.ir.walk import walk

Key = tuple[int | Place | tuple[Place, object], bool]
_MANY = 64
_OFTEN = 4


class Unused(Struct, frozen=True):
    """A side that was missed: of which condition and function, what decided, and what the path had `learned`."""

    key: Key
    test: ir.Expr
    value: Value
    function: ir.Function
    learned: object


class MaySave(Struct):
    """
    The sides that were missed while an entry point runs, by the storage of each tensor that they use.

    A side leaves when one of its tensors is written. `unknown` are the values that were no tensors yet. `seen` says how
    often a condition was met, `names` which variables statements use, by their id.
    """

    waiting: dict[int, list[Unused]] = field(default_factory=dict)
    unknown: list[tuple[Sym, Unused]] = field(default_factory=list)
    seen: dict[Key, int] = field(default_factory=dict)
    names: dict[int, frozenset[str]] = field(default_factory=dict)

    def start(self) -> None:
        """Start the run of an entry point."""
        self.waiting.clear()
        self.unknown.clear()
        self.seen.clear()

    def asks(self, key: Key) -> bool:
        """Return whether a side is remembered once more, and count it."""
        count = self.seen[key] = self.seen.get(key, 0) + 1
        return count <= _OFTEN and len(self.seen) < _MANY

    def hold(self, frame: Frame, state: State, block: Sequence[ir.Stmt], side: Unused) -> None:
        """Remember a side that was missed, with what the variables are that its statements use."""
        scope = state.heap.get(frame.env.id)
        values = scope.values if isinstance(scope, Names) else {}
        for name in self._used(block):
            value = values.get(name)
            tensor = None if value is None else state.tensor(value)
            if tensor is not None:
                self.waiting.setdefault(tensor.storage, []).append(side)
            elif isinstance(value, Sym):
                self.unknown.append((value, side))

    def _used(self, block: Sequence[ir.Stmt]) -> frozenset[str]:
        """Return the variables that statements use; they are searched for once."""
        known = self.names.get(id(block))
        if known is None:
            known = frozenset(part.id for part in walk(tuple(block)) if isinstance(part, ir.Name))
            self.names[id(block)] = known
        return known

    def written(self, state: State, storage: int) -> list[Unused]:
        """Return the sides that use what is written now; they are remembered no more."""
        found = self.waiting.pop(storage, [])
        if self.unknown:
            shown = [entry for entry in self.unknown if _is_of(state, entry[0], storage)]
            self.unknown = [entry for entry in self.unknown if entry not in shown] if shown else self.unknown
            found.extend(side for _, side in shown)
        return found


def _is_of(state: State, value: Value, storage: int) -> bool:
    tensor = state.tensor(value)
    return tensor is not None and tensor.storage == storage
