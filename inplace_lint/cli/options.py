"""Options of the command line: how their values are parsed, completed and validated."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from inplace_lint.config.schema import patterns
from inplace_lint.config.settings import is_there, settings_at, settings_of_text

if TYPE_CHECKING:
    from inplace_lint.config.resolve import SettingsResolver
    from inplace_lint.config.selection import RuleInfo
    from inplace_lint.config.settings import Settings
    from inplace_lint.driver.shard import Costs, Shard
    from inplace_lint.rules.rule import Rule


class PolicyOptions(NamedTuple):
    """The options that filter files or findings, write findings somewhere, or say where files are checked."""

    write_baseline: Path | None = None
    prune_baseline: bool = False
    since: str | None = None
    add_noqa: bool = False
    add_ignore: bool = False
    shard: Shard | None = None
    shard_costs: Costs | None = None
    executor: str = "local"
    ray_address: str | None = None

    @property
    def writes(self) -> tuple[str, ...]:
        """The options, as spelled, that write something."""
        options = {
            "--add-noqa": self.add_noqa,
            "--add-ignore": self.add_ignore,
            "--write-baseline": self.write_baseline,
            "--prune-baseline": self.prune_baseline,
        }
        return tuple(name for name, chosen in options.items() if chosen)


def not_watched(options: Mapping[str, Any]) -> list[str]:
    """Return the given options, as spelled, that do not go with a run that checks again and again."""
    writing = ("--add-noqa", "--add-ignore", "--write-baseline", "--prune-baseline")
    names = ("--fix", "--fix-only", "--diff", *writing, "--show-files")
    return [name for name in names if options[name.removeprefix("--").replace("-", "_")]]


def resolve_paths(paths: tuple[Path, ...], stdin_filename: str | None) -> tuple[tuple[Path, ...], Path]:
    """
    Return the paths to check and the name of standard input; the path `-` alone is standard input.

    Raises: `click.UsageError` where standard input is named along with a path.
    """
    stdin = Path("-")
    if stdin_filename is not None:
        paths = paths or (stdin,)
        if paths != (stdin,):
            msg = "--stdin-filename can only be used with `-`"
            raise click.UsageError(msg)
    if stdin in paths and len(paths) > 1:
        msg = "`-` (standard input) cannot be combined with other paths"
        raise click.UsageError(msg)
    return paths or (Path(),), Path(stdin_filename or stdin)


def known_rules() -> list[RuleInfo]:
    """Return all rules of ours, those about the text of a file included."""
    from inplace_lint.rules import BUILT_IN

    return _infos(BUILT_IN)


def _rules_of_plugin(name: str, root: Path) -> list[RuleInfo]:
    from inplace_lint.rules.plugins import load

    return _infos(load(name, root).rules)


def _infos(rules: Sequence[Rule]) -> list[RuleInfo]:
    from inplace_lint.config.selection import RuleInfo

    return [RuleInfo(rule.code, rule.name, rule.default, rule.opinion, rule.unanimous) for rule in rules]


def complete_rule(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
    """Complete codes and names of rules; in a list only its last word is completed."""
    done, comma, word = incomplete.rpartition(",")
    names = [name for rule_ in known_rules() for name in (rule_.code, rule_.name)]
    return [f"{done}{comma}{name}" for name in names if name.lower().startswith(word.lower())]


def shard_of(_context: click.Context, parameter: click.Parameter, value: str | None) -> Shard | None:
    """Parse `K/N`, a part of a run."""
    if value is None:
        return None
    from inplace_lint.driver.shard import Shard

    number, slash, of = value.partition("/")
    if not (slash and number.isdecimal() and of.isdecimal() and 1 <= int(number) <= int(of)):
        msg = f"must be K/N with K from 1 to N, such as 2/4, not {value!r}"
        raise click.BadParameter(msg, param=parameter)
    return Shard(int(number), int(of))


def costs_of(_context: click.Context, _parameter: click.Parameter, value: str | None) -> Costs | None:
    """
    Read what files cost.

    Raises: `ConfigError` naming the file, and the key at fault.
    """
    if value is None:
        return None
    from inplace_lint.driver.shard import read_costs

    return read_costs(Path(value))


def absolute_path(_context: click.Context, _parameter: click.Parameter, value: str | None) -> str | None:
    """Return a path made absolute: it is relative to the current folder, and not to a configuration file."""
    return None if value is None else str(Path(value).absolute())


def words_of(values: Sequence[str]) -> tuple[str, ...]:
    """Return the words that commas separate, of all uses of an option."""
    return tuple(word.strip() for value in values for word in value.split(",") if word.strip())


def rules_of(values: Sequence[str]) -> tuple[str, ...]:
    """
    Return the selectors of an option.

    Raises: `ValueError` whose text completes "OPTION …", for a use of it that has none.
    """
    for value in values:
        if not words_of([value]):
            msg = f"must name rules, not {value!r}"
            raise ValueError(msg)
    return words_of(values)


def parsed_by(parse: Callable[[Any], Any]) -> Callable[[click.Context, click.Parameter, Any], Any]:
    """Return a callback that parses the value of an option as that of a key of the configuration."""

    def parsed(_context: click.Context, parameter: click.Parameter, value: Any) -> Any:
        try:
            return None if value is None else parse(value)
        except ValueError as error:
            raise click.BadParameter(str(error), param=parameter) from error

    return parsed


def split_by_pattern(
    context: click.Context, parameter: click.Parameter, values: tuple[str, ...]
) -> dict[str, tuple[str, ...]]:
    """Parse `PATTERN:CODE,CODE,PATTERN:CODE`: a word without a colon is one more code of the pattern before it."""
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
    parsed_by(patterns)(context, parameter, found)
    return found


def resolver_of(options: dict[str, Any]) -> SettingsResolver:
    """
    Return the resolver of settings for the options.

    Raises: `ConfigError` for an unknown rule or a wrong configuration in the options, `click.UsageError` for two files.
    """
    from inplace_lint.config.resolve import SettingsResolver
    from inplace_lint.config.selection import validated

    isolated, configs = options.pop("isolated", False), options.pop("configs", ())
    named: Settings | None = None
    inline: dict[str, Any] = {}
    for text in configs:
        if "=" not in text or (is_there(Path(text)) and Path(text).is_file()):
            if named is not None or isolated:
                why = "--isolated ignores configuration files" if isolated else "only one file can be given"
                msg = f"--config {text}: {why}"
                raise click.UsageError(msg)
            named = settings_at(Path(text))
        else:
            more = settings_of_text(text)
            inline.update({**more, "own": {**inline.get("own", {}), **more.get("own", {})}})
    resolver = SettingsResolver(options, known_rules(), inline, named, isolated, _rules_of_plugin)
    for settings in (named, _plain_settings(inline)):
        if settings is not None:
            validated(settings, resolver.rules_of(settings))
    _check_selectors(options, resolver)
    return resolver


def _check_selectors(options: Mapping[str, Any], resolver: SettingsResolver) -> None:
    """Raise `ConfigError` for an option that names no rule: none of ours, and of no plugin that this folder names."""
    from inplace_lint.config.selection import codes_of, names_rules

    lists = {f"--{key.replace('_', '-')}": options.get(key, ()) for key in ("select", "extend_select", "ignore")}
    for where, selectors in (
        *lists.items(),
        *(("--per-file-ignores", of) for of in options.get("per_file_ignores", {}).values()),
    ):
        for selector in selectors:
            if not names_rules(selector, resolver.known):
                codes_of(selector, resolver.rules_of(resolver.settings_of(Path.cwd())), where)


def _plain_settings(values: Mapping[str, Any]) -> Settings:
    from inplace_lint.config.settings import Settings

    return Settings(root=Path.cwd(), origins=dict.fromkeys(values, "--config"), **values)
