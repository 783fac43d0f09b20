from __future__ import annotations

import pytest

from inplace_lint.core.finding import Certainty, Finding, Severity
from inplace_lint.core.span import Span
from inplace_lint.policy.suppress import suppressions, unsuppressed


def finding(line: int, code: str = "IPL101", name: str = "modified-after-save") -> Finding:
    span = Span("a.py", line, 0, line, 5)
    return Finding(code, name, Severity.ERROR, Certainty.ALWAYS, "`x` is overwritten", span, "written here")


def found_in(source: str) -> list[tuple[int, tuple[str, ...]]]:
    return [(one.line, one.selectors) for one in suppressions(source)]


@pytest.mark.parametrize(
    ("comment", "selectors"),
    [
        ("# noqa", ()),
        ("#noqa", ()),
        ("# NOQA", ()),
        ("# noqa: IPL101", ("IPL101",)),
        ("# noqa:IPL101,IPL201", ("IPL101", "IPL201")),
        ("# noqa: IPL101, E501 # more", ("IPL101", "E501")),
        ("# noqa: IPL101 IPL201", ("IPL101", "IPL201")),
        ("# noqa: IPL101 because it is never trained", ("IPL101",)),
        ("# noqa: modified-after-save", ("modified-after-save",)),
        ("# type: ignore # noqa: ipl101", ("ipl101",)),
        ("# inplace-lint: ignore[IPL101] never trained", ("IPL101",)),
        ("# inplace-lint: ignore[IPL101, leaf-write]", ("IPL101", "leaf-write")),
        ("# inplace-lint: ignore", ()),
    ],
)
def test_a_comment_silences_what_it_names(comment, selectors):
    assert found_in(f"x = 1  {comment}\n") == [(1, selectors)]


@pytest.mark.parametrize("comment", ["# noqa: because", "# noqa-like", "# noqable", "# see noqa", "# inplace-lint"])
def test_a_comment_that_only_resembles_one_silences_nothing(comment):
    assert suppressions(f"x = 1  {comment}\n") == ()


def test_the_text_inside_a_string_silences_nothing():
    assert suppressions('x = "# noqa"\ny = """\n# noqa: IPL101\n"""\n') == ()


def test_comments_before_a_place_that_does_not_tokenize_still_count():
    assert found_in("x = 1  # noqa\ny = (\n") == [(1, ())]


def test_any_line_of_the_statement_counts():
    source = "x.add_(\n    y,  # noqa: IPL101\n)\n"
    one = finding(1)
    assert unsuppressed([one], source, {one.span: (1, 3)}) == ()
    assert unsuppressed([one], source, {one.span: (1, 1)}) == (one,)
    assert unsuppressed([one], source, {}) == (one,)


def test_only_the_named_rule_is_silenced_by_code_or_name():
    source = "x += 1  # noqa: IPL101\ny += 1  # noqa: leaf-write\n"
    kept = finding(1, "IPL201", "leaf-write")
    gone = finding(2, "IPL201", "leaf-write")
    assert unsuppressed([finding(1), kept, finding(2), gone], source, {}) == (kept, finding(2))


def test_lines_are_counted_as_in_the_file_with_windows_line_ends():
    assert found_in("a = 1\r\n\r\nx += 1  # noqa\r\n") == [(3, ())]


UNUSED = """\
import torch

w = torch.ones(2, requires_grad=True)
w += 1  # noqa: IPL201
w = w + 1  # noqa: IPL201, E501
w = w + 1  # noqa: E501
w = w + 1  # noqa
w = w + 1  # inplace-lint: ignore[leaf-write] because
w = w + 1  # inplace-lint: ignore
text = "# noqa: IPL201"
v = torch.ones(2, requires_grad=True)
v *= 2  # inplace-lint: ignore[leaf-write, IPL101] reason
"""
WRONG = """\
import torch


w = torch.ones(2, requires_grad=True); w += 1  # noqa: IPL2O1
w = torch.ones(2, requires_grad=True); w += 1  # inplace-lint: ignore[IPL2]
w = torch.ones(2, requires_grad=True); w += 1  # inplace-lint: ignore[leaf-write, IPL201x
w = torch.ones(2, requires_grad=True); w += 1  # inplace-lint: ignore-file
w = torch.ones(2, requires_grad=True); w += 1  # noqa: E501, leaf-like
w = torch.ones(2, requires_grad=True); w += 1  # inplace-lint: ignore[leaf-write, nope]
"""


def test_a_comment_that_cannot_mean_a_rule_silences_nothing_and_is_reported(lint, folder):
    (folder / "a.py").write_text(WRONG)
    rows = [line.split(": ", 1) for line in lint("--output-format=pylint", "a.py").out.splitlines()]
    reported = [(int(place.split(":")[1]), text) for place, text in rows if "[IPL901]" in text]
    assert reported == [
        (4, "[IPL901] `IPL2O1` is not a rule, and suppresses nothing"),
        (5, "[IPL901] `IPL2` is not a rule, and suppresses nothing"),
        (6, "[IPL901] this comment has no `]`, and suppresses nothing"),
        (9, "[IPL901] `nope` is not a rule, and suppresses nothing"),
    ]
    assert {int(place.split(":")[1]) for place, text in rows if "[IPL201]" in text} == {4, 5, 6, 7, 8}


def test_of_a_list_only_what_silences_nothing_is_to_go(lint, folder):
    (folder / "a.py").write_text(UNUSED)
    out = lint("a.py").out
    assert "= help: remove `IPL101` from the list" in out
    assert "= help: remove it" in out


@pytest.mark.parametrize(
    ("words", "lines"),
    [
        ((), [5, 8, 9, 12]),
        (("--ignore", "IPL901"), []),
        (("--ignore", "unused-suppression"), []),
        (("--ignore", "IPL2"), [12]),
        (("--ignore", "IPL1"), [5, 8]),
    ],
)
def test_a_comment_that_silences_nothing_is_reported(lint, folder, words, lines):
    (folder / "a.py").write_text(UNUSED)
    ran = lint("--output-format", "pylint", *words, "a.py")
    assert [line.split(":")[1] for line in ran.out.splitlines()] == [str(line) for line in lines]
    assert all("[IPL901]" in line for line in ran.out.splitlines())
