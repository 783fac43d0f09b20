"""What `trace` prints when the program has ended: on standard error, since standard output is the program's own."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from inplace_lint.config.resolve import SettingsResolver
from inplace_lint.config.settings import FOR_PEOPLE
from inplace_lint.knowledge import facts
from inplace_lint.live import events, launch
from inplace_lint.live.record import Record
from inplace_lint.live.static_help import with_help
from inplace_lint.report.i18n import in_language, language
from inplace_lint.report.model import Report
from inplace_lint.report.reporters import REPORTERS
from inplace_lint.report.summary import Counts, summary
from inplace_lint.workspace.files import Sources, put_text

_WIDTH = 120


def run_watched(
    words: Sequence[str],
    output_file: Path | None,
    python: str | None,
    resolver: SettingsResolver,
    wants_color: Callable[[str], bool],
) -> int:
    """
    Run a program, write the findings of the rules that apply, and return the program's own exit status.

    `wants_color` decides for a choice of auto, always or never.

    Raises: `InplaceLintError` where nothing could be run.
    """
    settings = resolver.settings_of(Path.cwd())
    ended = launch.run(launch.interpreter(python, settings), words)
    found = events.findings_in(ended.records)
    chosen = [item for item in found.findings if item.code in resolver.codes_of(Path(item.span.path))]
    findings = with_help(chosen, settings, resolver)
    color = wants_color(settings.color)
    width = _WIDTH if output_file is not None else shutil.get_terminal_size((_WIDTH, 24)).columns
    is_for_people = settings.output_format in FOR_PEOPLE
    stream = sys.stderr if output_file is None else None
    lang = language(settings.lang, for_people=is_for_people, stream=stream)
    report = in_language(Report(findings, Sources().lines, found.statements, width, color), lang)
    text = REPORTERS[settings.output_format](report) if findings or not is_for_people else ""
    _write(text, output_file)
    line = _last_line(ended.records, report.say, is_clean=not findings)
    if line:
        _write_line(line)
    if findings and is_for_people:
        _write_line(summary(findings, Counts(), report.say, color=color))
    return ended.status


def _last_line(records: Sequence[Record], say: Callable[[str], str], *, is_clean: bool) -> str:
    """Return what else there is to say of a run: what was watched where nothing was found, or what was not seen."""
    watched = [record for record in records if record.kind == "watched"]
    names = say(" and ").join(f"{record.framework} {record.note}" for record in watched)
    texts = [facts.framework(record.framework).says["stale"] for record in watched]
    if any(text in record.note for record in records if record.kind == "ended" for text in texts):
        return say(
            f"inplace-lint: watched {names}, and did not see the write of the error above: "
            "compiled code is not watched, and `inplace-lint explain` reads the traceback"
        )
    if not is_clean:
        return ""
    if not watched:
        return say("inplace-lint: the program imported neither torch nor paddle, nothing was watched")
    if not any(record.kind == "backward" for record in records):
        return say(f"inplace-lint: watched {names}, no backward ran")
    return say(f"inplace-lint: watched {names}, nothing was found")


def _write(text: str, output_file: Path | None) -> None:
    if output_file is None:
        sys.stderr.write(text)
        return
    put_text(output_file, text)


def _write_line(line: str) -> None:
    sys.stderr.write(f"{line}\n")
