"""One child process a framework, for all programs that a run of the tests executes."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator

import pytest

from tests.pages.real import Real


@pytest.fixture(scope="session")
def real() -> Iterator[Callable[[str], Real]]:
    children: dict[str, Real] = {}

    def child(framework: str) -> Real:
        if importlib.util.find_spec(framework) is None:
            pytest.skip(f"{framework} is not installed")
        return children.setdefault(framework, Real(framework))

    yield child
    for item in children.values():
        item.stop()
