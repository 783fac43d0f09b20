"""The last line of a run, and the numbers behind it that `--statistics` shows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from inplace_lint.core.finding import Finding, Proof, Severity
from inplace_lint.report.plural import counted
from inplace_lint.report.style import Ink, paint

_TOP = 10
_WITHOUT = "calls_without_fact:"
_CUT = "roots_cut_by_"
NOTHING = "All checks passed!"


Say = Callable[[str], str]


class Counts(NamedTuple):
    """
    What a run counted besides its findings: files not checked, and findings in the baseline, fixed or `assumed`.

    `assumed` hold only if a gradient is asked for that nobody in the project asks for. `set_aside` rest on assumptions
    that the settings hide. `nothing` is what a run says that found nothing.
    """

    troubles: int = 0
    known: int = 0
    fixed: tuple[Finding, ...] = ()
    assumed: int = 0
    set_aside: int = 0
    nothing: str = NOTHING


def summary(findings: Sequence[Finding], counts: Counts, say: Say = str, *, color: bool) -> str:
    """Return a line: the findings in how many files, how many were fixed, not checked, or are in the baseline."""
    known = say(f" ({counts.known} more in the baseline)") if counts.known else ""
    assumed = say(f" ({counts.assumed} more with `--assume grad`)") if counts.assumed else ""
    aside = say(f" ({counts.set_aside} more hidden by their assumptions)") if counts.set_aside else ""
    return _found(findings, counts, say, color=color) + known + assumed + aside + _proved(findings, say)


def _found(findings: Sequence[Finding], counts: Counts, say: Say, *, color: bool) -> str:
    unchecked = say(f"{counted(counts.troubles, 'file')} could not be checked") if counts.troubles else ""
    if counts.fixed:
        listed = _listed([*counts.fixed, *findings], say)
        fixed, left = len(counts.fixed), len(findings)
        if unchecked:
            return say(f"Found {listed} ({fixed} fixed, {left} remaining); {unchecked}.")
        return say(f"Found {listed} ({fixed} fixed, {left} remaining).")
    if not findings:
        passed = paint(say(counts.nothing), Ink.GOOD, color=color)
        return say(f"Found nothing, but {unchecked}.") if unchecked else passed
    listed = _listed(findings, say)
    places = say(counted(len({finding.span.path for finding in findings}), "file"))
    return say(f"Found {listed} in {places}; {unchecked}.") if unchecked else say(f"Found {listed} in {places}.")


def _listed(findings: Sequence[Finding], say: Say) -> str:
    """Count findings by severity: "2 errors and 1 warning"."""
    counts = Counter(finding.severity for finding in findings)
    words = {Severity.ERROR: "error", Severity.WARNING: "warning"}
    parts = [say(counted(counts[severity], word)) for severity, word in words.items() if counts[severity]]
    if counts[Severity.INFO]:
        parts.append(say(f"{counts[Severity.INFO]} info"))
    return parts[0] if len(parts) == 1 else f"{say(', ').join(parts[:-1])}{say(' and ')}{parts[-1]}"


def _proved(findings: Sequence[Finding], say: Say) -> str:
    """Return how many findings have each verdict of `--confirm`, as a sentence of its own."""
    counts = Counter(finding.verdict.proof for finding in findings if finding.verdict is not None)
    words = [say(" ".join((str(counts[proof]), proof.value))) for proof in Proof if counts[proof]]
    return say(f" Of these, {say(', ').join(words)}.") if words else ""


def fixable(findings: Sequence[Finding], say: Say = str, *, unsafe: bool) -> str:
    """Return a line that says how many findings `--fix` would fix, and how many more with `--unsafe-fixes`."""
    fixes = [finding.fix for finding in findings if finding.fix is not None]
    count = sum(fix.applies(unsafe=unsafe) for fix in fixes)
    hidden = sum(fix.applies(unsafe=True) for fix in fixes) - count
    noun = f"{hidden} hidden fix{'' if hidden == 1 else 'es'}"
    more = say(f" ({noun} can be enabled with the `--unsafe-fixes` option)") if hidden else ""
    if not count and not hidden:
        return ""
    line = say(f"[*] {count} fixable with the `--fix` option") if count else say("No fixes available")
    return f"{line}{more}{say('.')}\n"


def statistics(
    findings: Sequence[Finding], counters: Mapping[str, int], seconds: Mapping[str, float], say: Say = str
) -> str:
    """Return counts by rule, how much code and how many calls were understood, and the time by stage."""
    blocks = (
        list(_rules(findings)),
        list(_coverage(counters, say)),
        list(_unknown(counters, say)),
        list(_stages(seconds, say)),
    )
    return "\n".join("".join(f"{line}\n" for line in block) for block in blocks if block)


def _rules(findings: Sequence[Finding]) -> Iterator[str]:
    counts = Counter((finding.code, finding.name) for finding in findings)
    wide = len(str(max(counts.values(), default=0)))
    for (code, name), count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        yield f"{count:>{wide}}  {code}  {name}"


def _coverage(counters: Mapping[str, int], say: Say) -> Iterator[str]:
    get = counters.get
    yield say(f"files: {get('files', 0)}, of which mention a framework: {get('files_with_framework', 0)}")
    if get("files_from_cache"):
        yield say(f"files taken from the cache: {get('files_from_cache', 0)}")
    reached, writing = get("functions_reached_uncut", 0), get("functions_that_write", 0)
    yield say(f"functions with writes, analyzed completely: {reached} of {writing}") + _share(reached, writing)
    yield say(f"entry points: {get('roots', 0)}") + _cuts(counters, say)
    known, calls = get("framework_calls_with_fact", 0), get("framework_calls", 0)
    yield say(f"known framework calls: {known} of {calls}") + _share(known, calls)
    if get("findings_suppressed"):
        yield say(f"findings suppressed by a comment: {get('findings_suppressed', 0)}")


def _cuts(counters: Mapping[str, int], say: Say) -> str:
    cuts = {
        name.removeprefix(_CUT): count for name, count in sorted(counters.items()) if name.startswith(_CUT) and count
    }
    return "".join(say(f", cut short by {reason}: {count}") for reason, count in cuts.items())


def _unknown(counters: Mapping[str, int], say: Say) -> Iterator[str]:
    missing = {
        name.removeprefix(_WITHOUT): count for name, count in counters.items() if count and name.startswith(_WITHOUT)
    }
    if missing:
        yield say("the most frequent unknown calls:")
    wide = len(str(max(missing.values(), default=0)))
    for name, count in sorted(missing.items(), key=lambda item: (-item[1], item[0]))[:_TOP]:
        yield f"  {count:>{wide}}  {name}"


def _stages(seconds: Mapping[str, float], say: Say) -> Iterator[str]:
    if seconds:
        yield say("seconds by stage, summed over all processes:")
    for name, spent in sorted(seconds.items(), key=lambda item: (-item[1], item[0])):
        yield f"  {spent:8.3f}  {name}"


def _share(part: int, whole: int) -> str:
    return f" ({100 * part / whole:.1f} %)" if whole else ""
