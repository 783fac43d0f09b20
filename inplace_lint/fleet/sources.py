"""
The sources of a repository: packed for the way to another machine, and unpacked into an empty folder.

Only what an analysis reads is taken: Python files, notebooks, and the few that say what a project requires. No link is
made or followed, nothing is written outside of the folder, and there are limits to what an archive may unpack to.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import stat
import subprocess
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import IO, Any, NamedTuple, cast

from inplace_lint.core.errors import UnreadableError
from inplace_lint.workspace import files

MOST_FILE = 50 << 20
MOST_TAKEN = 1 << 30
MOST_READ = 16 << 30  # of a compressed archive, which has to be read to its end
MOST_MEMBERS = 1_000_000
GIT_SECONDS = 900
_BLOCK = 1 << 20
_END = 512  # bytes at the end of a tar archive that are zero
_NAMES = ("*.py", "*.ipynb", ".gitignore", "pyproject.toml", "setup.cfg", "requirements*.txt")
_BROKEN = (
    zipfile.BadZipFile, tarfile.TarError, lzma.LZMAError, zlib.error, EOFError, NotImplementedError, RuntimeError,
    UnicodeError, ValueError,
)  # fmt: skip


class Packed(NamedTuple):
    """The sources of a folder as the bytes of a zip archive, and a line for each file that could not be read."""

    data: bytes
    troubles: tuple[str, ...] = ()


class _Member(NamedTuple):
    """A file of an archive: its name, its size as far as the archive says, and what opens it."""

    name: str
    size: int
    stream: IO[bytes]


def is_source(path: PurePosixPath) -> bool:
    """Return whether an analysis may read a file of a repository."""
    is_wanted = any(fnmatchcase(path.name, pattern) for pattern in _NAMES)
    return is_wanted and files.SKIPPED.isdisjoint(path.parts[:-1])


def pack(folder: Path) -> Packed:
    """
    Return the sources in a folder. Links that lead out of it are left out.

    Raises: `UnreadableError` where it cannot be read, or has too much.
    """
    out, troubles = io.BytesIO(), list[str]()
    taken = 0
    root = folder.resolve()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for path in _walk(folder, troubles):
            if not path.resolve().is_relative_to(root):
                continue
            name = path.relative_to(folder).as_posix()
            try:
                data = files.read(path)
            except UnreadableError as error:
                troubles.append(f"{name}: {error}")
                continue
            taken = _counted(taken, len(data))
            archive.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)
    return Packed(out.getvalue(), tuple(troubles))


def _walk(folder: Path, troubles: list[str]) -> Iterator[Path]:
    def note(error: OSError) -> None:
        if Path(error.filename) == folder:
            raise UnreadableError((error.strerror or "error").lower()) from error
        troubles.append(f"{Path(error.filename).relative_to(folder).as_posix()}: {(error.strerror or 'error').lower()}")

    for top, folders, names in os.walk(folder, onerror=note):
        folders[:] = sorted(set(folders) - files.SKIPPED)
        for name in sorted(names):
            path = Path(top, name)
            if is_source(PurePosixPath(path.relative_to(folder).as_posix())):
                yield path


def unpack(data: bytes | Path, into: Path) -> None:
    """
    Write the sources in an archive, given as bytes or as a file, into an empty folder.

    Raises: `UnreadableError` for what is no archive, for a path in it that leads out of it, and for too much.
    """
    try:
        stream = data.open("rb") if isinstance(data, Path) else io.BytesIO(data)
        with stream:
            members = _of_zip(stream) if _is_zip(stream) else _of_tar(stream)
            _write(members, into)
    except OSError as error:
        raise UnreadableError((error.strerror or str(error) or "error").lower()) from error
    except _BROKEN as error:
        msg = f"not an archive that can be read: {error}"
        raise UnreadableError(msg) from error


def _is_zip(stream: IO[bytes]) -> bool:
    """Check whether an archive is a zip file, and no tar file with what marks the end of one in it."""
    is_tar = tarfile.is_tarfile(stream)
    stream.seek(0)
    return not is_tar and zipfile.is_zipfile(stream)


def _of_zip(stream: IO[bytes]) -> Iterator[_Member]:
    with zipfile.ZipFile(stream) as archive:
        for info in archive.infolist():
            _check(info.filename)
            is_link = stat.S_ISLNK(info.external_attr >> 16)
            if not info.is_dir() and not is_link and is_source(PurePosixPath(info.filename)):
                with archive.open(info) as opened:
                    yield _Member(info.filename, info.file_size, opened)


def _of_tar(stream: IO[bytes]) -> Iterator[_Member]:
    stream.seek(0)
    magic = stream.read(6)
    stream.seek(0)
    openers: dict[bytes, Any] = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ\0": lzma.open}
    opener = next((opener for start, opener in openers.items() if magic.startswith(start)), None)
    read, tail = 0, _Tail(stream if opener is None else opener(stream))
    with tarfile.open(fileobj=cast("IO[bytes]", tail), mode="r|") as archive:
        for count, info in enumerate(archive):
            read += info.size
            if count > MOST_MEMBERS or read > MOST_READ:
                msg = "unpacks to too much"
                raise UnreadableError(msg)
            _check(info.name)
            opened = archive.extractfile(info) if info.isreg() and is_source(PurePosixPath(info.name)) else None
            if opened is not None:
                yield _Member(info.name, info.size, opened)
    while tail.read(_BLOCK):
        pass
    if tail.last.strip(b"\0"):
        msg = "it ends too early"  # `tarfile` takes that for the end
        raise EOFError(msg)


class _Tail:
    """A stream that remembers the last of what was read: a tar archive ends with empty blocks."""

    def __init__(self, stream: Any) -> None:  # noqa: ANN401 - each way to compress has a class of its own
        self._stream, self.last, self._size = stream, b"-", 0

    def read(self, size: int) -> bytes:
        """Return the next bytes."""
        data: bytes = self._stream.read(size)
        self._size += len(data)
        if self._size > MOST_READ:
            msg = "unpacks to too much"
            raise UnreadableError(msg)
        self.last = (self.last + data)[-_END:]
        return data


def _check(name: str) -> None:
    parts = name.replace("\\", "/").split("/")
    if name.startswith(("/", "\\")) or ".." in parts or ":" in parts[0] or "\0" in name:
        msg = f"holds a path that leads out of it: {name!r}"
        raise UnreadableError(msg)


def _write(members: Iterator[_Member], into: Path) -> None:
    taken = 0
    for member in members:
        data = member.stream.read(MOST_FILE + 1)  # what the archive says of its sizes need not be true
        taken = _counted(taken, len(data))
        place = into / member.name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)


def _counted(taken: int, more: int) -> int:
    if more > MOST_FILE or taken + more > MOST_TAKEN:
        msg = f"holds a source of more than {MOST_FILE >> 20} MB, or more than {MOST_TAKEN >> 20} MB of them"
        raise UnreadableError(msg)
    return taken + more


def clone(location: str, into: Path) -> None:
    """
    Clone one revision of a Git repository into an empty folder; links in it become plain files, and no hook is run.

    Raises: `UnreadableError` with the last line of Git.
    """
    url, revision = revision_of(location.removeprefix("git+"))
    safe = ("-c", "core.symlinks=false", "-c", "core.hooksPath=/dev/null", "-c", "protocol.ext.allow=never")
    _git(into, "init", "--quiet", ".")
    _git(into, *safe, "fetch", "--quiet", "--depth=1", "--no-tags", "--", url, revision or "HEAD")
    _git(into, *safe, "checkout", "--quiet", "--force", "FETCH_HEAD")


def revision_of(url: str) -> tuple[str, str]:
    """Divide `URL@REVISION`; the `@` before a host is none of a revision."""
    before, at, revision = url.rpartition("@")
    is_revision = bool(at) and "/" in before.partition("://")[2] if "://" in url else bool(at) and ":" in before
    return (before, revision) if is_revision and not revision.startswith("-") else (url, "")


def _git(folder: Path, *words: str) -> None:
    quiet = {"GIT_TERMINAL_PROMPT": "0", "GIT_LFS_SKIP_SMUDGE": "1", "GIT_SSH_COMMAND": "ssh -o BatchMode=yes"}
    try:
        subprocess.run(  # noqa: S603 - words of ours, and a URL after `--`
            ["git", *words],  # noqa: S607 - the user's own
            cwd=folder, env={**os.environ, **quiet}, stdin=subprocess.DEVNULL, capture_output=True, check=True,
            timeout=GIT_SECONDS,
        )  # fmt: skip
    except FileNotFoundError as error:
        msg = "git is not installed"
        raise UnreadableError(msg) from error
    except subprocess.TimeoutExpired as error:
        msg = f"git took longer than {GIT_SECONDS} s"
        raise UnreadableError(msg) from error
    except subprocess.CalledProcessError as error:
        lines = error.stderr.decode("utf-8", "replace").strip().splitlines()
        msg = "git: " + next((line for line in lines if line.startswith("fatal:")), "failed").removeprefix("fatal: ")
        raise UnreadableError(msg) from error
