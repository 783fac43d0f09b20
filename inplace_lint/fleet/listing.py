"""
The list of repositories: one a line, a folder, an archive, a wheel or the URL of a Git repository.

    src/ours                                  # a folder; `#` after a space begins a comment
    wheels/timm-1.0.31-py3-none-any.whl
    git+https://example.org/team/models@v2    # a branch, a tag or a commit after `@`
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import NamedTuple

from inplace_lint.config.settings import is_there
from inplace_lint.core.errors import InplaceLintError

_COMMENT = re.compile(r"(?:^|\s)#.*")
_URL = re.compile(r"(?:git\+)?(?:https?|ssh|git|file)://\S+|[\w.-]+@[\w.-]+:\S+")
_ARCHIVES = (".whl", ".zip", ".egg", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tar.xz", ".txz")
_ODD = re.compile(r"[^A-Za-z0-9._-]+")
_LONGEST = 60
_DIGITS = 8


class Kind(Enum):
    """What a line of the list means; `NOTHING` is a line that names none of the others."""

    FOLDER = "folder"
    ARCHIVE = "archive"
    GIT = "git"
    NOTHING = "nothing"


class Listed(NamedTuple):
    """A repository of the list: `name` is that of its folder of results, `trouble` why a line names none."""

    name: str
    location: str
    kind: Kind
    trouble: str = ""


def listed(path: Path) -> list[Listed]:
    """
    Return the repositories of a list, each once; paths are relative to the current folder.

    Raises: `InplaceLintError` where the list cannot be read.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")  # some editors of Windows put a byte order mark first
    except (OSError, UnicodeDecodeError) as error:
        msg = f"{path}: {(getattr(error, 'strerror', None) or 'not UTF-8').lower()}"
        raise InplaceLintError(msg) from error
    return list(dict.fromkeys(_lines(text)))


def _lines(text: str) -> Iterator[Listed]:
    for line in text.splitlines():
        location = _COMMENT.sub("", line).strip()
        if location:
            kind, trouble = _kind(location)
            yield Listed(_name(location), location, kind, trouble)


def _kind(location: str) -> tuple[Kind, str]:
    path = Path(location)
    if "\0" in location:
        return Kind.NOTHING, "no path"
    if _URL.fullmatch(location):
        if location.endswith(_ARCHIVES):
            return Kind.NOTHING, "an archive is read from a file: download it first"
        return Kind.GIT, ""
    if not is_there(path):
        return Kind.NOTHING, "no such file or folder"
    if path.is_dir():
        return Kind.FOLDER, ""
    if path.is_file() and path.name.lower().endswith(_ARCHIVES):
        return Kind.ARCHIVE, ""
    return Kind.NOTHING, "neither a folder nor an archive"


def _name(location: str) -> str:
    """Return a name that is the same in every run and that no other location has."""
    last = re.split(r"[/\\:]", location.rstrip("/\\"))[-1]
    for ending in (*_ARCHIVES, ".git"):
        last = last.removesuffix(ending)
    digest = hashlib.sha256(location.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]
    return f"{_ODD.sub('-', last).strip('-.')[:_LONGEST] or 'repository'}-{digest}"
