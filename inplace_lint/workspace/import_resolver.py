"""
Which file an import means.

    from .layers import Block     # in pkg/models/net.py: pkg/models/layers.py or pkg/models/layers/__init__.py
    import pkg.layers             # below the folder that holds pkg, the project's root or its src folder
    from ._C import fused         # pkg/_C.pyi, the stub of a compiled module, where there is no source in Python

An import that means no file of the project is never an error.
"""

from __future__ import annotations

import posixpath
import sys
from collections.abc import Callable, Iterable

from msgspec import Struct

from inplace_lint.core.remembered import remembered
from inplace_lint.workspace.claims import Claim, Question

INIT = "__init__.py"
STUB = ".pyi"


class Lookup(Struct, dict=True):
    """
    Finds files for imports, and remembers the answers.

    `has` returns whether a file exists, `names` what is in a folder. Paths are written as spans carry them: below
    `here` relative to it, with slashes. Nothing is looked up above `root`. `frameworks` are packages that are never
    taken from the project.
    """

    has: Callable[[str], bool]
    here: str = "/"
    root: str = "/"
    frameworks: frozenset[str] = frozenset()
    names: Callable[[str], Iterable[str]] = tuple

    def resolve(self, importer: str, module: str, level: int) -> str | None:
        """Return the path of the file that an import in `importer` means; None when it is not in the project."""
        top = module.partition(".")[0]
        if not level and (top in self.frameworks or top in sys.stdlib_module_names):
            return None
        return self._found(self._folder_of(importer), module, level)

    @remembered
    def _folder_of(self, path: str) -> str:
        return posixpath.dirname(posixpath.join(self.here, path))

    @remembered
    def _found(self, folder: str, module: str, level: int) -> str | None:
        return self._relative(folder, module, level) if level else self._absolute(folder, module)

    @remembered
    def submodule(self, package: str, name: str) -> str | None:
        """Return the path of a module inside a package, given as the path of its `__init__` file."""
        if posixpath.basename(package) != INIT:
            return None
        return self._below(posixpath.dirname(posixpath.join(self.here, package)), name)

    def modules(self, package: str) -> list[str]:
        """Return the paths of all modules inside a package, given as the path of its `__init__` file."""
        if posixpath.basename(package) != INIT:
            return []
        names = {name.removesuffix(".py") for name in self.names(posixpath.dirname(package))} - {"__init__"}
        found = (self.submodule(package, name) for name in sorted(names) if name.isidentifier())
        return [path for path in found if path is not None]

    def answer(self, claim: Claim) -> str:
        """Return the path that a claim about an import or a module of a package is about; empty for none."""
        if claim.question is Question.SUBMODULE:
            return self.submodule(claim.path, claim.detail) or ""
        level, _, module = claim.detail.partition(" ")
        return self.resolve(posixpath.join(claim.path, INIT), module, int(level)) or ""

    def part(self, importer: str, module: str, name: str, level: int) -> str | None:
        """Return the path of a module that is imported from a folder without an `__init__` file."""
        return self.resolve(importer, f"{module}.{name}" if module else name, level)

    def _relative(self, folder: str, module: str, level: int) -> str | None:
        for _ in range(level - 1):
            if folder == self.root:
                return None
            folder = posixpath.dirname(folder)
        return self._below(folder, module)

    def _absolute(self, folder: str, module: str) -> str | None:
        found = (self._below(base, module) for base in self._folders(folder))
        return next((path for path in found if path is not None), None)

    def _below(self, folder: str, module: str) -> str | None:
        stem = posixpath.join(folder, *module.split(".")) if module else folder
        package = posixpath.join(stem, INIT)
        candidates = (package, f"{stem}.py", f"{package}i", f"{stem}{STUB}") if module else (package,)
        return next((self._shown(path) for path in candidates if self._exists(path)), None)

    def _shown(self, path: str) -> str:
        return path.removeprefix(self.here.rstrip("/") + "/")

    @remembered
    def _exists(self, path: str) -> bool:
        return self.has(self._shown(path))

    @remembered
    def _folders(self, folder: str) -> tuple[str, ...]:
        """
        Return the folders in which an absolute import from this folder is looked up, the nearest first.

        The last one is this folder inside of a package, which is where scripts that run there find it.
        """
        here = folder
        while here != self.root and self._exists(posixpath.join(here, INIT)) and posixpath.dirname(here) != here:
            here = posixpath.dirname(here)
        found = [here]
        while here != self.root and posixpath.dirname(here) != here:
            here = posixpath.dirname(here)
            found.append(here)
        return (*found, posixpath.join(self.root, "src"), *([folder] if folder != found[0] else []))
