"""Texts that still lack their Chinese: a warning where somebody works on the code, a failure where it is merged."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence

import pytest


class TranslationWarning(UserWarning):
    """A text that a user reads and that has no Chinese yet."""


def require_translations(missing: Sequence[str]) -> None:
    """
    Fail for each missing text if TRANSLATIONS=all, as `.ci/run` sets it; else warn of each.

    A line of `missing` says what to add, and to which file.
    """
    if missing and os.environ.get("TRANSLATIONS") == "all":
        pytest.fail("\n".join(missing), pytrace=False)
    for line in missing:
        warnings.warn(line, TranslationWarning, stacklevel=2)
