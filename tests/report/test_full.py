from __future__ import annotations

import re

import pytest

from inplace_lint.core.finding import Related, Role, Severity
from inplace_lint.core.span import Span
from inplace_lint.report.formats import full
from inplace_lint.report.text_width import width_of


def test_both_frames_stand_in_one_snippet_in_source_order(resnet, report, resnet_source):
    assert full.render(report(resnet_source, resnet, width=110)) == (
        """\
error[IPL101] modified-after-save: `x` is overwritten, but backward of `relu` needs its old value
 --> model.py:9:9
  |
6 |         x = F.relu(self.conv1(x))
  |             --------------------- saved here: relu keeps its output for backward
...
9 |         x += feat
  |         ^^^^^^^^^ written here
  |
  = help: use `x = x + feat`
  = torch says: one of the variables needed for gradient computation has been modified by an inplace
    operation: [...] is output 0 of Relu, is at version 1; expected version 0

"""
    )


def test_a_sentence_that_does_not_fit_beside_its_mark_hangs_below_it(resnet, report, resnet_source):
    text = full.render(report(resnet_source, resnet, width=60))
    assert (
        """\
6 |         x = F.relu(self.conv1(x))
  |             ---------------------
  |             |
  |             saved here: relu keeps its output for
  |             backward
...
9 |         x += feat
"""
        in text
    )


@pytest.mark.parametrize("width", [40, 60, 80, 200])
def test_no_line_is_wider_than_the_terminal(resnet, report, resnet_source, width):
    lines = full.render(report(resnet_source, resnet, width=width)).split("\n")
    assert [line for line in lines if width_of(line) > width] == []


def test_a_single_line_between_two_others_is_shown(place, bare, report):
    source = "a = 1\nif a:\n    b = 2\n"
    finding = bare(place(source, 3, "b"), Related(Role.SAVE, place(source, 1, "a"), "saved"))
    rows = full.render(report(source, finding)).split("\n")
    assert rows[3:8] == ["1 | a = 1", "  | - saved", "2 | if a:", "3 |     b = 2", "  |     ^ written"]


def test_distant_lines_have_dots_between_them(place, bare, report):
    source = "a = 1\n" + "\n" * 120 + "b = 2\n"
    finding = bare(place(source, 122, "b"), Related(Role.SAVE, place(source, 1, "a"), "saved"))
    assert full.render(report(source, finding)) == (
        """\
error[IPL101] modified-after-save: `x` is overwritten
   --> model.py:122:1
    |
  1 | a = 1
    | - saved
...
122 | b = 2
    | ^ written

"""
    )


def test_several_sentences_on_one_line_hang_from_their_marks(place, bare, report):
    source = "y = x.exp(); y.add_(F.relu(y))"
    related = (
        Related(Role.SAVE, place(source, 1, "x.exp()"), "saved"),
        Related(Role.ALIAS, place(source, 1, "F.relu(y)"), "read"),
    )
    assert full.render(report(source, bare(place(source, 1, "y.add_(F.relu(y))"), *related))) == (
        """\
error[IPL101] modified-after-save: `x` is overwritten
 --> model.py:1:14
  |
1 | y = x.exp(); y.add_(F.relu(y))
  |     -------  ^^^^^^^---------^
  |     |        |      |
  |     |        |      read
  |     |        written
  |     saved

"""
    )


def test_the_last_sentence_of_a_line_stays_beside_its_mark(place, bare, report):
    source = "y = x.exp(); y += 1"
    finding = bare(place(source, 1, "y += 1"), Related(Role.SAVE, place(source, 1, "x.exp()"), "saved"))
    assert """\
1 | y = x.exp(); y += 1
  |     -------  ^^^^^^ written
  |     |
  |     saved
""" in full.render(report(source, finding))


def test_a_sentence_is_broken_below_its_mark_and_not_moved_left_of_it(place, bare, report):
    source = "model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))"
    first, last = (
        Related(Role.SAVE, place(source, 1, f"nn.Linear({sizes})"), "saved here: Linear keeps its `weight`")
        for sizes in ("8, 16", "16, 1")
    )
    text = full.render(report(source, bare(place(source, 1, "model"), first, last), width=80))
    assert (
        """\
  | -----                 ----------------             ----------------
  | |                     |                            |
  | |                     |                            saved here: Linear keeps
  | |                     |                            its `weight`
  | |                     saved here: Linear keeps its `weight`
  | written
""".replace("-----  ", "^^^^^  ", 1)
        in text
    )


def test_two_sentences_about_one_place_are_both_told(place, bare, report):
    source = "x.add_(x)"
    finding = bare(place(source, 1, "x.add_(x)"), Related(Role.SAVE, place(source, 1, "x.add_(x)"), "saved"))
    text = full.render(report(source, finding))
    assert "  | ^^^^^^^^^\n  | |\n  | written\n  | saved\n" in text


def test_another_file_has_a_block_of_its_own(place, bare, report):
    source = "x = f(x)"
    related = Related(Role.SAVE, place(source, 1, "f(x)", path="other/blocks.py"), "saved")
    assert full.render(report(source, bare(place(source, 1, "x"), related))) == (
        """\
error[IPL101] modified-after-save: `x` is overwritten
 --> model.py:1:1
  |
1 | x = f(x)
  | ^ written
 ::: other/blocks.py:1:5
  |
1 | x = f(x)
  |     ---- saved

"""
    )


def test_marks_stand_under_what_they_mean_after_wide_characters(place, bare, report):
    source = 'y = "中文"; y += 1'
    text = full.render(report(source, bare(place(source, 1, "y += 1"))))
    line, marks = text.split("\n")[3:5]
    assert width_of(line[: line.index("y += 1")]) == marks.index("^")
    assert marks.endswith("^^^^^^ written")


def test_combining_characters_take_no_room(place, bare, report):
    source = 'y = "e\u0301"; y += 1'
    assert full.render(report(source, bare(place(source, 1, "y += 1")))).split("\n")[4] == "  |          ^^^^^^ written"


def test_tabs_are_expanded_under_the_marks_too(place, bare, report):
    source = "\tif a:\ty += 1"
    text = full.render(report(source, bare(place(source, 1, "y += 1"))))
    assert "1 |     if a:   y += 1\n  |             ^^^^^^ written\n" in text


def test_control_characters_of_the_source_do_not_reach_the_terminal(place, bare, report):
    source = "y = '\x1b[31m'; y += 1"
    assert "\x1b" not in full.render(report(source, bare(place(source, 1, "y += 1"))))


def test_what_goes_on_over_lines_is_marked_to_the_end_of_the_first(bare, report):
    source = "x.add_(\n    y,\n)"
    assert "1 | x.add_(\n  | ^^^^^^^ written\n" in full.render(report(source, bare(Span("model.py", 1, 0, 3, 1))))


@pytest.mark.parametrize("width", [40, 60, 80])
def test_a_long_line_is_cut_around_the_mark(place, bare, report, width):
    source = f"a = '{'x' * 300}'; y += 1  # {'z' * 300}"
    finding = bare(place(source, 1, "y += 1"))
    line, marks = full.render(report(source, finding, width=width)).split("  |\n")[1].split("\n")[:2]
    assert width_of(line) <= width
    assert re.match(r"1 \| \.\.\.x+.*y \+= 1.*\.\.\.$", line)
    assert line[marks.index("^") : marks.rindex("^") + 1] == "y += 1"


def test_a_wide_character_is_never_cut_in_two(place, bare, report):
    for shift in range(4):
        source = f"{'a' * shift}'{'中' * 300}'; y += 1  # {'文' * 300}"
        finding = bare(place(source, 1, "y += 1"))
        line, marks = full.render(report(source, finding, width=80)).split("\n")[3:5]
        assert width_of(line[: line.index("y += 1")]) == marks.index("^")


def test_a_place_past_the_end_of_the_text_still_has_a_mark(bare, report):
    text = full.render(report("x = (", bare(Span("model.py", 1, 5, 1, 6))))
    assert "1 | x = (\n  |      ^ written\n" in text


def test_a_file_that_is_gone_leaves_the_marks(bare, report):
    text = full.render(report("", bare(Span("model.py", 7, 2, 7, 3))))
    assert "7 |\n  | ^ written\n" in text


def test_assumptions_and_further_saves_are_told(place, bare, report):
    finding = bare(
        place("x += 1", 1, "x"), more=2, assumptions=("`x` requires grad", "`y` is a tensor"), severity=Severity.WARNING
    )
    text = full.render(report("x += 1", finding))
    assert text.startswith("warning[IPL101] ")
    assert (
        "  = note: 2 more saves of this tensor went stale\n  = assuming: `x` requires grad; `y` is a tensor\n" in text
    )


def test_colours_change_nothing_but_colours(resnet, report, resnet_source):
    plain = full.render(report(resnet_source, resnet, width=80))
    colored = full.render(report(resnet_source, resnet, width=80, color=True))
    assert "\x1b[1;31merror[IPL101]\x1b[0m" in colored
    assert re.sub(r"\x1b\[[\d;]*m", "", colored) == plain
    assert "\x1b" not in plain
