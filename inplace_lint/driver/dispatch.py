"""Has tasks checked: in this process, in others of this machine, or on other machines with all that they read."""

from __future__ import annotations

import pickle
import posixpath
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Protocol

from msgspec import Struct

from inplace_lint.core.errors import FactError, UnreadableError
from inplace_lint.driver.check_task import Checked, Task, check_one, failed
from inplace_lint.driver.executors.executor import Executor, Lost, cpus
from inplace_lint.driver.kept import KeptFiles
from inplace_lint.workspace import files, import_graph
from inplace_lint.workspace.import_graph import Graph
from inplace_lint.workspace.places import Shipped

_FEW_BYTES = 40_000
_FEW_FILES = 4


class Progress(Protocol):
    """Shows a user how much of a run is done."""

    def __call__(self, path: str, size: int, total: int) -> None:
        """Show that a file of this size is done, of all files with this size together."""

    def end(self) -> None:
        """Show nothing any more, however much is done."""


class Workers(Struct, frozen=True):
    """
    Where tasks are checked: by the `executor`, or, without one, by as many local processes as pay, at most `jobs`.

    `lasting`: this process keeps what it reads of files for later runs.
    """

    executor: Executor | None = None
    jobs: int = 0
    lasting: bool = False

    def check(
        self, tasks: Sequence[Task], graphs: Mapping[str, Graph], progress: Progress | None
    ) -> Iterator[tuple[Task, Checked]]:
        """
        Yield the result of each task as soon as it is there.

        Raises: `FactError` where the op tables themselves cannot be read.
        """
        size = sum(len(task.data) for task in tasks)
        for task, checked in self._checked(tasks, graphs):
            if checked.no_facts:
                raise FactError(checked.no_facts)
            yield task, checked
            if progress is not None:
                progress(task.path, len(task.data), size)

    def _checked(self, tasks: Sequence[Task], graphs: Mapping[str, Graph]) -> Iterator[tuple[Task, Checked]]:
        executor = self.executor or self._local(tasks)
        if executor is None or not tasks:
            yield from ((task, check_one(task)) for task in tasks)
            return
        work: Callable[[Task], Checked] = check_one
        sent: Sequence[Task] = tasks
        if not executor.shares_files:
            work = shipped(tasks, graphs)
            sent = [_bare(task) for task in tasks]
        _import_engine()
        for index, answer in executor.run_all(work, sent):
            if isinstance(answer, Lost):
                yield tasks[index], failed(f"the process that checked it {answer.reason}")
            else:
                yield tasks[index], answer

    def _local(self, tasks: Sequence[Task]) -> Executor | None:
        # Where a few files are checked again and again, what this process has read of the others saves more.
        jobs = 1 if self.lasting and len(tasks) <= _FEW_FILES else min(self.jobs or cpus(), len(tasks))
        is_small = sum(len(task.data) for task in tasks) < _FEW_BYTES
        if jobs <= 1 or is_small:
            return None
        from inplace_lint.driver.executors.local import LocalProcesses  # noqa: PLC0415 - few files need one process

        return LocalProcesses(jobs)


def _import_engine() -> None:
    """Import the engine before processes are forked, so that each has it; a failure is reported for each file."""
    try:
        import inplace_lint.driver.analyze_file  # noqa: F401, PLC0415
    except (ImportError, SyntaxError):
        return


class CheckShipped(Struct, frozen=True, dict=True):
    """
    Checks tasks in a process that does not see the files of the machine where they come from.

    `packed` are the files of their projects. What the process finds is what is found `here` only if it has the same
    tables, code and Python, whose digest is `version`.
    """

    here: str
    packed: bytes
    version: str

    def __call__(self, task: Task) -> Checked:
        """Check one file and return the result, whatever goes wrong."""
        if self.version != version():
            return failed("", no_facts="a worker has another inplace-lint or another Python than this machine")
        files = _unpacked(self.packed)
        data = files.get(task.path) if task.root else task.data
        return check_one(task._replace(data=data or b"", shipped=Shipped(self.here, files)))


def _bare(task: Task) -> Task:
    """Return a task without what its work has already, and what only this machine can use."""
    return task._replace(data=b"" if task.root else task.data, kept=KeptFiles(), texts=())


def shipped(tasks: Sequence[Task], graphs: Mapping[str, Graph]) -> CheckShipped:
    """Return the work of checking the tasks elsewhere, with all files that this may ask for."""
    data: dict[str, bytes | None] = {}
    for root, graph in graphs.items():
        if root:
            data.update(_needed(graph, [task.path for task in tasks if task.root == root]))
    packed = zlib.compress(pickle.dumps(data, pickle.HIGHEST_PROTOCOL), 1)
    return CheckShipped(Path.cwd().as_posix(), packed, version())


def _needed(graph: Graph, paths: Sequence[str]) -> dict[str, bytes | None]:
    """
    Return what some files of a project import, directly or through others, and all that a search of it finds.

    # UNSOUND: a module in an ignored folder that no statement imports is not there; on disk its name would find it.
    """
    wanted = set[str]()
    folders = set[str]()
    for path in paths:
        wanted |= {path, *graph.below((path,))}
        if posixpath.dirname(path) not in folders:
            folders.add(posixpath.dirname(path))
            wanted.update(graph.mentioning(path, ""))
    return {path: graph.text(path) or _read(path) for path in sorted(wanted)}


def _read(path: str) -> bytes | None:
    """Return the bytes of a file that is empty or cannot be read."""
    try:
        return files.read(Path(path))
    except UnreadableError:
        return None


@lru_cache(maxsize=1)
def _unpacked(packed: bytes) -> Mapping[str, bytes | None]:
    """Return the files that came with the work, once in a process; what was read of those before is forgotten."""
    import_graph.forget()
    data: dict[str, bytes | None] = pickle.loads(zlib.decompress(packed))  # noqa: S301 - Ray itself unpickles the work
    return data


@lru_cache(maxsize=1)
def version() -> str:
    """Return a digest of all that results depend on besides files and settings."""
    from inplace_lint.knowledge.locate import context_of, digest_of_facts  # noqa: PLC0415 - of no use on one machine

    return context_of(digest_of_facts(), ())
