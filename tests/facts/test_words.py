"""The closed sets of facts are the same in the code, in `rules/ops/README.md` and in the interpreter."""

from __future__ import annotations

import re

import pytest

from inplace_lint.interp.intrinsics import table
from inplace_lint.knowledge import op
from inplace_lint.knowledge.words import (
    AMBIENT,
    INTRINSICS,
    MODES,
    Check,
    Device,
    DType,
    History,
    Moves,
    Predicate,
    Result,
    ValueKind,
    ViewKind,
)
from tests.pages.examples import ROOT

README = (ROOT / "rules" / "ops" / "README.md").read_text(encoding="utf-8")


def column(head: str) -> set[str]:
    """Return the words in the first column of the table whose head starts with this cell."""
    rows = README.partition(f"\n| {head} |")[2].partition("\n\n")[0].splitlines()[2:]
    assert rows, head
    return {word for row in rows for word in re.findall(r"`(\w+)", row.split("|")[1])}


def words_after(text: str) -> set[str]:
    """Return the quoted words between a text and the end of its paragraph."""
    return set(re.findall(r"`([^`]+)`", README.partition(text)[2].partition("\n\n")[0]))


@pytest.mark.parametrize(
    ("head", "words"),
    [
        ("check", set(Check)),
        ("history", set(History)),
        ("`is`", set(Result)),
        ("kind of view", set(ViewKind)),
        ("`moves` | covers", set(Moves) - {Moves.OTHER}),
        ("dtype", set(DType)),
        ("test", set(Predicate) - {Predicate.TRUTH} | AMBIENT),
    ],
)
def test_the_readme_lists_each_word_of_a_closed_set(head: str, words: set[str]) -> None:
    assert column(head) == words


def test_the_readme_lists_the_kinds_of_values_and_devices() -> None:
    assert words_after("The kinds of a `value` are") == set(ValueKind)
    device = next(row for row in README.splitlines() if row.startswith("| `device`"))
    assert set(re.findall(r"`(\w+)`", device.split("|")[2])) == set(Device)


def test_the_readme_lists_the_keys_of_each_object() -> None:
    keys = {
        section.partition("\n")[0]: set(re.findall(r"^\| `(\w+)`.*\| .*`.*` \|$", section, re.MULTILINE))
        for section in README.split("\n## ")
    }
    assert keys["Keys of an entry"] == set(op.ENTRY.keys)
    assert keys["Writes"] == set(op.WRITE.keys)
    assert keys["Saves"] == set(op.SAVE.keys)
    results = {key for schema in op.RESULTS.values() for key in schema.keys}
    assert keys["Returns"] - set(Result) - set(Moves) | {"is", "if"} == results


def test_the_acts_are_those_of_the_interpreter_and_of_the_readme() -> None:
    listed = README.partition("`inplace_lint/interp/intrinsics`:\n\n")[2].partition("\n\n")[0]
    assert set(re.findall(r"`(\w+)`", listed)) == INTRINSICS == set(table._INTRINSICS)  # noqa: SLF001 - the words it knows
    assert {f"`{mode}`" for mode in MODES} <= set(re.findall(r"`\w+`", README.partition("## Acts")[2]))
