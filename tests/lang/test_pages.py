"""The Chinese pages say what the English ones do: same pages, same heads, same examples, same code in sentences."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.lang.test_catalogue import PAIRS
from tests.lang.translations import require_translations
from tests.pages.examples import ROOT

ENGLISH, CHINESE = ROOT / "rules", ROOT / "rules" / "zh"
HEADINGS = {
    "Paddle": "Paddle",
    "Versions": "版本",
    "What it does": "检查内容",
    "Why is this bad?": "为什么不好",
    "What PyTorch says": "PyTorch 的报错",
    "Example": "示例",
    "Use instead": "改用",
    "When it is fine": "没有问题的情况",
    "Fix safety": "修复的安全性",
    "Known limits": "已知局限",
}
_HEAD = re.compile(r"harm: (.+) · severity: (.+) · since (.+) · frameworks: (.+)")
HARMS = {
    "raises in backward": "反向传播时报错",
    "raises at the write": "写入时报错",
    "silent": "没有任何报错",
    "style": "风格",
    "the file cannot be imported": "文件无法导入",
}
SEVERITIES = {"error": "错误", "warning": "警告", "info": "提示"}
# Names that are written as they are in both languages.
NAMES = {
    *("PyTorch", "Paddle", "Python", "NumPy", "LibCST", "CAM", "GAN", "Grad", "SHAP", "Captum", "U", "Net"),
    *("modified", "after", "save", "parameter", "write", "before", "backward", "md"),  # of links to pages
}
TRANSLATED = [page for page in sorted(ENGLISH.glob("*.md")) if (CHINESE / page.name).is_file()]
translated_pages = pytest.mark.parametrize("name", [pytest.param(page.name, id=page.stem) for page in TRANSLATED])
_BLOCK = re.compile(r"^```.*?^```$|^    .*?$", re.DOTALL | re.MULTILINE)
_CODE = re.compile(r"`[^`\n]+(?:\n[^`\n]+)?`")


def texts(name: str) -> tuple[str, str]:
    return (ENGLISH / name).read_text(encoding="utf-8"), (CHINESE / name).read_text(encoding="utf-8")


def prose(text: str) -> list[str]:
    """Give the lines of a page below its head that are no code."""
    return [line for line in _BLOCK.sub("", text).split("\n")[3:] if line]


def test_both_languages_have_the_same_pages() -> None:
    english, chinese = ({page.name for page in folder.glob("*.md")} for folder in (ENGLISH, CHINESE))
    assert chinese <= english
    assert {page.name for page in CHINESE.iterdir()} == chinese
    require_translations([f"rules/zh/{name}: write the Chinese page of rules/{name}" for name in english - chinese])


@translated_pages
def test_a_page_has_the_head_headings_and_code_of_the_english_one(name: str) -> None:
    english, chinese = texts(name)
    assert english.split("\n")[0] == chinese.split("\n")[0]
    assert chinese.split("\n")[4].startswith("一句话：")
    headings = re.compile(r"^## (.+)$", re.MULTILINE)
    same = {
        "the line about its harm": (_translated(english.split("\n")[2]), chinese.split("\n")[2]),
        "the code": (_BLOCK.findall(english), _BLOCK.findall(chinese)),
        "the headings": ([HEADINGS[one] for one in headings.findall(english)], headings.findall(chinese)),
    }
    _require_alike(name, {what for what, (one, other) in same.items() if one != other})


def _translated(head: str) -> str:
    found = _HEAD.fullmatch(head)
    assert found is not None
    harm, severity, since, frameworks = found.groups()
    return f"危害：{HARMS[harm]} · 严重程度：{SEVERITIES[severity]} · 自 {since} 起 · 框架：{frameworks}"


@translated_pages
def test_a_page_names_the_same_things_in_the_same_sections(name: str) -> None:
    parts = [re.split(r"^## .+$", _BLOCK.sub("", text), flags=re.MULTILINE) for text in texts(name)]
    unlike = {"the number of sections"} if len(parts[0]) != len(parts[1]) else set()
    for at, (english, chinese) in enumerate(zip(*parts, strict=False)):
        code = [{" ".join(part.split()) for part in _CODE.findall(text)} for text in (english, chinese)]
        codes = [set(re.findall(r"IPL\d+", text)) for text in (english, chinese)]
        same = {
            "code in sentences": code[0] == code[1],
            "points of a list": english.count("\n* ") == chinese.count("\n* "),
            "sentences that lead to code": english.count(":\n") == chinese.count("：\n"),
            "codes of rules": codes[0] == codes[1],
        }
        unlike |= {f"section {at}: {what}" for what, alike in same.items() if not alike}
    _require_alike(name, unlike)


def _require_alike(name: str, unlike: set[str]) -> None:
    require_translations([f"rules/zh/{name}: follow rules/{name} in {what}" for what in sorted(unlike)])


@translated_pages
def test_no_english_is_left_on_a_page(name: str) -> None:
    for line in prose(texts(name)[1]):
        assert set(re.findall(r"[A-Za-z]+", re.sub(r"IPL\d+", "", _CODE.sub("", line)))) <= NAMES, line


@translated_pages
def test_a_page_is_set_as_chinese_is(name: str) -> None:
    for line in prose(texts(name)[1]):
        assert not re.search(r"[\u4e00-\u9fff]`[^`]*`|`[^`]*`[\u4e00-\u9fff]", line), line
        assert not re.search(r"[\u4e00-\u9fff][A-Za-z0-9]|[A-Za-z0-9][\u4e00-\u9fff]", line), line
        assert not re.search(r"[\u4e00-\u9fff][,;:!?]|[，。；：、（）！]\s|\s[，。；：、（）！]", line), line


def test_pages_and_messages_use_the_words_of_the_glossary() -> None:
    """What has one word in the glossary has no other one anywhere."""
    others = ("就地", "反向过程", "逆传播", "叶节点", "叶张量", "视角", "版本号", "原位", "in-place 操作", "自动微分")
    everything = "\n".join([*PAIRS.values(), *(page.read_text(encoding="utf-8") for page in CHINESE.iterdir())])
    assert [word for word in others if word in everything] == []


@pytest.mark.parametrize("folder", [ENGLISH, CHINESE])
def test_every_link_between_pages_leads_somewhere(folder: Path) -> None:
    for page in folder.glob("*.md"):
        for target in re.findall(r"\]\(([^)]+\.md)\)", page.read_text(encoding="utf-8")):
            assert (folder / target).is_file(), f"{page.name}: {target}"
