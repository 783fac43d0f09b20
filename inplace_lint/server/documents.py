"""The texts that an editor has open: files, files that were never saved, and notebooks with their cells."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Iterator
from pathlib import Path

from lsprotocol import types
from msgspec import Struct, field
from pygls.uris import from_fs_path, to_fs_path, urlparse

from inplace_lint.core.errors import UnreadableError
from inplace_lint.core.finding import Finding
from inplace_lint.core.span import Span
from inplace_lint.server.positions import Units, changed
from inplace_lint.workspace import files, notebook


class Result(Struct):
    """What was found in one document, at the version of its text that was analyzed."""

    version: int
    findings: tuple[Finding, ...]
    statements: dict[Span, tuple[int, int]]


class Document(Struct):
    """
    An open text, or the cells of an open notebook.

    `parts` are the texts by their URIs: one of a file, one for each cell of a notebook, in order. `revision` counts our
    own changes of it, since cells have versions of their own; `versions` are those that the editor counts. A result is
    of the present text where its version is the `revision`.
    """

    uri: str
    path: Path
    folder: Path
    parts: dict[str, str]
    versions: dict[str, int]
    is_notebook: bool = False
    revision: int = 0
    result: Result | None = None
    settled: asyncio.Event = field(default_factory=asyncio.Event)

    def touch(self) -> None:
        """Note that the text changed: what was found is of an older one."""
        self.revision += 1
        self.settled.clear()

    @property
    def current(self) -> Result | None:
        """What was found in the text as it is now; None while that is not known."""
        return self.result if self.result is not None and self.result.version == self.revision else None

    def data(self) -> bytes:
        """Return the bytes of the file that this would be if it were saved now."""
        if self.is_notebook:
            cells = [{"cell_type": "code", "metadata": {}, "source": text} for text in self.parts.values()]
            return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells}).encode()
        (text,) = self.parts.values()
        data = text.encode("utf-8", "surrogatepass")
        try:
            return files.encode(text, data)  # as a cookie in it says
        except UnreadableError:
            return data

    def part_of(self, span: Span) -> str:
        """Return the URI of the text that a span of this document is in."""
        return list(self.parts)[span.cell - 1] if span.cell is not None else self.uri


class Documents:
    """All open documents by their real paths, and which of them has which URI."""

    def __init__(self) -> None:
        self.units = Units("utf-16")
        self.folders: list[Path] = []
        self._open: dict[Path, Document] = {}
        self._owner: dict[str, Path] = {}

    def __iter__(self) -> Iterator[Document]:
        return iter(self._open.values())

    def open(self, uri: str, parts: dict[str, str], versions: dict[str, int], *, is_notebook: bool = False) -> Document:
        """Add a document and return it."""
        path, folder = self._place(uri)
        path = path.with_suffix(notebook.SUFFIX) if is_notebook else path
        document = Document(uri, path, folder, parts, versions, is_notebook)
        self._open[path] = document
        self._owner.update(dict.fromkeys((uri, *parts), path))
        return document

    def change(self, uri: str, version: int, changes: list[types.TextDocumentContentChangeEvent]) -> Document | None:
        """Change the text of a document or a cell; None where it is not open."""
        document = self.of(uri)
        if document is not None and uri in document.parts:
            document.parts[uri] = changed(document.parts[uri], changes, self.units)
            document.versions[uri] = version
            document.touch()
        return document

    def splice(
        self, uri: str, change: types.NotebookDocumentCellChangeStructure, cells: list[str]
    ) -> tuple[Document | None, list[str]]:
        """Put cells into a notebook and take others out of it; return it with the URIs of those that are gone."""
        document = self.of(uri)
        if document is None:
            return None, []
        order = list(document.parts)
        gone = order[change.array.start : change.array.start + change.array.delete_count]
        order[change.array.start : change.array.start + change.array.delete_count] = cells
        opened = {item.uri: item for item in change.did_open or ()}
        known = {**document.parts, **{key: item.text for key, item in opened.items()}}
        document.parts = {key: known[key] for key in order if key in known}
        document.versions.update((key, item.version) for key, item in opened.items())
        self._owner.update(dict.fromkeys(document.parts, document.path))
        document.touch()
        return document, [key for key in gone if key not in document.parts]

    def close(self, uri: str) -> Document | None:
        """Remove a document and return it; None where it is not open."""
        path = self._owner.get(uri)
        document = self._open.get(path) if path is not None else None
        if document is None or document.uri != uri:
            return None
        del self._open[document.path]
        self._owner = {key: place for key, place in self._owner.items() if place != document.path}
        document.touch()
        document.settled.set()  # who waits for findings of it gets none
        return document

    def move(self) -> None:
        """Put each document into the folder that it is in now: folders were added or removed."""
        for document in self:
            _, document.folder = self._place(document.uri)
            document.touch()

    def of(self, uri: str) -> Document | None:
        """Return the open document that has a URI, or a cell with it."""
        path = self._owner.get(uri)
        return None if path is None else self._open.get(path)

    def at(self, path: Path) -> Document | None:
        """Return the open document of a file."""
        return self._open.get(path)

    def version(self, uri: str) -> int | None:
        """Return the version of an open text, as the editor counts it; None for a file that is not open."""
        document = self.of(uri)
        return None if document is None else document.versions.get(uri)

    def text_of(self, span: Span, folder: Path) -> tuple[str, str]:
        """Return the URI and the text that a span is in, of an open document or a file; empty if it is unreadable."""
        path = folder / notebook.file_of(span)
        document = self.at(path)
        if document is not None:
            uri = document.part_of(span)
            return uri, document.parts[uri]
        try:
            return from_fs_path(str(path)) or "", files.decode(files.read(path))
        except UnreadableError:
            return from_fs_path(str(path)) or "", ""

    def _place(self, uri: str) -> tuple[Path, Path]:
        """Return the path of a URI, and the workspace folder that it is analyzed in: its own where it is in none."""
        name = to_fs_path(uri)
        if name is None:  # it was never saved: it stands in the first folder
            folder = self.folders[0] if self.folders else Path.cwd()
            return folder / (Path(urlparse(uri)[2]).name or "untitled"), folder
        path = Path(os.path.realpath(name))
        around = [folder for folder in self.folders if path.is_relative_to(folder)]
        return path, max(around, key=lambda folder: len(folder.parts), default=path.parent)
