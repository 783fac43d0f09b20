from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.cli.conftest import BUGGY, Ran, folder, lint
from tests.fix.mending import Fixed, fixed

__all__ = ["BUGGY", "Ran", "folder", "lint"]


@pytest.fixture
def fix() -> Callable[..., Fixed]:
    """Give what fixes a program in memory."""
    return fixed
