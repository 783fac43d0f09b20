from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import unquote
from xml.etree import ElementTree as ET

import pytest

from inplace_lint.report.reporters import REPORTERS


def test_what_cannot_be_read_is_one_line_each_and_the_rest_is_checked(lint, folder, buggy):
    (folder / "bad.py").write_text(buggy)
    (folder / "latin.py").write_bytes(b"import torch\nx = '\xe9'\n")
    (folder / "binary.py").write_bytes(b"\x7fELF\0\0torch\0")
    (folder / "cookie.py").write_bytes(b"# coding: latin-1\nimport torch\nx = '\xe9'\n")
    (folder / "unmentioned.py").write_bytes(b"x = '\xe9'\n")
    (folder / "empty.py").write_bytes(b"")
    (folder / "gone.py").symlink_to(folder / "nowhere.py")
    ran = lint("--output-format", "concise", ".", "missing.py", "unmentioned.py")
    assert ran.status == 2
    assert ran.err.splitlines() == [
        "binary.py: contains null bytes: not Python source",
        "gone.py: broken link",
        "latin.py: not valid utf-8 (byte 0xe9 in line 2): add a coding cookie or convert it",
        "missing.py: no such file or directory",
    ]
    assert ran.out.startswith("bad.py:5:1: error[IPL101] ")
    assert "\nFound 1 error in 1 file; 4 files could not be checked.\n" in ran.out


def test_a_syntax_error_is_a_finding_in_files_that_mention_a_framework(lint, folder):
    (folder / "a.py").write_text("import torch\nx = (1,\n")
    (folder / "b.py").write_text("x = (1,\n")
    ran = lint("--output-format", "concise", ".")
    assert ran.status == 1
    assert re.fullmatch(r"a\.py:2:\d+: error\[IPL902\] .+\nFound 1 error in 1 file\.\n", ran.out)
    assert lint("--ignore", "invalid-syntax", ".").status == 0


def test_two_thousand_nested_parentheses_end_nothing(lint, folder, buggy):
    (folder / "deep.py").write_text("import torch\nx = " + "(" * 2000 + "1" + ")" * 2000 + "\n")
    (folder / "bad.py").write_text(buggy)
    ran = lint("--output-format", "concise", ".")
    assert "bad.py:5:1: error[IPL101] " in ran.out
    assert "deep.py:2:" in ran.out
    assert "internal error" not in ran.err


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("x = " + "-" * 5000 + "1\n", id="unary"),
        pytest.param("x = a" + ".b" * 5000 + "\n", id="attributes"),
        pytest.param("x = 1" + " + 1" * 20_000 + "\n", id="sums"),
        pytest.param("if a:\n    pass\n" + "elif a:\n    pass\n" * 3000, id="elifs"),
        pytest.param("".join("    " * depth + "if a:\n" for depth in range(95)) + "    " * 95 + "pass\n", id="ifs"),
        pytest.param("x = [" + "[1], " * 50_000 + "]\n", id="long-list"),
    ],
)
def test_deep_code_ends_neither_the_run_nor_the_other_files(lint, folder, buggy, text):
    (folder / "deep.py").write_text("import torch\n" + text)
    (folder / "bad.py").write_text(buggy)
    ran = lint("--output-format", "concise", "-j", "2", ".")
    assert "bad.py:5:1: error[IPL101] " in ran.out
    assert ran.status in {1, 2}
    assert "internal error" not in ran.err
    assert "was killed" not in ran.err


def test_names_that_many_statements_bind_and_delete_again_take_no_exponential_time(lint, folder, buggy):
    names = [f"n{number}" for number in range(12)]
    loops = [
        f"for {name} in dir(torch):\n" + "".join(f"    {name}.x = {other}\n" for other in names) + f"del {name}\n"
        for name in names
    ]
    (folder / "a.py").write_text(buggy + "".join(loops))
    assert "a.py:5:1: error[IPL101] " in lint("--output-format", "concise", "--no-cache", ".").out


def test_statements_of_modules_have_a_limit_in_all(lint, folder):
    inner = "def inner(x):\n" + "    x = x + 1\n" * 30 + "    return x\n"
    outer = "def outer(x):\n" + "    x = inner(x)\n" * 30 + "    return x\n"
    names = [f"a{number}" for number in range(40)]
    statements = "".join(f"{name} = outer(torch.ones(1))\n" for name in names)
    root = f"def f(x):\n    y = x.exp()\n    y += 1\n    return y, {', '.join(names)}\n"
    (folder / "a.py").write_text("import torch\n" + inner + outer + statements + root)
    ran = lint("--statistics", "--no-cache", "--assume", "grad", ".")
    assert "entry points: 1, cut short by imports: 1\n" in ran.out
    assert "warning[IPL101]" in ran.out


@pytest.mark.slow
def test_a_file_of_fifty_thousand_lines_is_checked(lint, folder, buggy):
    generated = "".join(f"def f{number}(x):\n    return x + {number}\n" for number in range(25_000))
    (folder / "generated.py").write_text(generated + buggy)
    started = time.monotonic()
    ran = lint("--output-format", "concise", "--no-cache", ".")
    assert ran.out.startswith("generated.py:50005:1: error[IPL101] ")
    assert time.monotonic() - started < 120


def test_a_byte_order_mark_shifts_no_column(lint, folder, buggy):
    (folder / "a.py").write_bytes(b"\xef\xbb\xbf" + buggy.replace("\n", "\r\n").encode())
    assert "a.py:5:1: error[IPL101]" in lint("--output-format", "concise", ".").out


def test_columns_count_code_points(lint, folder, buggy):
    (folder / "中文.py").write_text(buggy.replace("y.add_(1)", "s = '中文é'; y.add_(1)"), encoding="utf-8")
    assert "中文.py:5:12: error[IPL101]" in lint("--output-format", "concise", ".").out


def test_a_locale_without_unicode_ends_nothing(lint, folder, buggy):
    (folder / "a.py").write_text(buggy.replace("y.add_(1)", "s = '中文é'; y.add_(1)"), encoding="utf-8")
    ran = lint(".", PYTHONIOENCODING="ascii", LC_ALL="C")
    assert ran.status == 1
    assert "\\u4e2d" in ran.out


def test_results_are_the_same_in_any_number_of_processes_and_from_the_cache(lint, folder, buggy, clean):
    for number in range(30):
        padding = f"# {'x' * 3000}\n" * (number % 4)
        (folder / f"m{number:02}.py").write_text((buggy if number % 3 else clean) + padding)
    one = lint("--no-cache", "-j", "1", "--output-format", "json", ".")
    assert one.out.count('"IPL101"') == 20
    assert lint("--no-cache", "-j", "3", "--output-format", "json", ".") == one
    assert not (folder / ".inplace_lint_cache").exists()
    for _ in range(2):
        assert lint("-j", "2", "--output-format", "json", ".") == one
    assert "files taken from the cache: 30\n" in lint("--statistics", ".").out


def test_a_changed_file_is_checked_again(lint, folder, buggy, clean):
    (folder / "a.py").write_text(clean)
    assert lint(".").status == 0
    (folder / "a.py").write_text(buggy)
    assert lint(".").status == 1


def test_a_damaged_cache_is_ignored(lint, folder, buggy):
    (folder / "a.py").write_text(buggy)
    first = lint(".")
    (folder / ".inplace_lint_cache" / "results.sqlite").write_bytes(b"{broken")
    assert lint(".") == first
    assert "files taken from the cache: 1\n" in lint("--statistics", ".").out


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_an_interrupt_ends_with_130_and_leaves_no_process(folder, buggy):
    functions = "".join(f"def f{at}(x):\n    x = x.exp()\n    x += {at}\n    return x\n\n\n" for at in range(2000))
    for number in range(40):
        (folder / f"m{number}.py").write_text(buggy + functions)
    root = str(Path(__file__).resolve().parents[2])
    process = subprocess.Popen(
        [sys.executable, "-m", "inplace_lint", "--no-cache", "-j", "2", "."],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": root},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    while process.poll() is None and len(children.read_text().split()) < 2:
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does for Ctrl-C: to all processes at once
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err.decode().strip()) == (130, "interrupted")
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)


def test_a_syntax_error_is_reported_in_the_words_of_python_at_the_place_that_it_names(lint, folder):
    (folder / "a.py").write_text("import torch\nx = (\n\ndef f(): pass\n")
    assert lint("--output-format=concise", ".").out.startswith("a.py:2:5: error[IPL902] '(' was never closed\n")


@pytest.mark.parametrize("feeds", ["\f", "\f\f"])
def test_form_feeds_before_a_statement_shift_no_column_and_no_fix(lint, folder, buggy, feeds):
    text = buggy.replace("y.add_", f"{feeds}y.add_")
    (folder / "a.py").write_text(text)
    assert lint("--output-format=concise", ".").out.startswith(f"a.py:5:{1 + len(feeds)}: error[IPL101]")
    assert lint("--fix", ".").status == 0
    assert (folder / "a.py").read_text() == text.replace("y.add_(1)", "y = y.add(1)")


ODD = ("with space.py", "co:lon.py", "com,ma;.py", "per%cent.py", "br]acket.py", "#hash?.py", "<a>&'b'.py", "网.py")
CONTROL = "new\nline\x1b[31m.py"


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such names")
@pytest.mark.parametrize("form", REPORTERS)
def test_odd_names_of_files_come_through_in_every_format(lint, folder, buggy, form):
    for name in (*ODD, CONTROL):
        (folder / name).write_text(buggy)
    ran = lint("--output-format", form, ".")
    assert (ran.status, ran.err) == (1, "")
    assert set(named_in(form, ran.out)) >= {*ODD}
    if form in {"full", "concise", "grouped", "pylint"}:
        assert "\x1b" not in ran.out
        assert ran.out.count("new\\nline\\x1b[31m.py:") == 1


def named_in(form: str, out: str) -> list[str]:
    """Return the file of each finding as a reader of the format has it."""
    match form:
        case "json":
            return [Path(row["filename"]).name for row in json.loads(out)]
        case "json-lines":
            return [Path(json.loads(line)["filename"]).name for line in out.splitlines()]
        case "sarif":
            places = [one["locations"][0]["physicalLocation"] for one in json.loads(out)["runs"][0]["results"]]
            return [unquote(place["artifactLocation"]["uri"]) for place in places]
        case "gitlab":
            return [row["location"]["path"] for row in json.loads(out)]
        case "rdjson":
            return [row["location"]["path"] for row in json.loads(out)["diagnostics"]]
        case "junit":
            return [suite.get("name", "") for suite in ET.fromstring(out)]
        case "github":
            found = re.findall(r"file=([^,]*),", out)
            return [name.replace("%2C", ",").replace("%3A", ":").replace("%25", "%") for name in found]
        case "azure":
            found = re.findall(r"sourcepath=([^;]*);", out)
            return [name.replace("%3B", ";").replace("%5D", "]").replace("%AZP25", "%") for name in found]
        case _:
            return [line.strip().removeprefix("--> ").partition(".py:")[0] + ".py" for line in out.splitlines()]


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such names")
def test_a_name_that_is_no_unicode_ends_nothing(lint, folder, buggy):
    Path(os.fsdecode(os.fsencode(folder) + b"/bad\xff.py")).write_text(buggy)
    for form in REPORTERS:
        ran = lint("--output-format", form, ".")
        assert (ran.status, ran.err, "IPL101" in ran.out or form == "gitlab") == (1, "", True), form
    for words in (("--write-baseline", "known.json"), ("--baseline", "known.json"), ("--fix",)):
        ran = lint(*words, ".")
        assert (ran.status, ran.err) == (0, ""), words


def test_a_module_whose_forward_is_itself_is_analyzed_to_the_end(lint, folder):
    (folder / "a.py").write_text(
        "import torch\n\n\nclass Net(torch.nn.Module):\n    def forward(self, x):\n        y = x.exp()\n"
        "        y += 1\n        return y\n\n\nnet = Net()\nnet.forward = torch.compile(net)\n"
        "net(torch.ones(2, requires_grad=True)).sum().backward()\n"
    )
    ran = lint("--no-cache", "--output-format", "concise", "a.py")
    assert ran.status == 1
    assert ran.out.startswith("a.py:7:9: error[IPL101] ")
