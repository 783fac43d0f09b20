"""Comments that silence what is found: every finding is gone afterwards, and no other byte has changed."""

from __future__ import annotations

import json
import os
import re
import stat
import sys

import pytest

TEMPLATE = """\
import torch

x = torch.ones(3, requires_grad=True)
y = x.exp()
{}
y.sum().backward()
"""


def added(before: str, after: str) -> str:
    """Return the lines that the second text has in addition to the first."""
    at = next((at for at, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), len(before))
    more = len(after) - len(before)
    assert before[:at] + before[at:] == after[:at] + after[at + more :]
    return after[at : at + more]


@pytest.mark.parametrize(
    ("statement", "comment"),
    [
        ("y.add_(1)", "  # noqa: IPL101"),
        ("y.add_(1)  # one more", "  # noqa: IPL101"),
        ("y.add_(1)  # noqa: E501", ", IPL101"),
        ("y.add_(1)  # noqa: E501, W291 as ever", ", IPL101"),
        ("y.add_(\n    1,\n)", "  # noqa: IPL101"),
        ("y.add_( \\\n    1)", "  # noqa: IPL101"),
        ('y.add_(len("""\n"""))', "  # noqa: IPL101"),
        ("if True:\n    y += 1; z = '#'", "  # noqa: IPL101"),
    ],
)
def test_a_comment_silences_the_finding_and_changes_nothing_else(lint, folder, statement, comment):
    path, source = folder / "a.py", TEMPLATE.format(statement)
    path.write_text(source)
    assert lint(".").status == 1
    assert lint("--add-noqa", ".") == (0, "Added 1 noqa comment.\n", "")
    assert added(source, path.read_text()) == comment
    compile(path.read_text(), "a.py", "exec")
    assert lint(".") == (0, "All checks passed!\n", "")
    assert lint("--add-noqa", ".") == (0, "Added 0 noqa comments.\n", "")


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize(
    ("head", "encoding"), [("", "utf-8"), ("", "utf-8-sig"), ("# coding: latin-1\n# Gr\xf6\xdfe\n", "latin-1")]
)
def test_line_ends_and_encodings_stay(lint, folder, end, head, encoding):
    path = folder / "a.py"
    data = (head + TEMPLATE.format("y.add_(1)\t")).replace("\n", end).encode(encoding)
    path.write_bytes(data)
    path.chmod(0o755)
    assert lint("--add-noqa", ".").out == "Added 1 noqa comment.\n"
    assert path.read_bytes() == data.replace(b"y.add_(1)\t", b"y.add_(1)  # noqa: IPL101")
    assert stat.S_IMODE(path.stat().st_mode) == 0o755
    assert lint(".").status == 0


def test_the_file_behind_a_link_is_written_and_the_link_stays(lint, folder):
    (folder / "real").mkdir()
    (folder / "real/a.py").write_text(TEMPLATE.format("y.add_(1)"))
    (folder / "link.py").symlink_to("real/a.py")
    assert lint("--add-noqa", "link.py").status == 0
    assert (folder / "link.py").is_symlink()
    assert "noqa" in (folder / "real/a.py").read_text()


def test_several_rules_share_a_comment(lint, folder):
    (folder / "a.py").write_text(
        "import torch\n\nw = torch.ones(2, requires_grad=True)\ny = w.exp(); y += 1; w += 1\ny.sum().backward()\n"
    )
    assert lint("--add-noqa", ".").out == "Added 2 noqa comments.\n"
    assert re.search(r"w \+= 1  # noqa: IPL101, IPL201\n", (folder / "a.py").read_text())


def test_a_syntax_error_cannot_be_silenced(lint, folder):
    (folder / "a.py").write_text("import torch\ndef f(:\n")
    assert lint("--add-noqa", ".") == (0, "Added 0 noqa comments.\n", "")


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="root writes everything")
def test_a_file_that_cannot_be_written_is_named_and_stays(lint, folder):
    (folder / "a.py").write_text(TEMPLATE.format("y.add_(1)"))
    (folder / "a.py").chmod(0o444)
    ran = lint("--add-noqa", ".")
    assert (ran.status, ran.err) == (2, "a.py: is read-only; nothing was written\n")


@pytest.mark.parametrize("option", ["--diff", "--fix", "--fix-only"])
def test_nothing_is_written_along_with_fixes(lint, folder, option):
    source = TEMPLATE.format("y.add_(1)")
    (folder / "a.py").write_text(source)
    ran = lint("--add-noqa", option, ".")
    assert (ran.status, ran.err) == (
        2,
        "error: --add-noqa cannot be combined with fixes: apply them first, or leave them out\n",
    )
    assert (folder / "a.py").read_text() == source


def test_standard_input_is_no_file(lint):
    ran = lint("--add-noqa", "-", stdin=b"import torch\n")
    assert (ran.status, ran.err) == (2, "error: --add-noqa needs files, and cannot be combined with `-`\n")


def test_a_cell_of_a_notebook_gets_its_comment_and_all_else_stays(lint, folder):
    cells = ["import torch\n\nx = torch.ones(3, requires_grad=True)\ny = x.exp()", "y.add_(1)\ny.sum().backward()"]
    book = {
        "cells": [
            {
                "cell_type": "code",
                "execution_count": None,
                "metadata": {},
                "outputs": [],
                "source": cell.splitlines(True),
            }
            for cell in cells
        ],
        "metadata": {"kernelspec": {"language": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    before = json.dumps(book, indent=3)
    (folder / "a.ipynb").write_text(before)
    assert lint(".").status == 1
    assert lint("--add-noqa", ".") == (0, "Added 1 noqa comment.\n", "")
    assert added(before, (folder / "a.ipynb").read_text()) == "  # noqa: IPL101"
    assert lint(".").status == 0


@pytest.mark.parametrize(
    ("statement", "comment"),
    [
        ("y.add_(1)", "  # inplace-lint: ignore[modified-after-save]"),
        ("y.add_(1)  # noqa: E501", "  # inplace-lint: ignore[modified-after-save]"),
        ("y.add_(1)  # inplace-lint: ignore[leaf-write]", ", modified-after-save"),
        ("y.add_( \\\n    1)", "  # inplace-lint: ignore[modified-after-save]"),
    ],
)
def test_a_comment_that_other_linters_do_not_read_silences_as_well(lint, folder, statement, comment):
    path, source = folder / "a.py", TEMPLATE.format(statement)
    path.write_text(source)
    assert lint("--ignore", "IPL901", "--add-ignore", ".") == (0, "Added 1 comment.\n", "")
    assert added(source, path.read_text()) == comment
    assert lint("--ignore", "IPL901", ".") == (0, "All checks passed!\n", "")
    assert lint("--ignore", "IPL901", "--add-ignore", ".") == (0, "Added 0 comments.\n", "")


def test_one_kind_of_comment_is_added(lint, folder):
    (folder / "a.py").write_text(TEMPLATE.format("y.add_(1)"))
    ran = lint("--add-noqa", "--add-ignore", ".")
    assert (ran.status, ran.err) == (
        2,
        "error: --add-noqa cannot be combined with --add-ignore: run one after the other\n",
    )
