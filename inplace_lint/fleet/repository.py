"""
Checks one repository, in a process of this machine or of another one.

The sources are unpacked into a folder of their own first, also where the repository is a folder of this machine: what
is found then depends neither on what lies around it nor on which machine does the work, and nothing in it is written.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from inplace_lint.cli.options import known_rules
from inplace_lint.config.resolve import SettingsResolver
from inplace_lint.config.settings import Settings
from inplace_lint.core.errors import InplaceLintError, UnreadableError
from inplace_lint.driver import session
from inplace_lint.driver.dispatch import version
from inplace_lint.driver.session import Outcome, Plan
from inplace_lint.fleet.listing import Kind, Listed
from inplace_lint.fleet.sources import Packed, clone, pack, unpack
from inplace_lint.report.formats import full, json_list
from inplace_lint.report.model import Report
from inplace_lint.workspace.files import Sources

MOST_CERTAIN = 100
_WIDTH = 110


class Repository(NamedTuple):
    """A task: a repository, with its sources where the process that checks it does not see those of this machine."""

    listed: Listed
    packed: Packed | None = None


class Certain(NamedTuple):
    """A finding to show: `rank` is as `Finding.doubt`, `text` is as for people."""

    rank: tuple[int, int, int]
    code: str
    place: str
    text: str


class Checked(NamedTuple):
    """
    What a check of a repository came to.

    `trouble` says why it could not be read; `failures` has a line for each file that could not be checked. `findings`
    are counted by rule, `severities` by severity. `rows` are the findings in JSON, with paths relative to the
    repository, `certain` the most certain of them.
    """

    name: str
    location: str
    trouble: str = ""
    files: int = 0
    lines: int = 0
    seconds: float = 0.0
    findings: Mapping[str, int] = {}
    severities: Mapping[str, int] = {}
    failures: tuple[str, ...] = ()
    rows: str = "[]\n"
    certain: tuple[Certain, ...] = ()


class CheckRepository(Struct, frozen=True, dict=True):
    """
    The work of checking one repository, with the settings of the command line; see `SettingsResolver`.

    Configuration files of the repositories are not read. Sources are unpacked below the folder `scratch`, or below that
    of the system. `version` is as for `CheckShipped`.
    """

    chosen: Mapping[str, Any]
    inline: Mapping[str, Any]
    named: Settings | None
    scratch: str | None
    version: str

    def __call__(self, task: Repository) -> Checked:
        """Check a repository; what cannot be read is no exception."""
        started = time.perf_counter()
        name, location, _, trouble = task.listed
        try:
            if self.version != version():
                trouble = "a worker has another inplace-lint or another Python than this machine"
            if trouble:
                return Checked(name, location, trouble)
            with tempfile.TemporaryDirectory(prefix="inplace-lint-", dir=self.scratch) as folder:
                troubles = _fetch(task, Path(folder))
                with _inside(folder):
                    outcome = self._outcome()
                    found = _checked(task.listed, outcome, troubles)
        except InplaceLintError as error:
            return Checked(name, location, str(error))
        except OSError as error:
            return Checked(name, location, (error.strerror or "error").lower())
        return found._replace(seconds=round(time.perf_counter() - started, 3))

    def _outcome(self) -> Outcome:
        here = Path.cwd()
        named = None if self.named is None else replace(self.named, root=here)
        by_path = SettingsResolver(self.chosen, known_rules(), self.inline, named, isolated=named is None)
        settings = replace(by_path.settings_of(here), jobs=1, cache=False)
        plan = Plan(settings, by_path.settings_of, by_path.codes_of, opinions_of=by_path.opinions_of)
        plan = plan._replace(severities_of=by_path.severities_of)
        return session.run([Path()], by_path.excludes((Path(),)), plan)


@contextlib.contextmanager
def _inside(folder: str) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def _fetch(task: Repository, into: Path) -> tuple[str, ...]:
    """
    Unpack the sources of a repository into a folder, and return a line for each file that could not be read.

    Raises: `UnreadableError`.
    """
    location, packed = Path(task.listed.location), task.packed
    match task.listed.kind:
        case Kind.GIT:
            clone(task.listed.location, into)
        case Kind.FOLDER:
            packed = packed or pack(location)
            unpack(packed.data, into)
        case Kind.ARCHIVE:
            unpack(location if packed is None else packed.data, into)
        case Kind.NOTHING:
            raise UnreadableError(task.listed.trouble)
    (into / "setup.cfg").touch()  # imports are looked up below this folder, whatever marks a project above it
    return () if packed is None else packed.troubles


def _checked(listed: Listed, outcome: Outcome, troubles: tuple[str, ...]) -> Checked:
    texts = {path: data for book in outcome.notebooks.values() for path, data in book.texts().items()}
    report = Report(outcome.findings, Sources(texts).lines, outcome.statements, _WIDTH)
    ranked = sorted(outcome.findings, key=lambda one: (one.doubt, one.span))[:MOST_CERTAIN]
    certain = (
        Certain(one.doubt, one.code, f"{one.span.path}:{one.span.line}", full.render(replace(report, findings=[one])))
        for one in ranked
    )
    return Checked(
        listed.name,
        listed.location,
        files=outcome.counters["files"],
        lines=sum(data.count(b"\n") for data in outcome.requested.values()),
        findings=dict(sorted(Counter(one.code for one in outcome.findings).items())),
        severities=dict(Counter(one.severity.value for one in outcome.findings)),
        failures=(*troubles, *outcome.failures),
        rows=json_list.dumped(_relative(json_list.rows(report), f"{Path.cwd()}{os.sep}")),
        certain=tuple(certain),
    )


def _relative(value: Any, folder: str) -> Any:  # noqa: ANN401 - JSON
    """Return rows whose paths are relative to a folder."""
    if isinstance(value, list):
        return [_relative(item, folder) for item in value]
    if isinstance(value, dict):
        return {
            key: Path(item.removeprefix(folder)).as_posix() if key == "filename" else _relative(item, folder)
            for key, item in value.items()
        }
    return value
