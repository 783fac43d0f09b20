"""
When which open document is analyzed: off the event loop, one analysis at a time, and none of a text that changed.

A round begins once no key was pressed for a moment. It first finds what each changed file does by itself and shows it,
then, once the user pauses, what the callers of all open files add. A newer edit ends the round.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Protocol, TypeVar

from inplace_lint.core.errors import InplaceLintError
from inplace_lint.core.finding import Finding
from inplace_lint.core.interruption import Interrupted
from inplace_lint.driver.crashes import crash
from inplace_lint.driver.session import Outcome
from inplace_lint.report.i18n import in_language, language
from inplace_lint.report.model import Report
from inplace_lint.server.documents import Document, Documents, Result
from inplace_lint.server.folder import Folder
from inplace_lint.workspace import notebook

Answer = TypeVar("Answer")


class Complain(Protocol):
    """Tells the user what failed: of one file, or (`is_grave`) of all of them."""

    def __call__(self, line: str, *, is_grave: bool) -> None:
        """Show or log a line."""


_PAUSE = 0.4  # seconds without a key after which callers are analyzed, too: longer than between two keys
_STACK = 64 << 20  # of the thread of the analysis: deeper than what systems give to threads


class Analyses:
    """
    The analyses of open documents; `publish` shows what was found in one, `complain` a line about what failed.

    Units: `delay` in seconds.
    """

    def __init__(
        self,
        documents: Documents,
        options: dict[str, Any],
        delay: float,
        publish: Callable[[Document], None],
        complain: Complain,
    ) -> None:
        self._documents, self._options, self._delay = documents, options, delay
        self._publish, self._complain = publish, complain
        self._folders: dict[Path, Folder] = {}
        self._changed: dict[Path, None] = {}
        self._stop = threading.Event()
        self._timer: asyncio.TimerHandle | None = None
        self._rounds: set[asyncio.Task[None]] = set()
        threading.stack_size(_STACK)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="analysis")

    def start(self, document: Document | None = None, *, at_once: bool = False) -> None:
        """Begin a round soon, or at once: a document changed, or something that all of them depend on."""
        self._stop.set()
        if document is not None:
            self._changed.pop(document.path, None)
            self._changed = {document.path: None, **self._changed}
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(0 if at_once else self._delay, self._begin)

    def move(self) -> None:
        """Begin anew with other workspace folders."""
        self._documents.move()
        self._folders.clear()
        self.start(at_once=True)

    def end(self) -> None:
        """End what runs, and begin nothing more."""
        if self._timer is not None:
            self._timer.cancel()
        self._stop.set()
        self._thread.shutdown(wait=False, cancel_futures=True)

    async def ask(self, work: Callable[[Folder, dict[Path, bytes]], Answer], document: Document) -> Answer:
        """Return what a piece of work finds in the folder of a document; it goes before the round that runs."""
        self._stop.set()
        folder, texts = self._folder(document.folder), self._texts(document.folder)
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, work, folder, texts)
        finally:
            self.start()

    def _begin(self) -> None:
        self._stop = threading.Event()
        task = asyncio.create_task(self._round(self._stop))
        self._rounds.add(task)
        task.add_done_callback(self._finish)

    def _finish(self, task: asyncio.Task[None]) -> None:
        self._rounds.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is None:
            return
        self._complain(str(error) if isinstance(error, InplaceLintError) else crash(error), is_grave=True)
        for document in self._documents:
            if document.current is None:  # what is shown is of an older text
                self._show(document, Result(document.revision, (), {}))

    async def _round(self, stop: threading.Event) -> None:
        for path in [*self._changed]:
            document = self._documents.at(path)
            if document is not None and not await self._look([document], stop, callers=False):
                return
            self._changed.pop(path, None)
        await asyncio.sleep(_PAUSE)
        if stop.is_set():
            return
        for folder in dict.fromkeys(document.folder for document in self._documents):
            mine = [document for document in self._documents if document.folder == folder]
            if not await self._look(mine, stop, callers=True):
                return

    async def _look(self, documents: list[Document], stop: threading.Event, *, callers: bool) -> bool:
        """Analyze documents of one folder and show what was found; return whether their texts are still the same."""
        root = documents[0].folder
        folder, texts = self._folder(root), self._texts(root)
        versions = [document.revision for document in documents]
        paths = [document.path for document in documents]

        def run() -> tuple[Outcome, list[Finding]] | None:
            return None if stop.is_set() else _found(folder, paths, texts, stop, callers=callers)

        found = await asyncio.get_running_loop().run_in_executor(self._thread, run)
        if found is None or stop.is_set():
            return False
        outcome, findings = found
        for line in outcome.failures:
            self._complain(line, is_grave=False)
        for document, version in zip(documents, versions, strict=True):
            mine = tuple(one for one in findings if root / notebook.file_of(one.span) == document.path)
            self._show(document, Result(version, mine, outcome.statements))
        return True

    def _show(self, document: Document, result: Result) -> None:
        document.result = result
        document.settled.set()
        self._publish(document)

    def _folder(self, root: Path) -> Folder:
        if root not in self._folders:
            is_foreign = root not in self._documents.folders
            self._folders[root] = Folder(root, self._options, is_foreign=is_foreign)
        return self._folders[root]

    def _texts(self, root: Path) -> dict[Path, bytes]:
        return {document.path: document.data() for document in self._documents if document.folder == root}


def _found(
    folder: Folder, paths: list[Path], texts: dict[Path, bytes], stop: threading.Event, *, callers: bool
) -> tuple[Outcome, list[Finding]] | None:
    try:
        outcome = folder.run(paths, texts, stop.is_set, callers=callers)
    except Interrupted:
        return None
    lang = language(folder.settings().lang)
    report = in_language(Report(outcome.findings, lambda _path: ()), lang)
    return outcome, list(report.findings)
