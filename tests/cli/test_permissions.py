"""
A file or folder that may not be read or written is reported in one line; tests that run as root drop their rights.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

ROOT = str(Path(__file__).resolve().parents[2])
RIGHTS = "-dac_override,-dac_read_search,-fowner"

pytestmark = pytest.mark.skipif(
    os.name == "nt" or (os.geteuid() == 0 and shutil.which("setpriv") is None), reason="may read and write everything"
)


def unprivileged(folder: Path, *words: str) -> tuple[int, str, list[str]]:
    """Run the tool without the rights of root; return its status, output and lines of errors."""
    dropped = ["setpriv", "--bounding-set", RIGHTS, "--inh-caps", RIGHTS] if os.geteuid() == 0 else []
    done = subprocess.run(
        [*dropped, sys.executable, "-m", "inplace_lint", "--output-format", "concise", *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": ROOT, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr.splitlines()


@contextmanager
def closed(*paths: Path, to: int = 0) -> Iterator[None]:
    """Remove the permissions of some paths inside a `with` block."""
    kept = {path: path.stat().st_mode for path in paths}
    for path in paths:
        path.chmod(to)
    try:
        yield
    finally:
        for path, mode in kept.items():
            path.chmod(mode)


def test_what_may_not_be_read_is_reported_and_the_rest_is_checked(folder, buggy):
    for name in ("bad.py", "locked/a.py", "secret.py", "pkg/b.py"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(buggy)
    (folder / "pkg/.gitignore").write_text("b.py\n")
    with closed(folder / "locked", folder / "secret.py", folder / "pkg/.gitignore"):
        status, out, err = unprivileged(folder, ".")
    assert status == 2
    assert err == [
        "locked: permission denied",
        "secret.py: permission denied",
        "pkg/.gitignore: permission denied: it excludes no files",
    ]
    assert [line.split(":")[0] for line in out.splitlines() if "IPL101" in line] == ["bad.py", "pkg/b.py"]
    assert "2 files could not be checked" in out


def test_a_gitignore_that_may_not_be_read_is_no_reason_to_fail(folder, clean):
    (folder / "a.py").write_text(clean)
    (folder / ".gitignore").write_text("a.py\n")
    with closed(folder / ".gitignore"):
        status, _, err = unprivileged(folder, ".")
        listed = unprivileged(folder, "--show-files", ".")
    assert (status, err) == (0, [".gitignore: permission denied: it excludes no files"])
    assert listed == (0, "a.py\n", err)


def test_a_cache_that_may_only_be_read_is_read(folder, buggy):
    (folder / "a.py").write_text(buggy)
    want = unprivileged(folder, "a.py")
    store = folder / ".inplace_lint_cache"
    inside = list(store.rglob("*"))
    entries, folders = [path for path in inside if path.is_file()], [path for path in inside if path.is_dir()]
    with closed(*entries, to=0o400), closed(*folders, store, to=0o500):
        assert "files taken from the cache: 1\n" in unprivileged(folder, "--statistics", "a.py")[1]
        (folder / "a.py").write_text(buggy + "\n")
        assert unprivileged(folder, "a.py") == want


def test_a_cache_that_may_not_be_read_is_done_without(folder, buggy):
    (folder / "a.py").write_text(buggy)
    want = unprivileged(folder, "a.py")
    with closed(folder / ".inplace_lint_cache"):
        assert unprivileged(folder, "a.py") == want


@pytest.mark.parametrize(("place", "mode"), [("a.py", 0o400), (".", 0o500)])
def test_a_fix_that_may_not_be_written_is_reported_and_counted_as_none(folder, buggy, place, mode):
    (folder / "a.py").write_text(buggy)
    before = sorted(folder.iterdir())
    with closed(folder / place, to=mode):
        status, out, err = unprivileged(folder, "--fix", "--no-cache", "a.py")
    reason = "is read-only" if place == "a.py" else "permission denied"
    assert (status, err) == (2, [f"a.py: {reason}; nothing was written"])
    assert "Found 1 error in 1 file" in out
    assert (folder / "a.py").read_text() == buggy
    assert sorted(folder.iterdir()) == before
