"""What a run would do, without doing it: the files it would check, the settings and rules that it would apply."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path

from inplace_lint.config.resolve import Scope
from inplace_lint.config.selection import Known
from inplace_lint.workspace import files

_NO_KEYS = frozenset({"root", "source", "origins"})
_UNCHOSEN = frozenset({"jobs", "lang"})  # nobody chose: no value of the key says that


def listed(paths: Sequence[Path], stdin: Path, scope: Scope) -> files.Found:
    """Give the files that would be checked; for standard input the name that was given to it."""
    force = scope.settings_of(Path.cwd()).force_exclude
    if paths == (Path("-"),):
        out = force and files.is_excluded(stdin, scope.excludes((stdin,)))
        return files.Found(() if out else (stdin,), ())
    return files.find(paths, scope.excludes(paths), force=force, nested=scope.nested)


def settings_text(path: Path, scope: Scope, known: Sequence[Known]) -> str:
    """Give the settings for a file or folder as TOML; comments name the file they stand in and the rules that apply."""
    settings = scope.settings_of(path)
    source = files.shown(settings.source) if settings.source is not None else "no configuration file"
    lines = [f"# Settings for {files.shown(path)}, from {source}"]
    tables: list[str] = []
    for item in fields(settings):
        key, value = item.name.replace("_", "-"), getattr(settings, item.name)
        if item.name in _NO_KEYS or value is None or (key in _UNCHOSEN and not value):
            continue
        if isinstance(value, Mapping):
            tables.extend(["", f"[{key}]", *(f"{_toml(name)} = {_toml(some)}" for name, some in value.items())])
        else:
            lines.append(f"{key} = {_toml(value)}")
    codes = scope.codes_of(path)
    rules = [f"#   {rule.code}  {rule.name}" for rule in known if rule.code in codes]
    return "\n".join([*lines, *tables, "", "# Rules that apply", *rules]) + "\n"


def _toml(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return f"[{', '.join(_toml(item) for item in value)}]"
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"')
        return f'"{escaped}"'
    return str(value)
