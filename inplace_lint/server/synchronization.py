"""Follows the editor: which texts are open and how they change, which folders there are, which files change on disk."""

from __future__ import annotations

import os
from pathlib import Path

from lsprotocol import types
from pygls.uris import to_fs_path

from inplace_lint.config.settings import NAMES
from inplace_lint.server.language_server import Server
from inplace_lint.server.positions import Units

_WATCHED = (*(f"**/{name}" for name in NAMES), "**/*.py", "**/*.ipynb", "**/*.jsonl")


def follow_texts(server: Server) -> None:
    """Register what is told of texts that are files of their own."""
    documents = server.documents

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def opened(params: types.DidOpenTextDocumentParams) -> None:
        item = params.text_document
        if item.language_id == "python":
            server.analyses.start(
                documents.open(item.uri, {item.uri: item.text}, {item.uri: item.version}), at_once=True
            )

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def changed(params: types.DidChangeTextDocumentParams) -> None:
        item = params.text_document
        document = documents.change(item.uri, item.version, [*params.content_changes])
        if document is not None:
            server.analyses.start(document)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    def saved(params: types.DidSaveTextDocumentParams) -> None:
        document = documents.of(params.text_document.uri)
        if document is not None:
            server.analyses.start(document, at_once=True)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def closed(params: types.DidCloseTextDocumentParams) -> None:
        if documents.close(params.text_document.uri) is not None:
            server.clear([params.text_document.uri])
            server.analyses.start()


def follow_notebooks(server: Server) -> None:
    """Register what is told of notebooks: each cell is a text."""
    documents = server.documents

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_OPEN)
    def opened(params: types.DidOpenNotebookDocumentParams) -> None:
        texts = {item.uri: item for item in params.cell_text_documents}
        order = [cell.document for cell in params.notebook_document.cells if cell.document in texts]
        parts = {uri: texts[uri].text for uri in order}
        versions = {uri: texts[uri].version for uri in order}
        document = documents.open(params.notebook_document.uri, parts, versions, is_notebook=True)
        server.analyses.start(document, at_once=True)

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_CHANGE)
    def changed(params: types.DidChangeNotebookDocumentParams) -> None:
        cells = params.change.cells
        uri = params.notebook_document.uri
        if cells is None:
            return
        document = documents.of(uri)
        if cells.structure is not None:
            order = [cell.document for cell in cells.structure.array.cells or ()]
            document, gone = documents.splice(uri, cells.structure, order)
            server.clear(gone)
        for content in cells.text_content or ():
            documents.change(content.document.uri, content.document.version, [*content.changes])
        if document is not None:
            server.analyses.start(document)

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_SAVE)
    def saved(params: types.DidSaveNotebookDocumentParams) -> None:
        server.analyses.start(documents.of(params.notebook_document.uri), at_once=True)

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_CLOSE)
    def closed(params: types.DidCloseNotebookDocumentParams) -> None:
        document = documents.close(params.notebook_document.uri)
        if document is not None:
            server.clear([*document.parts])
            server.analyses.start()


def follow_folders(server: Server) -> None:
    """Register what is told of the start, of folders and of files on disk."""
    documents = server.documents

    @server.feature(types.INITIALIZE)
    def initialize(params: types.InitializeParams) -> None:
        folders = [folder.uri for folder in params.workspace_folders or ()] or [params.root_uri or ""]
        documents.folders = [Path(os.path.realpath(path)) for uri in folders if (path := to_fs_path(uri))]

    @server.feature(types.INITIALIZED)
    async def initialized(_params: types.InitializedParams) -> None:
        documents.units = Units(
            types.PositionEncodingKind(server.server_capabilities.position_encoding or "utf-16").value
        )
        await _watch_files(server)

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def changed(params: types.DidChangeWatchedFilesParams) -> None:
        paths = [to_fs_path(item.uri) for item in params.changes]
        if any(path is None or documents.at(Path(os.path.realpath(path))) is None for path in paths):
            server.analyses.start()

    @server.feature(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
    def folders_changed(params: types.DidChangeWorkspaceFoldersParams) -> None:
        gone = {os.path.realpath(to_fs_path(folder.uri) or "") for folder in params.event.removed}
        new = [Path(os.path.realpath(path)) for item in params.event.added if (path := to_fs_path(item.uri))]
        documents.folders = [path for path in documents.folders if str(path) not in gone] + new
        server.analyses.move()


async def _watch_files(server: Server) -> None:
    """Ask the editor to watch files, where it can: what changes on disk changes findings."""
    workspace = server.client_capabilities.workspace
    watching = workspace.did_change_watched_files if workspace is not None else None
    if watching is None or not watching.dynamic_registration:
        return
    options = types.DidChangeWatchedFilesRegistrationOptions([types.FileSystemWatcher(glob) for glob in _WATCHED])
    method = types.WORKSPACE_DID_CHANGE_WATCHED_FILES
    await server.client_register_capability_async(
        types.RegistrationParams([types.Registration("watched-files", method, options)])
    )
