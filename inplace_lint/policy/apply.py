"""
Applies what the options say about known findings: `noqa` comments, a baseline, only the lines that a branch changed.

A baseline that an option names is relative to the current folder, one of a configuration to its file.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping
from itertools import groupby
from pathlib import Path

from inplace_lint.cli.options import PolicyOptions
from inplace_lint.config.settings import Settings
from inplace_lint.core.errors import ConfigError, InplaceLintError, UnreadableError
from inplace_lint.core.finding import Finding
from inplace_lint.driver.session import Outcome
from inplace_lint.fix.apply import notebook as notebook_cells
from inplace_lint.policy import add_noqa, baseline, changed_lines
from inplace_lint.report.i18n import language, sayer
from inplace_lint.report.plural import counted
from inplace_lint.report.summary import Say
from inplace_lint.rules import RULE_OF, TEXT_RULES
from inplace_lint.workspace import files, notebook


def adopt(
    outcome: Outcome,
    texts: Mapping[str, bytes],
    settings: Settings,
    policy: PolicyOptions,
    changed: changed_lines.Changed | None,
) -> str:
    """
    Remove from an outcome what is not to be reported, or write comments or a baseline and return a line about that.

    `changed` are the lines to which findings are restricted, None where all are reported.
    Raises: `InplaceLintError` for a baseline that cannot be read or written.
    """
    say = sayer(language(settings.lang, stream=sys.stdout))
    if policy.add_noqa or policy.add_ignore:
        added, troubles = add_comments(outcome, ours=policy.add_ignore)
        outcome.failures = sorted((*outcome.failures, *troubles))
        return say(f"Added {counted(added, 'comment' if policy.add_ignore else 'noqa comment')}.")
    texts = {**texts, **{path: data for book in outcome.notebooks.values() for path, data in book.texts().items()}}
    place = _place(settings)
    if policy.write_baseline:
        return _write_baseline(outcome, texts, policy.write_baseline, say)
    if policy.prune_baseline:
        return _prune(outcome, texts, settings, say)
    if place is not None:
        applied = baseline.apply(outcome, _known(place, settings), place.parent, texts)
        outcome.hidden.update(dict.fromkeys(set(outcome.findings) - set(applied.left), True))
        outcome.findings = applied.left
        outcome.notes.extend(baseline.notes_of(applied.stale, files.shown(place)))
    if changed is not None:
        out = [one for one in outcome.findings if not changed_lines.in_changed_lines(one, changed)]
        outcome.hidden.update(dict.fromkeys(out, False))
        outcome.findings = tuple(one for one in outcome.findings if one not in outcome.hidden)
    return ""


def _place(settings: Settings) -> Path | None:
    return settings.root / settings.baseline if settings.baseline else None


def _known(place: Path, settings: Settings) -> Counter[baseline.Key]:
    try:
        return baseline.read(place)
    except ConfigError as error:
        msg = f"{settings.place_of('baseline')}: {error}"
        raise ConfigError(msg) from error


def _write_baseline(outcome: Outcome, texts: Mapping[str, bytes], place: Path, say: Say) -> str:
    found = baseline.entries_of(outcome.findings, place.parent, texts)
    known = baseline.read(place) if place.exists() else Counter[baseline.Key]()
    entries = baseline.merged(known, found, place.parent, outcome)
    baseline.write(place, entries)
    return say(f"Wrote {counted(entries.total(), 'finding')} to {files.shown(place)}.")


def _prune(outcome: Outcome, texts: Mapping[str, bytes], settings: Settings, say: Say) -> str:
    place = _place(settings)
    if place is None:
        msg = "--prune-baseline: there is no baseline; name it with --baseline"
        raise InplaceLintError(msg)
    known = _known(place, settings)
    found = baseline.entries_of(outcome.findings, place.parent, texts)
    entries = baseline.pruned(known, found, place.parent, outcome)
    baseline.write(place, entries)
    gone = known.total() - entries.total()
    return say(f"Removed {counted(gone, 'finding')} from {files.shown(place)}.")


def add_comments(outcome: Outcome, *, ours: bool) -> tuple[int, list[str]]:
    """
    Write a comment for each finding; return how many, and a line for each file or finding where that failed.

    Comments are those that other linters do not read if they are to be `ours`, else `noqa`.
    """
    findings = [finding for finding in outcome.findings if RULE_OF[finding.code] not in TEXT_RULES]
    added = 0
    troubles: list[str] = []
    for name, group in groupby(findings, key=lambda finding: notebook.file_of(finding.span)):
        try:
            done, left = _silence_file(name, list(group), outcome, ours=ours)
        except UnreadableError as error:
            troubles.append(f"{name}: {error}")
            continue
        added += done
        troubles.extend(f"{name}:{finding.span.line}: no line of this statement can hold a comment" for finding in left)
    return added, troubles


def _silence_file(
    name: str, findings: list[Finding], outcome: Outcome, *, ours: bool
) -> tuple[int, tuple[Finding, ...]]:
    path = Path(name)
    before = files.read(path)
    left: list[Finding] = []
    if name in outcome.notebooks:
        cells: dict[int, list[Finding]] = {}
        for finding in findings:
            cells.setdefault(finding.span.cell or 0, []).append(finding)
        codes = notebook_cells.sources(before)
        texts: dict[int, str] = {}
        for cell, own in cells.items():
            texts[cell], open_ = add_noqa.silenced(codes[cell], own, outcome.statements, ours=ours)
            left.extend(open_)
        data = notebook_cells.replaced(before, texts)
    else:
        text, open_ = add_noqa.silenced(files.decode(before), findings, outcome.statements, ours=ours)
        left.extend(open_)
        data = files.encode(text, before)
    if len(left) < len(findings):
        files.swap(path, before, data)
    return len(findings) - len(left), tuple(left)
