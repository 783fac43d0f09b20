"""Runs a program in a process of its own; modules that are not installed are made up."""

from __future__ import annotations

import contextlib
import importlib.abc
import importlib.machinery
import importlib.util
import io
import json
import os
import re
import signal
import sys
import types
from collections.abc import Sequence
from typing import Any, ClassVar


def label_of(faulty: str, repaired: str) -> dict[str, str]:
    """Return the label of a program: `raises`, `silent` (prints something else than its repair) or a complaint."""
    failed, printed = outcome(faulty)
    broken, intended = outcome(repaired)
    if broken:
        return {"label": "repair fails", "says": broken}
    if failed:
        return {"label": "raises", "says": failed}
    return {"label": "silent" if printed != intended else "no fault", "says": ""}


def outcome(text: str) -> tuple[str, str]:
    """Return what a program raised (one line, or nothing) and what it printed."""
    read, write = os.pipe()
    child = os.fork()
    if not child:
        signal.alarm(20)
        failed, printed = _run(text)
        os.write(write, json.dumps((failed, printed[-20_000:])).encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as stream:
        answer = stream.read()
    os.waitpid(child, 0)
    failed, printed = json.loads(answer or '["no answer", ""]')
    return failed, printed


def _run(text: str) -> tuple[str, str]:
    printed = io.StringIO()
    finder = _MadeUp({one.split(".")[0] for one in _IMPORTED.findall(text)} | {"pkg"})
    sys.meta_path.append(finder)
    sys.argv = ["program.py"]
    program, _, below = text.partition("#: ")
    parts = {part.split("\n", 1)[0]: part.split("\n", 1)[1] for part in below.split("#: ") if part}
    module = types.ModuleType("__main__")
    sys.modules["__main__"] = module
    module.__dict__.update(__package__="pkg", __file__="program.py")
    with contextlib.redirect_stdout(printed):
        try:
            exec(parts.get("stubs", ""), {"STUBS": finder.modules})
            exec(compile(program, "program.py", "exec"), module.__dict__)
            exec(parts.get("run", ""), module.__dict__)
        except BaseException as caught:
            return f"{type(caught).__name__}: {caught}".replace("\n", " ")[:300], printed.getvalue()
    return "", printed.getvalue()


_IMPORTED = re.compile(r"^\s*(?:from|import) (\w[\w.]*)", re.MULTILINE)


class _Anything(type):
    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return cls

    def __iter__(cls) -> Any:
        return iter(())


class Anything(metaclass=_Anything):
    """A class, a function or an object of a module that is not installed."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Take whatever is passed."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Anything()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Return what the function of a layer returns: its argument."""
        return args[0] if args else self

    def __iter__(self) -> Any:
        return iter(())

    def __getitem__(self, key: Any) -> int:
        return 2


class _Module(types.ModuleType):
    __path__: ClassVar[list[str]] = []

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return sys.modules.get(f"{self.__name__}.{name}") or type(name, (Anything,), {})


class _Modules(dict[str, types.ModuleType]):
    def __missing__(self, name: str) -> types.ModuleType:
        made = self[name] = sys.modules[name] = _Module(name)
        return made


class _MadeUp(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def __init__(self, roots: set[str]) -> None:
        self.roots = roots
        self.modules = _Modules()

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name.split(".", maxsplit=1)[0] not in self.roots - {"torch", "paddle", "numpy"}:
            return None
        return importlib.util.spec_from_loader(name, self, is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        return self.modules[spec.name]

    def exec_module(self, module: types.ModuleType) -> None:
        """Nothing is executed."""
