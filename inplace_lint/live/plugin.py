"""The pytest plugin: a test with the fixture `no_inplace_bugs` fails if it overwrites what backward needs."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from inplace_lint.live.watch import Seen

_FIXTURE = "no_inplace_bugs"


@pytest.fixture(name=_FIXTURE)
def _no_inplace_bugs() -> Iterator[Seen]:
    """Watch the test; its findings so far are in `no_inplace_bugs.findings`, and any that are left fail it."""
    from inplace_lint.live.watch import watch  # noqa: PLC0415 - most runs of pytest do not need it

    with watch() as seen:
        yield seen


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, pytest.CallInfo[None], None]:
    """Turn findings into a failure of the test itself, not of its teardown."""
    outcome = yield
    seen = getattr(item, "funcargs", {}).get(_FIXTURE)
    if seen is not None and (text := seen.text()):
        outcome.force_exception(pytest.fail.Exception(text, pytrace=False))  # type: ignore[attr-defined]
