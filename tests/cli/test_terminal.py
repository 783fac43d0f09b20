"""What a real terminal shows: the output is typed into tmux, and the screen is read back cell by cell."""

from __future__ import annotations

import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
import uuid
from pathlib import Path

import pytest

from inplace_lint.cli import terminal
from inplace_lint.report.text_width import width_of

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = """\
import torch
import torch.nn.functional as F


class 残差(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(3, 8, 3, padding=1)

    def forward(self, 输入):
        特征 = F.relu(self.conv(输入))
        特征 += self.conv(输入)  # 残差连接：这里把激活函数保存的结果改写了
        return 特征.sum()
"""
needs_tmux = pytest.mark.skipif(shutil.which("tmux") is None, reason="needs tmux")


def screen(
    folder: Path,
    width: int,
    *words: str,
    seen: list[str] | None = None,
    after: str = "",
    interrupt: re.Pattern[str] | None = None,
    **environment: str,
) -> tuple[str, str]:
    """
    Run the command in a terminal of that width; return what it shows, as text and with its colours.

    Ctrl-C is pressed once it shows what matches `interrupt`.
    """
    name = f"lint{uuid.uuid4().hex}"
    tmux = ["tmux", "-L", name, "-u", "-f", os.devnull]
    given = {"PYTHONPATH": str(ROOT), "LC_ALL": "C.UTF-8", **environment}
    settings = " ".join(f"{key}={shlex.quote(value)}" for key, value in given.items())
    unset = "env -u NO_COLOR -u FORCE_COLOR -u COLUMNS -u LINES"
    command = f"{unset} {settings} {sys.executable} -m inplace_lint {shlex.join(words)} {after}"
    start = [*tmux, "new-session", "-d", "-x", str(width), "-y", "60", f"trap : INT; {command}; echo END; sleep 60"]
    subprocess.run(start, cwd=folder, check=True)
    try:
        deadline = time.monotonic() + 60
        while True:
            text = captured(tmux)
            if seen is not None:
                seen.append(text)
            if interrupt is not None and interrupt.search(text):
                subprocess.run([*tmux, "send-keys", "C-c"], check=True)
                interrupt = None
            if "END" in text:
                return text.partition("END")[0], captured(tmux, "-e").partition("END")[0]
            assert time.monotonic() < deadline, text
            time.sleep(0.1)
    finally:
        subprocess.run([*tmux, "kill-server"], check=False, capture_output=True)


def captured(tmux: list[str], *options: str) -> str:
    done = subprocess.run([*tmux, "capture-pane", "-p", *options], check=True, capture_output=True, encoding="utf-8")
    return done.stdout


@pytest.fixture
def model(folder):
    (folder / "网络.py").write_text(PROGRAM, encoding="utf-8")
    return folder


@needs_tmux
@pytest.mark.parametrize("width", [40, 80, 200])
def test_marks_stand_under_what_they_mark(model, width):
    text, _ = screen(model, width, "--no-cache", ".")
    lines = text.splitlines()
    assert lines[0].startswith("error[IPL101] [*] modified-after-save:")
    for source, mark in (("F.relu(", "saved here"), ("特征 += ", "written here")):
        at = next(number for number, line in enumerate(lines) if source in line)
        before = lines[at].partition(source)[0]
        below = lines[at + 1]
        sign = "^" if "written" in mark else "-"
        assert width_of(below.partition(sign)[0]) == width_of(before)
        assert any(mark in line for line in lines[at + 1 : at + 4])
    assert "Found 1 error in 1 file." in lines
    assert max(width_of(line) for line in lines) <= width


@needs_tmux
def test_a_narrow_terminal_breaks_lines_between_words_and_a_wide_one_does_not(model):
    narrow, _ = screen(model, 80, "--no-cache", ".")
    wide, _ = screen(model, 200, "--no-cache", ".")
    assert len(narrow.rstrip().splitlines()) > len(wide.rstrip().splitlines())
    assert " ".join(narrow.split()).count("backward of `relu` needs its old value") == 1
    assert "backward of `relu` needs its old value\n" in wide


@needs_tmux
@pytest.mark.parametrize("width", [40, 80])
def test_the_last_lines_break_between_words_too(folder, width):
    (folder / "a.py").write_text("import torch\n\nw = torch.ones(2, requires_grad=True)\nw += 1\n")
    text, _ = screen(folder, width, "--no-cache", ".")
    ending = text[text.index("Found") :].split("\n", 1)[1]
    assert len(ending.splitlines()) > 1
    assert " ".join(ending.split()).endswith("(1 hidden fix can be enabled with the `--unsafe-fixes` option).")


@needs_tmux
def test_colours_are_those_of_a_terminal_and_go_with_no_color(model):
    text, coloured = screen(model, 80, "--no-cache", ".")
    assert "\x1b[1m\x1b[31merror[IPL101]" in coloured
    plain, uncoloured = screen(model, 80, "--no-cache", ".", NO_COLOR="1")
    assert plain == text
    assert "\x1b[" not in uncoloured


@needs_tmux
def test_an_error_of_the_command_line_is_red_where_there_are_colours(model):
    text, coloured = screen(model, 80, "--slect", "x")
    assert text.rstrip() == "error: no such option '--slect', did you mean '--select'?"
    assert coloured.startswith("\x1b[1m\x1b[31merror: \x1b[0m")
    assert "\x1b[" not in screen(model, 80, "--slect", "x", NO_COLOR="1")[1]


@needs_tmux
@pytest.mark.parametrize("width", [40, 80, 200])
def test_chinese_keeps_to_the_width_and_its_marks_to_their_places(model, width):
    lines = screen(model, width, "--no-cache", "--lang", "zh", ".")[0].splitlines()
    at = next(number for number, line in enumerate(lines) if "F.relu(" in line)
    assert width_of(lines[at].partition("F.relu(")[0]) == width_of(lines[at + 1].partition("-")[0])
    assert any("在此保存" in line for line in lines[at + 1 : at + 4])
    assert "在 1 个文件中发现 1 个错误。" in lines
    assert max(map(width_of, lines)) <= width


LONG = ("--no-cache", "-j", "1", "--output-format=concise", "-o", "found.txt", ".")
BAR = re.compile(r"^[━╸╺]{24} +\d+%  \d+:\d\d left  m\d+\.py *$", re.MULTILINE)


@pytest.fixture
def many(model):
    for number in range(15):
        text = PROGRAM.replace("残差", f"残差{number}") + "".join(
            PROGRAM.partition("\n\n\n")[2].replace("残差", f"残{number}_{copy}") for copy in range(15)
        )
        (model / f"m{number}.py").write_text(text, encoding="utf-8")
    return model


@needs_tmux
def test_progress_is_shown_while_a_long_run_lasts_and_on_a_terminal_only(many):
    seen: list[str] = []
    text, _ = screen(many, 80, *LONG, seen=seen)
    assert any(BAR.search(shown) for shown in seen), seen
    assert text.strip() == ""
    redirected = screen(many, 80, *LONG, after="2> errors.txt")[0]
    assert (redirected.strip(), (many / "errors.txt").read_text()) == ("", "")


@needs_tmux
def test_progress_leaves_nothing_on_the_screen_of_an_interrupted_run(many):
    text, _ = screen(many, 80, *LONG, interrupt=BAR)
    assert text.split() == ["interrupted"]


@needs_tmux
def test_progress_leaves_nothing_on_the_screen(model):
    for number in range(3):
        (model / f"m{number}.py").write_text(PROGRAM.replace("残差", f"残差{number}"), encoding="utf-8")
    text, _ = screen(model, 80, "--no-cache", "--output-format=concise", ".")
    assert "left" not in text
    assert len([line for line in text.splitlines() if "IPL101" in line]) == 4


class Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("width", [20, 40, 80])
def test_a_bar_keeps_to_the_width_and_ends_with_the_end_of_the_path(monkeypatch, width):
    now = [0.0]
    monkeypatch.setattr(terminal.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(sys, "stderr", stream := Terminal())
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("NO_COLOR", "1")
    show = terminal.Progress()
    show("models/first.py", 100, 400)
    assert stream.getvalue() == ""
    now[0] = 30.0
    show("models/网络/a_rather_long_name_of_a_file.py", 100, 400)
    line = stream.getvalue().split("\r")[1]
    assert width_of(line) == width - 1
    assert " 50%  0:30 left" in line
    if width == 80:
        assert line.endswith("file.py")
        assert "..." in line
    show("models/third.py", 200, 400)
    assert stream.getvalue().split("\r")[-2].strip() == ""
    show("models/again.py", 100, 400)
    assert stream.getvalue().endswith("\r")
