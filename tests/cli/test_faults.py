"""Failures around the tool end in one line that names them, and leave no file half written."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from inplace_lint.core.errors import UnreadableError
from inplace_lint.driver import crashes
from inplace_lint.workspace import files

ROOT = str(Path(__file__).resolve().parents[2])
ENVIRONMENT = {**os.environ, "PYTHONPATH": ROOT, "PYTHONIOENCODING": "utf-8"}
posix = pytest.mark.skipif(os.name == "nt", reason="needs a POSIX shell")
linux = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc, or writes to /dev/full")


def shell(folder: Path, line: str) -> tuple[int, str, str]:
    """Run a line of a shell, in which `lint` is the tool."""
    program = f'lint() {{ "{sys.executable}" -m inplace_lint "$@"; }}\n{line}'
    done = subprocess.run(
        ["bash", "-c", program], cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, timeout=120, check=False
    )
    return done.returncode, done.stdout, done.stderr


def limited(folder: Path, limit: str, *words: str) -> tuple[int, str, str]:
    """Run the tool under a limit of the shell: `-f 1` lets no file grow over 1,024 bytes, as a full disk would."""
    return shell(folder, f"ulimit {limit}; lint {' '.join(words)}")


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


@posix
@pytest.mark.parametrize(
    ("line", "status", "word"),
    [
        ("lint - <&-", 2, "error: standard input is closed\n"),
        ("lint explain <&-", 2, "error: standard input is closed\n"),
        ("lint a.py >&-", 2, "error: standard output is closed\n"),
        ("lint a.py -o found.txt <&- >&-", 1, ""),
        ("lint a.py 2>&-", 1, ""),
        ("mkdir gone; cd gone; rmdir ../gone; lint .", 2, "error: the working folder does not exist any more\n"),
        pytest.param(
            "lint a.py >/dev/full", 2, "error: standard output failed: no space left on device\n", marks=linux
        ),
        pytest.param(
            "lint a.py --diff >/dev/full", 2, "error: standard output failed: no space left on device\n", marks=linux
        ),
        pytest.param("lint a.py -o /dev/full", 2, "error: /dev/full: no space left on device\n", marks=linux),
        pytest.param("lint nowhere.py 2>/dev/full", 2, "", marks=linux),
    ],
)
def test_a_stream_or_folder_that_is_not_there_is_named_in_one_line(folder, buggy, line, status, word):
    (folder / "a.py").write_text(buggy)
    ran = shell(folder, line)
    assert (ran[0], ran[2]) == (status, word)


@posix
@pytest.mark.parametrize(
    "name", [".gitignore", "requirements.txt", "pyproject.toml", "inplace-lint.toml", "other.py", "m.py"]
)
def test_a_pipe_where_a_file_should_be_is_not_waited_for(folder, buggy, name):
    (folder / "a.py").write_text(f"from other import thing\n{buggy}thing(y)\n")
    (folder / name).unlink(missing_ok=True)
    os.mkfifo(folder / name)
    status, out, err = shell(folder, "lint --output-format concise .")
    assert (status, out.count("a.py:6:1: error[IPL101]")) == (1, 1)
    assert [line for line in err.splitlines() if name not in line] == []


@posix
def test_a_pipe_that_is_asked_for_is_named(folder, buggy):
    os.mkfifo(folder / "a.py")
    assert shell(folder, "lint a.py")[2] == "a.py: not a regular file\n"


@linux
def test_a_name_that_is_no_text_is_checked_like_any_other(folder, buggy):
    name = os.fsdecode(b"b\xff.py")
    inner = folder / os.fsdecode(b"d\xfe")
    inner.mkdir()
    (inner / "__init__.py").write_text("")
    (folder / name).write_text(buggy)
    (inner / "c.py").write_text(f"from .e import bump\n{buggy}bump(y)\n")
    (inner / "e.py").write_text("def bump(x):\n    x += 1\n")
    for words in ("", "--no-cache", "--output-format json", "--output-format junit -o found.xml", "--statistics"):
        status, _, err = shell(folder, f"lint {words} .")
        assert (status, "Traceback" in err) == (1, False), words
    assert shell(folder, "lint --write-baseline known.json .")[0] == 0
    assert shell(folder, "lint --baseline known.json .")[0] == 0
    assert shell(folder, "lint --fix .")[0] == 0
    assert (folder / name).read_text() == buggy.replace("y.add_(1)", "y = y.add(1)")


@posix
def test_two_runs_that_fix_at_once_leave_each_file_as_it_was_or_fixed(folder, buggy):
    for number in range(12):
        (folder / f"m{number}.py").write_text(buggy)
    lines = "".join(f"lint --fix --output-format concise . >out{number} 2>err{number} & " for number in range(3))
    shell(folder, f"{lines} wait")
    fixed = buggy.replace("y.add_(1)", "y = y.add(1)")
    assert {path.read_text() for path in folder.glob("m*.py")} == {fixed}
    for number in range(3):
        reported = (folder / f"err{number}").read_text().splitlines()
        assert all(line.endswith(": changed while it was checked; nothing was written") for line in reported)
    assert not [path for path in folder.iterdir() if path.name.startswith((".new", "tmp"))]


@posix
@pytest.mark.parametrize("limit", ["-n 16", "-v 2000000", "-s 512"])
def test_few_files_little_memory_or_a_short_stack_are_enough(folder, buggy, limit):
    for number in range(6):
        (folder / f"m{number}.py").write_text(buggy + "# padding\n" * 2000)
    status, out, err = limited(folder, limit, "--no-cache", "--jobs", "2", "--output-format", "concise", ".")
    assert (status, err) == (1, "")
    assert "Found 6 errors in 6 files." in out


@posix
@pytest.mark.parametrize(
    "setting",
    ["HOME=/nowhere", "TMPDIR=/nowhere", "LC_ALL=C PYTHONUTF8=0 PYTHONCOERCECLOCALE=0", "PYTHONWARNINGS=error"],
)
def test_surroundings_that_are_not_there_change_nothing(lint, folder, buggy, setting):
    (folder / "a.py").write_text(buggy)
    want = lint("--no-cache", "--output-format", "concise", "a.py")
    ran = shell(folder, f"env {setting} {sys.executable} -m inplace_lint --output-format concise a.py")
    assert ran == want
    assert shell(folder, f"env {setting} {sys.executable} -m inplace_lint --fix a.py")[0] == 0
    assert (folder / "a.py").read_text() == buggy.replace("y.add_(1)", "y = y.add(1)")


def test_what_python_says_about_the_syntax_of_a_file_is_not_reported(lint, folder):
    (folder / "a.py").write_text('import torch\nx = "\\d"\ny = 1if x else 2\nassert (x, "a")\nz = x is 1\n')
    for setting in ("default", "error"):
        assert lint("--no-cache", "a.py", PYTHONWARNINGS=setting)[::2] == (0, "")


@posix
@pytest.mark.parametrize(
    ("words", "status"),
    [
        ("a.py", 1),
        ("--exit-zero a.py", 0),
        ("--diff a.py", 1),
        ("clean.py missing.py", 2),
        ("rule --all", 0),
        ("rule", 0),
    ],
)
def test_who_reads_our_output_may_close_it_and_the_status_stays(folder, buggy, clean, words, status):
    padding = "".join(f"def f{number}(x):\n    y = x.exp()\n    y += 1\n    return y\n" for number in range(100))
    (folder / "a.py").write_text(buggy + padding)
    (folder / "clean.py").write_text(clean)
    ran = shell(folder, f"lint {words} | true; exit ${{PIPESTATUS[0]}}")
    assert ran[0] == status
    assert "Traceback" not in ran[2]
    assert "Exception ignored" not in ran[2]


@posix
def test_a_full_disk_leaves_files_as_they_are_and_counts_nothing_as_fixed(folder, buggy):
    for name in ("a.py", "b.py"):
        (folder / name).write_text(buggy + "# " + "x" * 2000 + "\n")
    (folder / "small.py").write_text(buggy)
    before = contents(folder)
    status, out, err = limited(folder, "-f 1", "--fix", "--output-format", "concise", ".")
    assert status == 2
    assert err.splitlines() == [f"{name}: file too large; nothing was written" for name in ("a.py", "b.py")]
    assert "Found 3 errors (1 fixed, 2 remaining); 2 files could not be checked." in out
    after = contents(folder)
    assert after.keys() == before.keys()
    assert {name for name in before if before[name] != after[name]} == {"small.py"}


@linux
def test_a_disk_that_is_really_full_is_reported(folder, buggy):
    (folder / "a.py").write_text(buggy + "# " + "x" * 3000 + "\n")
    own = "mkdir disk && mount -t tmpfs -o size=4k none disk && cp a.py pyproject.toml disk && cd disk"
    if shell(folder, f"unshare -rm sh -c '{own}'")[0] != 0:
        pytest.skip("no file system of our own may be mounted here")
    (folder / "disk").rmdir()
    lines = f"{own}; lint --fix a.py; echo $?; cat a.py"
    tool = f'lint() {{ "{sys.executable}" -m inplace_lint "$@"; }}'
    (folder / "lines.sh").write_text(f"{tool}\n{lines}\n")
    _, out, err = shell(folder, "unshare -rm bash lines.sh")
    assert err.splitlines()[-1] == "a.py: no space left on device; nothing was written"
    assert "\n2\n" in out
    assert out.endswith((folder / "a.py").read_text())


@posix
@pytest.mark.parametrize("option", ["--output-file", "--write-baseline"])
def test_a_full_disk_leaves_no_half_a_report(folder, buggy, option):
    functions = (f"def f{number}(x):\n    y = x.exp()\n    y += 1\n    return y\n" for number in range(20))
    (folder / "a.py").write_text(buggy + "".join(functions))
    (folder / "old.txt").write_text('{"version": 1, "findings": []}')
    for name in ("old.txt", "new.txt"):
        status, _, err = limited(folder, "-f 1", option, name, "a.py")
        assert (status, err) == (2, f"error: {name}: file too large; nothing was written\n")
    assert (folder / "old.txt").read_text() == '{"version": 1, "findings": []}'
    assert not (folder / "new.txt").exists()


@posix
def test_a_cache_that_cannot_be_written_is_done_without(lint, folder, buggy):
    (folder / "a.py").write_text(buggy)
    want = lint("--no-cache", "a.py")
    assert limited(folder, "-f 0", "a.py") == want
    assert lint("--cache-dir", "a.py/below", "a.py") == want


def test_a_cache_that_is_deleted_under_a_run_changes_nothing_of_it(lint, folder, buggy):
    for number in range(60):
        (folder / f"m{number:02}.py").write_text(buggy)
    want = lint("--no-cache", "--output-format", "json", ".")
    assert lint("--output-format", "json", ".") == want
    over, deleted = threading.Event(), 0

    def delete() -> None:
        nonlocal deleted
        while not over.is_set():
            deleted += (folder / ".inplace_lint_cache").exists()
            shutil.rmtree(folder / ".inplace_lint_cache", ignore_errors=True)

    thread = threading.Thread(target=delete)
    thread.start()
    try:
        assert lint("--output-format", "json", ".") == want
    finally:
        over.set()
        thread.join()
    assert deleted


def test_a_cache_of_another_version_is_no_help_and_no_harm(lint, folder, buggy):
    (folder / "a.py").write_text(buggy)
    other = folder / "other"
    shutil.copytree(Path(ROOT, "inplace_lint"), other / "inplace_lint", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(Path(ROOT, "rules"), other / "rules")
    with (other / "inplace_lint" / "driver" / "crashes.py").open("a") as file:
        file.write("# a line that another version has\n")
    want = lint("a.py", PYTHONPATH=str(other))
    assert "files taken from the cache" in lint("--statistics", "a.py", PYTHONPATH=str(other)).out
    assert "files taken from the cache" not in lint("--statistics", "a.py").out
    assert lint("a.py") == want
    assert "files taken from the cache" in lint("--statistics", "a.py").out


def test_runs_at_once_share_a_cache(lint, folder, buggy, clean):
    for number in range(12):
        (folder / f"m{number:02}.py").write_text(buggy if number % 2 else clean)
    command = [sys.executable, "-m", "inplace_lint", "--output-format", "json", "."]
    running = [subprocess.Popen(command, cwd=folder, env=ENVIRONMENT, stdout=subprocess.PIPE) for _ in range(3)]
    reported = {process.communicate(timeout=120)[0].decode() for process in running}
    assert reported == {lint("--no-cache", "--output-format", "json", ".").out}
    assert "files taken from the cache: 12\n" in lint("--statistics", ".").out
    assert {path.name for path in (folder / ".inplace_lint_cache").iterdir()} == {".gitignore", "results.sqlite"}


@posix
def test_fewer_processes_than_wished_for_do(lint, folder, buggy):
    for number in range(30):
        (folder / f"m{number:02}.py").write_text(buggy + f"# {'x' * 2000}\n")
    want = lint("--no-cache", "--output-format", "concise", "-j", "1", ".")
    assert limited(folder, "-n 16", "--no-cache", "--output-format", "concise", "-j", "30", ".") == want


@linux
def test_the_file_of_a_killed_process_is_checked_by_another_one(folder, buggy):
    process = started(folder, buggy)
    os.kill(int(children(process)[0]), signal.SIGKILL)
    out, err = process.communicate(timeout=120)
    assert (process.returncode, err) == (1, b"")
    assert b"in 8 files." in out


@linux
def test_processes_do_not_outlive_the_one_that_started_them(folder, buggy):
    process = started(folder, buggy)
    orphans = children(process)
    process.kill()
    process.communicate(timeout=60)
    deadline = time.monotonic() + 30
    while any(Path("/proc", orphan).exists() for orphan in orphans):
        assert time.monotonic() < deadline
        time.sleep(0.05)


@linux
@pytest.mark.parametrize("fixing", [(), ("--fix", "--unsafe-fixes")], ids=["check", "fix"])
def test_an_interrupt_of_workers_leaves_files_as_they_are(folder, buggy, fixing):
    process = started(folder, buggy, *fixing)
    before = contents(folder)
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err.decode().strip()) == (130, "interrupted")
    assert contents(folder) == before


def started(folder: Path, buggy: str, *words: str) -> subprocess.Popen[bytes]:
    """Start a run of eight files in two processes, and return it when both are at work."""
    functions = "".join(f"def f{at}(x):\n    x = x.exp()\n    x += {at}\n    return x\n\n\n" for at in range(75))
    functions += "# so long that it takes processes of their own\n" * 100
    for number in range(8):
        (folder / f"m{number}.py").write_text(buggy + functions)
    process = subprocess.Popen(
        [sys.executable, "-m", "inplace_lint", "--no-cache", "-j", "2", "--output-format", "concise", *words, "."],
        cwd=folder,
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    while len(children(process)) < 2:
        assert process.poll() is None
        time.sleep(0.01)
    return process


def children(process: subprocess.Popen[bytes]) -> list[str]:
    return Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()


@posix
def test_an_interrupt_while_the_tool_is_imported_is_one_word(folder):
    program = """\
import os, signal, sys
class Interrupted:
    def find_spec(self, name, path=None, target=None):
        if name == "inplace_lint.cli.options":
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Interrupted())
from inplace_lint.__main__ import main
sys.exit(main())
"""
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=folder, env=ENVIRONMENT, capture_output=True, check=False, timeout=60
    )
    assert (done.returncode, done.stderr) == (130, b"interrupted\n")


@pytest.mark.parametrize(
    ("raised", "said"),
    [
        ("TypeError('two\\nlines')", "TypeError: two (<string>:5)\n"),
        ("PermissionError(13, 'denied', 'x.bin')", "PermissionError: [Errno 13] denied: 'x.bin' (<string>:5)\n"),
        ("ModuleNotFoundError('no module x')", "ModuleNotFoundError: no module x (<string>:5)\n"),
    ],
)
@pytest.mark.parametrize("module", ["cli.options", "cli.check_command", "report.reporters"])
def test_a_defect_of_ours_is_one_line_with_how_to_report_it_and_never_the_status_of_a_finding(
    folder, buggy, module, raised, said
):
    (folder / "a.py").write_text(buggy)
    program = f"""\
import sys
class Broken:
    def find_spec(self, name, path=None, target=None):
        if name == "inplace_lint.{module}":
            raise {raised}
sys.meta_path.insert(0, Broken())
from inplace_lint.__main__ import main
sys.exit(main())
"""
    options = {"cwd": folder, "env": ENVIRONMENT, "capture_output": True, "text": True, "timeout": 60}
    done = subprocess.run([sys.executable, "-c", program, "--no-cache", "a.py"], check=False, **options)
    first, second, *rest = done.stderr.splitlines(keepends=True)
    assert (done.returncode, first, rest) == (2, f"error: internal error: {said}", [])
    assert "https://github.com/inplace-lint/inplace-lint/issues" in second
    traced = subprocess.run([sys.executable, "-X", "dev", "-c", program, "a.py"], check=False, **options)
    assert "Traceback (most recent call last):" in traced.stderr


def test_an_interrupt_is_seen_behind_the_exception_that_took_its_place():
    def interrupted() -> None:
        try:
            raise KeyboardInterrupt
        finally:
            {}["what was not computed"]

    with pytest.raises(KeyError) as caught:
        interrupted()
    assert crashes.hides_interrupt(caught.value)
    assert not crashes.hides_interrupt(KeyError())


@pytest.mark.parametrize("size", [files.MOST_BYTES, 10_000_000])
def test_a_file_that_is_too_large_is_named(lint, folder, buggy, size):
    (folder / "a.py").write_text(buggy)
    (folder / "large.py").write_text("import torch\nx = [" + "1, " * (size // 3) + "]\n")
    ran = lint("--output-format", "concise", ".")
    assert (ran.status, ran.err) == (2, "large.py: larger than 2 MB: too large to be analyzed\n")
    assert ran.out.startswith("a.py:5:1: error[IPL101] ")
    with pytest.raises(UnreadableError):
        files.decode(b" " * (files.MOST_BYTES + 1))


@pytest.mark.slow
def test_a_line_of_nearly_two_megabytes_ends_nothing(lint, folder, buggy):
    (folder / "a.py").write_text(buggy + "x = [" + "1, " * (files.MOST_BYTES // 3 - 100) + "]\n")
    assert lint("--output-format", "concise", ".").out.startswith("a.py:5:1: error[IPL101] ")


def test_three_thousand_files_are_checked_and_known_the_second_time(lint, folder, buggy):
    spread(folder, 30, 100, buggy)
    assert lint("--output-format", "concise", ".").out.startswith("d0/bad.py:5:1: error[IPL101] ")
    assert "files taken from the cache: 1501\n" in lint("--statistics", ".").out


@pytest.mark.slow
def test_two_hundred_thousand_files_are_checked(lint, folder, buggy):
    spread(folder, 200, 1000, buggy)
    assert lint("--output-format", "concise", "--no-cache", ".").out.startswith("d0/bad.py:5:1: error[IPL101] ")


def spread(folder: Path, folders: int, each: int, buggy: str) -> None:
    for outer in range(folders):
        (folder / f"d{outer}").mkdir()
        for inner in range(each):
            (folder / f"d{outer}" / f"m{inner}.py").write_text("import torch\nx = 1\n" if inner % 2 else "x = 1\n")
    (folder / "d0/bad.py").write_text(buggy)


@posix
def test_a_folder_too_deep_for_the_system_is_reported(lint, folder, buggy):
    (folder / "a.py").write_text(buggy)
    assert shell(folder, "for i in {1..250}; do mkdir dddddddddddddddddddd; cd dddddddddddddddddddd; done; ls")[0] == 0
    ran = lint("--output-format", "concise", ".")
    assert ran.status == 2
    folders = [line for line in ran.err.splitlines() if not line.endswith("it excludes no files")]
    assert len(folders) == 1
    assert folders[0].endswith("d: file name too long")
    # Whether the name of its `.gitignore` is too long before its own depends on the length of the temporary folder.
    assert ran.err.count("\n") <= 2
    assert ran.out.startswith("a.py:5:1: error[IPL101] ")
