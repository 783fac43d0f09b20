"""What `--confirm` adds to a run: verdicts, and the text of flagged files as it was before anything of them ran."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from inplace_lint import files, sources
from inplace_lint.config import Settings
from inplace_lint.errors import UnreadableError
from inplace_lint.live.asked import confirmed
from inplace_lint.session import Outcome, framework_names


def proved(outcome: Outcome, options: Mapping[str, Any], settings: Settings) -> dict[str, bytes]:
    """Put the findings of an outcome to the proof, and give the texts that a report of them needs."""
    texts: dict[str, bytes] = {}
    for finding in outcome.findings:
        for path in {finding.span.path, *(item.span.path for item in finding.related)} - texts.keys():
            try:
                texts[path] = files.read(Path(path))
            except UnreadableError:
                continue  # standard input, or a cell: their texts are known elsewhere
    outcome.findings = confirmed(outcome.findings, options, settings, _callers, _root)
    return texts


def _root(path: str) -> str:
    return str(Path(sources.root_of(Path(path))).absolute())


def _callers(path: str) -> Sequence[str]:
    """Give the files of a project that import something from one of its files."""
    graph = sources.Graph(sources.root_of(Path(path)), framework_names(), {}, {})
    return graph.callers(files.shown(Path(path)))
