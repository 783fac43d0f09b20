"""Records of the watches, as they arrive: lines of JSON, parsed here and nowhere else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct, convert


class Position(Struct, frozen=True):
    """
    Where an instruction is.

    Units: lines from 1; columns in bytes of UTF-8 from 0, None where the Python that ran is too old to know.
    """

    path: str
    function: str
    line: int
    end_line: int | None
    column: int | None
    end_column: int | None


class Access(Struct, frozen=True):
    """
    A save or a write.

    `op` is the framework's own name for it, empty where it has none. `layer` is the class of the framework's layer that
    was at work, `flag` where it was constructed if it writes because of an attribute, `built` where it was constructed
    if a container ran it. `step` is the class of the optimizer whose step it was.
    """

    op: str
    at: Position | None
    layer: str = ""
    flag: Position | None = None
    built: Position | None = None
    step: str = ""
    part: str = ""
    parameter: bool = False


class Record(Struct, frozen=True):
    """
    One thing that a watch saw.

    `kind` is `watched`, `backward` (the first one runs), `stale`, `untracked`, `recomputed`, `refused`, `accepted` (by
    compiled code), `overlapped`, `ended` (by an error) or `unrunnable`. `check` names the check of a refusal, or what
    overlaps; `backward` is the line that raised if that is a later one. `note` is the version of what is watched, the
    text of an error, or why nothing could be run.
    """

    kind: str
    framework: str = ""
    write: Access | None = None
    save: Access | None = None
    backward: Position | None = None
    check: str = ""
    note: str = ""


def record_of(data: Mapping[str, Any]) -> Record:
    """Return the record of one line."""
    return convert({**data, "note": data.get("version", data.get("reason", ""))}, Record)
