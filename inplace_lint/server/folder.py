"""One workspace folder: what the process keeps of it from run to run, and how its open files are analyzed."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from inplace_lint.cli.options import PolicyOptions, resolver_of
from inplace_lint.config.resolve import SettingsResolver
from inplace_lint.config.settings import Settings
from inplace_lint.core import interruption
from inplace_lint.driver import session
from inplace_lint.driver.after_edit import Earlier
from inplace_lint.driver.session import Outcome
from inplace_lint.driver.store import Store
from inplace_lint.policy import apply
from inplace_lint.workspace import files
from inplace_lint.workspace.memory import Memory


class Folder:
    """
    A folder with the options of the command line; one thread uses it. `is_foreign`: it is in no workspace folder.

    Configuration files are read anew in each run, since an editor need not tell that one changed.
    """

    def __init__(self, root: Path, options: Mapping[str, Any], *, is_foreign: bool) -> None:
        self.root, self._options, self._is_foreign = root, options, is_foreign
        self._memory = Memory()
        self._earlier: dict[tuple[str, str], Earlier] = {}
        self._stores: dict[Path | None, Store] = {}
        self._excluded: Mapping[Path, Sequence[str]] | None = None

    def settings(self) -> Settings:
        """
        Return the settings of the folder.

        Raises: `ConfigError` for a configuration file that is wrong.
        """
        return self._resolver().settings_of(self.root)

    def run(
        self, paths: Sequence[Path], texts: Mapping[Path, bytes], is_stopped: Callable[[], bool], *, callers: bool
    ) -> Outcome:
        """
        Check files; `texts` are those that are open, by path. Without `callers`, only what a file itself runs is found.

        What the configuration excludes has no findings.

        Raises: `ConfigError` for a configuration file that is wrong, `Interrupted` once `is_stopped` returns True.
        """
        os.chdir(self.root)  # paths are shown, and imports resolved, as for a run in this folder
        resolver = self._resolver()
        settings = replace(resolver.settings_of(self.root), jobs=1)  # a process with threads must not be forked
        excluded = resolver.excludes([self.root, *paths])
        if self._excluded not in (None, excluded):
            self._memory.forget()
        self._excluded = excluded
        by_path = resolver.settings_of, resolver.codes_of, None, resolver.opinions_of
        known = {files.shown(path): data for path, data in texts.items()}
        plan = session.Plan(settings, *by_path, known, self._store(settings), memory=self._memory, callers=callers)
        plan = plan._replace(severities_of=resolver.severities_of, earlier=self._earlier)
        outcome = Outcome()
        wanted = [path for path in paths if not self._is_left_out(path, excluded)]
        with interruption.stoppable(is_stopped):
            session.check_files(wanted, excluded, plan, outcome)
        apply.adopt(outcome, known, settings, PolicyOptions(), None)
        return outcome

    def _resolver(self) -> SettingsResolver:
        return resolver_of(dict(self._options))

    def _is_left_out(self, path: Path, excluded: Mapping[Path, Sequence[str]]) -> bool:
        # A library that was looked into is not the user's.
        is_library = self._is_foreign and not files.SKIPPED.isdisjoint(path.parts[:-1])
        return is_library or files.is_excluded(path, excluded)

    def _store(self, settings: Settings) -> Store:
        place = settings.cache_folder if settings.cache else None
        if place not in self._stores:
            self._stores[place] = Store(place)
        return self._stores[place]
