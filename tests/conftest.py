"""Markers: what needs a framework or a GPU is skipped where there is none, and nothing else is."""

from __future__ import annotations

import gc
import importlib.util
import os
import signal
from pathlib import Path

import pytest

from tests import once

_TESTS = Path(__file__).resolve().parent
os.environ["INPLACE_LINT_LANG"] = "en"  # what tests expect does not depend on the locale of who runs them
if os.environ.get("CI"):
    os.environ.setdefault("TRANSLATIONS", "all")  # see tests/lang/translations.py
for _name in (
    "CI",
    "GITHUB_ACTIONS",
    "FORCE_COLOR",
    "NO_COLOR",
    "CLICOLOR",
    "CLICOLOR_FORCE",
    "PY_COLORS",
    "COLUMNS",
    "LINES",
):
    os.environ.pop(_name, None)  # nor on where
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # the many processes that are started would each compile the tool
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a shell's background jobs would not be interrupted
    signal.signal(signal.SIGINT, signal.default_int_handler)
# What `make check` leaves to `.ci/run`: tests that run programs on a framework (but for the examples of the pages,
# which are quick), install the tool, a plugin, or write it anew, the long replays of edits and interruptions,
# processes that end early or are talked to, the examples under other names and in the other front end, and the
# Chinese texts.
_LEFT_TO_CI = (
    "cli/test_explain",
    "cli/test_facts_probe",
    "cli/test_faults",
    "cli/test_memory",
    "facts",
    "fuzz",
    "lang/test_findings",
    "lang/test_language",
    "live",
    "machines/test_fleet",
    "machines/test_ray",
    "pages/test_cures",
    "pages/test_readme",
    "pages/test_renaming",
    "rules/test_plugins",
    "site",
    "server",
    "store/test_memory",
    "store/test_replay",
    "fix/test_programs",
    "fix/test_properties",
    "frontend/test_front_ends",
    "test_action",
    "test_fixtures",
    "test_hook",
)
_OPTED = {"slow": "SLOW", "facts_all": "FACTS_ALL"}


def pytest_configure(config: pytest.Config) -> None:
    """Make the folder of `tests/once.py`, for all the processes of this run."""
    if not hasattr(config, "workerinput"):
        config.add_cleanup(once.begin())


def _is_left_to_ci(path: Path) -> bool:
    return path.relative_to(_TESTS).as_posix().startswith(_LEFT_TO_CI)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out, without importing them, the files whose tests `make check` leaves to `.ci/run`."""
    return True if config.getoption("-m") == "not ci" and _is_left_to_ci(collection_path) else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """
    Mark what is left to `.ci/run`; skip what needs what is not there.

    `slow` and `facts_all` run where `-m` or SLOW=1, FACTS_ALL=1 ask for them, `paddle`, `ray` and `cuda` by presence.
    Those on Ray come first: they wait for most of their time, in which the other parts of `.ci/run` go on. So do those
    that make the tables anew, one of which takes longest of all.
    """
    items.sort(key=lambda item: not any(map(item.get_closest_marker, ("ray", "facts"))))
    asked = config.getoption("-m") or ""
    for item in items:
        if _is_left_to_ci(item.path):
            item.add_marker(pytest.mark.ci)
        for marker, variable in _OPTED.items():
            if item.get_closest_marker(marker) and marker not in asked and not os.environ.get(variable):
                item.add_marker(pytest.mark.skip(reason=f"{variable}=1 or -m {marker} runs it"))
        for package in ("paddle", "ray"):
            if item.get_closest_marker(package) and importlib.util.find_spec(package) is None:
                item.add_marker(pytest.mark.skip(reason=f"{package} is not installed"))
        if item.get_closest_marker("cuda") and not _has_cuda():
            item.add_marker(pytest.mark.skip(reason="there is no GPU"))


def _has_cuda() -> bool:
    if importlib.util.find_spec("torch") is None:
        return False
    import torch  # noqa: PLC0415 - only for tests that ask for a GPU

    return bool(torch.cuda.is_available())


def pytest_collection_finish() -> None:
    """
    Collect garbage seldom, and not among the tests themselves, of which there are thousands.

    What a file is checked with in a process of its own runs without the collector altogether.
    """
    gc.freeze()
    gc.set_threshold(50_000, 50, 50)
