"""What the server shows while texts are opened, changed, saved and closed."""

from __future__ import annotations

import asyncio
import os

import pytest
from lsprotocol import types

from tests.server.editor import FAULT

LAYER = "import torch\n\n\ndef activate(x):\n    x += 1\n    return x\n"
USER = """\
import torch
from layer import activate

w = torch.rand(3, requires_grad=True)
y = torch.exp(w)
activate(y).sum().backward()
"""
pytestmark = pytest.mark.asyncio


async def test_a_finding_names_its_rule_its_page_and_the_line_that_saved(editor):
    uri = editor.open("a.py", FAULT)
    (found,) = await editor.codes(uri, "IPL101")
    assert (found.severity, found.source) == (types.DiagnosticSeverity.Error, "inplace-lint")
    assert found.code_description.href.endswith("/rules/modified-after-save/")
    (saved,) = found.related_information
    assert (saved.location.uri, saved.location.range.start.line) == (uri, 5)


async def test_findings_follow_edits_and_carry_their_version(editor):
    uri = editor.open("a.py", FAULT)
    await editor.codes(uri, "IPL101")
    for _ in range(3):
        editor.change(uri, FAULT.replace("y += 1", "y = y + 1"))
        await editor.codes(uri)
        editor.change(uri, FAULT)
        await editor.codes(uri, "IPL101")
    assert [one.version for one in editor.history] == sorted(one.version for one in editor.history)


async def test_only_the_last_of_quick_edits_is_shown(editor):
    uri = editor.open("a.py", FAULT)
    await editor.codes(uri, "IPL101")
    before = len(editor.history)
    for number in range(20):
        editor.change(uri, f"{FAULT}\n# {number}\n")
        await asyncio.sleep(0.01)
    last = editor.change(uri, FAULT.replace("y += 1", "y = y + 1"))
    await editor.codes(uri)
    assert {one.version for one in editor.history[before:]} == {last}


async def test_columns_count_as_the_editor_counts_them(editor):
    uri = editor.open("a.py", FAULT.replace("    y += 1", "    s = '😀😀é'; y += 1"))
    (found,) = await editor.codes(uri, "IPL101")
    assert found.range == types.Range(types.Position(6, 17), types.Position(6, 23))


async def test_partial_changes_count_lines_as_python_does(editor):
    """A form feed and a line separator end no line; a character of two units is one character."""
    text = FAULT.replace("def step", "s = '😀\u2028\x0c'\n\n\ndef step")
    uri = editor.open("a.py", text)
    (found,) = await editor.codes(uri, "IPL101")
    assert found.range.start == types.Position(9, 4)
    place = types.Range(types.Position(9, 6), types.Position(9, 8))
    emoji = types.Range(types.Position(3, 5), types.Position(3, 7))
    editor.change(
        uri,
        types.TextDocumentContentChangePartial(place, "= y +"),
        types.TextDocumentContentChangePartial(emoji, "é"),
    )
    await editor.codes(uri)
    editor.change(
        uri, types.TextDocumentContentChangePartial(types.Range(types.Position(9, 6), types.Position(9, 11)), "+=")
    )
    await editor.codes(uri, "IPL101")


async def test_the_unsaved_text_of_one_open_file_counts_in_another(editor):
    editor.write("layer.py", LAYER)
    editor.write("user.py", USER)
    layer, user = editor.open("layer.py"), editor.open("user.py")
    await editor.codes(layer, "IPL101")
    editor.change(user, USER.replace("torch.exp(w)", "torch.exp(w).clone()"))
    await editor.codes(layer)
    editor.change(user, USER)
    await editor.codes(layer, "IPL101")


async def test_a_closed_text_counts_no_longer_and_shows_nothing(editor):
    editor.write("layer.py", LAYER)
    editor.write("user.py", USER.replace("torch.exp(w)", "torch.exp(w).clone()"))
    layer, user = editor.open("layer.py"), editor.open("user.py", USER)
    await editor.codes(layer, "IPL101")
    editor.client.text_document_did_close(types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(user)))
    await editor.codes(layer)
    editor.client.text_document_did_close(types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(layer)))
    del editor.versions[layer]
    await editor.codes(layer)


async def test_what_the_configuration_says_counts_and_a_change_of_it_too(editor):
    uri = editor.open("a.py", FAULT)
    await editor.codes(uri, "IPL101")
    assert "**/pyproject.toml" in editor.watched
    for text, codes in (
        ('[tool.inplace-lint]\nignore = ["IPL101"]\n', []),
        ("[tool.inplace-lint]\n", ["IPL101"]),
        ('[tool.inplace-lint]\nexclude = ["a.py"]\n', []),
        ("", ["IPL101"]),
    ):
        editor.write("pyproject.toml", text)
        change = types.FileEvent(editor.uri("pyproject.toml"), types.FileChangeType.Changed)
        editor.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([change]))
        await editor.codes(uri, *codes)


async def test_a_wrong_configuration_is_said_once_and_hides_old_findings(editor):
    uri = editor.open("a.py", FAULT)
    await editor.codes(uri, "IPL101")
    editor.write("pyproject.toml", "[tool.inplace-lint]\nselekt = []\n")
    for number in range(3):
        editor.change(uri, f"{FAULT}# {number}\n")
        await editor.codes(uri)
    assert len([one for one in editor.client.messages if "selekt" in one.message]) == 1
    editor.write("pyproject.toml", "")
    editor.change(uri, FAULT)
    await editor.codes(uri, "IPL101")


async def test_comments_suppress_and_one_of_no_use_is_faded(editor):
    uri = editor.open("a.py", FAULT.replace("y += 1", "y += 1  # noqa: IPL101"))
    await editor.codes(uri)
    editor.change(uri, FAULT.replace("y += 1", "y += 1  # noqa: IPL102"))
    found = await editor.codes(uri, "IPL101", "IPL901")
    assert [one.tags for one in found if one.code == "IPL901"] == [(types.DiagnosticTag.Unnecessary,)]


async def test_libraries_are_left_alone_and_other_files_are_not(editor, tmp_path_factory):
    away = tmp_path_factory.mktemp("away").resolve()
    for name in ("lib/site-packages/b.py", "b.py"):
        (away / name).parent.mkdir(parents=True, exist_ok=True)
        (away / name).write_text(FAULT)
    await editor.codes(editor.open(str(away / "b.py")), "IPL101")
    await editor.codes(editor.open(str(away / "lib/site-packages/b.py")))
    await editor.codes(editor.open(".venv/b.py", FAULT))


async def test_a_text_without_a_file_is_analyzed(editor):
    uri = "untitled:Untitled-1"
    editor.versions[uri] = 1
    item = types.TextDocumentItem(uri, "python", 1, FAULT)
    editor.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
    await editor.codes(uri, "IPL101")


async def test_each_workspace_folder_has_its_own_configuration(editor, tmp_path_factory):
    other = tmp_path_factory.mktemp("other").resolve()
    (other / "inplace-lint.toml").write_text('ignore = ["IPL101"]\n')
    folder = types.WorkspaceFolder(other.as_uri(), "other")
    event = types.WorkspaceFoldersChangeEvent(added=[folder], removed=[])
    editor.client.workspace_did_change_workspace_folders(types.DidChangeWorkspaceFoldersParams(event))
    await editor.codes(editor.open("a.py", FAULT), "IPL101")
    await editor.codes(editor.open(str(other / "a.py"), FAULT))


async def test_no_text_ends_the_server(editor):
    uri = editor.open("a.py", FAULT)
    for text in ("x = '\ud800'\n", "\x00", "def f(:\n", "(" * 5000, "# -*- coding: nope -*-\n"):
        editor.change(uri, f"{FAULT}{text}")
    editor.client.text_document_did_change(
        types.DidChangeTextDocumentParams(
            types.VersionedTextDocumentIdentifier(1, editor.uri("never_opened.py")),
            [types.TextDocumentContentChangeWholeDocument("x")],
        )
    )
    for text in ("\x00", "(" * 5000, "# -*- coding: nope -*-\n"):
        editor.change(uri, f"{text}{FAULT}")
        await asyncio.sleep(0.5)
    editor.change(uri, FAULT)
    await editor.codes(uri, "IPL101")
    assert any("null bytes" in one.message for one in editor.client.log_messages)


@pytest.mark.skipif(os.name == "nt", reason="links need rights on Windows")
async def test_a_folder_behind_a_link_is_the_folder(editor, tmp_path_factory):
    link = tmp_path_factory.mktemp("links") / "link"
    link.symlink_to(editor.folder)
    editor.write("a.py", FAULT)
    await editor.codes(editor.open(str(link / "a.py"), FAULT), "IPL101")
