"""Answers the editor's requests: actions and fixes, hover, and the commands that explain and confirm a finding."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from lsprotocol import types
from pygls.uris import from_fs_path

from inplace_lint.rules import RULE_OF
from inplace_lint.rules.links import page_of
from inplace_lint.server import actions, hover
from inplace_lint.server.confirmation import confirmed
from inplace_lint.server.language_server import Server
from inplace_lint.server.positions import lines_of

_KINDS = (types.CodeActionKind.QuickFix, actions.FIX_ALL)


def answer_actions(server: Server) -> None:
    """Register the actions at a finding, and the one that fixes all of a file."""

    @server.feature(types.TEXT_DOCUMENT_CODE_ACTION, types.CodeActionOptions([*_KINDS], resolve_provider=True))
    async def code_action(params: types.CodeActionParams) -> list[types.CodeAction]:
        uri, only = params.text_document.uri, params.context.only
        found = await server.found(uri)
        document = server.documents.of(uri)
        if document is None or not found:
            return []
        here = [one for one in found if _overlap(one.diagnostic.range, params.range)]
        offered = [action for one in here for action in actions.of_finding(server.documents, document, one)]
        if _is_asked(actions.FIX_ALL, only) and any(one.finding.fix is not None for one in found):
            everything = types.CodeAction("Apply all safe fixes of inplace-lint", actions.FIX_ALL, data=uri)
            if _resolves(server):
                offered.append(everything)
            elif only:  # it takes several analyses: not for each move of the cursor
                offered.append(await _resolved(server, everything))
        return [action for action in offered if _is_asked(action.kind, only)]

    @server.feature(types.CODE_ACTION_RESOLVE)
    async def resolve(action: types.CodeAction) -> types.CodeAction:
        return await _resolved(server, action)


def answer_hover(server: Server) -> None:
    """Register what is shown of a finding, or of a comment that suppresses one."""

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def hovered(params: types.HoverParams) -> types.Hover | None:
        uri, line = params.text_document.uri, params.position.line
        here = types.Range(params.position, params.position)
        mine = [one for one in await server.found(uri) if _overlap(one.diagnostic.range, here)]
        if mine:
            text = hover.of_findings((one.finding for one in mine), server.lang)
            return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, text), mine[0].diagnostic.range)
        document = server.documents.of(uri)
        lines = lines_of(document.parts.get(uri, "")) if document is not None else []
        text = hover.of_comment(lines[line], server.lang) if line < len(lines) else ""
        return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, text)) if text else None


def answer_commands(server: Server, options: Sequence[str]) -> None:
    """Register the commands; `options` are passed to the run that confirms a finding."""

    @server.command(actions.EXPLAIN)
    async def explain(code: str) -> dict[str, str] | None:
        if code not in RULE_OF:
            return None
        path = page_of(RULE_OF[code], server.lang)
        window = server.client_capabilities.window
        if window is not None and window.show_document is not None and window.show_document.support:
            page = types.ShowDocumentParams(from_fs_path(str(path)) or "", take_focus=True)
            await server.window_show_document_async(page)
        else:
            server.tell(f"{code} ({RULE_OF[code].name}): {hover.short(code, server.lang)}\n{path}")
        return {"code": code, "path": str(path), "text": hover.page_of(code, server.lang)}

    @server.command(actions.CONFIRM)
    async def confirm(uri: str, code: str, line: int) -> str:
        document = server.documents.of(uri)
        if document is None or document.is_notebook or not _is_saved(document.path, document.data()):
            said = "only the saved file can be confirmed: save it first"
        else:
            said = await confirmed(document.path, document.folder, code, line, options)
        server.tell(said)
        return said


async def _resolved(server: Server, action: types.CodeAction) -> types.CodeAction:
    """Return the action with its edit; without one where the text changed meanwhile, or nothing can be fixed."""
    document = server.documents.of(action.data) if isinstance(action.data, str) else None
    if document is None or action.edit is not None:
        return action
    revision = document.revision
    data = await server.analyses.ask(partial(actions.fixed, path=document.path), document)
    if data is not None and document.revision == revision:
        action.edit = actions.edit_of_bytes(server.documents, document, data)
    return action


def _resolves(server: Server) -> bool:
    """Return whether the editor asks for the edit of an action once the user has chosen it."""
    texts = server.client_capabilities.text_document
    support = texts.code_action.resolve_support if texts is not None and texts.code_action is not None else None
    return support is not None and "edit" in support.properties


def _is_asked(kind: types.CodeActionKind | str | None, only: Sequence[types.CodeActionKind | str] | None) -> bool:
    """Return whether an editor that asks for these kinds alone, or parts of them, asks for a kind."""
    name = _name(kind)
    return not only or any(name == _name(asked) or name.startswith(f"{_name(asked)}.") for asked in only)


def _name(kind: types.CodeActionKind | str | None) -> str:
    return kind.value if isinstance(kind, types.CodeActionKind) else kind or ""


def _overlap(one: types.Range, other: types.Range) -> bool:
    return one.start <= other.end and other.start <= one.end


def _is_saved(path: Path, data: bytes) -> bool:
    return os.path.isfile(path) and path.read_bytes() == data  # noqa: PTH113 - it may be no path of a file at all
