"""The torch tables in the repository are what the generator writes, byte for byte."""

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
    subprocess.run(command, check=True, cwd=FOLDER.parents[2], env=environment, timeout=600)
    for area in AREAS:
        assert (tmp_path / f"{area}.jsonl").read_bytes() == (FOLDER / f"{area}.jsonl").read_bytes(), area
