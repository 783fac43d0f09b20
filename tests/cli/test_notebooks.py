"""Notebooks: all code cells form one module, magics are blanked, places are in cells."""

from __future__ import annotations

import ast
import json
import re

import pytest

from inplace_lint.core.errors import UnreadableError
from inplace_lint.report.reporters import REPORTERS
from inplace_lint.workspace.notebook import blanked, parse

CELLS = [
    ("markdown", ["# Training\n", "x += 1"]),
    ("code", ["%matplotlib inline\n", "!pip install timm\n", "import torch\n", "files = !ls"]),
    ("code", "%%bash\necho x += 1\n"),
    ("code", ["%%time\n", "w = torch.rand(3, requires_grad=True)\n", "y = w.exp()\n", "if files:\n", "    !ls\n"]),
    ("code", ["y?\n", "# in place\n", "y += 1\n", "y.sum().backward()"]),
]


def book(cells=CELLS, **metadata) -> bytes:
    rows = [{"cell_type": kind, "source": source, "metadata": {}, "outputs": []} for kind, source in cells]
    return json.dumps({"cells": rows, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}).encode()


@pytest.fixture
def notebook(folder):
    (folder / "train.ipynb").write_bytes(book())
    return "train.ipynb"


def test_a_finding_names_its_cell(lint, notebook):
    ran = lint("--output-format", "concise", ".")
    assert ran.out.splitlines()[0].startswith("train.ipynb:cell 5:3:1: error[IPL101] [*] `y` is overwritten")
    assert ran.status == 1


def test_the_frame_shows_both_cells(lint, notebook):
    out = lint(notebook).out
    assert "--> train.ipynb:cell 5:3:1" in out
    assert "3 | y += 1" in out
    assert "train.ipynb:cell 4:3" in out
    assert "3 | y = w.exp()" in out


def test_json_has_the_cell_and_the_file(lint, notebook, folder):
    (row,) = json.loads(lint("--output-format", "json", notebook).out)
    assert (row["cell"], row["location"]) == (5, {"row": 3, "column": 1})
    assert row["filename"] == str(folder / "train.ipynb")


@pytest.mark.parametrize("name", [name for name in REPORTERS if name not in {"json", "json-lines"}])
def test_every_format_names_the_cell_and_the_line_in_it(lint, notebook, name):
    out = lint("--output-format", name, notebook).out
    assert re.search(r"cell 5", out)
    assert re.search(r"\b3\b", out)


def test_formats_that_open_the_file_are_given_its_name(lint, notebook):
    assert "::error title=inplace-lint (IPL101),file=train.ipynb,line=3," in lint("--output-format=github", ".").out
    assert ";sourcepath=train.ipynb;linenumber=3;" in lint("--output-format=azure", ".").out.replace("type=error", "")
    (row,) = json.loads(lint("--output-format=gitlab", ".").out)
    assert (row["location"]["path"], row["description"][:8]) == ("train.ipynb", "cell 5: ")


def test_related_places_and_edits_have_their_cells(lint, notebook):
    (row,) = json.loads(lint("--output-format", "json", notebook).out)
    (related,) = row["related"]
    assert (related["cell"], related["location"]) == (4, {"row": 3, "column": 5})


def test_sarif_and_rdjson_offer_no_edits_of_lines_that_are_those_of_cells(lint, notebook):
    run = json.loads(lint("--output-format", "sarif", notebook).out)["runs"][0]
    (result,) = run["results"]
    assert "fixes" not in result
    assert result["message"]["text"].startswith("cell 5: ")
    (place,) = result["locations"]
    assert place["logicalLocations"] == [{"name": "cell 5", "fullyQualifiedName": "train.ipynb:cell 5"}]
    assert place["physicalLocation"]["artifactLocation"]["uri"] == "train.ipynb"
    assert result["relatedLocations"][0]["logicalLocations"][0]["name"] == "cell 4"
    (row,) = json.loads(lint("--output-format", "rdjson", notebook).out)["diagnostics"]
    assert "suggestions" not in row
    assert (row["message"][:8], row["related_locations"][0]["message"][:8]) == ("cell 5: ", "cell 4: ")


@pytest.mark.parametrize(
    "metadata", [None, [], {"language_info": None, "kernelspec": None}, {"language_info": {"name": 3}}, "python"]
)
def test_metadata_of_any_form_are_no_reason_to_fail(lint, folder, metadata):
    whole = json.loads(book()) | {"metadata": metadata}
    (folder / "train.ipynb").write_text(json.dumps(whole))
    assert lint("--output-format", "concise", ".").out.startswith("train.ipynb:cell 5:3:1: error[IPL101]")


@pytest.mark.parametrize("cells", [[], [("markdown", "import torch")], [("code", [])], [("code", "")]])
def test_a_notebook_without_code_ends_nothing(lint, folder, buggy, cells):
    (folder / "text.ipynb").write_bytes(book(cells, torch=1))
    (folder / "a.py").write_text(buggy)
    ran = lint("--output-format", "concise", ".")
    assert (ran.status, ran.err) == (1, "")
    assert ran.out.startswith("a.py:5:1: error[IPL101]")


def test_a_notebook_of_another_language_ends_nothing(lint, folder, buggy):
    (folder / "text.ipynb").write_bytes(book(language_info={"name": "julia"}))
    (folder / "a.py").write_text(buggy)
    assert lint("--output-format", "concise", ".").out.startswith("a.py:5:1: error[IPL101]")


def test_an_old_notebook_is_named_with_its_format(lint, folder):
    old = {
        "nbformat": 3,
        "nbformat_minor": 0,
        "metadata": {},
        "worksheets": [{"cells": [], "metadata": {"a": "torch"}}],
    }
    (folder / "old.ipynb").write_text(json.dumps(old))
    ran = lint(".")
    assert (ran.status, ran.err) == (2, "old.ipynb: a notebook of format 3: only format 4 is read\n")


def test_a_comment_silences_in_its_cell(lint, folder):
    cells = [(kind, "".join(source).replace("y += 1", "y += 1  # noqa: IPL101")) for kind, source in CELLS]
    (folder / "train.ipynb").write_bytes(book(cells))
    assert lint(".").status == 0


def test_a_syntax_error_is_a_finding_of_its_cell(lint, folder):
    (folder / "train.ipynb").write_bytes(book([("code", "import torch\n"), ("code", "\nx = (\n")]))
    assert lint("--output-format", "concise", ".").out.startswith("train.ipynb:cell 2:")


@pytest.mark.parametrize(
    "data", [b"{", b"[]", b'{"cells": 3}', b'{"cells": [{"cell_type": "code"}]}', b"\xff\xfe", b"[" * 100_000]
)
def test_what_is_no_notebook_is_one_line_and_ends_nothing(lint, folder, buggy, data):
    (folder / "bad.ipynb").write_bytes(data + b" torch")
    (folder / "a.py").write_text(buggy)
    ran = lint("--output-format", "concise", ".")
    assert (ran.status, ran.err) == (2, "bad.ipynb: not a notebook of format 4\n")
    assert "a.py:5:1: error[IPL101]" in ran.out


def test_other_languages_have_no_code():
    assert parse("r.ipynb", book(kernelspec={"language": "R"})).source == ""
    with pytest.raises(UnreadableError):
        parse("r.ipynb", b"3")


@pytest.mark.parametrize(
    ("text", "blank"),
    [
        ("x = 3\ny = x % 2", "x = 3\ny = x % 2"),
        ("%time x = 3", "pass"),
        ("x = %time 3", "x = None"),
        ("a, b = !ls *.py", "a, b = None"),
        ("if x:\n    !ls", "if x:\n    pass"),
        ("torch.relu??", "pass"),
        ("?torch.relu", "pass"),
        (";ls -l\n,print a b\n/print x\ny = [1\n, 2]", "pass\npass\npass\ny = [1\n, 2]"),
        ("%%html\n<b>x += 1</b>", "\n"),
        ("%%capture out\nx += 1", "pass\nx += 1"),
        ("y = (10\n  % 3)\nz = x != 3", "y = (10\n  % 3)\nz = x != 3"),
        ('t = """\n%s\n"""', 't = """\n%s\n"""'),
        ("!ls\nz = x != 3", "pass\nz = x != 3"),
        ("!ls \\\n  -l\nx = 1", "pass\n\nx = 1"),
        ("files = !ls \\\n  -l \\\n  -a\nx = 1", "files = None\n\n\nx = 1"),
        ("%time x\ny = (10\n  % 3)", "pass\ny = (10\n  % 3)"),
        ("%time x\ny = [\n  '(', # (\n  10\n  % 3]\n!ls", "pass\ny = [\n  '(', # (\n  10\n  % 3]\npass"),
        ('%time x\nt = """ \\"""\n!ls\n"""\n!ls', 'pass\nt = """ \\"""\n!ls\n"""\npass'),
        ("%time x\ny = 10 \\\n  % 3\n!ls", "pass\ny = 10 \\\n  % 3\npass"),
        ("s = 'it\\'s'  # \\\n%time x", "s = 'it\\'s'  # \\\npass"),
    ],
)
def test_what_only_ipython_reads_is_blanked(text, blank):
    assert blanked(text) == blank
    ast.parse(blanked(text))
