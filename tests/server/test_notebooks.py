"""Notebooks: each cell is a text, and all cells are one program."""

from __future__ import annotations

import pytest
from lsprotocol import types

pytestmark = pytest.mark.asyncio
FIRST = "import torch\nw = torch.rand(3, requires_grad=True)\ny = torch.exp(w)\n"
SECOND = "%matplotlib inline\ny += 1\ny.sum().backward()"


def cell(uri: str) -> types.NotebookCell:
    return types.NotebookCell(types.NotebookCellKind.Code, uri)


def item(uri: str, text: str) -> types.TextDocumentItem:
    return types.TextDocumentItem(uri, "python", 1, text)


async def test_a_finding_is_in_its_cell_and_names_the_line_of_another(editor):
    book, one, two = editor.uri("n.ipynb"), editor.uri("n.ipynb#one"), editor.uri("n.ipynb#two")
    editor.versions |= {one: 1, two: 1}
    document = types.NotebookDocument(book, "jupyter-notebook", 1, [cell(one), cell(two)])
    editor.client.notebook_document_did_open(
        types.DidOpenNotebookDocumentParams(document, [item(one, FIRST), item(two, SECOND)])
    )
    (found,) = await editor.codes(two, "IPL101")
    assert found.range == types.Range(types.Position(1, 0), types.Position(1, 6))
    assert [place.location.uri for place in found.related_information] == [one]
    await editor.codes(one)
    fix = (await editor.actions(two, found.range))[0]
    (edits,) = fix.edit.document_changes
    assert (edits.text_document.uri, edits.edits[0].range.start.line) == (two, 1)

    change = types.NotebookDocumentCellContentChanges(
        types.VersionedTextDocumentIdentifier(2, two), [types.TextDocumentContentChangeWholeDocument("y = y + 1\n")]
    )
    await changed(editor, book, types.NotebookDocumentCellChanges(text_content=[change]))
    editor.versions[two] = 2
    await editor.codes(two)

    three = editor.uri("n.ipynb#three")
    editor.versions[three] = 1
    array = types.NotebookCellArrayChange(1, 0, [cell(three)])
    structure = types.NotebookDocumentCellChangeStructure(array, [item(three, "w += 1")])
    await changed(editor, book, types.NotebookDocumentCellChanges(structure=structure))
    await editor.codes(three, "IPL201")

    array = types.NotebookCellArrayChange(1, 1, [])
    structure = types.NotebookDocumentCellChangeStructure(array, did_close=[types.TextDocumentIdentifier(three)])
    await changed(editor, book, types.NotebookDocumentCellChanges(structure=structure))
    del editor.versions[three]
    await editor.codes(three)


async def changed(editor, book, cells):
    editor.client.notebook_document_did_change(
        types.DidChangeNotebookDocumentParams(
            types.VersionedNotebookDocumentIdentifier(2, book), types.NotebookDocumentChangeEvent(cells=cells)
        )
    )
