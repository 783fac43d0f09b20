"""What `--confirm` adds to a run: verdicts, and the text of flagged files as it was before anything of them ran."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
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
    outcome.findings = confirmed(outcome.findings, options, settings, _Callers().of, _root)
    return texts


def _root(path: str) -> str:
    return str(Path(sources.root_of(Path(path))).absolute())


@dataclass(slots=True)
class _Callers:
    """The files of a project that import something from one of its files; each project is listed once."""

    graphs: dict[str, sources.Graph] = field(default_factory=dict)

    def of(self, path: str) -> Sequence[str]:
        root = sources.root_of(Path(path))
        if root not in self.graphs:
            self.graphs[root] = sources.Graph(root, framework_names(), {}, {})
        return self.graphs[root].callers(files.shown(Path(path)))
