"""The catalogue and the sources: every text has an entry, every entry a text, and no word of English is left over."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator

import pytest

from inplace_lint.report.i18n import Catalogue, catalogue
from tests.lang import texts
from tests.lang.translations import require_translations
from tests.once import once
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


KINDS = ("rules", "assumptions", "reports", "fixes")


@once
def sources(kind: str) -> tuple[tuple[str, ...], ...]:
    """Give the texts of one kind, each as its alternatives."""
    match kind:
        case "rules":
            return tuple(texts.of_rules())
        case "assumptions":
            return tuple(texts.of_assumptions())
        case "reports":
            return tuple(texts.of_reports())
    return (*texts.of_fixes(), *texts.of_rounds())


def test_the_sources_are_read() -> None:
    assert len(sources("rules")) > 70
    assert len(sources("assumptions")) > 10
    assert len(sources("reports")) > 40
    assert len(sources("fixes")) > 12


@pytest.mark.parametrize("kind", KINDS)
def test_a_text_of_the_sources_has_an_entry(kind: str) -> None:
    without = [
        some[0] for forms in sources(kind) for some in instances_of(forms) if not any(ZH.match(text) for text in some)
    ]
    require_translations([f"rules/lang/zh.json: add a template and its Chinese for {text!r}" for text in without])


def test_an_entry_has_a_text_in_the_sources() -> None:
    needed: set[str] = set()
    for forms in itertools.chain.from_iterable(map(sources, KINDS)):
        for some in instances_of(forms):
            needed |= used(ZH, max(some, key=words_of_template))
    for text in PUT_TOGETHER:
        needed |= used(ZH, plural(text) if text[0].isdigit() else text)
    said = texts.spelled()
    pieces = {entry: re.split(r"\{\w+\}|`", entry) for entry in set(PAIRS) - needed}
    unsaid = {entry for entry, parts in pieces.items() if not all(part.strip(" :") in said for part in parts)}
    require_translations([f"rules/lang/zh.json: nothing says {entry!r} any more: take it out" for entry in unsaid])


def test_both_sides_of_an_entry_have_the_same_holes_and_code() -> None:
    for parts in (re.compile(r"\{\w+\}"), re.compile(r"`[^`]*`")):
        unlike = [(e, c) for e, c in PAIRS.items() if sorted(parts.findall(e)) != sorted(parts.findall(c))]
        assert unlike == []


def test_no_english_is_left_in_an_entry() -> None:
    assert [chinese for chinese in PAIRS.values() if _LETTERS.search(_NAMES.sub("", chinese))] == []


def test_an_entry_is_set_as_chinese_is() -> None:
    """A space divides Chinese from code and from holes, none stands beside a full-width mark."""
    wrong = [
        chinese
        for chinese in PAIRS.values()
        if re.search(r"[\u4e00-\u9fff]", chinese)
        and (
            re.search(r"[\u4e00-\u9fff][`{]|[`}][\u4e00-\u9fff]", re.sub(r"^ | $", "", chinese))
            or re.search(r"\s[，。；：、（）！]|[，。；：、（）！]\s", chinese)
            or re.search(r"[\u4e00-\u9fff][,;:!]", chinese)
        )
    ]
    assert wrong == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "`x` is overwritten, but backward of `relu` needs its old value",
            "`x` 被原地修改，但 `relu` 的反向传播需要它的旧值",
        ),
        (
            "the input is overwritten by in-place `relu`, but backward of `+` needs its old value",
            "输入被原地操作 `relu` 修改，但 `+` 的反向传播需要它的旧值",
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


@pytest.mark.parametrize(
    "start", ["the same loss and gradients: ", "the line ran by `Net()`, but no memory is saved: "]
)
def test_figures_within_a_sentence_leave_no_english(start) -> None:
    figures = "20,625 bytes kept for backward instead of 1,020,785, a peak of 8 instead of 4,588"
    said = ZH.say(f"{start}{figures}{', by `Net()`' if 'same' in start else ''}")
    assert re.findall("[a-z]+", said.replace("`Net()`", "")) == [], said
