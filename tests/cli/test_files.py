from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from inplace_lint.core.errors import UnreadableError
from inplace_lint.workspace import files

TORCH = "import torch\n"
UNPRIVILEGED = pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root reads everything")


@pytest.fixture
def tree(tmp_path, monkeypatch):
    """Make files in an empty working folder: `tree("a.py", "b/c.py")`; text after a colon is their content."""
    monkeypatch.chdir(tmp_path)

    def make(*names: str, **contents: str) -> Path:
        for name in names:
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(contents.get(name, TORCH), encoding="utf-8")
        return tmp_path

    return make


def names(*paths: str, exclude: dict[Path, tuple[str, ...]] | None = None) -> list[str]:
    return [files.shown(path) for path in files.find([Path(path) for path in paths], exclude or {}).files]


def test_a_folder_is_searched_for_python_files_in_order(tree):
    tree("b.py", "a/z.py", "a/notes.txt", "a/b.pyc", "a.py")
    assert names(".") == ["a.py", "a/z.py", "b.py"]


def test_a_search_that_finds_no_file_at_all_says_so(tree):
    tree("notes/a.txt", "src/a.py")
    found = files.find([Path("notes")], {})
    assert (found.files, found.troubles, found.notes) == ((), (), ("notes: no Python files were found",))
    assert files.find([Path("notes"), Path("src")], {}).notes == ()
    assert files.find([Path("src/a.py")], {Path.cwd(): ("*",)}, force=True).notes == ()


def test_usual_folders_are_skipped_unless_given(tree):
    tree("a.py", "build/b.py", ".venv/lib/c.py", "node_modules/d.py", "__pycache__/e.py")
    assert names(".") == ["a.py"]
    assert names("build", ".venv/lib/c.py") == [".venv/lib/c.py", "build/b.py"]


def test_a_file_named_twice_is_taken_once(tree):
    tree("a.py", "b/c.py")
    assert names("b", "./b/c.py", ".", str(Path.cwd() / "a.py")) == ["a.py", "b/c.py"]


def test_a_search_with_a_bound_ends_with_the_nearest_files(tree):
    root = tree("z/deep/c.py", "z/b.py", "a.py", "y/d.py")
    assert [files.shown(path) for path in files.find([root], {}, most=2).files] == ["a.py", "y/d.py"]


def test_a_search_with_a_bound_ends_in_folders_without_a_file(tree):
    root = tree(*(f"data/{number:03}/image.jpg" for number in range(50)), "data/049/late.py", "a.py")
    assert [files.shown(path) for path in files.find([root], {}, most=20).files] == ["a.py"]
    assert [files.shown(path) for path in files.find([root], {}, most=60).files] == ["a.py", "data/049/late.py"]


def test_a_file_given_is_taken_whatever_its_name_and_whatever_ignores_it(tree):
    root = tree("script", "gen/a.py")
    (root / ".gitignore").write_text("gen/\n")
    assert names("script", "gen/a.py", exclude={root: ("gen",)}) == ["gen/a.py", "script"]


def test_gitignore_files_count_with_the_deepest_deciding(tree):
    root = tree("a.py", "a_gen.py", "sub/b_gen.py", "sub/keep_gen.py", "sub/deep/c.py", "out/d.py")
    (root / ".gitignore").write_text("*_gen.py\n/out/\n# a comment\n\n")
    (root / "sub/.gitignore").write_text("!keep_gen.py\ndeep\n")
    assert names(".") == ["a.py", "sub/keep_gen.py"]


def test_what_git_is_reported_for_this_clone_alone_counts_after_gitignore_files(tree):
    tree("a.py", "b.py", "sub/c.py")
    Path(".git/info").mkdir(parents=True)
    Path(".git/info/exclude").write_text("b.py\nc.py\n", encoding="utf-8")
    assert names(".") == ["a.py"]
    assert names("sub") == []
    Path("sub/.gitignore").write_text("!c.py\n", encoding="utf-8")
    assert names(".") == ["a.py", "sub/c.py"]


def test_gitignore_files_above_count_up_to_the_repository(tree):
    root = tree("repo/pkg/a.py", "repo/pkg/a_gen.py", "repo/pkg/b_top.py")
    (root / "repo/.git").mkdir()
    (root / "repo/.gitignore").write_text("*_gen.py\n")
    (root / ".gitignore").write_text("*_top.py\n")
    assert names("repo/pkg") == ["repo/pkg/a.py", "repo/pkg/b_top.py"]


@pytest.mark.parametrize("line", ["!", "\\", "/", "[", "!/"])
def test_a_line_of_a_gitignore_that_can_be_no_pattern_says_nothing_as_in_git(tree, line):
    tree("a.py", "b.py", **{".gitignore": ""})
    Path(".gitignore").write_text(f"{line}\nb.py\n", encoding="utf-8")
    assert names(".") == ["a.py"]


@pytest.mark.parametrize("kind", ["loop", "folder", pytest.param("locked", marks=UNPRIVILEGED)])
def test_a_gitignore_that_cannot_be_read_is_reported_once_and_leaves_nothing_out(tree, kind):
    root = tree("pkg/a.py", "pkg/b.py")
    place = root / "pkg/.gitignore"
    if kind == "loop":
        place.symlink_to(place)
    elif kind == "folder":
        place.mkdir()
    else:
        place.write_text("b.py\n")
        place.chmod(0)
    found = files.find([root, root / "pkg"], {})
    assert [files.shown(path) for path in found.files] == ["pkg/a.py", "pkg/b.py"]
    reason = {"loop": errno.ELOOP, "folder": errno.EISDIR, "locked": errno.EACCES}[kind]
    assert found.notes == (f"pkg/.gitignore: {os.strerror(reason).lower()}: it excludes no files",)
    assert not found.troubles


def test_an_ignored_folder_that_is_given_is_searched(tree):
    root = tree("gen/a.py")
    (root / ".git").mkdir()
    (root / ".gitignore").write_text("gen/\n")
    assert names(".") == []
    assert names("gen") == ["gen/a.py"]


def test_exclude_patterns_count_from_their_folder(tree):
    root = tree("a.py", "tests/b.py", "pkg/tests/c.py", "pkg/d.py")
    assert names(".", exclude={root: ("/tests",)}) == ["a.py", "pkg/d.py", "pkg/tests/c.py"]
    assert names(".", exclude={root / "pkg": ("tests",)}) == ["a.py", "pkg/d.py", "tests/b.py"]


def test_links_to_folders_are_not_followed_so_that_loops_end(tree):
    root = tree("pkg/a.py")
    (root / "pkg/loop").symlink_to(root / "pkg", target_is_directory=True)
    (root / "pkg/self.py").symlink_to(root / "pkg/self.py")
    found = files.find([root], {})
    assert [files.shown(path) for path in found.files] == ["pkg/a.py"]
    assert len(found.troubles) == 1
    assert found.troubles[0].startswith("pkg/self.py: too many levels of symbolic links")


def test_a_link_to_nothing_is_reported(tree):
    root = tree("a.py")
    (root / "gone.py").symlink_to(root / "nowhere.py")
    (root / ".#a.py").symlink_to("user@host.1234")
    assert files.find([root], {}).troubles == ("gone.py: broken link",)


def test_a_path_that_does_not_exist_is_reported_and_ends_nothing(tree):
    tree("a.py")
    found = files.find([Path("nope"), Path("a.py")], {})
    assert found.troubles == ("nope: no such file or directory",)
    assert [path.name for path in found.files] == ["a.py"]


@UNPRIVILEGED
def test_a_folder_without_permission_is_reported(tree):
    root = tree("a.py", "locked/b.py")
    (root / "locked").chmod(0)
    try:
        assert files.find([root], {}).troubles == ("locked: permission denied",)
    finally:
        (root / "locked").chmod(0o700)


def test_what_is_no_regular_file_is_not_waited_for(tree):
    root = tree("a.py")
    os.mkfifo(root / "pipe.py")
    assert names(".") == ["a.py"]
    with pytest.raises(UnreadableError, match="not a regular file"):
        files.read(root / "pipe.py")


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"", ""),
        (b"x = 1\r\ny = 2\r", "x = 1\r\ny = 2\r"),
        (b"\xef\xbb\xbfx = '\xc3\xa9'", "x = 'é'"),
        (b"# coding: latin-1\nx = '\xe9'", "# coding: latin-1\nx = 'é'"),
        (b"#!/bin/python\n# -*- coding: cp1252 -*-\nx = '\x80'", "#!/bin/python\n# -*- coding: cp1252 -*-\nx = '€'"),
        ("x = '中文'".encode(), "x = '中文'"),
    ],
)
def test_bytes_are_decoded_as_python_does(data, text):
    assert files.decode(data) == text


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"a = 1\n\nx = '\xe9'", "not valid utf-8 (byte 0xe9 in line 3): add a coding cookie or convert it"),
        (b"x = '\xe9'", "not valid utf-8 (byte 0xe9 in line 1): add a coding cookie or convert it"),
        (b"# coding: nonsense\n", "unknown encoding: nonsense"),
        (b"# coding: rot13\nx = 1\n", "the encoding 'rot13' that it declares is not for text"),
        (b"\x7fELF\0\0torch", "contains null bytes: not Python source"),
    ],
)
def test_bytes_that_are_no_text_are_refused_with_the_reason(data, reason):
    with pytest.raises(UnreadableError) as caught:
        files.decode(data)
    assert str(caught.value) == reason


def test_lines_are_those_of_python_and_not_of_str_splitlines(tmp_path):
    path = tmp_path / "a.py"
    path.write_bytes(b"a = '\x0c'\r\nb = '\x1c'\rc")
    assert files.Sources().lines(str(path)) == ("a = '\x0c'", "b = '\x1c'", "c")
    assert files.Sources().lines(str(tmp_path / "gone.py")) == ()
