"""
Packs: the facts of one library that is built on a framework, in a file of its own.

    packs_of("torch")["einops"]    # by package: Pack("einops", packages=("einops",), ...), rows in libs/einops.jsonl

The index, `rules/ops/libs/packs.json`, is small and always read; the file of a pack is read when a name of its package
is first looked up.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from msgspec import Struct, field

from inplace_lint.core.errors import FactError
from inplace_lint.core.word import Word
from inplace_lint.knowledge.locate import rules_dir
from inplace_lint.knowledge.schema import Schema, each, table, text, word


class Obtained(Word):
    """How the facts of a pack were obtained."""

    RUN = "run"
    READ = "read"


class Pack(Struct, frozen=True):
    """
    The facts of a library: the `packages` that it is imported as, the `release` that they are of, how `obtained`.

    `distribution` is the name that it is installed by, for whoever makes the pack again.

    `canonical` maps module prefixes to the public names of what they hold, as that of a framework does.
    """

    name: str
    framework: str
    distribution: str
    packages: tuple[str, ...]
    release: str
    obtained: Obtained
    canonical: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def path(self) -> Path:
        """The file with the entries."""
        return _folder() / f"{self.name}.jsonl"


_PACK = Schema(
    "a pack",
    {
        "framework": ("framework", text),
        "distribution": ("distribution", text),
        "packages": ("packages", each(text)),
        "release": ("release", text),
        "obtained": ("obtained", word(Obtained, "way to obtain facts")),
        "canonical": ("canonical", table(each(text))),
    },
    ("framework", "distribution", "packages", "release", "obtained"),
)


def packs() -> Mapping[str, Pack]:
    """
    Return all packs by name.

    Raises: `FactError` naming the index and the line of what does not follow the format.
    """
    return _read(_folder() / "packs.json")


def packs_of(framework: str) -> Mapping[str, Pack]:
    """Return the packs for a framework by the packages that they are about."""
    return {package: pack for pack in packs().values() if pack.framework == framework for package in pack.packages}


@cache
def _read(path: Path) -> Mapping[str, Pack]:
    shown = f"rules/{path.relative_to(rules_dir()).as_posix()}"
    found: dict[str, Pack] = {}
    for at, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        entry = line.strip().rstrip(",")
        if entry not in {"{", "}", ""}:
            try:
                for name, row in json.loads(f"{{{entry}}}").items():
                    found[name] = Pack(name, **_PACK.read(row))
            except json.JSONDecodeError as error:
                msg = f"{shown}:{at}: not JSON: {error.msg} at column {error.colno - 1}"
                raise FactError(msg) from error
            except (FactError, TypeError) as error:
                msg = f"{shown}:{at}: {error}"
                raise FactError(msg) from error
    return found


def _folder() -> Path:
    return rules_dir() / "ops" / "libs"
