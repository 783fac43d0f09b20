"""What the entry points of a file did, for the time when its text is edited."""

from __future__ import annotations

from collections.abc import Mapping
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
