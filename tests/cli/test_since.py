"""Findings in changed lines only, as git knows them."""

from __future__ import annotations

import subprocess

import pytest

OLD = """\
import torch

x = torch.ones(3, requires_grad=True)
y = x.exp()
z = x.exp()
z += 1
y.sum().backward()
z.sum().backward()
"""


def git(folder, *words: str) -> str:
    named = ("-c", "user.name=test", "-c", "user.email=test@example.com", "-c", "init.defaultBranch=main")
    return subprocess.run(["git", *named, *words], cwd=folder, capture_output=True, text=True, check=True).stdout


@pytest.fixture
def repository(folder):
    """Return a repository with one old bug, on a branch of its own."""
    (folder / "net.py").write_text(OLD)
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "old")
    git(folder, "checkout", "-q", "-b", "branch")
    return folder


def lines(ran) -> list[str]:
    return [line.split(":")[1] for line in ran.out.splitlines() if "[IPL" in line]


def since(lint, *words: str, ref: str = "main"):
    return lint("--output-format=concise", "--no-cache", "--since", ref, *words)


def test_old_bugs_are_left_out_and_new_ones_reported(lint, repository):
    assert since(lint, ".") == (0, "All checks passed!\n", "")
    (repository / "net.py").write_text(OLD.replace("z = x", "y *= 2\nz = x"))
    assert lines(since(lint, ".")) == ["5"]  # not committed
    git(repository, "commit", "-qam", "new")
    assert lines(since(lint, ".")) == ["5"]
    assert lines(since(lint, "net.py")) == ["5"]


def test_a_save_in_changed_lines_counts_for_an_old_write(lint, repository):
    (repository / "net.py").write_text(OLD.replace("z = x.exp()", "z = (x * 2).exp()"))
    assert lines(since(lint, ".")) == ["6"]


def test_what_main_changed_meanwhile_is_not_ours(lint, repository):
    git(repository, "checkout", "-q", "main")
    (repository / "net.py").write_text("# a comment\n" + OLD)
    git(repository, "commit", "-qam", "meanwhile")
    git(repository, "checkout", "-q", "branch")
    assert since(lint, ".").status == 0


def test_a_new_file_counts_as_a_whole(lint, repository):
    (repository / "größe.py").write_text(OLD)
    assert lines(since(lint, ".")) == ["6"]
    git(repository, "add", "-A")
    assert lines(since(lint, ".")) == ["6"]


def test_it_works_below_the_top_of_the_repository(lint, repository):
    (repository / "sub").mkdir()
    (repository / "sub/net.py").write_text(OLD)
    assert lines(since(lint, "sub")) == ["6"]


def test_a_wrong_reference_and_a_folder_outside_of_git_are_reported(lint, repository, tmp_path_factory):
    ran = since(lint, ".", ref="mian")
    assert (ran.status, ran.out) == (2, "")
    assert ran.err.startswith("error: --since mian: no such commit")
    ran = since(lint, ".", ref="--output=x")
    assert (ran.status, "no such commit" in ran.err) == (2, True)


def test_without_a_repository_git_says_so(lint, folder):
    (folder / "net.py").write_text(OLD)
    ran = lint("--since", "main", ".", GIT_CEILING_DIRECTORIES=str(folder.parent))
    assert ran.status == 2
    assert ran.err.startswith("error: --since: not a git repository")


def test_histories_without_a_common_commit_are_reported(lint, repository):
    git(repository, "checkout", "-q", "--orphan", "other")
    git(repository, "commit", "-q", "-m", "other")
    ran = since(lint, ".")
    assert ran.status == 2
    assert "no history in common with HEAD; in a shallow clone, fetch more (git fetch --unshallow)" in ran.err


THREE = OLD.replace("z = x", "w = x.exp()\nz = x").replace("y.sum()", "w.sum().backward()\ny.sum()")


def test_lines_that_a_fix_puts_in_bring_no_old_finding_along(lint, repository):
    """The copy is a line of its own, and `z += 1` then stands where a changed line stood."""
    (repository / "net.py").write_text(THREE)
    git(repository, "commit", "-qam", "old")
    git(repository, "branch", "-f", "main")
    new = THREE.replace("w = x.exp()", "w = x.exp()\nw[0] = 0").replace("z += 1\n", "z += 1\nprint()\n")
    (repository / "net.py").write_text(new)
    ran = since(lint, ".", "--fix", "--unsafe-fixes", "--show-fixes")
    assert (repository / "net.py").read_text() == new.replace("w[0]", "w = w.clone()\nw[0]")
    assert "was not applied" not in ran.err
    assert (ran.status, lines(since(lint, "."))) == (0, [])


def test_lines_that_a_fix_puts_in_push_no_new_finding_out(lint, repository):
    new = OLD.replace("z += 1", "y[0] = 0\nx += 1")
    (repository / "net.py").write_text(new)
    ran = since(lint, ".", "--fix")
    assert (repository / "net.py").read_text() == new.replace("y[0]", "y = y.clone()\ny[0]")
    assert (ran.status, lines(ran)) == (1, ["8"])
