"""
What `--fix`, `--fix-only`, `--diff` and `--show-fixes` do: the part of `check` that changes files.

All fixes are applied in memory first; files are written at the end, each as a whole or not at all.
"""

from __future__ import annotations

import difflib
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO

from msgspec import Struct
from msgspec.structs import replace

from inplace_lint.cli import streams
from inplace_lint.config.settings import FOR_PEOPLE, Settings
from inplace_lint.core.finding import Finding
from inplace_lint.driver.session import Outcome
from inplace_lint.fix.apply import notebook as notebook_cells
from inplace_lint.fix.apply.rounds import Rounds, name_of
from inplace_lint.fix.apply.store import write
from inplace_lint.report import summary
from inplace_lint.report.i18n import language, sayer
from inplace_lint.report.plural import counted
from inplace_lint.workspace.notebook import SUFFIX, file_of

Say = Callable[[str], str]
Run = Callable[[Mapping[str, bytes]], tuple[Outcome, dict[str, bytes]]]
_LINE = re.compile(rb"[^\n]*\n|[^\n]+")  # as `patch` reads: carriage returns are content


class FixRun(Struct, frozen=True):
    """
    What was fixed, for the report: `outcome` is what remains, with its `texts`; `fixed` are the findings that are gone.

    `words` are lines for stderr. The report goes to `out`. A `silent` run has no report; one that `shows` fixes lists
    them.
    """

    outcome: Outcome
    texts: dict[str, bytes]
    fixed: tuple[Finding, ...]
    silent: bool
    shows: bool
    words: tuple[str, ...]
    out: IO[str]

    def shown(self, say: Say) -> str:
        """Return the list of fixes for the start of the report; empty if it is not to be shown."""
        return _shown(self.fixed, say) if self.shows else ""


def apply_fixes(run: Run, settings: Settings, *, diff: bool, is_stdin: bool) -> FixRun:
    """Apply fixes in memory, then write the files, print the text of standard input, or print a diff."""
    rounds = Rounds(lambda texts: run(texts)[0], settings.unsafe_fixes, run({})[0])
    rounds.run()
    changed = {path: (rounds.read[path], new) for path, new in rounds.texts.items() if new != rounds.read[path]}
    lost = {} if diff or is_stdin else _store(changed)
    # A file that could not be written is unchanged, and its findings remain.
    checked, texts = run({path: new for path, new in rounds.texts.items() if path not in lost})
    outcome = checked if lost else rounds.before
    outcome.findings = tuple(
        replace(finding, fix=None) if name_of(finding) in rounds.refused else finding for finding in outcome.findings
    )
    outcome.failures.extend(f"{path}: {reason}" for path, reason in lost.items())
    fixed = tuple(finding for finding in rounds.fixed if not lost.keys() & _edited(finding))
    if diff:
        streams.write_bytes(
            b"".join(line for path, pair in sorted(changed.items()) for line in _difference(path, *pair))
        )
    elif is_stdin:
        streams.write_bytes(next(iter(outcome.requested.values())))
    silent = diff or settings.fix_only
    words = tuple(_words(rounds, fixed, settings, diff=diff))
    out = sys.stderr if is_stdin else sys.stdout
    return FixRun(outcome, texts, fixed, silent, settings.show_fixes, words, out)


def _edited(finding: Finding) -> set[str]:
    return {file_of(edit.span) for edit in finding.fix.edits} if finding.fix is not None else set()


def _words(rounds: Rounds, fixed: Sequence[Finding], settings: Settings, *, diff: bool) -> Iterator[str]:
    """Yield lines for stderr: the fixes that were rejected, and those applied where the report does not list them."""
    is_for_people = settings.output_format in FOR_PEOPLE
    say = sayer(language(settings.lang, for_people=is_for_people, stream=sys.stderr))
    silent = diff or settings.fix_only
    if settings.show_fixes:
        yield from _refusals(rounds, say)
        if silent or not is_for_people:
            yield from _shown(fixed, say).rstrip("\n").splitlines()
    if silent and (fixed or diff):
        left = [finding for finding in rounds.before.findings if name_of(finding) not in rounds.refused]
        hidden = summary.fixable(left, say, unsafe=settings.unsafe_fixes).rstrip("\n")
        yield _said(fixed, say, diff=diff) if fixed else hidden or say("Nothing would be fixed.")


def _said(fixed: Sequence[Finding], say: Say, *, diff: bool) -> str:
    done = counted(len(fixed), "finding")
    return say(f"Would fix {done}.") if diff else say(f"Fixed {done}.")


def _store(changed: Mapping[str, tuple[bytes, bytes]]) -> dict[str, str]:
    """Write the changed files, holding back interrupts; return the reason for each file that was not written."""
    with streams.interrupts_held():
        reasons = {path: write(Path(path), *pair) for path, pair in sorted(changed.items())}
    return {path: reason for path, reason in reasons.items() if reason}


def _difference(path: str, old: bytes, new: bytes) -> Iterator[bytes]:
    """
    Yield the lines of a unified diff, in the bytes of the file, for `patch` and `git apply`.

    That of a notebook is for people: one for each changed cell, of its code.
    """
    if not path.endswith(SUFFIX):
        yield from _unified(path, old, new)
        return
    before, after = notebook_cells.sources(old), notebook_cells.sources(new)
    for number, code in before.items():
        pair = (part.encode("utf-8", "surrogatepass") for part in (code, after[number]))
        yield from _unified(f"{path}: cell {number}", *pair)


def _unified(title: str, old: bytes, new: bytes) -> Iterator[bytes]:
    name = title.encode("utf-8", "surrogateescape")
    before, after = (_LINE.findall(part) for part in (old, new))
    for line in difflib.diff_bytes(difflib.unified_diff, before, after, name, name, lineterm=b"\n"):
        yield line if line.endswith(b"\n") else line + b"\n\\ No newline at end of file\n"


def _shown(fixed: Sequence[Finding], say: Say) -> str:
    """Return a list of the applied fixes by file and rule, as Ruff prints it; empty where there were none."""
    if not fixed:
        return ""
    counts: dict[str, Counter[tuple[str, str]]] = {}
    for finding in fixed:
        counts.setdefault(file_of(finding.span), Counter())[finding.code, finding.name] += 1
    lines = [say(f"Fixed {counted(len(fixed), 'finding')}:")]
    for path, rules in sorted(counts.items()):
        wide = len(str(max(rules.values())))
        lines.append(f"- {path}:")
        ordered = sorted(rules.items(), key=lambda item: (-item[1], item[0]))
        lines.extend(f"    {count:>{wide}} × {code} ({name})" for (code, name), count in ordered)
    return "\n".join(lines) + "\n\n"


def _refusals(rounds: Rounds, say: Say) -> Iterator[str]:
    """Yield a line for each fix that was rejected."""
    for refused in rounds.refused.values():
        span, code = refused.finding.span, refused.finding.code
        told = say(f"the fix of {code} was not applied: {refused.reason}")
        yield f"{span.path}:{span.line}:{span.column + 1}: {told}"
