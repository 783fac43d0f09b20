"""An editor for tests: it opens texts in a project, and remembers what the server shows."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

from lsprotocol import types
from pytest_lsp import LanguageClient

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 30
FAULT = """\
import torch


def step(h):
    w = torch.rand(3, requires_grad=True)
    y = torch.exp(h * w)
    y += 1
    y.sum().backward()
"""
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT), "INPLACE_LINT_LANG": "en"}


class Editor:
    """The client with a folder; `shown` are the last diagnostics of each URI, with their version."""

    def __init__(self, client: LanguageClient, folder: Path) -> None:
        self.client, self.folder = client, folder
        self.shown: dict[str, types.PublishDiagnosticsParams] = {}
        self.history: list[types.PublishDiagnosticsParams] = []
        self.versions: dict[str, int] = {}

        # The one that is there does not keep versions.
        client.protocol.fm.features.pop(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)

        @client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def publish(params: types.PublishDiagnosticsParams) -> None:
            self.shown[params.uri] = params
            self.history.append(params)

        self.watched: list[str] = []

        @client.feature(types.CLIENT_REGISTER_CAPABILITY)
        def register(params: types.RegistrationParams) -> None:
            for item in params.registrations:
                self.watched.extend(str(watcher["globPattern"]) for watcher in item.register_options["watchers"])

    def uri(self, name: str) -> str:
        return (self.folder / name).as_uri()

    def write(self, name: str, text: str) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def open(self, name: str, text: str | None = None) -> str:
        uri = self.uri(name)
        if text is None:
            text = (self.folder / name).read_text(encoding="utf-8")
        self.versions[uri] = 1
        self.client.text_document_did_open(
            types.DidOpenTextDocumentParams(types.TextDocumentItem(uri, "python", 1, text))
        )
        return uri

    def change(self, uri: str, *changes: types.TextDocumentContentChangeEvent | str) -> int:
        """Change a text; a string is all of the new text."""
        self.versions[uri] += 1
        parts = [types.TextDocumentContentChangeWholeDocument(one) if isinstance(one, str) else one for one in changes]
        self.client.text_document_did_change(
            types.DidChangeTextDocumentParams(types.VersionedTextDocumentIdentifier(self.versions[uri], uri), parts)
        )
        return self.versions[uri]

    async def codes(self, uri: str, *wanted: str) -> list[types.Diagnostic]:
        """Wait until the present version of a text has these findings and no other ones, and return them."""
        for _ in range(SECONDS * 20):
            found = self.shown.get(uri)
            if (
                found is not None
                and found.version == self.versions.get(uri)
                and sorted(str(one.code) for one in found.diagnostics) == sorted(wanted)
            ):
                return [*found.diagnostics]
            await asyncio.sleep(0.05)
        msg = f"{uri}: {self.shown.get(uri)}; log: {[one.message for one in self.client.log_messages]}"
        raise AssertionError(msg)

    async def actions(self, uri: str, place: types.Range, *only: str) -> list[types.CodeAction]:
        params = types.CodeActionParams(
            types.TextDocumentIdentifier(uri), place, types.CodeActionContext([], only=[*only] or None)
        )
        return [*(await self.client.text_document_code_action_async(params) or ())]
