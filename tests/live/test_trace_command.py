"""`trace` leaves a program as it is: arguments, folder, streams, how it ends."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

PLAIN = """\
    import json, os, sys
    print(json.dumps([sys.argv, sys.path[0], __name__, __file__, os.getcwd(), sys.stdin.read()]))
    print("to stderr", file=sys.stderr)
    """

FULL = """\
error[IPL101] modified-after-save: `y` is overwritten, but backward of `sigmoid` needs its old value
 --> program.py:5:1
  |
4 | y = x.sigmoid()
  |     ----------- saved here: sigmoid keeps its output for backward
5 | y += 1
  | ^^^^^^ written here
  |
  = help: use `y = y + 1`
  = torch says: one of the variables needed for gradient computation has been modified by an inplace operation

Found 1 error in 1 file.
"""
HIDING = """\
import sys


class Hiding:
    @staticmethod
    def find_spec(name, *_):
        if name == "paddle":
            raise ModuleNotFoundError(name, name=name)


sys.meta_path.insert(0, Hiding)
"""


def test_a_program_sees_what_it_would_see_without_us(tracer):
    tracer.write(PLAIN)
    words = ("program.py", "--color", "-m", "a b")
    traced = tracer.command(*words, stdin="hello")
    alone = subprocess.run(
        [sys.executable, *words], cwd=tracer.folder, input="hello", capture_output=True, text=True, check=True
    )
    assert traced.returncode == 0
    assert json.loads(traced.stdout) == json.loads(alone.stdout)
    assert traced.stderr.splitlines()[0] == "to stderr"
    assert "nothing was watched" in traced.stderr


def test_a_module_sees_what_it_would_see_without_us(tracer):
    (tracer.folder / "package").mkdir()
    tracer.write(PLAIN, "package/__main__.py")
    traced = tracer.command("-m", "package", "--python", "x", stdin="hello")
    alone = subprocess.run(
        [sys.executable, "-m", "package", "--python", "x"],
        cwd=tracer.folder,
        input="hello",
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(traced.stdout) == json.loads(alone.stdout)


def test_a_folder_with_a_main_is_a_program(tracer):
    (tracer.folder / "package").mkdir()
    tracer.write("print(__name__)\n", "package/__main__.py")
    assert tracer.command("package").stdout == "__main__\n"


@pytest.mark.parametrize(
    ("ending", "status"),
    [
        ("sys.exit(7)", 7),
        ("sys.exit('words')", 1),
        ("os._exit(3)", 3),
        ("os.kill(os.getpid(), signal.SIGKILL)", 128 + signal.SIGKILL),
        ("os.kill(os.getpid(), signal.SIGINT)", 128 + signal.SIGINT),
    ],
)
def test_the_exit_status_is_that_of_the_program(tracer, ending, status):
    tracer.write(f"import os, signal, sys\n{ending}\n")
    assert tracer.command("program.py").returncode == status


def test_an_error_has_the_traceback_that_it_has_without_us(tracer):
    tracer.write("def f():\n    raise ValueError('no')\n\n\ndef g():\n    f()\n\n\ng()\n")
    traced = tracer.command("program.py")
    alone = subprocess.run(
        [sys.executable, "program.py"], cwd=tracer.folder, capture_output=True, text=True, check=False
    )
    assert traced.returncode == alone.returncode == 1
    assert traced.stderr.startswith(alone.stderr)


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("missing.py",), "missing.py: no such file"),
        (("-m", "missing"), "no module named 'missing'"),
        (("--python", "missing", "program.py"), "missing: no such interpreter"),
        (("--python", "program.py", "program.py"), "program.py: no such interpreter"),
        (("--pyton", "x", "program.py"), "no such option '--pyton', did you mean '--python'?"),
    ],
)
def test_what_cannot_be_run_is_reported_in_one_line(tracer, words, reason):
    tracer.write("")
    done = tracer.command(*words)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"error: {reason}\n")


def test_an_interpreter_without_the_framework_is_named(tracer):
    tracer.write("import paddle\n")
    (tracer.folder / "sitecustomize.py").write_text(HIDING)
    done = tracer.command("program.py", PYTHONPATH=f"{tracer.folder}:{Path(__file__).resolve().parents[2]}")
    assert done.returncode == 2
    assert "has no paddle: --python names another interpreter" in done.stderr.splitlines()[-1]


def test_a_framework_that_is_too_old_is_named_and_the_program_runs(tracer):
    (tracer.folder / "torch").mkdir()
    tracer.write("__version__ = '1.0'\n", "torch/__init__.py")
    tracer.write("import torch\nprint('ran', torch.__spec__.loader.__class__.__name__)\n")
    done = tracer.command("program.py")
    assert (done.returncode, done.stdout) == (2, "ran SourceFileLoader\n")
    assert done.stderr == "error: torch 1.0 cannot be watched: it is too old\n"


def test_the_configuration_names_the_interpreter(tracer):
    tracer.write("import sys\nprint(sys.executable)\n")
    tracer.write("python = 'nowhere/bin/python'\n", "inplace-lint.toml")
    assert tracer.command("program.py").stderr == "error: nowhere/bin/python: no such interpreter\n"
    tracer.write(f"python = {sys.executable!r}\n", "inplace-lint.toml")
    assert tracer.command("program.py", VIRTUAL_ENV="").stdout == f"{sys.executable}\n"
    tracer.write("python = 3\n", "inplace-lint.toml")
    assert "'python' must be a string" in tracer.command("program.py").stderr


def test_the_findings_stand_on_stderr_and_nothing_else_is_on_stdout(tracer):
    tracer.write(
        """\
        import torch

        x = torch.rand(3, requires_grad=True)
        y = x.sigmoid()
        y += 1
        y.sum().backward()
        print("went on")
        """
    )
    done = tracer.command("program.py")
    assert (done.returncode, done.stdout) == (0, "went on\n")
    assert done.stderr == FULL


def test_an_interpreter_that_tells_no_columns_gives_the_same_findings(tracer):
    tracer.write(
        """\
        import torch
        from torch import nn

        net = nn.Sequential(nn.Linear(3, 3), nn.Sigmoid(), nn.ReLU(inplace=True))
        x = torch.rand(3, requires_grad=True)
        y = x.sigmoid()
        y += 1
        z = x.exp()
        z[0] = 1
        (y.sum() + z.sum() + net(x).sum()).backward()
        """
    )
    words = ("--output-format", "concise", "program.py")
    exact, lines = tracer.command(*words), tracer.command(*words, PYTHONNODEBUGRANGES="1")
    assert lines.stderr == exact.stderr
    assert [line.split(":")[1] for line in exact.stderr.splitlines()[:3]] == ["4", "7", "9"]


def test_an_error_that_ends_a_thread_is_reported(tracer):
    source = """\
        import threading
        import torch


        def work():
            leaf = torch.zeros(2, requires_grad=True)
            leaf += 1


        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        """
    done = tracer.warm(source, "--output-format", "concise")
    assert done.status == 0
    assert "program.py:7:5: error[IPL201]" in done.err


def test_comments_and_selection_suppress_what_a_run_found(tracer):
    tracer.write("ignore = ['IPL3']\n", "inplace-lint.toml")
    source = """\
        import torch

        x = torch.rand(3, requires_grad=True)
        found, commented, ignored = x.sigmoid(), x.sigmoid(), x.exp()
        found += 1
        commented += 1  # inplace-lint: ignore[IPL101] on purpose
        ignored.data.mul_(2)
        (found.sum() + commented.sum() + ignored.sum()).backward()
        """
    assert tracer.run(source).codes == [("IPL101", 5)]
