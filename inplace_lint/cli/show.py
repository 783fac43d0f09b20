"""What a run would do, without doing it: the files it would check, and the settings and rules that apply."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from inplace_lint.cli import streams, terminal
from inplace_lint.config.resolve import SettingsResolver
from inplace_lint.workspace import files

_NO_KEYS = frozenset({"root", "source", "origins", "own"})
_UNCHOSEN = frozenset({"jobs", "lang"})  # nobody chose: no value of the key says that
_EMPTY = {  # what an empty value stands for
    "select": "the rules that are on by default",
    "exclude": f"besides folders that are always skipped: {', '.join(sorted(files.SKIPPED)[:4])} and the like",
    "cache-dir": ".inplace_lint_cache in the project",
}


def show(
    paths: tuple[Path, ...],
    stdin: Path,
    resolver: SettingsResolver,
    output_file: Path | None,
    *,
    show_files: bool,
    show_settings: bool,
    dump_state: int | None,
) -> bool:
    """Print what was asked for; return whether some files could not be listed, of which lines are on stderr by then."""
    text = ""
    found = listed(paths, stdin, resolver) if show_files else files.Found((), ())
    text += "".join(f"{files.shown(path)}\n" for path in found.files)
    if dump_state is not None:
        text += state_text(paths, dump_state, resolver)
    if show_settings:
        text += settings_text(stdin if paths == (Path("-"),) else paths[0], resolver)
    if output_file is not None:
        files.put_text(output_file, text)
    else:
        streams.write(sys.stdout, text)
    for line in (*found.troubles, *found.notes):
        terminal.report_error((line,), resolver.settings_of(Path.cwd()).lang)
    return bool(found.troubles)


def listed(paths: Sequence[Path], stdin: Path, resolver: SettingsResolver) -> files.Found:
    """Return the files that would be checked; for standard input the name it was given."""
    force = resolver.settings_of(Path.cwd()).force_exclude
    if paths == (Path("-"),):
        out = force and files.is_excluded(stdin, resolver.excludes((stdin,)))
        return files.Found(() if out else (stdin,), ())
    return files.find(paths, resolver.excludes(paths), force=force, nested=resolver.nested)


def settings_text(path: Path, resolver: SettingsResolver) -> str:
    """Return the settings for a file or folder as TOML, with comments for the configuration file and the rules."""
    settings = resolver.settings_of(path)
    source = files.shown(settings.source) if settings.source is not None else "no configuration file"
    lines = [f"# Settings for {files.shown(path)}, from {source}"]
    tables: list[str] = []
    for name in settings.__struct_fields__:
        key, value = name.replace("_", "-"), getattr(settings, name)
        if name in _NO_KEYS or value is None or (key in _UNCHOSEN and not value):
            continue
        if isinstance(value, Mapping):
            tables.extend(["", f"[{key}]", *(f"{_toml(inner)} = {_toml(some)}" for inner, some in value.items())])
        else:
            note = "" if value or key not in _EMPTY else f"  # {_EMPTY[key]}"
            lines.append(f"{key} = {_toml(value)}{note}")
    codes = resolver.codes_of(path)
    rules = [f"#   {rule.code}  {rule.name}" for rule in resolver.rules_of(settings) if rule.code in codes]
    return "\n".join([*lines, *tables, "", "# Rules that apply", *rules]) + "\n"


def state_text(paths: Sequence[Path], line: int, resolver: SettingsResolver) -> str:
    """
    Return what the analysis knows at a line of a file.

    Raises: `click.UsageError` unless there is one path, that of a file with valid syntax.
    """
    if len(paths) != 1 or not paths[0].is_file():
        msg = "--dump-state needs exactly one file"
        raise click.UsageError(msg)
    from inplace_lint.driver.analyze_file import Options  # noqa: PLC0415 - libcst only where it is used
    from inplace_lint.driver.check_task import versions_of  # noqa: PLC0415
    from inplace_lint.driver.dump_state import state_at  # noqa: PLC0415

    settings = resolver.settings_of(paths[0])
    try:
        return state_at(paths[0], line, Options(versions_of(settings), own=settings.own_facts))
    except SyntaxError as error:
        msg = "the file has a syntax error"
        raise click.UsageError(msg) from error


def _toml(value: object) -> str:
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{_toml(key)} = {_toml(some)}' for key, some in value.items())} }}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_toml, value))}]"
    return json.dumps(value, ensure_ascii=False)  # these values are spelled alike in TOML
