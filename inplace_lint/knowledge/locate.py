"""Where `rules/` lies, in a wheel, an editable install or a bare checkout, and what version of it and the code."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from inplace_lint.core.errors import InplaceLintError

MODELS = "<models>/"  # begins the path of a model; no file of a project has such a path


@cache
def rules_dir() -> Path:
    """
    Return the folder with the rule pages and op facts that belong to this very package.

    Raises: `InplaceLintError` when neither place has it, which only a broken installation brings about.
    """
    package = Path(__file__).resolve().parent.parent
    for folder in (package / "_rules", package.parent / "rules"):
        if (folder / "ops").is_dir():
            return folder
    msg = f"{package}: the rules folder is missing; install inplace-lint again"
    raise InplaceLintError(msg)


def rule_page(name: str, lang: str = "en") -> Path:
    """Return the page of a rule in a language; in English where it has none in that language."""
    page = rules_dir() / lang / f"{name}.md"
    return page if page.is_file() else rules_dir() / f"{name}.md"


@cache
def model_of(library: str) -> str | None:
    """Return the path under which the model of a library's module is read; None where there is none."""
    if not all(map(str.isidentifier, library.split("."))):  # of a relative import nothing is modelled
        return None
    name = f"{library.replace('.', '/')}.py"
    return f"{MODELS}{name}" if (rules_dir() / "models" / name).is_file() else None


def model_text(path: str) -> str:
    """Return the source of a model by its path."""
    return (rules_dir() / "models" / path.removeprefix(MODELS)).read_text(encoding="utf-8")


def digest_of_facts() -> str:
    """Return a digest of all op tables and models: it changes whenever any fact does."""
    total = hashlib.sha256()
    for path in sorted([*(rules_dir() / "ops").rglob("*.json*"), *(rules_dir() / "models").rglob("*.py")]):
        total.update(path.name.encode() + b"\0" + path.read_bytes())
    return total.hexdigest()


@cache
def digest_of_code() -> str:
    """Return a digest of the modules of this package and of the Python that runs them."""
    total = hashlib.sha256(repr(sys.version_info[:3]).encode())
    package = str(Path(__file__).parent.parent)
    # By `Path.rglob` this took a tenth of a run in which nothing changed.
    walked = ((folder, names) for folder, _, names in os.walk(package) if not folder.startswith(f"{package}/_rules"))
    paths = (f"{folder}/{name}" for folder, names in walked for name in names if name.endswith(".py"))
    for path in sorted(paths):
        total.update(path.removeprefix(package).encode() + b"\0" + Path(path).read_bytes())
    return total.hexdigest()


@cache
def framework_names() -> tuple[str, ...]:
    """Return the names of the packages that a file must mention to be parsed, from the framework tables."""
    names: list[str] = []
    for path in sorted((rules_dir() / "ops").glob("*/framework.json")):
        names.extend(json.loads(path.read_text(encoding="utf-8"))["packages"])
    return tuple(names)


def context_of(facts: str, settings: Sequence[str | None]) -> str:
    """Return a digest of all that results depend on besides the files: facts, settings, this code, this Python."""
    return hashlib.sha256(json.dumps([facts, *settings, digest_of_code()]).encode()).hexdigest()
