"""Options of the command line: how their values are read, completed and corrected."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from inplace_lint.config.schema import patterns, version
from inplace_lint.config.settings import is_there, settings_at, settings_of_text

if TYPE_CHECKING:
    from inplace_lint.config.resolve import Scope
    from inplace_lint.config.selection import Known
    from inplace_lint.config.settings import Settings


class Wishes(NamedTuple):
    """What is to become of the findings of a run besides being shown."""

    write_baseline: str | None = None
    prune_baseline: bool = False
    since: str | None = None
    add_noqa: bool = False

    @property
    def writes(self) -> tuple[str, ...]:
        """Name the options that write something."""
        options = {
            "--add-noqa": self.add_noqa,
            "--write-baseline": self.write_baseline,
            "--prune-baseline": self.prune_baseline,
        }
        return tuple(name for name, chosen in options.items() if chosen)


def meant(paths: tuple[Path, ...], stdin_filename: str | None) -> tuple[tuple[Path, ...], Path]:
    """
    Give the paths that are meant, and the name of standard input, which is `-` alone.

    Raises: `click.UsageError` where standard input is named along with a path.
    """
    stdin = Path("-")
    if stdin_filename is not None:
        paths = paths or (stdin,)
        if paths != (stdin,):
            msg = "--stdin-filename goes with `-` alone"
            raise click.UsageError(msg)
    if stdin in paths and len(paths) > 1:
        msg = "`-` is standard input, and goes with no other path"
        raise click.UsageError(msg)
    return paths or (Path(),), Path(stdin_filename or stdin)


def known_rules() -> list[Known]:
    """Return all rules, those about the text of a file included."""
    from inplace_lint.config.selection import Known
    from inplace_lint.rules import RULE_OF

    return [Known(rule.code, rule.name, rule.default, rule.opinion) for rule in RULE_OF.values()]


def rule_names(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
    """Complete codes and names of rules; of a list only its last word is open."""
    done, comma, word = incomplete.rpartition(",")
    names = [name for rule_ in known_rules() for name in (rule_.code, rule_.name)]
    return [f"{done}{comma}{name}" for name in names if name.lower().startswith(word.lower())]


def from_here(_context: click.Context, _parameter: click.Parameter, value: str | None) -> str | None:
    """Read a path that counts from the current folder, where a path in a configuration counts from that file."""
    return None if value is None else str(Path(value).absolute())


def excluded(context: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    """Read patterns that commas separate."""
    return _checked(parameter, split(context, parameter, values))


def _checked(parameter: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    try:
        return patterns(values)
    except ValueError as error:
        raise click.BadParameter(str(error), param=parameter) from error


def split(_context: click.Context, _parameter: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    """Read words that commas separate, of all uses of an option."""
    return tuple(word.strip() for value in values for word in value.split(",") if word.strip())


def by_pattern(
    _context: click.Context, parameter: click.Parameter, values: tuple[str, ...]
) -> dict[str, tuple[str, ...]]:
    """Read `PATTERN:CODE,CODE,PATTERN:CODE`: a word without a colon is one more code of the pattern before it."""
    found: dict[str, tuple[str, ...]] = {}
    for value in values:
        pattern = ""
        for word in value.split(","):
            before, colon, code = word.rpartition(":")
            pattern = before.strip() if colon else pattern
            if not pattern or not code.strip():
                msg = f"must be `PATTERN:CODE[,CODE]`, not {value!r}"
                raise click.BadParameter(msg, param=parameter)
            found[pattern] = (*found.get(pattern, ()), code.strip())
    _checked(parameter, tuple(found))
    return found


def framework_version(_context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    """Read the version of a framework."""
    try:
        return value if value is None else version(value)
    except ValueError as error:
        raise click.BadParameter(str(error), param=parameter) from error


def scope_of(known: list[Known], options: dict[str, Any]) -> Scope:
    """Give the settings by folder that options ask for; a wrong selector or configuration in them ends here."""
    from inplace_lint.config.resolve import Scope
    from inplace_lint.config.selection import codes_of, validated

    isolated, configs = options.pop("isolated", False), options.pop("configs", ())
    lists = {f"--{key.replace('_', '-')}": options.get(key, ()) for key in ("select", "extend_select", "ignore")}
    for where, selectors in (
        *lists.items(),
        *(("--per-file-ignores", of) for of in options.get("per_file_ignores", {}).values()),
    ):
        for selector in selectors:
            codes_of(selector, known, where)
    named: Settings | None = None
    inline: dict[str, Any] = {}
    for text in configs:
        if "=" not in text or (is_there(Path(text)) and Path(text).is_file()):
            if named is not None or isolated:
                msg = f"--config {text}: {'--isolated reads no file' if isolated else 'one file can be named'}"
                raise click.UsageError(msg)
            named = validated(settings_at(Path(text)), known)
        else:
            inline.update(settings_of_text(text, "--config"))
    validated(_plain_settings(inline), known)
    return Scope(options, known, inline, named, isolated)


def _plain_settings(values: Mapping[str, Any]) -> Settings:
    from inplace_lint.config.settings import Settings

    return Settings(root=Path.cwd(), origins=dict.fromkeys(values, "--config"), **values)
