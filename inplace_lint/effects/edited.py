"""What the entry points of a file did, for the time when some of them are run again."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

SCRIPT = ""  # the entry point of the module's own statements


class Ran(NamedTuple):
    """What an entry point did: how many `steps` it took, and which definitions it was the first to run to their end."""

    steps: int = 0
    returned: frozenset[str] = frozenset()


class Edited(NamedTuple):
    """The lines of a text that an edit may have changed, and what the entry points of the text before did."""

    first: int
    last: int
    ran: Mapping[str, Ran]


class Part(NamedTuple):
    """The entry points to run, and the definitions of the file that the others ran to their end."""

    run: frozenset[str]
    returned: frozenset[str]

    def narrowed(self, run: Collection[str], ran: Mapping[str, Ran]) -> Part:
        """Return the part without the entry points that are not in `run`, by what each of them `ran`."""
        left = (done.returned for name, done in ran.items() if name not in run)
        return Part(self.run.intersection(run), self.returned.union(*left))
