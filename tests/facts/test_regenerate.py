"""The tables in the repository are what the generators write, byte for byte."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.facts.tables import AREAS, FOLDER


@pytest.mark.facts
def test_the_generator_writes_the_committed_tables(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    if not torch.__version__.startswith("2.13.0"):
        pytest.skip("the tables were made with torch 2.13.0")
    command = [sys.executable, "-W", "ignore", "-m", "generators.torch_facts", str(tmp_path)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    subprocess.run(command, check=True, cwd=FOLDER.parents[2], env=environment)
    for area in AREAS:
        assert (tmp_path / f"{area}.jsonl").read_bytes() == (FOLDER / f"{area}.jsonl").read_bytes(), area


@pytest.mark.facts
def test_the_probe_of_paddle_writes_the_committed_table(tmp_path: Path) -> None:
    paddle = pytest.importorskip("paddle")
    if paddle.__version__ != "3.3.1":
        pytest.skip("the table was made with paddle 3.3.1")
    folder = FOLDER.parent / "paddle"
    (tmp_path / "hand.jsonl").write_bytes((folder / "hand.jsonl").read_bytes())
    command = [sys.executable, "-W", "ignore", "-m", "generators.paddle_facts", str(tmp_path)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    subprocess.run(command, check=True, cwd=FOLDER.parents[2], env=environment, capture_output=True)
    for table in ("functions.jsonl", "c_ops.jsonl", "fused.jsonl"):
        assert (tmp_path / table).read_bytes() == (folder / table).read_bytes()
