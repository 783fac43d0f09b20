"""The options of `check` that change files, in processes of their own."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from inplace_lint.fix.apply import store
from inplace_lint.fix.apply.store import write
from inplace_lint.workspace import files

BUGGY = """\
import torch

x = torch.ones(3, requires_grad=True)
y = x.exp()
y.add_(1)
y.sum().backward()
"""
FIXED = BUGGY.replace("y.add_(1)", "y = y.add(1)")
UNSAFE = "import torch\n\nw = torch.ones(3, requires_grad=True)\nw += 1\n"
UNSAFELY_FIXED = UNSAFE.replace("w += 1", "with torch.no_grad():\n    w += 1")
ORDER = """\
import torch

w = torch.ones(3, requires_grad=True)
y = w.exp()
opt = torch.optim.SGD([w], 0.1)
z = w * w
w.grad = torch.ones(3)
opt.step()
z.sum().backward()
"""


def test_fix_writes_the_file_and_reports_what_remains(lint, folder):
    (folder / "a.py").write_text(BUGGY + "\n" + UNSAFE)
    ran = lint("a.py", "--fix", "--output-format", "concise")
    assert (folder / "a.py").read_text() == FIXED + "\n" + UNSAFE
    assert ran.status == 1
    lines = ran.out.splitlines()
    assert lines[0].startswith("a.py:11:1: error[IPL201] ")
    assert lines[1:] == [
        "Found 2 errors (1 fixed, 1 remaining).",
        "No fixes available (1 hidden fix can be enabled with the `--unsafe-fixes` option).",
    ]


def test_everything_fixed_ends_with_status_0(lint, folder):
    (folder / "a.py").write_text(BUGGY)
    ran = lint("--fix", ".")
    assert (ran.status, ran.out, ran.err) == (0, "Found 1 error (1 fixed, 0 remaining).\n", "")
    assert lint("--fix", ".").out == "All checks passed!\n"


def test_unsafe_fixes_are_asked_for(lint, folder):
    (folder / "a.py").write_text(UNSAFE)
    assert lint("--fix", ".").status == 1
    assert (folder / "a.py").read_text() == UNSAFE
    assert lint("--fix", "--unsafe-fixes", ".").status == 0
    assert (folder / "a.py").read_text() == UNSAFELY_FIXED


def test_without_fix_nothing_is_written_but_told(lint, folder):
    (folder / "a.py").write_text(BUGGY)
    (folder / "b.py").write_text(UNSAFE)
    ran = lint(".", "--output-format", "concise")
    assert ran.out.splitlines()[0].startswith("a.py:5:1: error[IPL101] [*] `y`")
    assert ran.out.splitlines()[1].startswith("b.py:4:1: error[IPL201] `w`")
    assert ran.out.splitlines()[-1] == (
        "[*] 1 fixable with the `--fix` option (1 hidden fix can be enabled with the `--unsafe-fixes` option)."
    )
    ran = lint(".", "--unsafe-fixes", "--output-format", "grouped")
    assert ran.out.splitlines()[-1] == "[*] 2 fixable with the `--fix` option."
    assert ran.out.count(" [*] `") == 2
    assert (folder / "a.py").read_text() == BUGGY


def test_diff_shows_and_changes_nothing(lint, folder):
    (folder / "a.py").write_text(BUGGY)
    (folder / "b.py").write_text(UNSAFE)
    ran = lint("--diff", ".")
    assert ran.status == 1
    assert ran.out.splitlines()[:2] == ["--- a.py", "+++ a.py"]
    assert [line for line in ran.out.splitlines()[2:] if line[0] in "+-"] == ["-y.add_(1)", "+y = y.add(1)"]
    assert ran.err == "Would fix 1 finding.\n"
    assert (folder / "a.py").read_text() == BUGGY
    (folder / "a.py").unlink()
    ran = lint("--diff", ".")
    hidden = "No fixes available (1 hidden fix can be enabled with the `--unsafe-fixes` option).\n"
    assert (ran.status, ran.out, ran.err) == (0, "", hidden)
    (folder / "b.py").write_text("x = 1\n")
    assert lint("--diff", ".").err == "Nothing would be fixed.\n"


def test_fix_only_says_nothing_of_what_remains(lint, folder):
    (folder / "a.py").write_text(BUGGY + ORDER)
    ran = lint("--fix-only", ".")
    assert (ran.status, ran.out) == (0, "")
    assert (folder / "a.py").read_text() == FIXED + ORDER


def test_show_fixes_lists_them_by_file(lint, folder):
    (folder / "a.py").write_text(BUGGY)
    (folder / "b.py").write_text(BUGGY + UNSAFE)
    ran = lint("--fix", "--show-fixes", ".", "--unsafe-fixes")
    assert ran.out == (
        "Fixed 3 findings:\n- a.py:\n    1 × IPL101 (modified-after-save)\n"
        "- b.py:\n    1 × IPL101 (modified-after-save)\n    1 × IPL201 (leaf-write)\n\n"
        "Found 3 errors (3 fixed, 0 remaining).\n"
    )


def test_show_fixes_tells_what_was_taken_back(lint, folder):
    source = "import torch\n\nrow = torch.arange(12.0).view(3, 4)\nrow.unsqueeze(1).sub_(row.unsqueeze(2))\n"
    (folder / "a.py").write_text(source)
    ran = lint("--fix", "--unsafe-fixes", "--show-fixes", ".")
    assert ran.err.startswith("a.py:4:1: the fix of IPL206 was not applied: it would cause IPL207")
    assert (folder / "a.py").read_text() == source
    assert "fixable" not in ran.out


def test_options_stand_in_the_configuration(lint, folder):
    (folder / "pyproject.toml").write_text("[tool.inplace-lint]\nfix = true\nunsafe-fixes = true\nshow-fixes = true\n")
    (folder / "a.py").write_text(UNSAFE)
    assert lint("--no-fix", ".").status == 1
    assert lint("--no-unsafe-fixes", ".").status == 1
    assert (folder / "a.py").read_text() == UNSAFE
    assert lint(".").out.startswith("Fixed 1 finding:\n")
    assert (folder / "a.py").read_text() == UNSAFELY_FIXED


def test_standard_input_is_printed_fixed(lint, folder):
    ran = lint("--fix", "-", stdin=(BUGGY + UNSAFE).encode())
    assert ran.out == FIXED + UNSAFE
    assert "error[IPL201]" in ran.err
    assert ran.status == 1
    assert lint("--fix", "-", stdin=b"x = 1\n").out == "x = 1\n"
    assert lint("--diff", "-", stdin=BUGGY.encode()).out.startswith("--- -\n+++ -\n")


def test_what_a_comment_silences_is_not_fixed(lint, folder):
    text = BUGGY.replace("y.add_(1)", "y.add_(1)  # noqa: IPL101")
    (folder / "a.py").write_text(text)
    assert lint("--fix", "--unsafe-fixes", ".").status == 0
    assert (folder / "a.py").read_text() == text


def test_a_rule_that_was_not_selected_is_not_fixed(lint, folder):
    (folder / "a.py").write_text(BUGGY)
    assert lint("--fix", "--ignore", "IPL101", ".").status == 0
    assert (folder / "a.py").read_text() == BUGGY


NET = """\
import torch
from torch import nn
from blocks import act


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.act = act()

    def forward(self, x):
        h = torch.sigmoid(self.fc(x))
        h = self.act(h)
        return h
"""
BLOCKS = "from torch import nn\n\n\ndef act():\n    return nn.ReLU(inplace=True)\n"


def test_a_flag_in_another_file_is_turned_off_there(lint, folder):
    (folder / "net.py").write_text(NET)
    (folder / "blocks.py").write_text(BLOCKS)
    ran = lint("--fix", ".")
    assert ran.out == "Found 1 error (1 fixed, 0 remaining).\n"
    assert (folder / "blocks.py").read_text() == BLOCKS.replace("True", "False")
    assert (folder / "net.py").read_text() == NET


def test_a_file_that_was_not_named_is_left_alone(lint, folder):
    (folder / "net.py").write_text(NET)
    (folder / "blocks.py").write_text(BLOCKS)
    assert lint("--fix", "net.py").status == 1
    assert (folder / "blocks.py").read_text() == BLOCKS


CODES = {
    "crlf": BUGGY.replace("\n", "\r\n").encode(),
    "mixed": BUGGY.replace("\n", "\r\n", 3).encode(),
    "no end": BUGGY.rstrip("\n").encode(),
    "bom": b"\xef\xbb\xbf" + BUGGY.encode(),
    "latin-1": b"# -*- coding: latin-1 -*-\n# caf\xe9\n" + BUGGY.encode() + b"name = '\xfc'\n",
    "shift_jis": b"# coding: shift_jis\n# \x93\xfa\x96{\x8c\xea\n" + BUGGY.encode() + b"name = '\x83\\'\n",
    "utf-8": ("# héé 漢字 \U0001f600\n" + BUGGY + "name = 'é'\n").encode(),
    "tabs": b"import torch\n\ndef f():\n\tx = torch.ones(3, requires_grad=True)\n\ty = x.exp()\n\ty[0] = 1\n"
    b"\treturn y\n\t\n",
    "form feed": BUGGY.replace("y = x", "\f\ny = x").encode(),
    "spaces at ends": BUGGY.replace("y.add_(1)", "y.add_(1)   # why \t").encode(),
    "crlf in a block": b"import torch\r\n\r\nw = torch.ones(3, requires_grad=True)\r\nw += 1\r\n",
}


@pytest.mark.parametrize("data", [pytest.param(data, id=name) for name, data in CODES.items()])
def test_every_other_byte_stays_and_the_diff_is_what_patch_makes_of_it(lint, folder, data):
    (folder / "a.py").write_bytes(data)
    shutil.copy(folder / "a.py", folder / "b.py.txt")
    shown = subprocess.run(
        [sys.executable, "-m", "inplace_lint", "a.py", "--diff", "--unsafe-fixes"], cwd=folder, capture_output=True,
        check=False, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip
    assert shown.returncode == 1
    assert lint("--fix", "--unsafe-fixes", "a.py").status == 0
    new = (folder / "a.py").read_bytes()
    old_lines, new_lines = data.split(b"\n"), new.split(b"\n")
    kept = [line for line in new_lines if line in old_lines]
    assert len(new_lines) - len(kept) in {1, 2}
    assert [line for line in old_lines if line in new_lines] == kept
    end = b"\r\n" if b"crlf" in data or data.count(b"\r\n") == data.count(b"\n") else b"\n"
    assert new.count(end) >= data.count(end)
    subprocess.run(["patch", "--binary", "b.py.txt"], cwd=folder, input=shown.stdout, check=True, capture_output=True)
    assert (folder / "b.py.txt").read_bytes() == new


def test_a_link_stays_a_link_and_rights_stay(lint, folder):
    (folder / "real").mkdir()
    target = folder / "real" / "code.py"
    target.write_text(BUGGY)
    target.chmod(0o750)
    (folder / "a.py").symlink_to(target)
    assert lint("--fix", "a.py").status == 0
    assert (folder / "a.py").is_symlink()
    assert target.read_text() == FIXED
    assert stat.S_IMODE(target.stat().st_mode) == 0o750
    assert [path.name for path in target.parent.iterdir()] == ["code.py"]


def test_a_read_only_file_is_told_of_and_left_alone(lint, folder, monkeypatch):
    (folder / "a.py").write_text(BUGGY)
    monkeypatch.setattr(files.os, "access", lambda *_: False)  # root may write everything
    assert store.write(folder / "a.py", BUGGY.encode(), b"new") == "is read-only; nothing was written"
    assert (folder / "a.py").read_text() == BUGGY


@pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() == 0, reason="root writes everything")
def test_a_read_only_file_ends_with_status_2(lint, folder):
    (folder / "a.py").write_text(BUGGY)
    (folder / "a.py").chmod(0o444)
    ran = lint("--fix", "a.py")
    assert (ran.status, ran.err) == (2, "a.py: is read-only; nothing was written\n")
    assert (folder / "a.py").read_text() == BUGGY


def test_a_file_that_changed_meanwhile_is_left_alone(folder):
    (folder / "a.py").write_text("theirs")
    assert write(folder / "a.py", b"old", b"new") == "changed while it was checked; nothing was written"
    assert write(folder / "gone.py", b"old", b"new").endswith("; nothing was written")
    assert (folder / "a.py").read_text() == "theirs"
    assert sorted(path.name for path in folder.iterdir()) == ["a.py", "pyproject.toml"]


def test_what_could_not_be_written_ends_with_status_2(lint, folder):
    """A folder in which no file can be made, as far as the system lets root feel it: the name is too long for two."""
    name = "a" * 245 + ".py"
    (folder / name).write_text(BUGGY)
    ran = lint("--fix", ".")
    assert ran.status == 2
    assert ran.err == f"{name}: file name too long; nothing was written\n"
    assert (folder / name).read_text() == BUGGY


def notebook(*cells: str, **form) -> str:
    rows = [
        {"cell_type": "markdown", "metadata": {"b": 1, "a": 2}, "source": ["# y.add_(1)\n", "é"]},
        *(
            {"cell_type": "code", "execution_count": 3, "metadata": {}, "outputs": [{"data": 1.50}], "source": source}
            for source in cells
        ),
    ]
    whole = {
        "cells": rows,
        "metadata": {"language_info": {"name": "python"}, "x": 1e5},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(whole, **form) + "\n"


@pytest.mark.parametrize("form", [{"indent": 1}, {"indent": 1, "ensure_ascii": False}, {}, {"indent": "\t"}])
@pytest.mark.parametrize("listed", [True, False])
def test_only_the_changed_lines_of_a_notebook_change(lint, folder, form, listed):
    first = "import torch\n%matplotlib inline\nx = torch.ones(3, requires_grad=True)\ny = x.exp()"
    second = "!ls\ny.add_(1)  # é\ny.sum().backward()"
    third = "with torch.no_grad():\n    x.copy_(y)"

    def cell(text: str):
        return text.splitlines(keepends=True) if listed else text

    before = notebook(cell(first), cell(second), cell(third), **form)
    after = notebook(cell(first), cell(second.replace("y.add_(1)", "y = y.add(1)")), cell(third), **form)
    (folder / "a.ipynb").write_text(before, encoding="utf-8")
    assert lint("--diff", ".").out.splitlines() == [
        *("--- a.ipynb: cell 3", "+++ a.ipynb: cell 3", "@@ -1,3 +1,3 @@", " !ls"),
        *("-y.add_(1)  # é", "+y = y.add(1)  # é", " y.sum().backward()", "\\ No newline at end of file"),
    ]
    assert (folder / "a.ipynb").read_text(encoding="utf-8") == before
    ran = lint("--fix", "a.ipynb")
    assert (ran.status, ran.out) == (0, "Found 1 error (1 fixed, 0 remaining).\n")
    assert (folder / "a.ipynb").read_text(encoding="utf-8") == after


def test_a_line_more_in_a_cell_is_an_item_more(lint, folder):
    code = [
        "import torch\n",
        "x = torch.ones(3, requires_grad=True)\n",
        "y = x.exp()\n",
        "y[0] = 1\n",
        "y.sum().backward()",
    ]
    (folder / "a.ipynb").write_text(notebook(code, indent=1), encoding="utf-8")
    assert lint("--fix", "a.ipynb").status == 0
    assert (folder / "a.ipynb").read_text(encoding="utf-8") == notebook(
        [*code[:3], "y = y.clone()\n", *code[3:]], indent=1
    )


def rows(ran) -> list:
    return json.loads(ran.out)


def test_formats_carry_the_edits(lint, folder):
    (folder / "a.py").write_text(BUGGY)
    fix = rows(lint("a.py", "--output-format", "json"))[0]["fix"]
    assert fix == {
        "applicability": "safe",
        "message": "use `y = y.add(1)`",
        "edits": [
            {"content": "y = ", "location": {"row": 5, "column": 1}, "end_location": {"row": 5, "column": 1}},
            {"content": "add", "location": {"row": 5, "column": 3}, "end_location": {"row": 5, "column": 7}},
        ],
    }
    sarif = rows(lint("a.py", "--output-format", "sarif"))
    (change,) = sarif["runs"][0]["results"][0]["fixes"][0]["artifactChanges"]
    assert change["artifactLocation"] == {"uri": "a.py", "uriBaseId": "SRCROOT"}
    assert [item["insertedContent"]["text"] for item in change["replacements"]] == ["y = ", "add"]
    assert change["replacements"][1]["deletedRegion"] == {
        "startLine": 5,
        "startColumn": 3,
        "endLine": 5,
        "endColumn": 7,
    }
    (diagnostic,) = rows(lint("a.py", "--output-format", "rdjson"))["diagnostics"]
    assert [item["text"] for item in diagnostic["suggestions"]] == ["y = ", "add"]
    assert diagnostic["suggestions"][1]["range"] == {
        "start": {"line": 5, "column": 3},
        "end": {"line": 5, "column": 7},
    }


def test_the_cache_keeps_fixes(lint, folder):
    (folder / "a.py").write_text(BUGGY)
    first = lint("a.py", "--output-format", "json")
    assert lint("a.py", "--output-format", "json") == first
    assert "files taken from the cache: 1" in lint("a.py", "--statistics").out
    assert lint("--fix", "a.py").status == 0
    assert (folder / "a.py").read_text() == FIXED


def test_a_run_without_findings_imports_no_fixes(folder):
    (folder / "a.py").write_text("import torch\n\nx = torch.ones(3)\n")
    code = (
        "import sys\nfrom inplace_lint.cli.main import main\nmain(['a.py', '--no-cache'])\n"
        "print([name for name in sys.modules if name.startswith('inplace_lint.fix')])"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2])},
    )  # fmt: skip
    assert ran.stdout.splitlines()[-1] == "[]"
