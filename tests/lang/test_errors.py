"""What is said besides findings: errors, what was written, and which files could not be checked."""

from __future__ import annotations

import pytest

from tests.cli.conftest import BUGGY


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (("--selct", "X"), "没有选项 '--selct'，是不是想用 '--select'？"),
        (("--select", "IPL10X"), "--select：没有规则 'IPL10X'，是不是想用 'IPL104'？"),
        (("--device", "tpu"), "--device 必须是 cpu, cuda 之一，而不是 'tpu'，是不是想用 'cpu'？"),
        (("-j", "x"), "--jobs 必须是从 1 开始的整数，而不是 'x'"),
        (("--fix=3",), "--fix 不接受值"),
        (("--config", "ignore='IPL1'"), "--config: 'ignore' 必须是字符串列表，而不是字符串"),
        (("--config", "fix=3"), "--config: 'fix' 必须是布尔值，而不是数字"),
        (("--config", "extend='a'"), "--config：'extend' 只在文件中有效"),
        (("--prune-baseline",), "--prune-baseline：没有基线；请用 --baseline 指定"),
        (("--add-noqa", "--fix"), "--add-noqa 不能与修复同时使用：请先应用或放弃修复"),
    ],
)
def test_errors_are_told_in_the_language_that_was_chosen(lint, folder, words, error) -> None:
    (folder / "a.py").write_text(BUGGY)
    for chosen in (("--lang", "zh"), ("--lang=zh",)):
        assert lint(*chosen, *words, ".") == (2, "", f"错误：{error}\n")
    english = lint("--lang=en", *words, ".", LANG="zh_CN.UTF-8")
    assert (english.status, english.err.startswith("error: ")) == (2, True)
    assert english.err.isascii()


def test_a_file_that_cannot_be_checked_is_told_in_the_language(lint) -> None:
    assert lint("--lang", "zh", "none.py").err == "none.py：没有这个文件或目录\n"


def test_what_was_written_is_told_in_the_language(lint, folder) -> None:
    (folder / "a.py").write_text(BUGGY)
    assert lint("--lang", "zh", "--write-baseline", "known.json", ".").out == "已把 1 个报告写入 known.json。\n"
    assert lint("--lang", "zh", "--add-noqa", ".").out == "已添加 1 条 noqa 注释。\n"
    (folder / "a.py").write_text(BUGGY)
    assert lint("--lang", "zh", "--add-ignore", ".").out == "已添加 1 条注释。\n"
    (folder / "a.py").write_text("import torch\n")
    assert (
        lint("--lang", "zh", "--baseline", "known.json", ".").err == "known.json：a.py 中已没有与 IPL101 相符的报告\n"
    )
