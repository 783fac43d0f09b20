"""What measured runs come to."""

from __future__ import annotations

import pytest

from benchmarks.figures import END, START, Row, Timed, tables, written

ROW = Row(
    "timm",
    3,
    1000,
    {
        "cold": [Timed(10, 20, 100), Timed(30, 40, 110), Timed(8, 16, 90)],
        "warm": [Timed(0.5, 0.5, 40)],
        "ruff": [Timed(1, 2, 50), Timed(10, 10, 50), Timed(1, 1, 50)],
        "torchfix": [Timed(40, 80, 300)],
    },
    {"interpret": 30.0, "lower": 10.0, "read": 0.0001},
)


def test_a_ratio_is_the_median_of_those_of_one_round() -> None:
    assert ROW.ratio("cold") == 8  # of 10, 3 and 8
    assert ROW.ratio("cold", cpu=True) == 10  # of 10, 4 and 16
    assert ROW.ratio("torchfix", "cold") == 4  # there is one round of it


def test_stages_share_the_processor_time_of_a_cold_run() -> None:
    rates = ROW.rates()
    assert rates["interpret"] == pytest.approx(1000 / 15, rel=0.01)
    assert rates["lower"] == pytest.approx(1000 / 5, rel=0.01)


def test_tables_have_a_row_a_tree_and_a_row_a_number_of_copies() -> None:
    text = tables([ROW], {1: Timed(1, 2, 50), 4: Timed(8, 16, 60)}, "a machine")
    assert "| timm | 1,000 | 10.0 s | 20.0 s | 8.0 | 10.0 | 0.50 s | 100 MB | 4.0 | 300 MB |" in text
    assert "| lines a CPU second | interpret | lower |\n|---|---|---|\n| timm | 67 | 200 |" in text
    assert "| 4 | 2.00 | 2.00 | 60 MB |" in text
    assert text.endswith("Measured on a machine.")


def test_a_tool_that_was_not_measured_has_a_dash() -> None:
    row = ROW._replace(runs={name: runs for name, runs in ROW.runs.items() if name != "torchfix"})
    assert "| 100 MB | – | – |" in tables([row], {}, "a machine")


def test_a_run_that_broke_is_known() -> None:
    assert ROW.broken() == []
    assert ROW._replace(runs={"cold": [Timed(1, 1, 1), Timed(1, 1, 1, worked=False)]}).broken() == ["cold"]


def test_writing_again_replaces_what_stands_between_the_marks() -> None:
    readme = f"before\n{START}\nold\n\n{END}after\n"
    assert written(readme, "new") == f"before\n{START}\nnew\n\n{END}after\n"
    assert written(written(readme, "other"), "new") == written(readme, "new")
    with pytest.raises(ValueError, match="the page has no"):
        written("no marks", "new")
