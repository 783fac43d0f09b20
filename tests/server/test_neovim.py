"""The built-in client of a real Neovim: opens, edits, sees findings, applies a fix and saves."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.server.editor import ENVIRONMENT, FAULT

SCRIPT = Path(__file__).with_name("neovim.lua")


@pytest.mark.skipif(shutil.which("nvim") is None, reason="nvim is not installed")
def test_a_user_of_neovim_sees_and_fixes_a_finding(tmp_path):
    file = tmp_path / "a.py"
    file.write_text(FAULT, encoding="utf-8")
    (tmp_path / "pyproject.toml").write_text("")
    server = f"{sys.executable}\n-m\ninplace_lint\nserver"
    environment = {**ENVIRONMENT, "FILE": str(file), "SERVER": server, "HOME": str(tmp_path), "LC_ALL": "C.UTF-8"}
    words = ["nvim", "--headless", "-u", "NONE", "-i", "NONE", "-n", "-S", str(SCRIPT)]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    assert file.read_text(encoding="utf-8") == FAULT.replace("\ndef step", "\n# 😀\ndef step").replace(
        "    y += 1", "    s = '😀'; y = y + 1"
    )
