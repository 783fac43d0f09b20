"""Which language is spoken, and what does not depend on it."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys

import pytest

from inplace_lint.config.schema import LANGS
from inplace_lint.core.finding import Applicability, Fix, Severity
from inplace_lint.core.span import Span
from inplace_lint.report.i18n import catalogue, language
from inplace_lint.report.summary import Counts, fixable, statistics, summary
from inplace_lint.report.text_width import wrapped
from tests.pages.examples import ROOT
from tests.report.conftest import bare

SAID = "`y` 被原地修改，但 `exp` 的反向传播需要它的旧值"
TOLD = "`y` is overwritten, but backward of `exp` needs its old value"
NOBODY = {"INPLACE_LINT_LANG": "", "LC_ALL": "", "LC_MESSAGES": "", "LANG": ""}

__all__ = ["bare"]


@pytest.mark.parametrize(
    ("environment", "lang"),
    [
        ({}, "en"),
        ({"LANG": "zh_CN.UTF-8"}, "zh"),
        ({"LC_MESSAGES": "zh_CN.UTF-8", "LANG": "en_US.UTF-8"}, "zh"),
        ({"LC_ALL": "C.UTF-8", "LC_MESSAGES": "zh_CN.UTF-8", "LANG": "zh_CN.UTF-8"}, "en"),
        ({"LC_ALL": "", "LANG": "zh_CN.UTF-8"}, "zh"),
        ({"INPLACE_LINT_LANG": "zh", "LC_ALL": "en_US.UTF-8"}, "zh"),
        ({"INPLACE_LINT_LANG": "en", "LANG": "zh_CN.UTF-8"}, "en"),
    ],
)
def test_the_environment_chooses_for_people(environment: dict[str, str], lang: str) -> None:
    assert language(None, environment=environment) == lang
    assert language(None, for_people=False, environment=environment) == "en"


@pytest.mark.parametrize("lang", LANGS)
def test_a_choice_counts_before_the_environment_and_for_programs_too(lang: str) -> None:
    for other in LANGS:
        assert language(lang, for_people=False, environment={"INPLACE_LINT_LANG": other}) == lang


def test_the_locale_speaks_to_people_and_not_to_programs(lint, folder, buggy) -> None:
    (folder / "a.py").write_text(buggy)
    chinese = {**NOBODY, "LANG": "zh_CN.UTF-8"}
    for form in ("full", "concise", "grouped"):
        out = lint(".", "--output-format", form, **chinese).out
        assert SAID in out
        assert out.endswith("在 1 个文件中发现 1 个错误。\n[*] 1 个问题可用 `--fix` 选项修复。\n")
    assert TOLD in lint(".", "--output-format", "json", **chinese).out
    assert SAID in lint(".", "--output-format", "json", "--lang", "zh", **NOBODY).out
    assert TOLD in lint(".", "--lang", "en", **chinese).out


def test_a_stdout_that_cannot_hold_chinese_is_spoken_to_in_english(lint, folder, buggy) -> None:
    (folder / "a.py").write_text(buggy)
    locale = {**NOBODY, "LANG": "zh_CN.UTF-8", "PYTHONIOENCODING": "ascii"}
    assert TOLD in lint(".", **locale).out
    lint(".", "--output-file", "found.txt", **locale)
    assert SAID in (folder / "found.txt").read_text(encoding="utf-8")


def test_a_key_of_the_configuration_chooses_and_an_option_goes_over_it(lint, folder, buggy) -> None:
    (folder / "a.py").write_text(buggy)
    (folder / "pyproject.toml").write_text('[tool.inplace-lint]\nlang = "zh"\n')
    assert SAID in lint(".", "--output-format", "github").out
    assert TOLD in lint(".", "--lang", "en").out
    (folder / "pyproject.toml").write_text('[tool.inplace-lint]\nlang = "cn"\n')
    ran = lint(".")
    assert (ran.status, "'lang' must be one of en, zh, not 'cn'" in ran.err) == (2, True)


def test_only_words_of_the_json_change(lint, folder, buggy) -> None:
    (folder / "a.py").write_text(buggy)
    english, chinese = (
        json.loads(lint(".", "--output-format", "json", "--lang", lang).out)[0] for lang in ("en", "zh")
    )
    assert chinese["message"] == SAID
    words = {"message", "fix", "related", "assumptions", "label", "url"}
    assert {key: value for key, value in english.items() if key not in words} == {
        key: value for key, value in chinese.items() if key not in words
    }
    assert [one["message"] for one in chinese["related"]] == ["在此保存：exp 为反向传播保存了它的输出"]
    assert [{**one, "message": ""} for one in english["related"]] == [
        {**one, "message": ""} for one in chinese["related"]
    ]


@pytest.mark.parametrize("form", ["sarif", "gitlab", "junit", "azure", "rdjson", "pylint", "github", "json-lines"])
def test_a_format_for_programs_speaks_the_language_that_was_chosen(lint, folder, buggy, form) -> None:
    (folder / "a.py").write_text(buggy)
    ran = lint(".", "--output-format", form, "--lang", "zh")
    assert (ran.status, SAID in ran.out) == (1, True)


def test_sarif_holds_the_chinese_page(lint, folder, buggy) -> None:
    (folder / "a.py").write_text(buggy)
    log = json.loads(lint(".", "--output-format", "sarif", "--lang", "zh").out)
    rule = log["runs"][0]["tool"]["driver"]["rules"][0]
    assert rule["help"]["markdown"] == (ROOT / "rules" / "zh" / "modified-after-save.md").read_text(encoding="utf-8")
    assert rule["shortDescription"]["text"].endswith("。")
    assert log["runs"][0]["results"][0]["message"]["text"].startswith(f"{SAID}。")


def test_caches_baselines_and_comments_do_not_depend_on_the_language(lint, folder, buggy) -> None:
    (folder / "a.py").write_text(buggy)
    assert SAID in lint(".", "--lang", "zh").out
    store = folder / ".inplace_lint_cache" / "results.sqlite"
    kept = store.read_bytes()
    assert TOLD in lint(".", "--lang", "en").out
    assert store.read_bytes() == kept
    for lang in LANGS:
        lint(".", "--write-baseline", f"{lang}.json", "--lang", lang)
    assert (folder / "zh.json").read_bytes() == (folder / "en.json").read_bytes()
    assert lint(".", "--baseline", "en.json", "--lang", "zh").out == "全部检查通过！（基线中另有 1 个）\n"
    (folder / "a.py").write_text(buggy.replace("y.add_(1)", "y.add_(1)  # noqa: IPL101"))
    assert lint(".", "--lang", "zh").out == "全部检查通过！\n"


def test_a_page_is_shown_in_the_language_of_the_option_or_the_locale(lint) -> None:
    page = (ROOT / "rules" / "zh" / "leaf-write.md").read_text(encoding="utf-8")
    assert lint("rule", "IPL201", "--lang", "zh").out == page
    assert lint("rule", "IPL201", **{**NOBODY, "LANG": "zh_CN.UTF-8"}).out == page
    assert lint("rule", "IPL201", "--lang", "en").out == (ROOT / "rules" / "leaf-write.md").read_text(encoding="utf-8")


def test_a_traceback_is_explained_in_chinese(lint, folder, buggy) -> None:
    (folder / "a.py").write_text(buggy)
    text = (
        f'  File "{folder}/a.py", line 6, in <module>\n    y.sum().backward()\n'
        "RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation: "
        "[torch.FloatTensor [3]], which is output 0 of ExpBackward0, is at version 1; expected version 0 instead."
    )
    out = lint("explain", "a.py", "--lang", "zh", stdin=text.encode()).out
    assert "PyTorch 在前向计算时保存了一个形状为 [3] 的张量，因为反向传播需要它的值。\n" in out
    assert "该张量现在是 `Exp` 的输出：" in out
    assert "此后它被原地写入一次，原来的值已经不在了。\n" in out
    assert SAID in out


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed")
def test_a_run_that_was_watched_is_told_in_chinese(lint, folder, buggy) -> None:
    (folder / "a.py").write_text(buggy)
    for ran in (
        lint("trace", "--python", sys.executable, "--lang", "zh", "a.py"),
        lint("trace", "--python", sys.executable, "a.py", **{**NOBODY, "LANG": "zh_CN.UTF-8"}),
    ):
        assert SAID in ran.err
        assert ran.err.endswith("在 1 个文件中发现 1 个错误。\n")


def test_fixes_are_told_of_in_chinese(lint, folder, buggy) -> None:
    (folder / "a.py").write_text(buggy)
    assert lint(".", "--diff", "--lang", "zh").err == "可修复 1 个报告。\n"
    assert lint(".", "--diff", **{**NOBODY, "LANG": "zh_CN.UTF-8"}).err == "可修复 1 个报告。\n"
    entry = json.loads(lint(".", "--output-format", "json", "--lang", "zh").out)[0]
    assert re.fullmatch(r"[\u4e00-\u9fff]+ `[^`]+`", entry["fix"]["message"])
    assert lint(".", "--fix", "--show-fixes", "--lang", "zh").out == (
        "已修复 1 个报告：\n- a.py:\n    1 × IPL101 (modified-after-save)\n\n"
        "发现 1 个错误（已修复 1 个，剩余 0 个）。\n"
    )
    assert lint(".", "--diff", "--lang", "zh").err == "没有可修复的内容。\n"
    (folder / "a.py").write_text(buggy)
    assert lint(".", "--fix-only", "--lang", "zh").err == "已修复 1 个报告。\n"


def test_a_fix_that_was_taken_back_is_told_of_in_chinese(lint, folder) -> None:
    (folder / "a.py").write_text(
        "import torch\n\nrow = torch.arange(12.0).view(3, 4)\nrow.unsqueeze(1).sub_(row.unsqueeze(2))\n"
    )
    assert lint(".", "--fix", "--unsafe-fixes", "--show-fixes", "--lang", "zh").err == (
        "a.py:4:1: IPL206 的修复没有应用：它会在第 4 行引起 IPL207：`row.unsqueeze(...)` 的维数少于写入的内容，"
        "而原地写入不能增加维度\n"
    )


def test_what_can_be_fixed_in_chinese(bare) -> None:
    say = catalogue("zh").say
    place = Span("a.py", 1, 0, 1, 1)
    safe, unsafe = (bare(place, fix=Fix(kind, "", ())) for kind in (Applicability.SAFE, Applicability.UNSAFE))
    more = "（另有 1 个修复可用 `--unsafe-fixes` 选项启用）"
    assert fixable([safe, unsafe, unsafe], say, unsafe=True) == "[*] 3 个问题可用 `--fix` 选项修复。\n"
    assert fixable([safe, unsafe], say, unsafe=False) == f"[*] 1 个问题可用 `--fix` 选项修复{more}。\n"
    assert fixable([unsafe], say, unsafe=False) == f"没有可直接应用的修复{more}。\n"
    assert fixable([bare(place)], say, unsafe=False) == ""


def test_the_summary_in_chinese(bare) -> None:
    say = catalogue("zh").say
    spans = [Span(path, 1, 0, 1, 1) for path in ("a.py", "a.py", "b.py", "c.py")]
    kinds = [Severity.ERROR, Severity.ERROR, Severity.WARNING, Severity.INFO]
    findings = [bare(span, severity=kind) for span, kind in zip(spans, kinds, strict=True)]
    assert summary(findings, Counts(0), say, color=False) == "在 3 个文件中发现 2 个错误、1 个警告和 1 条提示。"
    assert summary(findings[:2], Counts(2), say, color=False) == "在 1 个文件中发现 2 个错误；2 个文件无法检查。"
    assert summary([], Counts(1), say, color=False) == "没有发现问题，但 1 个文件无法检查。"
    fixed = (bare(spans[0]), bare(spans[1], severity=Severity.WARNING))
    assert summary(findings[:1], Counts(0, 0, fixed), say, color=False) == (
        "发现 2 个错误和 1 个警告（已修复 2 个，剩余 1 个）。"
    )
    assert summary([], Counts(2, 3, fixed), say, color=False) == (
        "发现 1 个错误和 1 个警告（已修复 2 个，剩余 0 个）；2 个文件无法检查。（基线中另有 3 个）"
    )
    counters = {"files": 7, "roots": 4, "roots_cut_by_steps": 1, "functions_that_write": 8}
    assert statistics([], counters, {}, say) == (
        "文件：7 个，其中提到框架的：0 个\n"
        "完整分析的写入函数：8 个中的 0 个 (0.0 %)\n"
        "分析起点：4 个，因步数上限而中断：1 个\n"
        "已知的框架调用：0 个中的 0 个\n"
    )


def test_chinese_is_broken_between_characters_but_not_beside_marks_that_belong_to_them() -> None:
    assert wrapped("张量被原地修改，但它", 8, 8) == ["张量被原", "地修改，", "但它"]
    assert wrapped("张量被原地修，但它", 12, 12) == ["张量被原地", "修，但它"]
    assert wrapped("使用 `x.clone()` 的副本", 12, 6) == ["使用", "`x.clone()`", "的副本"]
    assert wrapped("（张量）", 4, 4) == ["（张", "量）"]
    assert wrapped("no such break-here, please", 9, 9) == ["no such", "break-here,", "please"]


@pytest.mark.parametrize(
    ("words", "reads"), [(("--version",), 0), (("check", "."), 0), (("check", ".", "--lang", "zh"), 1)]
)
def test_the_catalogue_is_read_only_where_it_is_spoken(folder, buggy, words, reads) -> None:
    (folder / "a.py").write_text(buggy)
    program = (
        "import sys\n"
        "opened = []\n"
        "sys.addaudithook(lambda event, of: opened.append(str(of[0])) if event == 'open' else None)\n"
        "from inplace_lint.cli.main import main\n"
        f"main({list(words)!r})\n"
        "print('READS', sum(name.endswith('zh.json') for name in opened))\n"
        "print('LOADED', 'inplace_lint.report.i18n' in sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        check=True,
    )
    lines = done.stdout.decode().splitlines()
    assert f"READS {reads}" in lines
    assert words != ("--version",) or "LOADED False" in lines
