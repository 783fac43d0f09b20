"""
The help of findings of a run: the one that `check` gives for the same rule at the same place.

A run shows one path, and not who else holds a tensor: only the static analysis knows which rewriting is right there.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from msgspec.structs import replace

from inplace_lint.config.resolve import SettingsResolver
from inplace_lint.config.settings import Settings
from inplace_lint.core.finding import Finding
from inplace_lint.driver import session
from inplace_lint.workspace import files


def with_help(findings: Iterable[Finding], settings: Settings, resolver: SettingsResolver) -> list[Finding]:
    """Return findings with the help of `check`, or what their rule says anywhere; libraries are not analyzed."""
    found = list(findings)
    paths = [Path(path) for path in dict.fromkeys(one.span.path for one in found)]
    excluded = resolver.excludes(paths)
    own = [path for path in paths if path.is_file() and not files.is_excluded(path, excluded)]
    if not own:
        return found
    by_path = resolver.settings_of, resolver.codes_of, None, resolver.opinions_of
    outcome = session.run(own, excluded, session.Plan(settings, *by_path, nested=resolver.nested))
    known = {(one.code, one.span): one.help for one in outcome.findings}
    return [replace(one, help=known.get((one.code, one.span), "") or one.help) for one in found]
