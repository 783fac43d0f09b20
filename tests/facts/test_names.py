"""Public names of the frameworks, under the modules that define them."""

from __future__ import annotations

import importlib
import re

import pytest

from inplace_lint.knowledge import facts

_PRIVATE = re.compile(r"\._|\.libpaddle\.")


@pytest.mark.parametrize("framework", ["torch", pytest.param("paddle", marks=pytest.mark.paddle)])
def test_a_class_or_function_is_known_by_the_module_that_defines_it(framework):
    pytest.importorskip(framework)
    known = facts.load(framework)
    lost = [
        name
        for name in known.rows
        if (home := defined_as(name)) is not None and not known.rows_of(known.canonical(home))
    ]
    assert not lost


def defined_as(name: str) -> str | None:
    """Return the path by which a public name can be imported where it is defined; None if that is private."""
    found = importlib.import_module(name.partition(".")[0])
    for part in name.split(".")[1:]:
        found = getattr(found, part, None)
    path = f"{getattr(found, '__module__', '')}.{name.rpartition('.')[2]}"
    is_ours = path.startswith(name.partition(".")[0]) and getattr(found, "__qualname__", "") == name.rpartition(".")[2]
    return path if is_ours and not _PRIVATE.search(path) else None
