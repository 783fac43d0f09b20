"""The result of checking one file, as the store keeps it."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, msgpack

from inplace_lint.core.finding import Finding
from inplace_lint.core.span import Span


class Entry(Struct, frozen=True):
    """The result of checking one file; `milliseconds` of a processor is what it took."""

    findings: tuple[Finding, ...]
    counters: Mapping[str, int]
    statements: Mapping[Span, tuple[int, int]]
    milliseconds: int = 0

    @property
    def paths(self) -> frozenset[str]:
        """The files that findings name, and in which they are mended."""
        spans = {span for one in self.findings for span in (one.span, *(item.span for item in one.related))}
        edits = {edit.span for one in self.findings if one.fix is not None for edit in one.fix.edits}
        return frozenset(span.path for span in spans | edits)


def packed(entry: Entry) -> bytes:
    """Return a result as data; no pickle, because a cache that comes with a cloned repository must not run code."""
    return msgpack.encode(entry)


def unpacked(data: bytes) -> Entry:
    """
    Return the result that was packed.

    Raises: `msgspec.DecodeError` for bytes that are no result.
    """
    return msgpack.decode(data, type=Entry)
