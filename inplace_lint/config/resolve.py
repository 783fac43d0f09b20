"""Resolves which settings and rules apply to a file: the nearest configuration file, overridden by the command line."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from inplace_lint.config.globs import spec_of
from inplace_lint.config.selection import RuleInfo, codes_of, enabled_codes, opinion_codes, severities, validated
from inplace_lint.config.settings import Settings, overridden, project_root, settings_in
from inplace_lint.core.errors import ConfigError, PluginError
from inplace_lint.core.remembered import remembered


class SettingsResolver(Struct, frozen=True, dict=True):
    """
    Resolves settings by folder; each configuration file is read once.

    `chosen` are the options of the command line, `inline` the configuration keys that `--config` sets there: options
    override these, and these override files. `named` is the one file to read instead of searching; with `isolated` no
    file is read. `load_plugin` returns the rules of a plugin by its name, and by the root of the project that names it;
    those of `known` are there without one. A wrong configuration raises `ConfigError` when its folder is first met.
    """

    chosen: Mapping[str, Any]
    known: Sequence[RuleInfo]
    inline: Mapping[str, Any] = field(default_factory=dict)
    named: Settings | None = None
    isolated: bool = False
    load_plugin: Callable[[str, Path], Sequence[RuleInfo]] = lambda _name, _root: ()
    _codes: dict[Path, frozenset[str]] = field(default_factory=dict)

    def settings_of(self, path: Path) -> Settings:
        """Return the settings for a file or folder."""
        folder = path.absolute()
        return self._settings_below(folder if folder.is_dir() else folder.parent)

    @remembered
    def _settings_below(self, folder: Path) -> Settings:
        mine = self._nearest(folder) or Settings(root=project_root(folder))
        own = {**mine.own, **self.inline.get("own", {})}
        origins = {**mine.origins, **dict.fromkeys(self.inline, "--config")}
        return overridden(replace(mine, **{**self.inline, "own": own, "origins": origins}), self.chosen)

    def rules_of(self, settings: Settings) -> Sequence[RuleInfo]:
        """
        Return all rules that settings can name: ours, and those of the plugins that they name.

        Raises: `ConfigError` for a plugin that is missing or wrong, naming file and key.
        """
        if not settings.rule_plugins:
            return self.known
        try:
            names, root = settings.rule_plugins, settings.root
            return [*self.known, *(rule for name in names for rule in self.load_plugin(name, root))]
        except PluginError as error:
            msg = f"{settings.origins.get('rule_plugins', settings.source)}: `rule-plugins`: {error}"
            raise ConfigError(msg) from error

    def codes_of(self, path: Path) -> frozenset[str]:
        """Return the codes of the rules that apply to a file."""
        settings = self.settings_of(path)
        if settings.root not in self._codes:
            own = {rule.code for rule in self.rules_of(settings)}
            self._codes[settings.root] = enabled_codes(settings, self._nameable(settings)) & own
        codes = self._codes[settings.root]
        given = self.chosen.get("per_file_ignores") or "per_file_ignores" in self.inline
        root = Path.cwd() if given else settings.root
        for pattern, selectors in settings.per_file_ignores.items():
            if _matches(pattern, path, root):
                known = self._nameable(settings)
                codes -= frozenset().union(*(codes_of(selector, known, pattern) for selector in selectors))
        return codes

    def opinions_of(self, path: Path) -> frozenset[str]:
        """Return the codes of the opinionated rules that apply to a file: they report what is no fault."""
        settings = self.settings_of(path)
        return opinion_codes(settings, self._nameable(settings)) & self.codes_of(path)

    def severities_of(self, path: Path) -> Mapping[str, str]:
        """Return the severities that are set for rules in a file, by code."""
        settings = self.settings_of(path)
        return severities(settings, self._nameable(settings))

    def _nameable(self, settings: Settings) -> Sequence[RuleInfo]:
        """Return the rules of settings, and those that options may name: of plugins in the settings of this folder."""
        rules, here = self.rules_of(settings), self._here()
        return rules if here.rule_plugins == settings.rule_plugins else [*{*rules, *self.rules_of(here)}]

    @remembered
    def _here(self) -> Settings:
        return self._settings_below(Path.cwd())

    def excludes(self, paths: Sequence[Path]) -> dict[Path, tuple[str, ...]]:
        """Return the patterns of paths to exclude, by the folder they are relative to."""
        patterns: dict[Path, tuple[str, ...]] = {}
        for path in paths:
            settings = self._nearest(path.absolute())
            if settings is not None and "exclude" not in self.inline:
                patterns[settings.root] = settings.exclude
        here = Path.cwd()
        given = (*self.inline.get("exclude", ()), *self.chosen.get("exclude", ()))
        patterns[here] = (*patterns.get(here, ()), *given)
        return patterns

    def nested(self, folder: Path) -> tuple[str, ...]:
        """Return the patterns that a configuration file in this very folder excludes, where it is one that counts."""
        mine = self._nearest(folder)
        return () if mine is None or mine.root != folder or "exclude" in self.inline else mine.exclude

    @remembered
    def _nearest(self, folder: Path) -> Settings | None:
        if self.isolated or self.named is not None:
            return self.named
        mine = settings_in(folder)
        if mine is not None:
            return validated(mine, self.rules_of(mine))
        return self._nearest(folder.parent) if folder.parent != folder else None


def _matches(pattern: str, path: Path, root: Path) -> bool:
    absolute = path.absolute()
    inside = absolute.relative_to(root).as_posix() if absolute.is_relative_to(root) else absolute.name
    return spec_of([pattern]).match_file(inside)
