"""The version that a project requires counts where no setting names one."""

from __future__ import annotations

from pathlib import Path

import pytest

from inplace_lint.config.pins import pinned

PROJECT = '[project]\nname = "net"\nversion = "1"\ndependencies = [{}]\n'
STEP = """\
import torch
from torch import nn

net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
loss = net(torch.rand(2, 3, requires_grad=True)).sum()
loss.backward(retain_graph=True)
opt.step()
loss.backward()
"""


@pytest.mark.parametrize(
    ("requirement", "version"),
    [
        ("torch==1.4.0", "1.4.0"),
        ("torch==1.4.*", "1.4"),
        ("torch~=1.8.1", "1.8"),
        ("torch>=1.6,<2", "1.13"),
        ("torch<=1.13.1", "1.13"),
        ("Torch[opt] >= 1.6, < 2.1 ; python_version > '3'", "2.0"),
        ("torch", None),
        ("torch>=1.6", None),
        ("torch>=99", None),
        ("torchvision==0.5", None),
        ("torch ==== 1", None),
    ],
)
def test_a_requirement_gives_the_newest_release_that_it_admits(tmp_path: Path, requirement, version):
    (tmp_path / "pyproject.toml").write_text(PROJECT.format(f'"numpy", "{requirement}"'))
    assert pinned(tmp_path, "torch") == version


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("requirements.txt", "# torch==1.0\nnumpy\ntorch==1.4.0  # old\n"),
        ("requirements-dev.txt", "-r requirements.txt\ntorch==1.4.0\n"),
        ("pyproject.toml", '[tool.poetry.dependencies]\npython = "^3.8"\ntorch = "1.4.0"\n'),
        ("pyproject.toml", PROJECT.format("") + '[project.optional-dependencies]\ntrain = ["torch==1.4.0"]\n'),
    ],
)
def test_it_may_stand_in_several_places(tmp_path: Path, name, text):
    (tmp_path / name).write_text(text)
    assert pinned(tmp_path, "torch") == "1.4.0"


def test_a_caret_of_poetry_ends_before_the_next_major_version(tmp_path: Path):
    (tmp_path / "pyproject.toml").write_text('[tool.poetry.dependencies]\ntorch = "^1.8"\n')
    assert pinned(tmp_path, "torch") == "1.13"


def test_paddle_has_two_names(tmp_path: Path):
    (tmp_path / "requirements.txt").write_text("paddlepaddle-gpu<3\n")
    assert pinned(tmp_path, "paddle") == "2.6"


@pytest.mark.parametrize("text", ["[project", "\xff", "project = 1\ndependencies = 2\n"])
def test_what_cannot_be_read_pins_nothing(tmp_path: Path, text):
    (tmp_path / "pyproject.toml").write_bytes(text.encode("latin-1"))
    (tmp_path / "requirements.txt").write_bytes(b"\xff\xfe torch")
    assert pinned(tmp_path, "torch") is None


def test_a_run_takes_the_pin_and_a_setting_wins(lint, tmp_path: Path):
    (tmp_path / "step.py").write_text(STEP)
    assert "error[IPL103]" in lint("step.py").out
    (tmp_path / "requirements.txt").write_text("torch==1.4.0\n")
    assert "warning[IPL103]" in lint("step.py").out
    assert "error[IPL103]" in lint("step.py", "--torch-version", "1.5").out
