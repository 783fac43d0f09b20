"""Programs that are run for real: by the command, or many of them by one child that has imported the framework once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent

import pytest

from inplace_lint.core.finding import Finding
from inplace_lint.live.events import findings_in
from inplace_lint.live.record import record_of
from tests.cli import forked
from tests.live import imported
from tests.live.proving import Prover

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Traced:
    status: int
    out: str
    err: str
    findings: list[dict]

    @property
    def codes(self) -> list[tuple[str, int]]:
        return [(item["code"], item["location"]["row"]) for item in self.findings]


class Tracer:
    """Runs programs in `folder`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def write(self, source: str, name: str = "program.py") -> Path:
        path = self.folder / name
        path.write_text(dedent(source), encoding="utf-8")
        return path

    def command(self, *words: str, stdin: str = "", **env: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "inplace_lint", "trace", *words],
            cwd=self.folder,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
            env={**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "GLOG_minloglevel": "3", **env},
        )

    def warm(self, source: str, *words: str) -> forked.Ran:
        """Run a program in a fork of a process that has imported its framework, by a fork of the tool."""
        python = imported.python("paddle" if "import paddle" in source else "torch")
        environment = {**forked.usual_environment(), "OMP_NUM_THREADS": "1", "GLOG_minloglevel": "3"}
        program = self.write(source).name
        return forked.run(["trace", *words, "--python", python, program], self.folder, environment)

    def run(self, source: str) -> Traced:
        done = self.warm(source, "--output-format", "json", "-o", "found.json")
        return Traced(done.status, done.out, done.err, json.loads((self.folder / "found.json").read_text()))


@pytest.fixture
def tracer(tmp_path: Path) -> Tracer:
    return Tracer(tmp_path)


@dataclass(frozen=True)
class Watched:
    findings: tuple[Finding, ...]
    error: str

    @property
    def codes(self) -> list[tuple[str, int]]:
        return [(item.code, item.span.line) for item in self.findings]


class Warm:
    """A child with one framework in it, which watches programs."""

    def __init__(self, framework: str) -> None:
        self._child = subprocess.Popen(
            [imported.python(framework), str(Path(__file__).with_name("warm.py")), framework],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "GLOG_minloglevel": "3"},
        )

    def run(self, program: Path) -> Watched:
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        self._child.stdin.write(f"{program}\n")
        self._child.stdin.flush()
        answer = json.loads(self._child.stdout.readline())
        return Watched(findings_in([record_of(record) for record in answer["records"]]).findings, answer["error"])

    def stop(self) -> None:
        self._child.kill()
        self._child.communicate()


@pytest.fixture(scope="session")
def torch_child() -> Iterator[Warm]:
    child = Warm("torch")
    yield child
    child.stop()


@pytest.fixture(scope="session")
def paddle_child() -> Iterator[Warm]:
    child = Warm("paddle")
    yield child
    child.stop()


@pytest.fixture
def prover(tmp_path: Path) -> Prover:
    return Prover(tmp_path)
