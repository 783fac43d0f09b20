"""What an editor can ask for at a finding: fixes, comments, the page of its rule, a run that confirms it."""

from __future__ import annotations

import subprocess
import sys

import pytest
from lsprotocol import types

from tests.server.editor import FAULT

UNSAFE = """\
import torch


def step(w: torch.nn.Parameter, h):
    y = torch.exp(h * w)
    y += 1
    return y


torch.rand(3, requires_grad=True).sum().backward()
"""


def after(text: str, edit: types.WorkspaceEdit, version: int = 1) -> str:
    """Return a text after the edits of an action; all of them are on one line each."""
    (change,) = edit.document_changes
    assert change.text_document.version == version
    lines = text.splitlines(keepends=True)
    for one in sorted(change.edits, key=lambda one: (one.range.start.line, one.range.start.character), reverse=True):
        head = "".join(lines[: one.range.start.line]) + lines[one.range.start.line][: one.range.start.character]
        rest = lines[one.range.end.line :]
        tail = rest[0][one.range.end.character :] + "".join(rest[1:]) if rest else ""
        lines = (head + one.new_text + tail).splitlines(keepends=True)
    return "".join(lines)


@pytest.mark.asyncio
async def test_a_safe_fix_is_preferred_and_removes_the_finding(editor):
    uri = editor.open("a.py", FAULT)
    (found,) = await editor.codes(uri, "IPL101")
    fix = (await editor.actions(uri, found.range))[0]
    assert (fix.kind, fix.is_preferred) == ("quickfix", True)
    assert "unsafe" not in fix.title
    editor.change(uri, after(FAULT, fix.edit))
    await editor.codes(uri)


@pytest.mark.asyncio
async def test_an_unsafe_fix_says_so(editor):
    uri = editor.open("a.py", UNSAFE)
    (found,) = await editor.codes(uri, "IPL101")
    fix = (await editor.actions(uri, found.range))[0]
    assert "unsafe" in fix.title
    assert not fix.is_preferred


@pytest.mark.asyncio
async def test_both_comments_suppress(editor):
    uri = editor.open("a.py", FAULT)
    (found,) = await editor.codes(uri, "IPL101")
    offered = [one for one in await editor.actions(uri, found.range) if one.title.startswith("Suppress")]
    assert [one.title for one in offered] == [
        "Suppress with `# inplace-lint: ignore[modified-after-save]`",
        "Suppress with `# noqa: IPL101`",
    ]
    for one in offered:
        text = after(FAULT, one.edit)
        assert one.title.split("`")[1] in text
        editor.change(uri, text)
        await editor.codes(uri)


@pytest.mark.asyncio
async def test_all_safe_fixes_are_applied_and_unsafe_ones_are_left(editor):
    text = (
        FAULT
        + UNSAFE.partition("\n")[2].replace("def step", "def other")
        + FAULT.partition("\n")[2].replace("def step", "def third")
    )
    uri = editor.open("a.py", text)
    await editor.codes(uri, "IPL101", "IPL101", "IPL101")
    nowhere = types.Range(types.Position(0, 0), types.Position(0, 0))
    (action,) = await editor.actions(uri, nowhere, "source.fixAll")
    assert action.kind == "source.fixAll.inplace-lint"
    action = await editor.client.code_action_resolve_async(action)
    new = after(text, action.edit)
    assert new.count("y = y + 1") == 2
    editor.change(uri, new)
    await editor.codes(uri, "IPL101")


@pytest.mark.asyncio
async def test_the_hover_of_a_finding_and_of_a_comment_explains_the_rule(editor):
    uri = editor.open("a.py", f"{FAULT}\nx = 1  # noqa: IPL201\n")
    (found, _) = sorted(await editor.codes(uri, "IPL101", "IPL901"), key=lambda one: str(one.code))
    params = types.HoverParams(types.TextDocumentIdentifier(uri), found.range.start)
    text = (await editor.client.text_document_hover_async(params)).contents.value
    assert "a write to a tensor that backward needs" in text
    editor.change(uri, FAULT.replace("y += 1", "y += 1  # noqa: IPL101"))
    await editor.codes(uri)
    params = types.HoverParams(types.TextDocumentIdentifier(uri), types.Position(6, 15))
    assert "IPL101" in (await editor.client.text_document_hover_async(params)).contents.value


async def run(editor, command, *arguments):
    return await editor.client.workspace_execute_command_async(types.ExecuteCommandParams(command, [*arguments]))


@pytest.mark.asyncio
async def test_explain_returns_the_page(editor):
    page = await run(editor, "inplace-lint.explain", "IPL201")
    assert page["text"].startswith("# leaf-write (IPL201)")
    assert await run(editor, "inplace-lint.explain", "IPL999") is None


@pytest.mark.asyncio
async def test_confirm_runs_the_saved_file_and_no_other_text(editor):
    editor.write("a.py", FAULT)
    uri = editor.open("a.py")
    (found,) = await editor.codes(uri, "IPL101")
    said = await run(editor, "inplace-lint.confirm", uri, "IPL101", found.range.start.line + 1)
    assert said.startswith("IPL101 in line 7: confirmed on torch 2.")
    editor.change(uri, f"{FAULT}\n")
    assert "save it first" in await run(editor, "inplace-lint.confirm", uri, "IPL101", 7)


@pytest.mark.asyncio
async def test_confirm_repairs_a_finding_of_another_rule_that_ends_the_program(editor):
    source = "import torch\nw = torch.ones(2, 3, requires_grad=True)\na, b = (w * 2).unbind()\na += 1\n"
    source += "y = torch.exp(b)\ny += 1\ny.sum().backward()\n"
    editor.write("a.py", source)
    uri = editor.open("a.py")
    await editor.codes(uri, "IPL203", "IPL101")
    assert "confirmed on torch" in await run(editor, "inplace-lint.confirm", uri, "IPL101", 6)


def test_without_pygls_one_line_says_how_to_install_it():
    program = (
        "import sys; sys.modules['pygls'] = None; from inplace_lint.cli.main import main; sys.exit(main(['server']))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "pip install 'inplace-lint[server]'" in done.stderr
    assert done.stderr.count("\n") == 1
