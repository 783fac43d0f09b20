"""Rounds: what is applied together, what is taken back, and what is told of it."""

from __future__ import annotations

from collections.abc import Mapping

from inplace_lint.core.finding import Applicability, Certainty, Edit, Finding, Fix, Severity
from inplace_lint.core.span import Span
from inplace_lint.driver.session import Outcome
from inplace_lint.fix.apply.rounds import Rounds
from inplace_lint.fix.texts import applied, moved

PATH = "a.py"


def finding(line: int, column: int, code: str = "IPL101", fix: tuple[int, int, str] | None = None, **more) -> Finding:
    """Give a finding at a place; `fix` is the start and end column of an edit on its line, and the new text."""
    edit = fix and Fix(
        more.pop("applicability", Applicability.SAFE), "mend", (Edit(Span(PATH, line, fix[0], line, fix[1]), fix[2]),)
    )
    return Finding(
        code=code,
        name="rule",
        severity=more.pop("severity", Severity.ERROR),
        certainty=Certainty.ALWAYS,
        message=more.pop("message", f"{code} {line}"),
        span=Span(PATH, line, column, line, column + 1),
        label="",
        fix=edit or None,
        **more,
    )


def run(text: str, find, *, unsafe: bool = False) -> Rounds:
    """Run rounds over a text; `find` gives its findings."""

    def check(texts: Mapping[str, bytes]) -> Outcome:
        now = texts.get(PATH, text.encode())
        return Outcome(findings=tuple(find(now.decode())), requested={PATH: now})

    rounds = Rounds(check, unsafe, check({}))
    rounds.run()
    return rounds


def letters(text: str, letter: str):
    """Give the places of a letter: line and column."""
    for number, line in enumerate(text.splitlines(), 1):
        for column, found in enumerate(line):
            if found == letter:
                yield number, column


def test_fixes_on_one_line_are_applied_one_a_round():
    rounds = run("a a\na\n", lambda text: [finding(*at, fix=(at[1], at[1] + 1, "bb")) for at in letters(text, "a")])
    assert rounds.texts[PATH] == b"bb bb\nbb\n"
    assert len(rounds.fixed) == 3
    assert rounds.before.findings == ()


def test_a_fix_whose_finding_stays_is_taken_back():
    rounds = run("a\n", lambda _: [finding(1, 0, fix=(0, 1, "b"))])
    assert rounds.texts == {}
    assert [entry.reason for entry in rounds.refused.values()] == ["the finding remains"]


def test_a_fix_that_brings_another_fault_is_taken_back_alone():
    def find(text):
        yield from (finding(*at, fix=(at[1], at[1] + 1, "b"), message=f"a {at}") for at in letters(text, "a"))
        if "b\nc" in text:
            yield finding(1, 0, "IPL305", message="worse")

    rounds = run("a\nc\na\na\n", find)
    assert rounds.texts[PATH] == b"a\nc\nb\nb\n"
    assert [entry.reason for entry in rounds.refused.values()] == ["it would cause IPL305 in line 1: worse"]


def test_a_fault_that_stood_behind_another_one_is_no_reason_to_take_a_fix_back():
    def find(text):
        places = list(letters(text, "a"))
        yield from (finding(*at, fix=(at[1], at[1] + 1, "b"), function="f") for at in places[:1])

    rounds = run("a\na\na\n", find)
    assert rounds.texts[PATH] == b"b\nb\nb\n"


def test_the_same_rule_in_the_text_of_a_fix_is_a_reason():
    rounds = run("a\n", lambda text: [finding(*at, fix=(at[1], at[1] + 1, "xa")) for at in letters(text, "a")])
    assert rounds.texts == {}


def test_info_is_no_reason_to_take_a_fix_back():
    def find(text):
        yield from (finding(*at, fix=(at[1], at[1] + 1, "b")) for at in letters(text, "a"))
        yield from (finding(*at, "IPL501", severity=Severity.INFO) for at in letters(text, "b"))

    assert run("a\n", find).texts[PATH] == b"b\n"


def test_unsafe_fixes_wait_until_they_are_asked_for():
    def find(text):
        for at in letters(text, "a"):
            yield finding(*at, fix=(at[1], at[1] + 1, "b"), applicability=Applicability.UNSAFE)

    assert run("a\n", find).texts == {}
    assert run("a\n", find, unsafe=True).texts[PATH] == b"b\n"


def test_files_that_were_not_asked_for_are_left_alone():
    edit = Edit(Span("other.py", 1, 0, 1, 1), "b")
    one = Finding(
        "IPL101", "rule", Severity.ERROR, Certainty.ALWAYS, "m", Span(PATH, 1, 0, 1, 1), "",
        fix=Fix(Applicability.SAFE, "mend", (edit,)),
    )  # fmt: skip
    assert run("a\n", lambda _: [one]).texts == {}


def test_rounds_end_even_if_each_brings_work_for_the_next():
    rounds = run("a\n", lambda text: [finding(*at, fix=(0, 0, "x\n"), function=text) for at in letters(text, "a")])
    assert rounds.texts == {}


def test_places_are_told_in_those_of_the_old_text():
    edits = [
        Edit(Span(PATH, 2, 1, 2, 3), "one\ntwo"),
        Edit(Span(PATH, 2, 4, 2, 4), "ins"),
        Edit(Span(PATH, 3, 0, 4, 0), ""),
    ]
    assert applied("....\nabcde\ngone\nlast\n", edits) == "....\naone\ntwodinse\nlast\n"
    moves = moved(edits)
    assert moves.origin((1, 2)) == (1, 2)
    assert moves.origin((2, 0)) == (2, 0)
    assert moves.origin((2, 1)) == 0
    assert moves.origin((3, 2)) == 0
    assert moves.origin((3, 3)) == (2, 3)  # d
    assert moves.origin((3, 4)) == 1
    assert moves.origin((3, 7)) == (2, 4)  # e
    assert moves.origin((4, 2)) == (4, 2)  # last
