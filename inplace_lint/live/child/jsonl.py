"""Lines of JSON between processes: orders one way, answers and records the other."""

from __future__ import annotations

import json
import os
from typing import Any, Dict


def line_of(file: int) -> bytes:
    """Read one line without reading on, so that a guard sees whether more, or the end, is there; empty at the end."""
    line = bytearray()
    while not line.endswith(b"\n"):
        char = os.read(file, 1)
        if not char:
            return b""
        line += char
    return bytes(line)


def say(file: int, data: Dict[str, Any]) -> None:
    """Write one line."""
    rest = (json.dumps(data) + "\n").encode()
    while rest:
        rest = rest[os.write(file, rest) :]


def records(told: bytes) -> Any:
    """Parse what a job told; its last line may be cut short."""
    return [json.loads(line) for line in told.splitlines(keepends=True) if line.endswith(b"\n")]


def in_text(printed: bytes) -> str:
    """Give what a program printed, whatever its bytes are."""
    return printed.decode("utf-8", "replace")
