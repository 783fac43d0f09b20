"""The catalogue and the sources: every text has an entry, every entry a text, and no word of English is left over."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest

from inplace_lint.report.i18n import Catalogue, catalogue
from tests.lang import texts
from tests.pages.examples import ROOT

PAIRS = json.loads((ROOT / "rules" / "lang" / "zh.json").read_text(encoding="utf-8"))["templates"]
ZH = catalogue("zh")
PLURAL = {
    **{word: f"{word}s" for word in ("file", "error", "warning", "finding", "noqa comment", "entry")},
    "hidden fix": "hidden fixes",
    "entry": "entries",
}
# What the sources put together from a number and a word, or take from a table: no string there reads like words.
PUT_TOGETHER = (
    *(f"{count} {word}" for word in PLURAL for count in ("1", "2")),
    *("indexing", "paths", "sides", "steps", "imports"),
)
_NAMES = re.compile(
    r"`[^`]*`|\{\w+\}|--[a-z-]+|git fetch \w*|inplace-lint|GitHub|git|torch|paddle|Python|JSON|TOML|HEAD|noqa"
)
_LETTERS = re.compile(r"[A-Za-z]{2,}")


def instances_of(forms: tuple[str, ...]) -> Iterator[list[str]]:
    """Give, for each alternative of a text, the sentences that it can be: alone, or said of a tensor."""
    for form in forms:
        yield [*texts.instances(form), *texts.instances(f"{{}} {form}")]


def plural(text: str) -> str:
    number, _, word = text.partition(" ")
    return f"{number} {PLURAL[word]}" if number == "2" else text


def used(zh: Catalogue, text: str) -> set[str]:
    """Give the entries that a text needs, those for what stands in its holes included."""
    found = zh.match(text)
    if found is None:
        return set()
    template, holes = found
    inner = [used(zh, value) for name, value in holes.items() if name not in template.kept]
    return {template.english}.union(*inner)


def words_of_template(text: str) -> int:
    """Count the letters of the entry that a text needs, so that of two readings the more particular one counts."""
    found = ZH.match(text)
    return len(re.sub(r"\{\w+\}", "", found[0].english)) if found is not None else -1


SOURCES = [
    *(pytest.param(forms, id=forms[0][:60]) for forms in (*texts.of_rules(), *texts.of_assumptions())),
    *(pytest.param(forms, id=forms[0][:60]) for forms in (*texts.of_reports(), *texts.of_fixes())),
]


def test_the_sources_are_read() -> None:
    assert len(list(texts.of_rules())) > 70
    assert len(list(texts.of_assumptions())) > 10
    assert len(list(texts.of_reports())) > 40
    assert len(list(texts.of_fixes())) > 12


@pytest.mark.parametrize("forms", SOURCES)
def test_a_text_of_the_sources_has_an_entry(forms: tuple[str, ...]) -> None:
    for some in instances_of(forms):
        assert any(ZH.match(text) for text in some), f"rules/lang/zh.json has no template for {some[0]!r}"


def test_an_entry_has_a_text_in_the_sources() -> None:
    needed: set[str] = set()
    for parameter in SOURCES:
        for some in instances_of(parameter.values[0]):
            needed |= used(ZH, max(some, key=words_of_template))
    for text in PUT_TOGETHER:
        needed |= used(ZH, plural(text) if text[0].isdigit() else text)
    said = texts.spelled()
    pieces = {entry: re.split(r"\{\w+\}|`", entry) for entry in set(PAIRS) - needed}
    unsaid = {entry for entry, parts in pieces.items() if not all(part.strip(" :") in said for part in parts)}
    assert unsaid == set()


@pytest.mark.parametrize(("english", "chinese"), [pytest.param(*pair, id=pair[0][:60]) for pair in PAIRS.items()])
def test_both_sides_of_an_entry_have_the_same_holes_and_code(english: str, chinese: str) -> None:
    holes = re.compile(r"\{\w+\}")
    assert sorted(holes.findall(english)) == sorted(holes.findall(chinese))
    code = re.compile(r"`[^`]*`")
    assert sorted(code.findall(english)) == sorted(code.findall(chinese))


@pytest.mark.parametrize("chinese", PAIRS.values())
def test_no_english_is_left_in_an_entry(chinese: str) -> None:
    bare = _NAMES.sub("", chinese)
    assert not _LETTERS.search(bare)


@pytest.mark.parametrize("chinese", PAIRS.values())
def test_an_entry_is_set_as_chinese_is(chinese: str) -> None:
    """A space divides Chinese from code and from holes, none stands beside a full-width mark."""
    if re.search(r"[\u4e00-\u9fff]", chinese):
        assert not re.search(r"[\u4e00-\u9fff][`{]|[`}][\u4e00-\u9fff]", re.sub(r"^ | $", "", chinese))
        assert not re.search(r"\s[，。；：、（）！]|[，。；：、（）！]\s", chinese)
        assert not re.search(r"[\u4e00-\u9fff][,;:!]", chinese)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "`x` is overwritten, but backward of `relu` needs its old value",
            "`x` 被原地修改，但 `relu` 的反向传播需要它的旧值",
        ),
        (
            "its input is overwritten by in-place `relu`, but backward of `+` needs its old value",
            "它的输入被原地操作 `relu` 修改，但 `+` 的反向传播需要它的旧值",
        ),
        ("made here by indexing", "由索引在此产生"),
        (
            "`indexing` is overwritten, but backward of `item assignment` needs its old value",
            "`indexing` 被原地修改，但 `元素赋值` 的反向传播需要它的旧值",
        ),
        (
            "saved here: item assignment keeps its input `a` for backward",
            "在此保存：元素赋值为反向传播保存了它的输入 `a`",
        ),
        ("use `x = x.is_set('`a` is set')`", "改用 `x = x.is_set('`a` is set')`"),
        ("the tensor requires grad", "该张量需要梯度"),
        ("invalid syntax. Perhaps you forgot a comma?", "invalid syntax. Perhaps you forgot a comma?"),
        ("no such file", "no such file"),
        ("", ""),
    ],
)
def test_a_text_is_put_into_the_language_and_code_in_it_is_left(text: str, said: str) -> None:
    assert ZH.say(text) == said
