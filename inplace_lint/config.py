"""
Settings: what a user asked for in a configuration file or on the command line.

`[tool.inplace-lint]` of `pyproject.toml`, `inplace-lint.toml` or `.inplace-lint.toml`; of the files that lie in a
folder or above it the nearest wins; a `pyproject.toml` without our table is passed over. This module knows the names
and types of the keys. It does not know which rules there are: selectors are resolved in `selection`.
"""

from __future__ import annotations

import difflib
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from inplace_lint.errors import ConfigError

if sys.version_info >= (3, 11):
    import tomllib
else:  # pragma: no cover
    import tomli as tomllib

FORMATS = (
    "full",
    "concise",
    "grouped",
    "json",
    "json-lines",
    "sarif",
    "github",
    "gitlab",
    "junit",
    "azure",
    "rdjson",
    "pylint",
)
FOR_PEOPLE = frozenset({"full", "concise", "grouped"})
COLORS = ("auto", "always", "never")
_SWITCHES = frozenset({"fix", "fix_only", "unsafe_fixes", "show_fixes"})  # None where nobody chose
LANGS = ("en", "zh")
_MARKS = ("pyproject.toml", ".git", "setup.py", "setup.cfg")
_NAMES = (".inplace-lint.toml", "inplace-lint.toml", "pyproject.toml")


@dataclass(frozen=True, slots=True)
class Settings:
    """
    The wishes of a user for the files below `root`.

    `source` is the file they stand in, `origins` the file of each key that it took from others. `select` and `lang` are
    empty where nobody chose. `jobs` 0 means one for each CPU.
    """

    root: Path
    source: Path | None = None
    origins: Mapping[str, Path] = field(default_factory=dict)
    select: tuple[str, ...] = ()
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    per_file_ignores: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    exclude: tuple[str, ...] = ()
    output_format: str = "full"
    lang: str = ""
    color: str = "auto"
    jobs: int = 0
    cache: bool = True
    cache_dir: str = ""
    baseline: str = ""
    exit_zero: bool = False
    statistics: bool = False
    fix: bool = False
    fix_only: bool = False
    unsafe_fixes: bool = False
    show_fixes: bool = False
    torch_version: str | None = None
    paddle_version: str | None = None
    python: str | None = None
    probes: Mapping[str, str] = field(default_factory=dict)


def settings_in(folder: Path) -> Settings | None:
    """
    Give the settings that stand in this very folder, if any do.

    Raises: `ConfigError` naming the file and key at fault.
    """
    for name in _NAMES:
        path = folder / name
        if is_there(path) and path.is_file() and (table := _table(path)) is not None:
            return _settings(path, table)
    return None


def settings_at(path: Path) -> Settings:
    """
    Give the settings that stand in a file that was named; patterns in it count from the current folder.

    Raises: `ConfigError` naming the file and key at fault, or saying that it has no table of ours.
    """
    table = _table(path)
    if table is None:
        msg = f"{path}: has no table [tool.inplace-lint]"
        raise ConfigError(msg)
    return replace(_settings(path, table), root=Path.cwd())


def settings_of_text(text: str, where: str) -> Mapping[str, Any]:
    """
    Give the fields of `Settings` that `KEY = VALUE` sets, the value in the syntax of TOML.

    Raises: `ConfigError` naming `where`, and the key and value at fault.
    """
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        msg = f"{where}: {text!r} is neither a file nor KEY=VALUE with a value as in TOML: {error}"
        raise ConfigError(msg) from error
    values = _values(table, lambda _key: where)
    if "extend" in values:
        msg = f"{where}: 'extend' counts in a file only"
        raise ConfigError(msg)
    return values


def project_root(folder: Path) -> Path:
    """Give the nearest folder at or above this one that looks like the root of a project, else the folder itself."""
    return marked_root(folder) or folder


def marked_root(folder: Path, *, own: bool = False) -> Path | None:
    """Give the nearest folder at or above this one with a mark of a project, our `own` files counted too if asked."""
    marks = dict.fromkeys((*_MARKS, *(_NAMES if own else ())))
    places = (folder, *folder.parents)
    return next((place for place in places if any(is_there(place / mark) for mark in marks)), None)


def is_there(path: Path) -> bool:
    """Say whether there is something at a path; where the system does not tell, as for one that is too long, no."""
    try:
        return path.exists()
    except OSError:
        return False


def overridden(settings: Settings, chosen: Mapping[str, Any]) -> Settings:
    """Give the settings with what stood on the command line put over them; `ignore` adds to the file's."""
    given = {key: value for key, value in chosen.items() if value not in (None, (), {}, False) or _is_off(key, value)}
    for key in ("ignore", "extend_select"):
        if key in given:
            given[key] = (*getattr(settings, key), *given[key])
    return replace(settings, **given)


def _is_off(key: str, value: object) -> bool:
    """Say whether a user said no to something, such as `--no-fix`; a plain flag is False where nobody spoke of it."""
    return value is False and key in _SWITCHES


def nearest(word: str, known: Iterable[str]) -> str:
    """Give `, did you mean 'x'?` for the known word closest to a wrong one, or nothing when none is close."""
    by_lower = {name.lower(): name for name in known}
    close = difflib.get_close_matches(word.lower(), by_lower, n=5, cutoff=0.5)
    if not close:
        return ""
    # Of several that are as close, the one that begins alike: `IPL1O1` is IPL101, and not IPL211.
    best = max(close, key=lambda name: (_likeness(word.lower(), name), _common(word.lower(), name)))
    return f", did you mean {by_lower[best]!r}?"


def _common(one: str, other: str) -> int:
    """Count the characters with which both begin."""
    return next((at for at, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]), len(one))


def _likeness(one: str, other: str) -> float:
    return difflib.SequenceMatcher(a=other, b=one).ratio()


def _table(path: Path) -> Mapping[str, Any] | None:
    try:
        data: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        msg = f"{path}: {error.strerror}"
        raise ConfigError(msg) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        if path.name == "pyproject.toml" and b"inplace-lint" not in path.read_bytes():
            return None  # somebody else's broken file says nothing about us
        msg = f"{path}: not valid TOML: {error}"
        raise ConfigError(msg) from error
    if path.name != "pyproject.toml":
        return data
    tool = data.get("tool")
    table: object = tool.get("inplace-lint") if isinstance(tool, dict) else None
    if table is not None and not isinstance(table, dict):
        msg = f"{path}: `tool.inplace-lint` must be a table"
        raise ConfigError(msg)
    return table


def _settings(path: Path, table: Mapping[str, Any], above: tuple[Path, ...] = ()) -> Settings:
    """Give the settings of a table over those of the file that it extends; `above` are the files that led here."""
    values = dict(_values(table, lambda key: _where(path, key)))
    start = Settings(root=path.parent)
    if extends := values.pop("extend", ""):
        start = _extended(path, (path.parent / Path(extends).expanduser()).resolve(), (*above, path.resolve()))
    for key in _ADDING & values.keys():
        values[key] = (*getattr(start, key), *values[key])
    origins = {**start.origins, **dict.fromkeys(values, path)}
    return replace(start, root=path.parent, source=path, origins=origins, **values)


def _extended(path: Path, target: Path, above: tuple[Path, ...]) -> Settings:
    where = _where(path, "extend")
    if target in above:
        msg = f"{where}: 'extend' leads back to {target}"
        raise ConfigError(msg)
    if not target.is_file():
        msg = f"{where}: 'extend' names {target}, which is no file"
        raise ConfigError(msg)
    table = _table(target)
    if table is None:
        msg = f"{where}: 'extend' names {target}, which has no table [tool.inplace-lint]"
        raise ConfigError(msg)
    return _settings(target, table, above)


def _values(table: Mapping[str, Any], where: Callable[[str], str]) -> Mapping[str, Any]:
    values: dict[str, Any] = {}
    for key, value in table.items():
        parse = _KEYS.get(key)
        if parse is None:
            msg = f"{where(key)}: unknown key {key!r}{nearest(key, _KEYS)}"
            raise ConfigError(msg)
        try:
            values[key.replace("-", "_")] = parse(value)
        except ValueError as error:
            msg = f"{where(key)}: {key!r} {error}"
            raise ConfigError(msg) from error
    return values


def _where(path: Path, key: str) -> str:
    """Give `file:line` of a key; the file alone where the key is spelled in a way that is not looked for."""
    pattern = re.compile(rf"""\s*["']?{re.escape(key)}["']?\s*[=.]|\s*\[.*\b{re.escape(key)}["']?\]""")
    lines = path.read_text(encoding="utf-8").splitlines()
    ours = (
        next((at for at, line in enumerate(lines) if "inplace-lint" in line), 0) if path.name == "pyproject.toml" else 0
    )
    hit = next((at for at, line in enumerate(lines) if at >= ours and pattern.match(line)), None)
    return str(path) if hit is None else f"{path}:{hit + 1}"


def _texts(value: object) -> tuple[str, ...]:
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return tuple(value)
    msg = f"must be a list of strings, not {_kind(value)}"
    raise ValueError(msg)


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    msg = f"must be a string, not {_kind(value)}"
    raise ValueError(msg)


def _path(value: object) -> str:
    text = _text(value)
    if not text.strip():
        msg = "must name an interpreter or a virtual environment, not an empty string"
        raise ValueError(msg)
    return text


def _truth(value: object) -> bool:
    if isinstance(value, bool):
        return value
    msg = f"must be true or false, not {_kind(value)}"
    raise ValueError(msg)


def _count(value: object) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and value >= 1:
        return value
    msg = f"must be a whole number from 1, not {value!r}"
    raise ValueError(msg)


def _choice(allowed: tuple[str, ...]) -> Callable[[object], str]:
    def parse(value: object) -> str:
        text = _text(value)
        if text not in allowed:
            msg = f"must be one of {', '.join(allowed)}, not {text!r}{nearest(text, allowed)}"
            raise ValueError(msg)
        return text

    return parse


def version(value: object) -> str:
    """
    Give a framework version such as `2.13.0` or `2.13.0+cpu` as it was written.

    Raises: `ValueError` whose text completes "KEY …".
    """
    text = _text(value)
    if re.fullmatch(r"\d+(\.\d+)*([-+.\w]*)", text) is None:
        msg = f"must be a version such as '2.13.0', not {text!r}"
        raise ValueError(msg)
    return text


def _ignores(value: object) -> Mapping[str, tuple[str, ...]]:
    if not isinstance(value, dict):
        msg = f"must be a table of patterns, not {_kind(value)}"
        raise ValueError(msg)  # noqa: TRY004 - one kind of error for every wrong value
    return {str(pattern): _texts(selectors) for pattern, selectors in value.items()}


def _probes(value: object) -> Mapping[str, str]:
    if not isinstance(value, dict):
        msg = f"must be a table of files, not {_kind(value)}"
        raise ValueError(msg)  # noqa: TRY004 - one kind of error for every wrong value
    for path, probe in value.items():
        if not isinstance(probe, str) or re.fullmatch(r"[\w.]+:[\w.]+", probe) is None:
            msg = f"must name a function as 'package.module:function' for {path!r}, not {probe!r}"
            raise ValueError(msg)
    return dict(value)


def _kind(value: object) -> str:
    names = {bool: "a boolean", int: "a number", float: "a number", str: "a string", list: "a list", dict: "a table"}
    return names.get(type(value), f"a {type(value).__name__}")


_ADDING = frozenset({"extend_select"})
_KEYS: Mapping[str, Callable[[object], Any]] = {
    "extend": _text,
    "select": _texts,
    "extend-select": _texts,
    "ignore": _texts,
    "per-file-ignores": _ignores,
    "exclude": _texts,
    "output-format": _choice(FORMATS),
    "lang": _choice(LANGS),
    "color": _choice(COLORS),
    "jobs": _count,
    "cache": _truth,
    "cache-dir": _text,
    "baseline": _text,
    "exit-zero": _truth,
    "statistics": _truth,
    "fix": _truth,
    "fix-only": _truth,
    "unsafe-fixes": _truth,
    "show-fixes": _truth,
    "torch-version": version,
    "paddle-version": version,
    "python": _path,
    "probes": _probes,
}
