"""Programs for `--confirm`: written to a folder, checked, and confirmed by one warm process for many of them."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent

from tests.cli import forked
from tests.live import imported

# A class whose forward breaks backward; each test adds what is to be run.
BLOCK = """\
import torch
from torch import nn
import torch.nn.functional as F


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.conv = nn.Conv2d(width, width, 3, padding=1)

    def forward(self, x):
        y = F.relu(self.conv(x))
        y += x
        return y
"""


@dataclass(frozen=True)
class Proved:
    status: int
    err: str
    out: str
    rows: list[dict]

    @property
    def verdicts(self) -> list[tuple[str, int, str]]:
        return [(row["code"], row["location"]["row"], row["confirmed"]["verdict"]) for row in self.rows]

    @property
    def reasons(self) -> list[str]:
        return [row["confirmed"]["reason"] for row in self.rows]


class Prover:
    """Checks a folder with `--confirm`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "inplace-lint.toml").write_text("", encoding="utf-8")

    def write(self, source: str, name: str = "program.py") -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(source), encoding="utf-8")
        return path

    def command(self, *words: str) -> list[str]:
        return [sys.executable, "-m", "inplace_lint", "check", "--no-cache", "--python", sys.executable, *words]

    @property
    def environment(self) -> dict[str, str]:
        return {**forked.usual_environment(), "OMP_NUM_THREADS": "1", "GLOG_minloglevel": "3"}

    def run(self, *words: str, is_json: bool = True) -> Proved:
        form = ("--output-format", "json") if is_json else ()
        command = ["check", "--no-cache", "--python", imported.python(), "--confirm", *form, *words]
        done = forked.run(command, self.folder, self.environment)
        rows = json.loads(done.out) if is_json and done.out else []
        return Proved(done.status, done.err, done.out, rows)
