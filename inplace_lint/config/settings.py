"""
Reads settings from configuration files and from the command line.

The files are `[tool.inplace-lint]` of `pyproject.toml`, `inplace-lint.toml` and `.inplace-lint.toml`; the nearest one,
in a folder or above it, counts, and a `pyproject.toml` without our table is skipped. The names and types of the keys
are in `schema`. Selectors of rules stay text here; `selection` resolves them.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field
from msgspec.structs import replace

from inplace_lint.config.schema import ADDITIVE, KEYS, did_you_mean
from inplace_lint.core.errors import ConfigError

if TYPE_CHECKING:
    from inplace_lint.knowledge.own import OwnFact

if sys.version_info >= (3, 11):
    import tomllib
else:  # pragma: no cover
    import tomli as tomllib

OWN_FACTS = ("ops", "facts", "fact_packs")
FOR_PEOPLE = frozenset({"full", "concise", "grouped"})
_SWITCHES = frozenset({"force_exclude", "fix", "fix_only", "unsafe_fixes", "show_fixes"})  # None where nobody chose
_CACHE = ".inplace_lint_cache"
_MARKS = ("pyproject.toml", ".git", "setup.py", "setup.cfg")
_MISSPELLED = frozenset({"inplace_lint", "inplacelint"})
NAMES = dict.fromkeys((".inplace-lint.toml", "inplace-lint.toml", "pyproject.toml")).keys()


class Settings(Struct, frozen=True):
    """
    The settings for the files below `root`.

    `source` is the configuration file they come from, `origins` the line, or the option, that sets each key. `select`
    and `lang` are empty where nothing was chosen. `jobs` 0 means one for each CPU. `own` are the facts that each of
    the keys `ops`, `facts` and `fact_packs` gives.
    """

    root: Path
    source: Path | None = None
    origins: Mapping[str, str] = field(default_factory=dict)
    select: tuple[str, ...] = ()
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    severity: Mapping[str, str] = field(default_factory=dict)
    assume: tuple[str, ...] = ()
    only_assuming: tuple[str, ...] = ()
    hide_assuming: tuple[str, ...] = ()
    rule_plugins: tuple[str, ...] = ()
    per_file_ignores: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    exclude: tuple[str, ...] = ()
    force_exclude: bool = False
    output_format: str = "full"
    lang: str = ""
    color: str = "auto"
    jobs: int = 0
    cache: bool = True
    cache_dir: str = ""
    baseline: str = ""
    exit_zero: bool = False
    fail_on: str = "warning"
    statistics: bool = False
    fix: bool = False
    fix_only: bool = False
    unsafe_fixes: bool = False
    show_fixes: bool = False
    torch_version: str | None = None
    paddle_version: str | None = None
    python: str | None = None
    probes: Mapping[str, str] = field(default_factory=dict)
    facts: tuple[str, ...] = ()
    fact_packs: tuple[str, ...] = ()
    ops: Mapping[str, object] = field(default_factory=dict)
    own: Mapping[str, tuple[OwnFact, ...]] = field(default_factory=dict)

    def place_of(self, key: str) -> str:
        """Return what an error about the value of a key begins with: the option, or the file, its line and the key."""
        origin = self.origins.get(key.replace("-", "_"), str(self.source))
        return origin if origin == f"--{key}" else f"{origin}: {key!r}"

    @property
    def cache_folder(self) -> Path:
        """The folder in which results are kept; a `ConfigError` is raised where the key names something else."""
        folder = self.root / (self.cache_dir or _CACHE)
        if self.cache_dir and folder.exists() and not folder.is_dir():
            msg = f"{self.place_of('cache-dir')} must be a folder, and {self.cache_dir!r} is not"
            raise ConfigError(msg)
        return folder

    @property
    def own_facts(self) -> tuple[OwnFact, ...]:
        """The facts of the project itself, those of the table before those of files and packages."""
        return tuple(fact for key in OWN_FACTS for fact in self.own.get(key, ()))


def settings_in(folder: Path) -> Settings | None:
    """
    Return the settings of a configuration file in this very folder, or None.

    Raises: `ConfigError` naming the file and key at fault.
    """
    for name in NAMES:
        path = folder / name
        if is_there(path) and path.is_file() and (table := _table(path)) is not None:
            return _settings(path, table)
    return None


def settings_at(path: Path) -> Settings:
    """
    Return the settings of a file named by `--config`; patterns in it are relative to the current folder.

    Raises: `ConfigError` naming the file and key at fault, or saying that it has no table of ours.
    """
    table = _table(path)
    if table is None:
        msg = f"{path}: has no table `[tool.inplace-lint]`"
        raise ConfigError(msg)
    return replace(_settings(path, table), root=Path.cwd())


_LONG = 80  # characters of a text that an error repeats


def settings_of_text(text: str) -> Mapping[str, Any]:
    """
    Parse `KEY = VALUE` of `--config`, the value in the syntax of TOML; return the fields of `Settings` that it sets.

    Raises: `ConfigError` naming the key and value at fault.
    """
    try:
        table = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        shown = text if len(text) <= _LONG else f"{text[:_LONG]}..."
        msg = f"--config: {shown!r} is neither a file nor `KEY=VALUE` with a value as in TOML: {error}"
        raise ConfigError(msg) from error
    values = dict(_values(table, lambda _key, _entry="": "--config"))
    if own := _own(values, Path.cwd(), lambda _key: "--config"):
        values["own"] = own
    if "extend" in values:
        msg = "--config: 'extend' can only be set in a file"
        raise ConfigError(msg)
    return values


def project_root(folder: Path) -> Path:
    """Return the nearest folder, at or above this one, that looks like the root of a project, or the folder itself."""
    return marked_root(folder) or folder


def marked_root(folder: Path, *, own: bool = False) -> Path | None:
    """
    Return the nearest folder, at or above this one, with a file that marks a project; `own`: our own files mark one
    too.
    """
    marks = dict.fromkeys((*_MARKS, *(NAMES if own else ())))
    places = (folder, *folder.parents)
    return next((place for place in places if any(is_there(place / mark) for mark in marks)), None)


def is_there(path: Path) -> bool:
    """Return whether a path exists; False where the system refuses to say, as for a path that is too long."""
    try:
        return path.exists()
    except OSError:
        return False


def overridden(settings: Settings, chosen: Mapping[str, Any]) -> Settings:
    """Return the settings overridden by the options of the command line; `ignore` adds to that of the file."""
    given = {key: value for key, value in chosen.items() if value not in (None, (), {}, False) or _is_off(key, value)}
    for key in ("ignore", "extend_select"):
        if key in given:
            given[key] = (*getattr(settings, key), *given[key])
    origins = {**settings.origins, **{key: f"--{key.replace('_', '-')}" for key in given}}
    return replace(settings, **given, origins=origins)


def _is_off(key: str, value: object) -> bool:
    """Return whether an option was switched off, as by `--no-fix`; a plain flag is False where it was not given."""
    return value is False and key in _SWITCHES


def _table(path: Path) -> Mapping[str, Any] | None:
    try:
        data: dict[str, Any] = tomllib.loads(_text(path))
    except OSError as error:
        msg = f"{path}: {(error.strerror or 'unreadable').lower()}"
        raise ConfigError(msg) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        if path.name == "pyproject.toml" and b"inplace-lint" not in path.read_bytes():
            return None  # somebody else's broken file says nothing about us
        msg = f"{path}: not valid TOML: {error}"
        raise ConfigError(msg) from error
    tool = data.get("tool")
    tables = tool if isinstance(tool, dict) else {}
    if path.name != "pyproject.toml":
        if "inplace-lint" in tables:
            where = where_in(path, "inplace-lint")
            msg = f"{where}: keys belong at the top level of this file, not under `[tool.inplace-lint]`"
            raise ConfigError(msg)
        return data
    for name in tables:
        if name in _MISSPELLED:
            msg = f"{where_in(path, name)}: the table is called `[tool.inplace-lint]`, not `[tool.{name}]`"
            raise ConfigError(msg)
    table: object = tables.get("inplace-lint")
    if table is not None and not isinstance(table, dict):
        msg = f"{path}: `tool.inplace-lint` must be a table"
        raise ConfigError(msg)
    return table


def _settings(path: Path, table: Mapping[str, Any], above: tuple[Path, ...] = ()) -> Settings:
    """Return the settings of a table over those of the file it extends; `above` are the files that extend this one."""
    values = dict(_values(table, lambda key, entry="": where_in(path, key, entry)))
    start = Settings(root=path.parent)
    if extends := values.pop("extend", ""):
        start = _extended(path, (path.parent / Path(extends).expanduser()).resolve(), (*above, path.resolve()))
    for key in ADDITIVE & values.keys():
        values[key] = (*getattr(start, key), *values[key])
    places = {key: where_in(path, key.replace("_", "-")) for key in values}
    values["own"] = {**start.own, **_own(values, path.parent, lambda key: where_in(path, key))}
    if any(key in values for key in OWN_FACTS):
        from inplace_lint.config.own_facts import check_targets  # noqa: PLC0415 - few projects have any

        check_targets([fact for facts in values["own"].values() for fact in facts])
    origins = {**start.origins, **places}
    return replace(start, root=path.parent, source=path, origins=origins, **values)


def _own(values: Mapping[str, Any], folder: Path, where: Callable[[str], str]) -> dict[str, tuple[OwnFact, ...]]:
    """Return the facts that some of the values of a configuration give, by field."""
    keys = [key for key in OWN_FACTS if key in values]
    if not keys:
        return {}
    from inplace_lint.config.own_facts import read  # noqa: PLC0415 - few projects have any

    return {key: read(key, values[key], folder, where) for key in keys}


def _extended(path: Path, target: Path, above: tuple[Path, ...]) -> Settings:
    where = where_in(path, "extend")
    if target in above:
        msg = f"{where}: 'extend' leads back to {target}"
        raise ConfigError(msg)
    if not target.is_file():
        msg = f"{where}: 'extend' names {target}, which is not a file"
        raise ConfigError(msg)
    table = _table(target)
    if table is None:
        msg = f"{where}: 'extend' names {target}, which has no table `[tool.inplace-lint]`"
        raise ConfigError(msg)
    return _settings(target, table, above)


def _values(table: Mapping[str, Any], where: Callable[..., str]) -> Mapping[str, Any]:
    values: dict[str, Any] = {}
    for key, value in table.items():
        parse = KEYS.get(key)
        if parse is None:
            msg = f"{where(key)}: unknown key {key!r}{did_you_mean(key, KEYS)}"
            raise ConfigError(msg)
        try:
            values[key.replace("-", "_")] = parse(value)
        except ValueError as error:
            msg = f"{where(key, getattr(error, 'entry', ''))}: {key!r} {error}"
            raise ConfigError(msg) from error
    return values


def where_in(path: Path, key: str, entry: str = "") -> str:
    """
    Return `file:line` of a key, or of an entry of the table that it is.

    It is the file alone where the key is spelled in a way that is not searched for, and the key where the entry is.
    """
    pattern = re.compile(rf"""\s*["']?{re.escape(key)}["']?\s*[=.]|\s*\[.*(?<![\w-]){re.escape(key)}["']?\]""")
    lines = _text(path).splitlines()
    ours = (
        next((at for at, line in enumerate(lines) if "inplace-lint" in line), 0) if path.name == "pyproject.toml" else 0
    )
    hit = next((at for at, line in enumerate(lines) if at >= ours and pattern.match(line)), None)
    hit = _inside(lines, key, ours) if hit is None else hit
    if hit is None:
        return str(path)
    inner = _inside(lines, entry, hit) if entry else None
    return f"{path}:{(hit if inner is None else inner) + 1}"


def _inside(lines: Sequence[str], entry: str, start: int) -> int | None:
    """Return the index of the first line, from `start`, that has a key of a table or an item of a list."""
    pattern = re.compile(rf"""(?:^|.*[\s{{,.\["']){re.escape(entry)}(?:["']?\s*[=.\]]|["']\s*[,\]])""")
    return next((at for at, line in enumerate(lines) if at >= start and pattern.match(line)), None)


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8-sig")  # some editors of Windows begin a file with a byte order mark
