"""A text on standard input gives what it gives at its path, with the files around it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

FIXTURES = Path(__file__).parents[2] / "fixtures"
FOLDERS = sorted(path.name for path in FIXTURES.iterdir() if path.is_dir() and any(path.rglob("*.py")))
FILES = sorted(path.name for path in FIXTURES.glob("*.py"))


def findings(ran) -> object:
    return json.loads(ran.out)


@pytest.mark.parametrize("name", FOLDERS)
def test_standard_input_gives_what_the_path_gives(name, lint, folder):
    shutil.copytree(FIXTURES / name, folder / name)
    words = ("--no-cache", "--output-format", "json")
    for path in sorted((folder / name).rglob("*.py")):
        shown = path.relative_to(folder).as_posix()
        given = lint(*words, "-", "--stdin-filename", shown, stdin=path.read_bytes())
        assert findings(given) == findings(lint(*words, shown)), shown


@pytest.mark.parametrize("name", FILES)
def test_standard_input_gives_what_the_path_of_a_single_file_gives(name, lint, folder):
    shutil.copy(FIXTURES / name, folder)
    words = ("--no-cache", "--output-format", "json")
    given = lint(*words, "-", "--stdin-filename", name, stdin=(FIXTURES / name).read_bytes())
    assert findings(given) == findings(lint(*words, name))


def test_callers_are_run_on_the_text_that_was_given(lint, folder):
    (folder / "act.py").write_text("import torch\n\ndef act(x):\n    return x\n")
    (folder / "main.py").write_text(
        "import torch\nfrom act import act\n\nw = torch.ones(3, requires_grad=True)\nact(w.exp()).sum().backward()\n"
    )
    edited = b"import torch\n\ndef act(x):\n    y = x.exp()\n    x.add_(1)\n    y.add_(1)\n    return y\n"
    ran = lint("--no-cache", "--output-format", "concise", "-", "--stdin-filename", "act.py", stdin=edited)
    assert "act.py:6:5: error[IPL101]" in ran.out
    assert lint("--no-cache", "act.py").out == "All checks passed!\n"
