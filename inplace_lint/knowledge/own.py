"""Facts of a project about operators that only its owners know, as they go from its configuration to each process."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

# The keys of an entry that neither writes nor runs anything.
SCHEMA = "schema"  # the key of what a source in C++ registers; the rest of such an entry is its name
_KEEPS = frozenset({"op", "same", "if", "args", "saves", "grads", "returns", "versions", "source", "probed", "device"})


class OwnFact(NamedTuple):
    """
    An entry as JSON, and the file and line that it is from.

    It has the format of `rules/ops/README.md`, or the name of an operator and the schema that it is registered with.
    """

    text: str
    place: str

    @property
    def row(self) -> Mapping[str, Any]:
        """The entry."""
        found: Mapping[str, Any] = json.loads(self.text)
        return found


def written(facts: Sequence[OwnFact]) -> frozenset[str]:
    """Return the names by which code calls those of the ops that may write."""
    rows = (one.row for one in facts)
    spelled = (name for row in rows if _may_write(row) for name in (row["op"], *row.get("same", ())))
    return frozenset(name.rpartition(".")[2] for name in spelled)


def _may_write(row: Mapping[str, Any]) -> bool:
    return "!" in row[SCHEMA] if SCHEMA in row else not _KEEPS.issuperset(row)
