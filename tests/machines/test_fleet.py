"""Many repositories in one run: each is one row and one folder, whatever is wrong with it."""

from __future__ import annotations

import io
import json
import os
import shutil
import signal
import subprocess
import sys
import tarfile
import time
import zipfile
from pathlib import Path

import pytest

from inplace_lint.core.errors import UnreadableError
from inplace_lint.driver.executors.local import LocalProcesses
from inplace_lint.fleet import sources
from inplace_lint.fleet.listing import Kind, listed
from inplace_lint.fleet.report import most_certain, page, rows, text
from inplace_lint.fleet.repository import Certain, Checked, CheckRepository
from tests.cli.forked import usual_environment

posix = pytest.mark.skipif(sys.platform == "win32", reason="there are no such signals")


def git(folder, *words):
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def repositories(folder, project, buggy):
    """Return the lines of a list: one project as a folder, an archive of each kind, and two revisions in Git."""
    root = folder / "repos"
    root.mkdir()
    own = root / "own"
    shutil.copytree(project / "pkg", own / "pkg")
    (own / "script.py").write_text(buggy)
    for form in ("zip", "tar", "gztar", "bztar", "xztar"):
        shutil.make_archive(str(root / "packed"), form, own)
    (root / "packed.zip").rename(root / "packed-1-py3-none-any.whl")
    cloned = root / "cloned"
    shutil.copytree(own, cloned)
    git(cloned, "init", "-q", "-b", "main")
    git(cloned, "add", "--force", ".")
    git(cloned, "commit", "-qm", "one")
    git(cloned, "tag", "old")
    (cloned / "script.py").write_text("x = 1\n")
    git(cloned, "commit", "-qam", "two")
    archives = ["packed-1-py3-none-any.whl", *(f"packed.tar{end}" for end in ("", ".gz", ".bz2", ".xz"))]
    url = f"git+file://{cloned.as_posix()}"
    return ["repos/own", *(f"repos/{name}" for name in archives), f"{url}@old", f"{url}  # the newest"]


def fleet(lint, folder, lines, *words, out="out"):
    (folder / "list.txt").write_text("# of ours\n\n" + "".join(f"{line}\n" for line in lines))
    return lint("fleet", "list.txt", "-o", out, "-j", "2", *words)


def findings(folder, out="out"):
    return {path.parent.name: path.read_text() for path in sorted((folder / out).glob("*/findings.json"))}


def test_a_repository_is_the_same_in_every_form(lint, folder, repositories):
    ran = fleet(lint, folder, repositories)
    assert (ran.status, ran.err) == (1, "")
    found = findings(folder)
    newest = next(name for name in found if name.startswith("cloned-") and not name.startswith("cloned-old"))
    assert "script.py" not in found.pop(newest)
    assert len(found) == 7
    (rows_of_all,) = set(found.values())
    assert {row["filename"] for row in json.loads(rows_of_all)} == {
        "script.py", "pkg/sub/helper.py", *(f"pkg/net{number}.py" for number in range(6))
    }  # fmt: skip
    assert (
        lint(
            "merge", "--output-format", "json", *sorted(str(path) for path in (folder / "out").glob("own-*/f*"))
        ).status
        == 1
    )


def test_the_findings_are_those_of_a_check_in_the_repository(lint, folder, repositories):
    fleet(lint, folder, ["repos/own"])
    ran = lint("--no-cache", "--isolated", "--output-format", "json", "repos/own")
    assert ran.out.replace(f"{folder}/repos/own/".replace("\\", "/"), "") == next(iter(findings(folder).values()))


def test_the_table_has_a_row_for_each_and_the_sums(lint, folder, repositories):
    lines = fleet(lint, folder, repositories).out.splitlines()
    assert lines[0].split() == ["repository", "files", "lines", "seconds", *lines[0].split()[4:]]
    assert "IPL101" in lines[0]
    assert lines[0].endswith("not checked")
    assert len(lines) == 10
    assert lines[-1].startswith("8 repositories ")


def test_what_is_done_is_not_done_again(lint, folder, repositories):
    first = fleet(lint, folder, repositories)
    times = {path: path.stat().st_mtime_ns for path in (folder / "out").glob("*/*.json")}
    shutil.rmtree(folder / "repos")
    (folder / "repos" / "own").mkdir(parents=True)
    for name in ("packed-1-py3-none-any.whl", "packed.tar", "packed.tar.gz", "packed.tar.bz2", "packed.tar.xz"):
        (folder / "repos" / name).touch()
    assert fleet(lint, folder, repositories) == first
    assert {path: path.stat().st_mtime_ns for path in (folder / "out").glob("*/*.json")} == times


def test_other_settings_are_checked_anew(lint, folder, repositories):
    fleet(lint, folder, ["repos/own"])
    assert fleet(lint, folder, ["repos/own"], "--ignore", "ALL").status == 0
    assert set(findings(folder).values()) == {"[]\n"}


def test_what_could_not_be_read_is_one_row_and_is_tried_again(lint, folder, repositories):
    wrong = [
        "repos/gone",
        "repos/own/script.py",
        "https://example.org/a.zip",
        "git+file:///nowhere/at/all",
        "repos/bad.zip",
    ]
    (folder / "repos" / "bad.zip").write_bytes(b"PK\x03\x04 no archive")
    ran = fleet(lint, folder, [*wrong, "repos/own"])
    assert ran.status == 2
    assert [line.split(": ", 1)[1].split(":")[0] for line in ran.err.splitlines()] == [
        "no such file or folder",
        "neither a folder nor an archive",
        "an archive is read from a file",
        "git",
        "not an archive that can be read",
    ]
    assert len(ran.out.splitlines()) == 8
    assert json.loads(next((folder / "out").glob("own-*/findings.json")).read_text())
    shutil.copytree(folder / "repos" / "own", folder / "repos" / "gone")
    again = fleet(lint, folder, [*wrong, "repos/own"])
    assert again.err.splitlines() == ran.err.splitlines()[1:]


@posix
def test_a_file_that_cannot_be_read_is_told_and_the_others_are_checked(lint, folder, repositories):
    (folder / "repos" / "own" / "latin.py").write_bytes(b"import torch\nx = '\xe9'\n")
    ran = fleet(lint, folder, ["repos/own"])
    assert ran.status == 2
    assert "latin.py: not valid utf-8" in ran.err
    assert ran.out.splitlines()[1].split()[-1] == "1"
    assert len(json.loads(next(iter(findings(folder).values())))) > 1


def test_the_configuration_of_a_repository_is_not_read(lint, folder, repositories):
    place = folder / "repos" / "own" / "pyproject.toml"
    place.write_text('[tool.inplace-lint]\nignore = ["ALL"]\n')
    assert fleet(lint, folder, ["repos/own"]).status == 1
    place.write_text("[tool.inplace-lint]\nnonsense = 1\n")
    assert fleet(lint, folder, ["repos/own"], out="two").status == 1
    (folder / "mine.toml").write_text('exclude = ["script.py"]\n')
    fleet(lint, folder, ["repos/own"], "--config", "mine.toml", out="three")
    assert '"script.py"' not in next(iter(findings(folder, "three").values()))


@pytest.mark.parametrize(
    "words", [("--select", "IPL999"), ("--executor", "rey"), ("-j", "0"), ("--ray-address", "auto")]
)
def test_wrong_options_are_one_line(lint, folder, repositories, words):
    ran = fleet(lint, folder, ["repos/own"], *words)
    assert (ran.status, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert not (folder / "out").exists()


def test_a_list_that_cannot_be_read_is_one_line(lint, folder):
    assert lint("fleet", "gone.txt") == (2, "", "error: gone.txt: no such file or directory\n")
    (folder / "list.txt").write_bytes(b"\xff\n")
    assert lint("fleet", "list.txt") == (2, "", "error: list.txt: not utf-8\n")
    (folder / "list.txt").write_text("repos\n")
    (folder / "file").write_text("")
    ran = lint("fleet", "list.txt", "-o", "file")
    assert (ran.status, ran.err.count("\n")) == (2, 1)


def test_a_list_may_begin_with_a_byte_order_mark(lint, folder):
    (folder / "repo").mkdir()
    (folder / "list.txt").write_text("repo\n", encoding="utf-8-sig")
    assert (lint("fleet", "list.txt").status, lint("fleet", "list.txt").err) == (0, "")


def test_severities_count_for_the_exit_status_as_in_a_check(lint, folder, repositories):
    assert fleet(lint, folder, ["repos/own"], "--exit-zero").status == 0
    assert fleet(lint, folder, ["repos/own"], "--fail-on", "error").status == 1


@posix
def test_an_interrupted_run_leaves_what_is_done_and_goes_on_there(lint, folder, repositories):
    big = "import torch\n" + "".join(
        f"def f{at}(x):\n    x = x.exp()\n    x += {at}\n    return x\n" for at in range(60)
    )
    for number in range(6):
        (folder / "repos" / f"big{number}").mkdir()
        (folder / "repos" / f"big{number}" / "a.py").write_text(big)
    names = ["repos/own", *(f"repos/big{number}" for number in range(6))]
    (folder / "list.txt").write_text("\n".join(names))
    command = [sys.executable, "-m", "inplace_lint", "fleet", "list.txt", "-o", "out", "-j", "2"]
    process = subprocess.Popen(command, cwd=folder, env=usual_environment(), stderr=subprocess.PIPE, text=True)
    while not list((folder / "out").glob("*/summary.json")):
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    assert (process.communicate(timeout=60)[1], process.returncode) == ("\ninterrupted\n", 130)
    done = {path: path.stat().st_mtime_ns for path in (folder / "out").glob("*/summary.json")}
    assert 0 < len(done) < 7
    assert lint("fleet", "list.txt", "-o", "out", "-j", "2").status == 1
    assert {path: path.stat().st_mtime_ns for path in done} == done
    assert lint("fleet", "list.txt", "-o", "whole", "-j", "1").status == 1
    assert findings(folder, "whole") == findings(folder)


@posix
def test_a_repository_that_ends_its_process_is_one_row(folder, repositories, monkeypatch):
    monkeypatch.chdir(folder)
    (folder / "list.txt").write_text("repos/own\nrepos/packed.tar\n")
    real = CheckRepository.__call__

    def die(self, task):
        if task.listed.kind is Kind.FOLDER:
            os.kill(os.getpid(), signal.SIGKILL)
        return real(self, task)

    monkeypatch.setattr(CheckRepository, "__call__", die)
    from inplace_lint.cli.options import resolver_of  # noqa: PLC0415
    from inplace_lint.fleet.run import check_all  # noqa: PLC0415

    resolver = resolver_of({})
    first, second = check_all(listed(Path("list.txt")), Path("out"), resolver, LocalProcesses(2))
    assert first.trouble == "the process that checked it was killed by signal 9 (SIGKILL)"
    assert second.findings


# -- archives and lists ------------------------------------------------------------------------------------------------


def zipped(name, data=b"x = 1\n", mode=0o100644):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        info = zipfile.ZipInfo(name)
        info.external_attr = mode << 16
        archive.writestr(info, data, zipfile.ZIP_DEFLATED)
    return out.getvalue()


def tarred(name, kind=tarfile.REGTYPE, link="", data=b"x = 1\n"):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        info = tarfile.TarInfo(name)
        info.type, info.linkname, info.size = kind, link, len(data) if kind == tarfile.REGTYPE else 0
        archive.addfile(info, io.BytesIO(data))
    return out.getvalue()


@pytest.mark.parametrize("make", [zipped, tarred])
@pytest.mark.parametrize("name", ["../a.py", "a/../../b.py", "/tmp/a.py", "..\\a.py", "C:/a.py", "a/.."])
def test_a_path_that_leads_out_of_an_archive_is_refused(tmp_path, make, name):
    into = tmp_path / "in"
    into.mkdir()
    with pytest.raises(UnreadableError, match="holds a path that leads out of it"):
        sources.unpack(make(name), into)
    assert [path.name for path in tmp_path.rglob("*")] == ["in"]


@pytest.mark.parametrize(
    "data",
    [
        zipped("a.py", b"/etc/passwd", mode=0o120777),
        tarred("a.py", tarfile.SYMTYPE, "/etc/passwd"),
        tarred("a.py", tarfile.LNKTYPE, "/etc/passwd"),
        tarred("a.py", tarfile.FIFOTYPE),
        tarred("a.py", tarfile.CHRTYPE),
        zipped("a.txt"),
        zipped("node_modules/a.py"),
    ],
    ids=["link", "link in tar", "hard link", "pipe", "device", "text", "skipped folder"],
)
def test_links_devices_and_what_is_no_source_are_left_out(tmp_path, data):
    sources.unpack(data, tmp_path)
    assert list(tmp_path.rglob("*.py")) == []


@pytest.mark.parametrize("make", [zipped, tarred])
def test_too_much_in_an_archive_is_refused(tmp_path, make, monkeypatch):
    monkeypatch.setattr(sources, "MOST_FILE", 1000)
    with pytest.raises(UnreadableError, match="holds a source of more than"):
        sources.unpack(make("a.py", data=b"0" * 100_000), tmp_path)
    monkeypatch.setattr(sources, "MOST_READ", 1000)
    if make is tarred:
        with pytest.raises(UnreadableError, match="unpacks to too much"):
            sources.unpack(make("a.txt", data=b"0" * 100_000), tmp_path)


@pytest.mark.parametrize(
    "data",
    [b"", b"no archive", zipped("a.py")[:40], tarred("a.py")[:30], tarred("a.py")[:-9]],
    ids=["empty", "text", "cut zip", "cut tar", "tar without its end"],
)
def test_what_is_no_archive_is_refused_in_one_line(tmp_path, data):
    with pytest.raises(UnreadableError, match=r"^not an archive that can be read: [^\n]*$"):
        sources.unpack(data, tmp_path)


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:bz2", "w:xz"])
def test_an_archive_that_was_cut_anywhere_is_refused(tmp_path, mode):
    """What was downloaded in part would else be checked in part, without a word."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode) as archive:
        for number in range(20):
            data = os.urandom(700)
            info = tarfile.TarInfo(f"a{number}.py")
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    whole = out.getvalue()
    end = len(whole) if mode != "w" else 20 * 1536  # blocks of zeros follow
    for cut in range(100, end, 499):
        with pytest.raises(UnreadableError, match="not an archive that can be read"):
            sources.unpack(whole[:cut], tmp_path)
    sources.unpack(whole, tmp_path)
    assert len(list(tmp_path.glob("*.py"))) == 20


def test_a_tar_file_with_the_end_of_a_zip_file_in_it_is_a_tar_file(tmp_path):
    inner, out = io.BytesIO(), io.BytesIO()
    with zipfile.ZipFile(inner, "w") as archive:
        archive.writestr("inner.py", "x = 1\n")
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, data in (("a.py", b"y = 2\n"), ("data.zip", inner.getvalue())):
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    whole = out.getvalue()
    assert zipfile.is_zipfile(io.BytesIO(whole))
    sources.unpack(whole, tmp_path)
    assert [path.name for path in tmp_path.rglob("*.py")] == ["a.py"]


@posix
def test_links_out_of_a_folder_are_not_followed(tmp_path):
    (tmp_path / "secret.py").write_text("x = 1\n")
    inside = tmp_path / "in"
    inside.mkdir()
    (inside / "a.py").symlink_to(tmp_path / "secret.py")
    (inside / "b.py").write_text("")
    (inside / "c.py").symlink_to("b.py")
    with zipfile.ZipFile(io.BytesIO(sources.pack(inside).data)) as archive:
        assert archive.namelist() == ["b.py", "c.py"]


@pytest.mark.parametrize(
    ("url", "parts"),
    [
        ("https://example.org/a/b", ("https://example.org/a/b", "")),
        ("https://example.org/a/b@v1", ("https://example.org/a/b", "v1")),
        ("ssh://git@example.org/a", ("ssh://git@example.org/a", "")),
        ("ssh://git@example.org/a@main", ("ssh://git@example.org/a", "main")),
        ("git@example.org:a/b", ("git@example.org:a/b", "")),
        ("git@example.org:a/b@v1", ("git@example.org:a/b", "v1")),
        ("https://example.org/a@--upload-pack=x", ("https://example.org/a@--upload-pack=x", "")),
    ],
)
def test_a_revision_stands_after_an_at(url, parts):
    assert sources.revision_of(url) == parts


def test_names_are_safe_differ_and_do_not_depend_on_the_rest_of_the_list(tmp_path):
    lines = ["a/b c", "x/b c", "git@example.org:team/models.git", "https://example.org/../..", "a/b c", "x.whl"]
    (tmp_path / "list").write_text("\n".join(lines))
    names = [one.name for one in listed(tmp_path / "list")]
    assert len(names) == len(set(names)) == 5
    assert not any(set(name) & set("/\\ :") or name.startswith(".") for name in names)
    (tmp_path / "list").write_text("x.whl\n")
    assert listed(tmp_path / "list")[0].name == names[-1]


# -- the report --------------------------------------------------------------------------------------------------------


def test_the_hundred_most_certain_are_shown_and_all_text_is_escaped():
    some = [
        Certain((number % 3, 0, 0), "IPL101", f"<{number}>.py:1", f"<b>{number}</b> & more") for number in range(90)
    ]
    results = [Checked("a", "a", certain=tuple(some)), Checked("b", "b", certain=tuple(some)), Checked("c", "c", "<i>")]
    chosen = most_certain(results)
    assert len(chosen) == 100
    assert [finding.rank[0] for _, finding in chosen] == [0] * 60 + [1] * 40
    html = page(rows(results, str), results, "en", str)
    assert html.count("<pre>") == 100
    assert "&lt;b&gt;0&lt;/b&gt; &amp; more" in html
    assert "<b>" not in html
    assert "<i>" not in html
    assert "src=" not in html


def test_a_table_is_set_in_columns():
    results = [Checked("one", "", files=1, lines=20, seconds=0.5, findings={"IPL101": 3}), Checked("other", "", "gone")]
    assert text(rows(results, str)) == (
        "repository      files  lines  seconds  IPL101  errors  warnings  not checked\n"
        "one                 1     20      0.5       3       0         0            0\n"
        "other           gone\n"
        "2 repositories      1     20      0.5       3       0         0            0\n"
    )
