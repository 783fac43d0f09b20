"""Writes files so that nothing is lost: all at once, over what was read and nothing else, with the same rights."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path

from inplace_lint import files
from inplace_lint.errors import UnreadableError


def write(path: Path, old: bytes, new: bytes) -> str:
    """
    Put new content into a file that holds `old`, and give nothing; else leave it alone and say why.

    A link stays a link: what it leads to is written. Owner and rights stay as far as the system allows it.
    """
    target = Path(os.path.realpath(path))
    try:
        if files.read(target) != old:
            return "changed while it was checked; nothing was written"
        mode = target.stat()
        if not os.access(target, os.W_OK):
            return "is read-only; nothing was written"
        _replace(target, new, mode)
    except UnreadableError as error:
        return f"{error}; nothing was written"
    except OSError as error:
        return f"{(error.strerror or 'cannot be written').lower()}; nothing was written"
    return ""


def _replace(target: Path, data: bytes, like: os.stat_result) -> None:
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(stat.S_IMODE(like.st_mode))
        if hasattr(os, "chown") and (like.st_uid, like.st_gid) != (os.getuid(), os.getgid()):
            os.chown(name, like.st_uid, like.st_gid)
        Path(name).replace(target)
    except OSError:
        Path(name).unlink(missing_ok=True)
        raise
