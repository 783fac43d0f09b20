"""
Which files are meant, and what their text is.

A path that was given is always taken. A folder is searched for `*.py`; links to folders are not followed, so that a
loop of links ends nothing. What `.gitignore` files, `exclude` and the usual list of build folders name is left out.
"""

from __future__ import annotations

import codecs
import io
import os
import re
import stat
import tempfile
import tokenize
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct, field

from inplace_lint.config.globs import excludes, spec_of
from inplace_lint.config.settings import NAMES, is_there
from inplace_lint.core.errors import InplaceLintError, UnreadableError
from inplace_lint.core.remembered import remembered
from inplace_lint.workspace.import_statements import derives

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

Nested = Callable[[Path], Sequence[str]]
_NEW_MODE = 0o666
MOST_BYTES = 2_000_000  # trees of a file take up to a thousand times its size in memory
SKIPPED = frozenset(
    (  # noqa: SIM905 - sixty lines otherwise
        ".bzr .direnv .eggs .git .git-rewrite .hg .inplace_lint_cache .ipynb_checkpoints .mypy_cache .nox .pants.d "
        ".pyenv .pytest_cache .pytype .ruff_cache .svn .tox .venv .vscode __pycache__ __pypackages__ _build buck-out "
        "build dist node_modules site-packages venv"
    ).split()
)


class Found(Struct, frozen=True):
    """The files to check, in order, and one line for each path that cannot be searched; `notes` are for the user."""

    files: tuple[Path, ...]
    troubles: tuple[str, ...]
    notes: tuple[str, ...] = ()


class _Layer(Struct, frozen=True):
    folder: Path
    spec: GitIgnoreSpec


class _Search(Struct):
    """One search. The patterns of a folder are read once, and a file is taken once however often it is named."""

    exclude: dict[Path, GitIgnoreSpec]
    most: int | None
    nested: Nested | None
    files: dict[str, Path] = field(default_factory=dict)
    troubles: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


class Sources(Struct, frozen=True, dict=True):
    """The lines of files by the paths that spans carry; `texts` are contents that are in no file on disk."""

    texts: Mapping[str, bytes] = field(default_factory=dict)

    @remembered
    def lines(self, path: str) -> tuple[str, ...]:
        """Return the lines of a file without their ends; none when it can no longer be read."""
        try:
            data = self.texts[path] if path in self.texts else read(Path(path))
            return tuple(re.split(r"\r\n|\r|\n", decode(data)))
        except UnreadableError:
            return ()


def find(
    paths: Sequence[Path],
    exclude: Mapping[Path, Sequence[str]],
    most: int | None = None,
    *,
    force: bool = False,
    nested: Nested | None = None,
) -> Found:
    """
    Return every file that the paths mean, each once, in sorted order.

    The search of a folder ends after at least `most` files, or as many folders, the nearest first. With `force`, what
    is excluded is left out even where a path names it. `exclude` maps a folder to the patterns that hold below it, in
    the syntax of `.gitignore`; `nested` returns those of a folder with a configuration of its own. A path that does not
    exist or cannot be searched is a line in `troubles`, and ends nothing.
    """
    search = _Search({folder.absolute(): spec_of(lines) for folder, lines in exclude.items() if lines}, most, nested)
    for path in paths:
        try:
            mode = path.stat().st_mode
        except OSError as error:
            search.troubles.append(f"{shown(path)}: {_reason(error)}")
            continue
        if force and _is_excluded(search.exclude, path):
            continue
        if stat.S_ISDIR(mode):
            root = path.absolute()
            above = _layers_above(search, root)
            # A folder that is itself ignored was asked for by name: then the files above it have no say.
            _walk(search, root, () if _is_left_out(search, root, above, "/") else above)
        else:
            _take(search, path)
    if not (search.files or search.troubles):
        search.notes.extend(f"{shown(path)}: no Python files were found" for path in paths if path.is_dir())
    return Found(tuple(sorted(search.files.values(), key=shown)), tuple(search.troubles), tuple(search.notes))


def is_excluded(path: Path, exclude: Mapping[Path, Sequence[str]]) -> bool:
    """Return whether a search of its folder would leave out a file that was named, apart from `.gitignore`."""
    return _is_excluded({folder.absolute(): spec_of(lines) for folder, lines in exclude.items() if lines}, path)


def shown(path: Path) -> str:
    """Return a path as a user would write it: relative to the working folder where it is below that."""
    here = os.getcwd()  # noqa: PTH109 - this is asked for each file, and a `Path` takes ten times as long
    absolute = os.path.normpath(os.path.join(here, path))  # noqa: PTH118
    below = absolute.removeprefix(here.rstrip(os.sep) + os.sep)
    return "." if absolute == here else below.replace(os.sep, "/")


def read(path: Path) -> bytes:
    """
    Return the bytes of a regular file.

    Raises: `UnreadableError` with the reason of the system.
    """
    try:
        mode = path.stat().st_mode
        if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
            msg = "not a regular file"
            raise UnreadableError(msg)
        return path.read_bytes()
    except OSError as error:
        raise UnreadableError(_reason(error)) from error


def decode(data: bytes) -> str:
    """
    Return the text of a Python file: in the encoding of its cookie or byte order mark, UTF-8 without one.

    Line ends stay as they are; the byte order mark is left out.

    Raises: `UnreadableError` for a wrong cookie, for bytes that are not of the encoding (with the line), or for too
    many bytes.
    """
    if len(data) > MOST_BYTES:
        msg = f"larger than {MOST_BYTES // 1_000_000} MB: too large to be analyzed"
        raise UnreadableError(msg)
    if b"\0" in data:
        msg = "contains null bytes: not Python source"
        raise UnreadableError(msg)
    encoding = _encoding(data)
    try:
        return data.removeprefix(codecs.BOM_UTF8).decode(encoding)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        msg = f"not valid {encoding} (byte 0x{data[error.start]:02x} in line {line}): add a coding cookie or convert it"
        raise UnreadableError(msg) from error
    except (LookupError, UnicodeError) as error:
        msg = f"the encoding {encoding!r} that it declares is not for text"
        raise UnreadableError(msg) from error


def _encoding(data: bytes) -> str:
    """Return the encoding that the first two lines name; as for Python, a carriage return alone ends a line too."""
    head = b"\n".join(re.split(rb"\r\n|\r|\n", data, maxsplit=2)[:2])
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(head).readline)
    except SyntaxError as error:
        reason = str(error.msg)
        if "unknown encoding" in reason:
            raise UnreadableError(reason) from error
        encoding = "utf-8"  # the cookie's lines are not UTF-8: the decoder says where
    return "utf-8" if encoding == "utf-8-sig" else encoding


def encode(text: str, like: bytes) -> bytes:
    """
    Return the bytes of a text in the encoding of a file, with its byte order mark if it has one.

    Raises: `UnreadableError` where these bytes would not decode to the same text.
    """
    encoding = _encoding(like)
    mark = codecs.BOM_UTF8 if like.startswith(codecs.BOM_UTF8) else b""
    try:
        if mark + decode(like).encode(encoding) == like:
            return mark + text.encode(encoding)
    except UnicodeEncodeError:
        pass  # reported below
    msg = f"cannot be written back in its encoding {encoding}"
    raise UnreadableError(msg)


def swap(path: Path, old: bytes, new: bytes) -> None:
    """
    Replace the content of a file that holds `old` in one step; a link stays a link.

    Raises: `UnreadableError` when the file holds something else by now, or cannot be written.
    """
    place = Path(os.path.realpath(path))
    try:
        now = read(place)
    except UnreadableError as error:
        msg = f"{error}; nothing was written"
        raise UnreadableError(msg) from error
    if now != old:
        msg = "changed while it was checked; nothing was written"
        raise UnreadableError(msg)
    put(place, new)


def put(path: Path, data: bytes) -> None:
    """
    Write the content of a file in one step; an existing file keeps its owner and rights, and a link stays a link.

    Raises: `UnreadableError` with the reason of the system.
    """
    place = Path(os.path.realpath(path))
    try:
        like = place.stat() if place.exists() else None
        if like is not None and not os.access(place, os.W_OK):
            msg = "is read-only; nothing was written"
            raise UnreadableError(msg)
        handle, name = tempfile.mkstemp(dir=place.parent, prefix=f".{place.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            _take_over(Path(name), like)
            Path(name).replace(place)
        finally:
            Path(name).unlink(missing_ok=True)  # it is gone already, unless something failed
    except OSError as error:
        msg = f"{_reason(error)}; nothing was written"
        raise UnreadableError(msg) from error


def put_text(path: Path, text: str, *, end: bool = False) -> None:
    """
    Write a text to a file in one step, or append it; a pipe or a device is written directly.

    Raises: `InplaceLintError` naming the file when it cannot be written.
    """
    is_plain = path.is_file() or not path.exists()
    try:
        if is_plain and not end and os.access(path.absolute().parent, os.W_OK):
            put(path, text.encode("utf-8", "surrogateescape"))
        else:
            with path.open("a" if end else "w", encoding="utf-8") as file:
                file.write(text)
    except UnreadableError as error:
        msg = f"{path}: {error}"
        raise InplaceLintError(msg) from error
    except OSError as error:
        msg = f"{path}: {_reason(error)}"
        raise InplaceLintError(msg) from error


def _take_over(path: Path, like: os.stat_result | None) -> None:
    """Set the owner and rights of a new file to those of the file that it replaces, or to those of any new file."""
    if like is None:
        mask = os.umask(0)
        os.umask(mask)
        path.chmod(_NEW_MODE & ~mask)
        return
    path.chmod(stat.S_IMODE(like.st_mode))
    if hasattr(os, "chown") and (like.st_uid, like.st_gid) != (os.getuid(), os.getgid()):
        os.chown(path, like.st_uid, like.st_gid)


def mentions(data: bytes, names: Sequence[str]) -> bool:
    """
    Return whether any of the names occurs in the bytes: a check that saves parsing most files.

    What imports all names of another file may have them from there, and a class its base: `class Net(Base)`.
    """
    return any(name.encode() in data for name in names) or b"import *" in data or derives(data)


def _walk(search: _Search, folder: Path, layers: tuple[_Layer, ...]) -> None:
    pending = deque([(folder, layers)])
    searched = 0
    while pending and (search.most is None or max(searched, len(search.files)) < search.most):
        place, above = pending.popleft()
        searched += 1
        try:
            entries = sorted(os.scandir(place), key=lambda entry: entry.name)
        except OSError as error:
            search.troubles.append(f"{shown(place)}: {_reason(error)}")
            continue
        here, real = (*above, *_layer(search, place)), os.path.realpath(place)
        if search.nested is not None and not NAMES.isdisjoint(entry.name for entry in entries):
            lines = search.nested(place)
            search.exclude |= {place: spec_of(lines)} if lines and place not in search.exclude else {}
        for entry in entries:
            path = place / entry.name
            if entry.is_dir(follow_symlinks=False):
                if entry.name not in SKIPPED and not _is_left_out(search, path, here, "/"):
                    pending.append((path, here))
            elif _is_source(entry.name) and not _is_left_out(search, path, here, ""):
                if entry.is_file(follow_symlinks=False):
                    search.files.setdefault(os.path.join(real, entry.name), path)  # noqa: PTH118 - as `realpath` has it
                else:
                    _look_at(search, entry, path)


def _is_source(name: str) -> bool:
    # `.#` is a lock file of Emacs, a link to nothing
    return name.endswith((".py", ".ipynb")) and not name.startswith(".#")


def _look_at(search: _Search, entry: os.DirEntry[str], path: Path) -> None:
    try:
        mode = entry.stat().st_mode
    except OSError as error:
        dangling = entry.is_symlink() and isinstance(error, FileNotFoundError)
        search.troubles.append(f"{shown(path)}: {'broken link' if dangling else _reason(error)}")
        return
    if stat.S_ISREG(mode):
        _take(search, path)


def _take(search: _Search, path: Path) -> None:
    search.files.setdefault(os.path.realpath(path), path)


def _is_excluded(exclude: Mapping[Path, GitIgnoreSpec], path: Path) -> bool:
    place, cwd = Path(os.path.normpath(path.absolute())), Path.cwd()
    below = place.relative_to(cwd).parts[:-1] if place.is_relative_to(cwd) else ()
    return not SKIPPED.isdisjoint(below) or any(
        place.is_relative_to(folder) and spec.match_file(place.relative_to(folder).as_posix())
        for folder, spec in exclude.items()
    )


def _is_left_out(search: _Search, path: Path, layers: tuple[_Layer, ...], tail: str) -> bool:
    for folder, spec in search.exclude.items():
        if path.is_relative_to(folder) and spec.match_file(path.relative_to(folder).as_posix() + tail):
            return True
    for layer in reversed(layers):  # the deepest file that says anything about a path decides
        verdict = excludes(layer.spec, path.relative_to(layer.folder).as_posix() + tail)
        if verdict is not None:
            return verdict
    return False


def _layer(search: _Search, folder: Path, name: str = ".gitignore") -> Iterator[_Layer]:
    path = folder / name
    try:
        text = read(path).decode("utf-8", "replace")
    except UnreadableError as error:
        if isinstance(error.__cause__, FileNotFoundError | NotADirectoryError):
            return
        note = f"{shown(path)}: {error}: it excludes no files"
        if note not in search.notes:
            search.notes.append(note)
        return
    yield _Layer(folder, spec_of(text.splitlines()))


def _layers_above(search: _Search, folder: Path) -> tuple[_Layer, ...]:
    """
    Return the patterns of `.gitignore` files from the root of the repository down to a folder, itself left out.

    Before these come the patterns that git has for this clone alone.
    """
    chain: list[Path] = []
    for place in (folder, *folder.parents):
        if place != folder:
            chain.append(place)
        if is_there(place / ".git"):
            layers = (layer for above in reversed(chain) for layer in _layer(search, above))
            return (*_layer(search, place, ".git/info/exclude"), *layers)
    return ()  # outside a repository only the files below the folder count


def _reason(error: OSError) -> str:
    return (error.strerror or type(error).__name__).lower()
