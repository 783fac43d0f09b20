"""
Where a program is when a framework acts: the line of the project's own code, below all frames of libraries.

A `Spot` is taken at every save and write, so it holds only what is cheap to take: a code object and the offset of an
instruction. Lines and columns are computed for the few that are reported.
"""

from __future__ import annotations

import dis
import itertools
import os
import sys
import sysconfig
from types import CodeType, FrameType, TracebackType
from typing import Any, Dict, NamedTuple, Optional, Tuple, Union

_PROJECT, _LIBRARY, _FRAMEWORK, _OURS = range(4)
_HERE = os.path.dirname(os.path.abspath(__file__)) + os.sep


class Where(NamedTuple):
    """An instruction: its code, and its offset there in bytes."""

    code: CodeType
    offset: int


class Spot(NamedTuple):
    """
    Where something happened, and which layer of the framework was at work.

    `layer` is the innermost framework layer whose `forward` ran, `depth` how many of them were nested: from two on a
    container ran it. `step` names the optimizer whose step it was.
    """

    where: Optional[Where]
    layer: Any = None
    depth: int = 0
    step: str = ""


class _Step(NamedTuple):
    """A frame as it was when an error passed through it."""

    f_code: CodeType
    f_lasti: int
    f_locals: Dict[str, Any]
    f_back: Optional[_Step]


class Places:
    """
    Finds spots.

    `layer` is the framework's class of layers, `optimizer` that of optimizers; `folder` is where the framework lies.
    """

    def __init__(self, folder: str, layer: type, optimizer: type) -> None:
        self._layer, self._optimizer = layer, optimizer
        self._framework = folder.rstrip(os.sep) + os.sep
        self._kinds: Dict[str, int] = {}

    def spot(self, frame: Union[FrameType, _Step, None], *, layers: bool = True) -> Spot:
        """Return the nearest frame of the project at or above `frame`, or the nearest of a library, if any."""
        layer, depth, step, library = None, 0, "", None
        while frame is not None:
            code = frame.f_code
            kind = self._kinds.get(code.co_filename)
            if kind is None:
                kind = self._kinds[code.co_filename] = self._kind(code.co_filename)
            if kind == _PROJECT:
                return Spot(Where(code, frame.f_lasti), layer, depth, step)
            if kind == _LIBRARY and library is None:
                library = Where(code, frame.f_lasti)
            elif kind == _FRAMEWORK and layers:
                if code.co_name == "forward":
                    owner = frame.f_locals.get("self")
                    if isinstance(owner, self._layer):
                        layer, depth = layer or owner, depth + 1
                elif code.co_name == "step" and not step:
                    owner = frame.f_locals.get("self")
                    step = type(owner).__name__ if isinstance(owner, self._optimizer) else ""
            frame = frame.f_back
        return Spot(library, layer, depth, step)

    def caller(self, frame: Optional[FrameType]) -> Optional[FrameType]:
        """Return the nearest frame at or above `frame` that is not of these files."""
        while frame is not None and self._kind(frame.f_code.co_filename) == _OURS:
            frame = frame.f_back
        return frame

    def raised_at(self, trace: TracebackType) -> Spot:
        """Return the spot at which an error was raised."""
        step: Optional[_Step] = None
        walk: Optional[TracebackType] = trace
        while walk is not None:
            step = _Step(walk.tb_frame.f_code, walk.tb_lasti, walk.tb_frame.f_locals, step)
            walk = walk.tb_next
        return self.spot(step)

    def _kind(self, name: str) -> int:
        path = os.path.abspath(name)
        if path.startswith((_HERE, os.path.join(os.path.dirname(os.path.dirname(_HERE)), ""))):
            return _OURS
        if path.startswith(self._framework):
            return _FRAMEWORK
        if name.startswith("<") or path.startswith(installed()):
            return _LIBRARY
        return _PROJECT


def installed() -> Tuple[str, ...]:
    """Return the folders of what was installed: the standard library and other people's packages."""
    paths = sysconfig.get_paths()
    kinds = ("stdlib", "platstdlib", "purelib", "platlib")
    found = [paths[kind] for kind in kinds if kind in paths]
    found += [entry for entry in sys.path if os.path.basename(entry) in {"site-packages", "dist-packages"}]
    return tuple(os.path.join(os.path.abspath(path), "") for path in found)


def is_within(where: Optional[Where], frame: Optional[FrameType]) -> bool:
    """Check whether an instruction is at work at or above `frame`: a mode of the program runs below it."""
    while where is not None and frame is not None:
        if (frame.f_code, frame.f_lasti) == where:
            return True
        frame = frame.f_back
    return False


def returning(code: CodeType) -> Optional[Where]:
    """Return the last `return` of a function."""
    offsets = [item.offset for item in dis.get_instructions(code) if item.opname.startswith("RETURN_")]
    return Where(code, offsets[-1]) if offsets else None


def described(where: Optional[Where]) -> Optional[Dict[str, Any]]:
    """
    Return the position of an instruction as plain data, or None without one.

    Units: lines from 1; columns in bytes of UTF-8 from 0, absent before Python 3.11.
    """
    if where is None:
        return None
    code, offset = where
    found = {
        "path": os.path.abspath(code.co_filename),
        "function": getattr(code, "co_qualname", code.co_name),
        "first": code.co_firstlineno,
    }  # type: Dict[str, Any]
    positions = getattr(code, "co_positions", None)
    if positions is not None:
        line, end_line, column, end_column = next(itertools.islice(positions(), offset // 2, None))
        found.update(line=line, end_line=end_line, column=column, end_column=end_column)
    if found.get("line") is None:
        lines = [line for start, line in dis.findlinestarts(code) if start <= offset and line is not None]
        found.update(line=lines[-1] if lines else code.co_firstlineno, end_line=None, column=None, end_column=None)
    return found
