"""The last line of a run, and the numbers behind it that `--statistics` shows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from inplace_lint.finding import Finding, Proof, Severity
from inplace_lint.report.paint import Ink, paint

_TOP = 10
_WITHOUT = "calls_without_fact:"
_CUT = "roots_cut_by_"


def summary(findings: Sequence[Finding], troubles: int, *, color: bool) -> str:
    """Give one sentence: what was found in how many files, and how many files were not checked."""
    unchecked = f"{_number(troubles, 'file')} could not be checked" if troubles else ""
    if not findings:
        return f"Found nothing, but {unchecked}." if troubles else paint("All checks passed!", Ink.GOOD, color=color)
    counts = Counter(finding.severity for finding in findings)
    words = {Severity.ERROR: "error", Severity.WARNING: "warning"}
    parts = [_number(counts[severity], word) for severity, word in words.items() if counts[severity]]
    if counts[Severity.INFO]:
        parts.append(f"{counts[Severity.INFO]} info")
    listed = parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
    places = _number(len({finding.span.path for finding in findings}), "file")
    return f"Found {listed} in {places}{f'; {unchecked}' if troubles else ''}.{_proved(findings)}"


def _proved(findings: Sequence[Finding]) -> str:
    """Give how many findings have each verdict of `--confirm`, as a sentence of its own."""
    counts = Counter(finding.verdict.proof for finding in findings if finding.verdict is not None)
    words = [f"{counts[proof]} {proof.value}" for proof in Proof if counts[proof]]
    return f" Of these {', '.join(words)}." if words else ""


def statistics(findings: Sequence[Finding], counters: Mapping[str, int], seconds: Mapping[str, float]) -> str:
    """Give counts by rule, how much of the code and of the framework's calls was understood, and the time by stage."""
    blocks = (list(_rules(findings)), list(_coverage(counters)), list(_unknown(counters)), list(_stages(seconds)))
    return "\n".join("".join(f"{line}\n" for line in block) for block in blocks if block)


def _rules(findings: Sequence[Finding]) -> Iterator[str]:
    counts = Counter((finding.code, finding.name) for finding in findings)
    wide = len(str(max(counts.values(), default=0)))
    for (code, name), count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        yield f"{count:>{wide}}  {code}  {name}"


def _coverage(counters: Mapping[str, int]) -> Iterator[str]:
    get = counters.get
    yield f"files: {get('files', 0)}, of which mention a framework: {get('files_with_framework', 0)}"
    if get("files_from_cache"):
        yield f"files taken from the cache: {get('files_from_cache', 0)}"
    yield _share(
        "functions that write, reached uncut", get("functions_reached_uncut", 0), get("functions_that_write", 0)
    )
    yield f"roots: {get('roots', 0)}{_cuts(counters)}"
    yield _share("framework calls with a fact", get("framework_calls_with_fact", 0), get("framework_calls", 0))
    if get("findings_suppressed"):
        yield f"findings silenced by a comment: {get('findings_suppressed', 0)}"


def _cuts(counters: Mapping[str, int]) -> str:
    cuts = {
        name.removeprefix(_CUT): count for name, count in sorted(counters.items()) if name.startswith(_CUT) and count
    }
    return "".join(f", cut short by {reason}: {count}" for reason, count in cuts.items())


def _unknown(counters: Mapping[str, int]) -> Iterator[str]:
    missing = {
        name.removeprefix(_WITHOUT): count for name, count in counters.items() if count and name.startswith(_WITHOUT)
    }
    if missing:
        yield "the commonest calls without a fact:"
    wide = len(str(max(missing.values(), default=0)))
    for name, count in sorted(missing.items(), key=lambda item: (-item[1], item[0]))[:_TOP]:
        yield f"  {count:>{wide}}  {name}"


def _stages(seconds: Mapping[str, float]) -> Iterator[str]:
    if seconds:
        yield "seconds by stage, all processes added up:"
    for name, spent in sorted(seconds.items(), key=lambda item: (-item[1], item[0])):
        yield f"  {spent:8.3f}  {name}"


def _share(what: str, part: int, whole: int) -> str:
    return f"{what}: {part} of {whole}" + (f" ({100 * part / whole:.1f} %)" if whole else "")


def _number(count: int, word: str) -> str:
    return f"{count} {word}{'' if count == 1 else 's'}"
