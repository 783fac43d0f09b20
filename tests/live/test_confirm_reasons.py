"""Why something could not run, in the language asked for: what is ours is said in it, a framework's words stay."""

from __future__ import annotations

import pytest

from inplace_lint.report.i18n import catalogue
from tests.live.proving import BLOCK

HEAD = "import torch\nfrom torch import nn\nimport torch.nn.functional as F\n\n\n"
LOOKS_UP = HEAD + "def pool(x, table):\n    y = torch.exp(x)\n    y += table.lookup('bias').value\n    return y\n"
NEEDS_A_TABLE = HEAD + (
    "class Net(nn.Module):\n    def __init__(self, table):\n        super().__init__()\n"
    "        self.width = table['width']\n\n    def forward(self, x):\n"
    "        y = torch.exp(x)\n        y += 1\n        return y\n"
)


@pytest.mark.parametrize(
    ("source", "words", "said"),
    [
        (LOOKS_UP, ("--assume", "grad"), "`pool()`：AttributeError: "),
        (NEEDS_A_TABLE, (), "`Net()`：构造它：TypeError: 'int' object is not subscriptable"),
        (BLOCK + "\n\nwhile True:\n    pass\n", ("--confirm-seconds", "2"), "`Block()`：运行时间超过 2 秒"),
        ("import no_such_package_at_all\n" + BLOCK, (), "`Block()`：导入它：ModuleNotFoundError: No module named"),
    ],
)
def test_a_reason_is_reported_in_chinese(prover, source, words, said):
    prover.write(source)
    done = prover.run("--lang", "zh", "--output-format", "full", *words, is_json=False)
    assert f"{said}" in done.out, done.out


@pytest.mark.parametrize(
    ("reason", "said"),
    [
        ("`Net()`: used more than 512 MB of memory", "`Net()`：使用的内存超过 512 兆字节"),
        ("`build()`: importing it: killed by SIGSEGV", "`build()`：导入它：被 SIGSEGV 终止"),
        (
            "`Net()`: it ran, but returned nothing that requires a gradient",
            "`Net()`：它已运行，但没有给出任何需要梯度的结果",
        ),
        (
            "`Data()`: what it constructs cannot be called, and no code that uses it was found",
            "`Data()`：它构造的对象不能被调用，也没有找到使用它的代码",
        ),
        (
            "the file as a program: ended with status 3 before it was done",
            "将该文件作为程序运行：未完成就以状态 3 结束",
        ),
        ("`tests.probes:step`: took longer than 0.5 s", "`tests.probes:step`：运行时间超过 0.5 秒"),
        ("paddle is not installed in /opt/bin/python", "/opt/bin/python 中没有安装 paddle"),
        (
            "the line ran by `step()`, which is not conclusive (took longer than 30 s)",
            "该行已运行（`step()`），但不能说明什么（运行时间超过 30 秒）",
        ),
        ("torch could not be imported in python: OSError: libomp.so", "python 中无法导入 torch：OSError: libomp.so"),
    ],
)
def test_each_part_of_a_reason_has_its_chinese(reason, said):
    assert catalogue("zh").say(reason) == said


def test_the_write_that_ends_all_trials_is_the_reason_and_not_the_last_guess(prover):
    prover.write(
        HEAD
        + "class Part(nn.Module):\n    def forward(self, x):\n        a, b = x.chunk(2)\n        a += 1\n"
        + "        return x\n",
        "part.py",
    )
    prover.write(
        HEAD
        + "from part import Part\n\n\nclass Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        + "        self.conv, self.part = nn.Conv2d(3, 8, 3), Part()\n\n    def forward(self, x):\n"
        + "        y = torch.exp(self.part(self.conv(x)))\n        y += 1\n        return y\n",
        "net.py",
    )
    (reason,) = prover.run("net.py").reasons
    assert reason.startswith("`Net()`: RuntimeError: Output 0 of Split is a view and is being modified inplace"), reason
