from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.pages.conftest import real

__all__ = ["real"]
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """Build the site as CI does; a link to nothing fails the build."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    run = subprocess.run(
        command, cwd=ROOT, check=False, capture_output=True, text=True, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    )
    assert run.returncode == 0, run.stderr[-3000:]
    return folder
