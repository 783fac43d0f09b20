"""Options of the command line: how their values are read, completed and corrected."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from inplace_lint.config import LANGS, nearest, settings_at, settings_of_text, version

if TYPE_CHECKING:
    from inplace_lint.config import Settings
    from inplace_lint.scope import Scope
    from inplace_lint.selection import Known


class Wishes(NamedTuple):
    """What is to become of the findings of a run besides being shown."""

    write_baseline: str | None = None
    prune_baseline: bool = False
    since: str | None = None
    add_noqa: bool = False

    @property
    def writes(self) -> str:
        """Name the option that writes something; empty for none."""
        options = {
            "--add-noqa": self.add_noqa,
            "--write-baseline": self.write_baseline,
            "--prune-baseline": self.prune_baseline,
        }
        return next((name for name, chosen in options.items() if chosen), "")


class OneOf(click.Choice[str]):
    """A choice whose error names the nearest right word."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Give the word, or end with the nearest right one."""
        if value not in self.choices:
            words = f"{', '.join(self.choices)}{nearest(str(value), self.choices)}"
            self.fail(f"{value!r} is not one of {words}", param, ctx)
        return str(value)


def known_rules() -> list[Known]:
    """Give the rules there are, that for files that do not parse included."""
    from inplace_lint.faults import SYNTAX_CODE, SYNTAX_NAME
    from inplace_lint.rules import RULES
    from inplace_lint.selection import Known
    from inplace_lint.suppress import UNUSED_CODE, UNUSED_NAME

    known = [Known(item.code, item.name, item.default, item.opinion) for item in RULES]
    if all(item.code != SYNTAX_CODE for item in known):
        known.extend((Known(UNUSED_CODE, UNUSED_NAME), Known(SYNTAX_CODE, SYNTAX_NAME)))
    return known


def rule_names(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
    """Complete codes and names of rules; of a list only its last word is open."""
    done, comma, word = incomplete.rpartition(",")
    names = [name for rule_ in known_rules() for name in (rule_.code, rule_.name)]
    return [f"{done}{comma}{name}" for name in names if name.lower().startswith(word.lower())]


def from_here(_context: click.Context, _parameter: click.Parameter, value: str | None) -> str | None:
    """Read a path that counts from the current folder, where a path in a configuration counts from that file."""
    return None if value is None else str(Path(value).absolute())


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
                msg = f"{value!r} is not PATTERN:CODE[,CODE]"
                raise click.BadParameter(msg, param=parameter)
            found[pattern] = (*found.get(pattern, ()), code.strip())
    return found


def framework_version(_context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    """Read the version of a framework."""
    try:
        return value if value is None else version(value)
    except ValueError as error:
        raise click.BadParameter(str(error), param=parameter) from error


def chosen_language(words: Sequence[str]) -> str | None:
    """Give the language that a command line names, right or wrong as the rest of it may be."""
    named = [after for before, after in pairwise(words) if before == "--lang"]
    named += [word.partition("=")[2] for word in words if word.startswith("--lang=")]
    return next((lang for lang in reversed(named) if lang in LANGS), None)


def nearest_option(error: click.NoSuchOption) -> str:
    """Give `, did you mean '--x'?` for the option closest to a wrong one, or nothing when none is close."""
    parameters = error.ctx.command.params if error.ctx is not None else []
    return nearest(error.option_name, [name for item in parameters for name in item.opts if name.startswith("--")])


def scope_of(known: list[Known], options: dict[str, Any]) -> Scope:
    """Give the settings by folder that options ask for; a wrong selector or configuration in them ends here."""
    from inplace_lint.scope import Scope
    from inplace_lint.selection import codes_of, validated

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
        if Path(text).is_file() or "=" not in text:
            if named is not None or isolated:
                msg = f"--config {text}: {'--isolated reads no file' if isolated else 'one file can be named'}"
                raise click.UsageError(msg)
            named = validated(settings_at(Path(text)), known)
        else:
            inline.update(settings_of_text(text, "--config"))
    validated(_plain_settings(inline), known)
    return Scope(options, known, inline, named, isolated)


def _plain_settings(values: Mapping[str, Any]) -> Settings:
    from inplace_lint.config import Settings

    return Settings(root=Path.cwd(), origins=dict.fromkeys(values, Path("--config")), **values)
