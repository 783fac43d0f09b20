"""
Lines of JSON between processes: orders one way, answers and records the other.

    {"framework": "torch", "path": "net.py", "entry": {"kind": "class", "name": "Net"}, …}   an order
    {"trouble": "", "records": […], "printed": ""}                                           its answer
"""

from __future__ import annotations

import json
import os
from typing import Any, Dict


def line_of(file: int) -> bytes:
    """Read one line and nothing behind it: a guard must see whether more, or the end, is there. Empty at the end."""
    line = bytearray()
    while not line.endswith(b"\n"):
        char = os.read(file, 1)
        if not char:
            return b""
        line += char
    return bytes(line)


def write_line(file: int, data: Dict[str, Any]) -> None:
    """Write one line."""
    rest = (json.dumps(data) + "\n").encode()
    while rest:
        rest = rest[os.write(file, rest) :]


def records_of(written: bytes) -> Any:
    """Parse what a job wrote; its last line may be cut short."""
    return [json.loads(line) for line in written.splitlines(keepends=True) if line.endswith(b"\n")]


def answer(trouble: str, written: bytes = b"", printed: bytes = b"") -> Dict[str, Any]:
    """Return the answer to an order: why it did not end well, the records of the job, and what the program printed."""
    return {"trouble": trouble, "records": records_of(written), "printed": printed.decode("utf-8", "replace")}
