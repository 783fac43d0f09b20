"""
Where code and data of other packages may come from: what is installed, and nothing of a repository that is checked.

    PYTHONPATH=. inplace-lint .     # the repository is on the path of modules, and is somebody else's all the same
"""

from __future__ import annotations

import site
import sys
import sysconfig
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def search_path(*checked: Path) -> list[str]:
    """
    Return where modules are searched for, without the current folder, the `checked` ones, and what is in or above them.

    What an installer put there stays wherever it is: an environment in the current folder, or a folder that a `.pth`
    file of an environment names, as editable installs do.
    """
    strange = {folder.resolve() for folder in (Path.cwd(), *checked)}
    return [place for place in sys.path if place and _is_trusted(Path(place).resolve(), strange)]


@contextmanager
def installed_only(*checked: Path) -> Iterator[None]:
    """Search modules in `search_path` only."""
    before = sys.path
    sys.path = search_path(*checked)
    try:
        yield
    finally:
        sys.path = before


def _is_trusted(place: Path, strange: set[Path]) -> bool:
    if not any(place.is_relative_to(folder) or folder.is_relative_to(place) for folder in strange):
        return True
    homes = {Path(home).resolve() for home in _homes()}
    return any(place.is_relative_to(home) for home in homes) or place in set(_linked(homes))


def _homes() -> Iterator[str]:
    """Yield the folders into which installers put packages, and those of Python itself."""
    paths = sysconfig.get_paths()
    yield from (paths[key] for key in ("stdlib", "platstdlib", "purelib", "platlib"))
    yield from site.getsitepackages()
    if site.ENABLE_USER_SITE:
        yield site.getusersitepackages()


def _linked(homes: set[Path]) -> Iterator[Path]:
    """Yield the folders that `.pth` files name."""
    for file in (file for home in homes for file in home.glob("*.pth")):
        for line in file.read_text(encoding="utf-8", errors="replace").splitlines():
            if line.strip() and not line.startswith(("#", "import ", "import\t")):
                yield (file.parent / line.strip()).resolve()
