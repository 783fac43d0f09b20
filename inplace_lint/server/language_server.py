"""
The server as one object: what it knows of the editor, and how it shows findings and complaints.

Findings are pushed, not pulled: an edit of one file changes those of other open files, and a file's own come before
those that only its callers find. They carry the version of the text that they are about.
"""

from __future__ import annotations

import asyncio
from typing import Any

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from inplace_lint import __version__
from inplace_lint.driver.crashes import crash
from inplace_lint.report.i18n import language
from inplace_lint.server.analyses import Analyses
from inplace_lint.server.diagnostics import SOURCE, Shown, shown
from inplace_lint.server.documents import Document, Documents

_PATIENCE = 10.0  # seconds for which a request waits for findings of the present text
_PYTHON_CELLS = types.NotebookDocumentSyncOptions(
    [types.NotebookDocumentFilterWithCells(cells=[types.NotebookCellLanguage("python")])], save=True
)


class Server(LanguageServer):
    """The server; `options` are those of the command line, `delay` in seconds from a key to the analysis."""

    def __init__(self, options: dict[str, Any], delay: float) -> None:
        super().__init__(SOURCE, __version__, notebook_document_sync=_PYTHON_CELLS)
        self.documents = Documents()
        self.lang = language(options.get("lang"))
        self._last_complaint = ""
        self.analyses = Analyses(self.documents, options, delay, self.publish, self.complain)

    def publish(self, document: Document) -> None:
        """Show what was found in the present text of a document; cells without findings are cleared."""
        capabilities = self.client_capabilities.text_document
        asked = capabilities.publish_diagnostics if capabilities is not None else None
        found = list(shown(self.documents, document, related=bool(asked and asked.related_information)))
        for uri in document.parts:
            mine = [one.diagnostic for one in found if one.uri == uri]
            self._send(uri, mine, document.versions.get(uri))

    def clear(self, uris: list[str]) -> None:
        """Show nothing in texts that are closed."""
        for uri in uris:
            self._send(uri, [], None)

    def complain(self, line: str, *, is_grave: bool) -> None:
        """Log what failed; what concerns every file is also shown, once."""
        self.window_log_message(types.LogMessageParams(types.MessageType.Error, line))
        if is_grave and line != self._last_complaint:
            self.window_show_message(types.ShowMessageParams(types.MessageType.Error, line))
        self._last_complaint = line if is_grave else self._last_complaint

    def tell(self, line: str) -> None:
        """Show a line to the user."""
        self.window_show_message(types.ShowMessageParams(types.MessageType.Info, line))

    def report_server_error(self, error: Exception, source: Any) -> None:  # noqa: ANN401, ARG002 - as pygls has it
        """Log what went wrong with a message: the next one is handled all the same."""
        self.complain(crash(error), is_grave=False)

    def _send(self, uri: str, diagnostics: list[types.Diagnostic], version: int | None) -> None:
        self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, diagnostics, version))

    async def found(self, uri: str) -> list[Shown]:
        """Return what was found in the present text of a document or cell, once that is known."""
        document = self.documents.of(uri)
        if document is None:
            return []
        revision = document.revision
        if document.current is None:
            await asyncio.wait([asyncio.ensure_future(document.settled.wait())], timeout=_PATIENCE)
        if document.current is None or document.revision != revision:
            return []
        return [one for one in shown(self.documents, document, related=False) if one.uri == uri]
