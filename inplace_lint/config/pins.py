"""
The framework version that a project requires, from its `pyproject.toml` or its requirements files.

    torch==1.4.0       # that version
    torch>=1.8,<2      # the newest release that fits, 1.13
    torch>=2.0         # the newest known release: no pin

A requirement that cannot be parsed pins nothing: other tools report it.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from packaging.specifiers import SpecifierSet

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_CARET = re.compile(r"\^\s*(\d+)(\.[\d.]+)?")


@lru_cache(maxsize=256)
def pinned(root: Path, name: str) -> str | None:
    """Return the framework version that the project in a folder requires; None for the newest, or for none."""
    lines = [line for line in _requirements(root) if name in line.lower()]
    if not lines:
        return None
    from packaging.requirements import InvalidRequirement, Requirement  # noqa: PLC0415 - few projects name a framework

    from inplace_lint.knowledge.facts import framework  # noqa: PLC0415 - likewise

    known = framework(name)
    for line in lines:
        try:
            requirement = Requirement(line)
        except InvalidRequirement:
            continue
        if requirement.name.lower() in known.distributions:
            return _newest(requirement.specifier, known.releases)
    return None


def _newest(asked: SpecifierSet, releases: tuple[str, ...]) -> str | None:
    """Return an exact version, or the newest release that is admitted; None if that is the newest of all."""
    exact = [one.version for one in asked if one.operator == "==" and not one.version.endswith("*")]
    if exact:
        return exact[0]
    fitting = [release for release in releases if asked.contains(release) or asked.contains(f"{release}.99")]
    return fitting[-1] if fitting and fitting[-1] != releases[-1] else None


def _requirements(root: Path) -> Iterator[str]:
    """Yield the requirements of a project, those of the project itself first."""
    table = _table(root / "pyproject.toml")
    project = _mapping(table, "project")
    yield from _texts(project.get("dependencies"))
    for name, value in _mapping(_mapping(_mapping(table, "tool"), "poetry"), "dependencies").items():
        if isinstance(value, str):
            yield f"{name} {_spelled(value)}"
    for path in sorted(root.glob("requirements*.txt")):
        for line in _text(path).splitlines():
            yield line.partition("#")[0].strip()
    for extra in _mapping(project, "optional-dependencies").values():
        yield from _texts(extra)


def _spelled(version: str) -> str:
    """Convert a version of Poetry to a requirement: `^1.8` admits all of 1.x from there on."""
    match = _CARET.fullmatch(version.strip())
    if match is None:
        return "" if version == "*" else version if version[:1] in "<>=!~" else f"=={version}"
    return f">={match[1]}{match[2] or ''},<{int(match[1]) + 1}"


def _table(path: Path) -> Mapping[str, Any]:
    try:
        found: Mapping[str, Any] = tomllib.loads(_text(path))
    except (tomllib.TOMLDecodeError, RecursionError):
        return {}
    return found


def _text(path: Path) -> str:
    """Return the text of a file, empty if it cannot be read; a pipe is not opened, since that would block."""
    try:
        return path.read_text(encoding="utf-8") if path.is_file() else ""
    except (OSError, UnicodeDecodeError):
        return ""


def _mapping(table: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = table.get(key)
    return value if isinstance(value, dict) else {}


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, list):
        yield from (item for item in value if isinstance(item, str))
