"""`inplace-lint cache`."""

from __future__ import annotations


def test_what_is_kept_is_counted_and_removed(lint, folder, buggy):
    (folder / "a.py").write_text(buggy)
    assert lint("cache", "stats").out.splitlines()[1:] == ["results: 0", "claims: 0", "size: 0 kB"]
    assert not (folder / ".inplace_lint_cache").exists()
    lint("a.py")
    place, results, _, size = lint("cache", "stats").out.splitlines()
    assert place == f"folder: {folder / '.inplace_lint_cache'}"
    assert (results, size != "size: 0 kB") == ("results: 1", True)
    assert lint("cache", "clear") == (0, "", "")
    assert "files taken from the cache" not in lint("--statistics", "a.py").out


def test_another_folder_may_be_named(lint, folder, buggy):
    (folder / "a.py").write_text(buggy)
    lint("--cache-dir", "kept", "a.py")
    assert "results: 1" in lint("cache", "stats", "--cache-dir", "kept").out
    assert "results: 0" in lint("cache", "stats").out


def test_another_word_is_refused(lint):
    ran = lint("cache", "stat")
    assert (ran.status, ran.out) == (2, "")
    assert "stats" in ran.err
