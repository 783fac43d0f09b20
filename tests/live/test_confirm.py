"""Each way to run flagged code, and each verdict."""

from __future__ import annotations

import json
import re

import pytest

from inplace_lint.cli.main import main
from tests.live.proving import BLOCK

HEAD = "import torch\nfrom torch import nn\nimport torch.nn.functional as F\n\n\n"


def one(prover, source: str, *words: str) -> tuple[str, str]:
    """Return the verdict on the one finding of a program, and its reason."""
    prover.write(source)
    proved = prover.run(*words)
    assert len(proved.rows) == 1, proved
    return proved.verdicts[0][2], proved.reasons[0]


def test_without_confirm_nothing_runs(prover):
    prover.write(BLOCK + "\n\nopen('ran', 'w')\n")
    prover.run()
    assert (prover.folder / "ran").exists()
    (prover.folder / "ran").unlink()
    assert main(["check", "--no-cache", str(prover.folder)]) == 1
    assert not (prover.folder / "ran").exists()


def test_statements_of_a_module_are_run(prover):
    verdict = one(prover, BLOCK + "\n\nBlock(3)(torch.randn(2, 3, 8, 8)).sum().backward()\n")
    assert verdict == ("confirmed", "raised in backward, by importing the file")


def test_a_main_block_is_run(prover):
    source = BLOCK + "\n\nif __name__ == '__main__':\n    Block(3)(torch.randn(2, 3, 8, 8)).sum().backward()\n"
    assert one(prover, source) == ("confirmed", "raised in backward, by the file as a program")


def test_a_function_without_arguments_is_called(prover):
    source = BLOCK + "\n\ndef step():\n    Block(3)(torch.randn(2, 3, 8, 8)).sum().backward()\n"
    assert one(prover, source) == ("confirmed", "raised in backward, by `step()`")


def test_what_a_function_returns_is_gone_back_from(prover):
    source = BLOCK + "\n\ndef test_block():\n    return {'out': [Block(3)(torch.randn(2, 3, 8, 8))]}\n"
    assert one(prover, source) == ("confirmed", "raised in backward, by `test_block()`")


def test_a_factory_gives_a_module(prover):
    source = BLOCK + "\n\ndef tiny(width=6):\n    return nn.Sequential(nn.Conv2d(3, width, 1), Block(width))\n"
    assert one(prover, source) == ("confirmed", "raised in backward, by `tiny()`")


def test_a_class_is_constructed_with_made_up_arguments(prover):
    assert one(prover, BLOCK) == ("confirmed", "raised in backward, by `Block()`")


def test_a_function_is_called_with_made_up_inputs(prover):
    source = HEAD + "def gate(x, w):\n    y = torch.sigmoid(x @ w)\n    y *= 2\n    return y\n"
    assert one(prover, source, "--assume", "grad") == ("confirmed", "raised in backward, by `gate()`")


def test_a_flag_is_proved_by_its_class(prover):
    source = HEAD + (
        "class Net(nn.Module):\n    def __init__(self, dim):\n        super().__init__()\n"
        "        self.net = nn.Sequential(nn.Linear(dim, dim), nn.Sigmoid(), nn.ReLU(inplace=True))\n\n"
        "    def forward(self, x):\n        return self.net(x)\n"
    )
    assert one(prover, source) == ("confirmed", "raised in backward, by `Net()`")


def test_a_container_of_the_program_has_no_call_of_its_own(prover):
    source = HEAD + (
        "class Head(nn.Sequential):\n    def __init__(self, width):\n"
        "        super().__init__(nn.Linear(width, width), nn.Sigmoid(), nn.ReLU(inplace=True))\n"
    )
    assert one(prover, source) == ("confirmed", "raised in backward, by `Head()`")


def test_a_class_around_is_tried_where_the_class_alone_fails(prover):
    source = HEAD + (
        "class Mix(nn.Module):\n    def __init__(self, table):\n        super().__init__()\n"
        "        self.scale = nn.Parameter(torch.ones(table['width']))\n\n"
        "    def forward(self, x):\n        y = torch.exp(x * self.scale)\n        y += 1\n        return y\n\n\n"
        "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.mix = Mix({'width': 4})\n\n    def forward(self, x):\n        return self.mix(x)\n"
    )
    assert one(prover, source) == ("confirmed", "raised in backward, by `Net()`")


def test_a_class_in_another_file_is_tried(prover):
    prover.write("", "pack/__init__.py")
    prover.write(
        "import torch\nfrom torch import nn\n\n\nclass Mix(nn.Module):\n    def __init__(self, table):\n"
        "        super().__init__()\n        self.scale = nn.Parameter(torch.ones(table['width']))\n\n"
        "    def forward(self, x):\n        y = torch.exp(x * self.scale)\n        y += 1\n        return y\n",
        "pack/mix.py",
    )
    prover.write(
        "from pack.mix import Mix\n\n\ndef build(width=4):\n    return Mix({'width': width})\n", "pack/models.py"
    )
    proved = prover.run()
    assert [(row[2], reason) for row, reason in zip(proved.verdicts, proved.reasons, strict=True)] == [
        ("confirmed", "raised in backward, by `build()`")
    ]


def test_a_probe_goes_first(prover):
    prover.write(BLOCK + "\n\nraise SystemExit\n", "net.py")
    prover.write(
        "import torch, runpy\n\n\ndef step():\n    names = {'__name__': 'net'}\n"
        "    source = open('net.py').read().partition('raise SystemExit')[0]\n"
        "    exec(compile(source, __file__.replace('probes', 'net'), 'exec'), names)\n"
        "    return names['Block'](3)(torch.randn(2, 3, 8, 8))\n",
        "probes.py",
    )
    (prover.folder / "inplace-lint.toml").write_text('[probes]\n"net.py" = "probes:step"\n')
    proved = prover.run("net.py")
    assert (proved.verdicts[0][2], proved.reasons) == ("confirmed", ["raised in backward, by `probes:step`"])


def test_a_refused_write_is_confirmed(prover):
    source = HEAD + "def reset():\n    w = torch.zeros(3, requires_grad=True)\n    w += 1\n"
    assert one(prover, source) == ("confirmed", "refused at the write, by `reset()`")


def test_a_write_that_nobody_counts_is_confirmed(prover):
    source = HEAD + (
        "def step():\n    x = torch.randn(3, requires_grad=True)\n    y = x.exp()\n    y.data.mul_(2)\n"
        "    y.sum().backward()\n"
    )
    verdict, reason = one(prover, source)
    assert verdict == "confirmed"
    cause = r"backward used a value that was overwritten unnoticed, so that the sum of a gradient of shape \[3\]"
    assert re.fullmatch(rf"{cause} is \S+ and should be \S+, by `step\(\)`", reason)


def test_numbers_prove_an_alias(prover):
    source = HEAD + (
        "class Net(nn.Module):\n    def __init__(self, dim):\n        super().__init__()\n"
        "        self.relu = nn.ReLU(inplace=True)\n        self.lin = nn.Linear(dim, dim)\n\n"
        "    def forward(self, x):\n        identity = x\n        out = self.lin(self.relu(x))\n"
        "        return out + identity\n"
    )
    verdict, reason = one(prover, source)
    assert verdict == "confirmed"
    assert re.fullmatch(r"the sum of the (gradient of `lin.\w+`|result) is \S+ and should be \S+, by `Net\(\)`", reason)


def test_a_line_that_is_not_run_is_not_reached(prover):
    source = HEAD + (
        "def step(deep=False):\n    x = torch.randn(3, requires_grad=True)\n    y = x.exp()\n    if deep:\n"
        "        y += 1\n"
        "    y.sum().backward()\n"
    )
    prover.write(source)
    proved = prover.run()
    assert [row[2] for row in proved.verdicts] in ([], ["not reached"])


def test_what_cannot_be_made_up_could_not_run(prover):
    source = HEAD + ("def pool(x, table):\n    y = torch.exp(x)\n    y += table.lookup('bias').value\n    return y\n")
    verdict, reason = one(prover, source, "--assume", "grad")
    assert verdict == "could not run"
    assert reason.startswith("`pool()`: ")


def test_an_import_that_fails_is_reported(prover):
    verdict, reason = one(prover, "import no_such_package_at_all\n" + BLOCK)
    assert verdict == "could not run"
    assert "ModuleNotFoundError: No module named 'no_such_package_at_all'" in reason


def test_an_interpreter_without_torch_is_reported(prover):
    python = prover.folder / "python"
    python.write_text('#!/bin/sh\nexec python3 -I -S "$@"\n')
    python.chmod(0o755)
    assert one(prover, BLOCK, "--python", str(python)) == ("could not run", f"torch is not installed in {python}")


def test_paddle_is_proved_as_torch_is(prover):
    pytest.importorskip("paddle")
    source = (
        "import paddle\nfrom paddle import nn\nimport paddle.nn.functional as F\n\n\nclass Block(nn.Layer):\n"
        "    def __init__(self, width):\n        super().__init__()\n"
        "        self.conv = nn.Conv2D(width, width, 3, padding=1)\n\n    def forward(self, x):\n"
        "        y = F.relu(self.conv(x))\n        y.add_(x)\n        return y\n"
    )
    assert one(prover, source) == ("confirmed", "raised in backward, by `Block()`")


PART = (
    "import paddle\n\n\ndef step(at=0):\n    x = paddle.ones([3, 3])\n    x.stop_gradient = False\n    h = x * 3.0\n"
    "    row = {bound}\n    row.zero_()\n    h.sum().backward()\n"
)


@pytest.mark.parametrize("bound", ["h[0]", "h[at]", "h[:, 1]"])
def test_a_write_to_a_named_part_is_compared_with_one_of_its_whole(prover, bound):
    pytest.importorskip("paddle")
    verdict, reason = one(prover, PART.format(bound=bound))
    assert verdict == "confirmed"
    assert reason == "the sum of a gradient of shape [3, 3] is 27 and should be 18, by `step()`"


def test_a_part_that_cannot_be_named_again_has_no_form(prover):
    pytest.importorskip("paddle")
    source = PART.format(bound="h[0]").replace("row = h[0]", "row = h[1]\n    row = h[0]")
    verdict, reason = one(prover, source)
    assert (verdict, reason) == (
        "not reached",
        "the line ran by `step()`, but it has no fixed form to compare with",
    )


def test_a_device_that_is_not_there_ends_with_two(prover):
    prover.write(BLOCK)
    python = prover.folder / "python"
    python.write_text("#!/bin/sh\necho False\n")
    python.chmod(0o755)
    proved = prover.run("--device", "cuda", "--python", str(python))
    assert proved.status == 2
    assert proved.err == f"error: --device cuda: torch sees no CUDA device in {python}\n"


@pytest.mark.cuda
def test_a_gpu_is_used(prover):
    prover.write(BLOCK)
    rows = prover.run("--device", "cuda").rows
    assert [(row["confirmed"]["verdict"], row["confirmed"]["device"]) for row in rows] == [("confirmed", "cuda")]


def test_a_wrong_probe_is_an_error(prover):
    (prover.folder / "inplace-lint.toml").write_text('[probes]\n"net.py" = "no function"\n')
    proved = prover.run()
    assert proved.status == 2
    assert "must name a function as `package.module:function`" in proved.err


def test_json_has_the_verdict_of_each_finding(prover):
    prover.write(BLOCK)
    row = prover.run().rows[0]["confirmed"]
    assert sorted(row) == ["device", "reason", "verdict", "version"]
    assert (row["verdict"], row["device"]) == ("confirmed", "cpu")
    assert json.dumps(row["version"]).strip('"')[0].isdigit()
