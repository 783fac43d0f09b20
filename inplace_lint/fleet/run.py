"""One run over a list of repositories: what is done is skipped, the rest checked, each result written as it comes."""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import overload

from inplace_lint.config.resolve import SettingsResolver
from inplace_lint.core.errors import UnreadableError
from inplace_lint.driver.dispatch import Progress, version
from inplace_lint.driver.executors.executor import Executor, Lost
from inplace_lint.fleet import results
from inplace_lint.fleet.listing import Kind, Listed
from inplace_lint.fleet.repository import Checked, CheckRepository, Repository
from inplace_lint.fleet.sources import MOST_TAKEN, Packed, pack
from inplace_lint.workspace import files


def check_all(
    repositories: Sequence[Listed],
    folder: Path,
    resolver: SettingsResolver,
    executor: Executor,
    progress: Progress | None = None,
) -> list[Checked]:
    """
    Check the repositories that an earlier run did not, and return the results of all in their order.

    Raises: `InplaceLintError` where results cannot be written, or the executor has no process.
    """
    settings = [dict(resolver.chosen), dict(resolver.inline), repr(resolver.named)]
    key = hashlib.sha256(json.dumps([settings, version()], default=str, sort_keys=True).encode()).hexdigest()
    results.make(folder)
    known = {one.name: results.read(folder, one.name, key) for one in repositories}
    done = {name: checked for name, checked in known.items() if checked is not None}
    left = [one for one in repositories if one.name not in done]
    if progress is not None:
        progress("", len(done), len(repositories))
    scratch = tempfile.mkdtemp(prefix="inplace-lint-fleet-") if executor.shares_files else None
    work = CheckRepository(resolver.chosen, resolver.inline, resolver.named, scratch, version())
    try:
        for number, answer in executor.run_all(work, _Tasks(left, shared=executor.shares_files)):
            checked = _lost(left[number], answer) if isinstance(answer, Lost) else answer
            results.write(folder, checked, key)
            done[checked.name] = checked._replace(rows="")
            if progress is not None:
                progress(checked.name, 1, len(repositories))
    finally:
        if progress is not None:
            progress.end()
        if scratch is not None:
            shutil.rmtree(scratch, ignore_errors=True)
    return [done[one.name] for one in repositories]


def _lost(one: Listed, lost: Lost) -> Checked:
    return Checked(one.name, one.location, f"the process that checked it {lost.reason}")


class _Tasks(Sequence[Repository]):
    """The repositories as tasks; sources are read when a task is sent, so that those of few are in memory."""

    def __init__(self, repositories: Sequence[Listed], *, shared: bool) -> None:
        self._repositories, self._shared = repositories, shared

    def __len__(self) -> int:
        return len(self._repositories)

    @overload
    def __getitem__(self, index: int) -> Repository: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Repository]: ...
    def __getitem__(self, index: int | slice) -> Repository | Sequence[Repository]:
        """Return the task with a number."""
        if isinstance(index, slice):
            return [self[number] for number in range(*index.indices(len(self)))]
        one = self._repositories[index]
        try:
            return Repository(one, None if self._shared else _packed(one))
        except UnreadableError as error:
            return Repository(one._replace(kind=Kind.NOTHING, trouble=str(error)))


def _packed(one: Listed) -> Packed | None:
    """Return what is sent of a repository to a machine that does not see the files of this one."""
    path = Path(one.location)
    if one.kind is Kind.FOLDER:
        return pack(path)
    if one.kind is not Kind.ARCHIVE:
        return None
    data = files.read(path)
    if len(data) > MOST_TAKEN:
        msg = f"larger than {MOST_TAKEN >> 20} MB: too large to be sent"
        raise UnreadableError(msg)
    return Packed(data)
