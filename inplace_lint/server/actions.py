"""What an editor offers at a finding: its fix, a comment that suppresses it, its page, a run that confirms it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from lsprotocol import types

from inplace_lint.core.finding import Applicability, Edit
from inplace_lint.driver.session import Outcome
from inplace_lint.fix.apply import notebook as cells
from inplace_lint.fix.apply.rounds import Rounds
from inplace_lint.policy import add_noqa
from inplace_lint.rules import RULE_OF, TEXT_RULES
from inplace_lint.server.diagnostics import SOURCE, Shown
from inplace_lint.server.documents import Document, Documents
from inplace_lint.server.folder import Folder
from inplace_lint.server.positions import lines_of
from inplace_lint.workspace import files

FIX_ALL = f"{types.CodeActionKind.SourceFixAll.value}.{SOURCE}"
EXPLAIN, CONFIRM = f"{SOURCE}.explain", f"{SOURCE}.confirm"


def of_finding(documents: Documents, document: Document, one: Shown) -> Iterator[types.CodeAction]:
    """Yield the actions for a finding, the fix first."""
    finding, diagnostics = one.finding, [one.diagnostic]
    fix = finding.fix
    if fix is not None and fix.edits and fix.applicability is not Applicability.DISPLAY:
        is_safe = fix.applicability is Applicability.SAFE
        yield types.CodeAction(
            title=f"{fix.message} ({finding.code}{'' if is_safe else ', unsafe fix: read it before you keep it'})",
            kind=types.CodeActionKind.QuickFix,
            diagnostics=diagnostics,
            is_preferred=is_safe or None,
            edit=_edit_of(documents, document, fix.edits),
        )
    if RULE_OF[finding.code] in TEXT_RULES:
        return
    for ours in (True, False):  # other linters do not read our own comment, and do not remove it
        edit = _suppressing(documents, document, one, ours=ours)
        if edit is not None:
            comment = f"# inplace-lint: ignore[{finding.name}]" if ours else f"# noqa: {finding.code}"
            yield types.CodeAction(f"Suppress with `{comment}`", types.CodeActionKind.QuickFix, diagnostics, edit=edit)
    yield types.CodeAction(
        f"Explain {finding.code} ({finding.name})",
        types.CodeActionKind.Empty,
        diagnostics,
        command=types.Command("Explain", EXPLAIN, arguments=[finding.code]),
    )
    if RULE_OF[finding.code].provable:
        place = [one.uri, finding.code, finding.span.line]
        yield types.CodeAction(
            f"Confirm {finding.code} by running the code",
            types.CodeActionKind.Empty,
            diagnostics,
            command=types.Command("Confirm", CONFIRM, arguments=place),
        )


def fixed(folder: Folder, texts: Mapping[Path, bytes], path: Path) -> bytes | None:
    """Return the bytes of a file after all fixes that the settings allow, each checked; None where none applies."""

    def never() -> bool:
        return False

    def check(names: Mapping[str, bytes]) -> Outcome:
        mine = {folder.root / name: data for name, data in names.items()}
        return folder.run([path], {**texts, **mine}, never, callers=True)

    rounds = Rounds(check, folder.settings().unsafe_fixes, check({}))
    rounds.run()
    return next(iter(rounds.texts.values()), None)


def edit_of_bytes(documents: Documents, document: Document, data: bytes) -> types.WorkspaceEdit:
    """Return the edit that makes the present text of a document that of some bytes."""
    if document.is_notebook:
        codes = cells.sources(data)
        new = {uri: codes[number] for number, uri in enumerate(document.parts, 1)}
    else:
        new = {document.uri: files.decode(data)}
    return _edit_of_texts(documents, {uri: (document.parts[uri], text) for uri, text in new.items()})


def _suppressing(documents: Documents, document: Document, one: Shown, *, ours: bool) -> types.WorkspaceEdit | None:
    result = document.current
    text = document.parts[one.uri]
    statements = result.statements if result is not None else {}
    new, left = add_noqa.silenced(text, [one.finding], statements, ours=ours)
    return None if left else _edit_of_texts(documents, {one.uri: (text, new)})


def _edit_of(documents: Documents, document: Document, edits: Sequence[Edit]) -> types.WorkspaceEdit:
    """Return the edits of a fix."""
    found: dict[str, list[types.TextEdit]] = {}
    for edit in edits:
        uri, text = documents.text_of(edit.span, document.folder)
        place = documents.units.range(lines_of(text), edit.span)
        found.setdefault(uri, []).append(types.TextEdit(place, edit.content))
    return _workspace_edit(documents, found)


def _edit_of_texts(documents: Documents, texts: Mapping[str, tuple[str, str]]) -> types.WorkspaceEdit:
    """Return the edits that make new texts of old ones."""
    return _workspace_edit(
        documents, {uri: documents.units.edits(old, new) for uri, (old, new) in texts.items() if old != new}
    )


def _workspace_edit(documents: Documents, edits: Mapping[str, Sequence[types.TextEdit]]) -> types.WorkspaceEdit:
    """Return edits of texts, each for the version that the editor has."""
    return types.WorkspaceEdit(
        document_changes=[
            types.TextDocumentEdit(types.OptionalVersionedTextDocumentIdentifier(uri, documents.version(uri)), [*mine])
            for uri, mine in edits.items()
        ]
    )
