"""Selects rules: resolves selectors (`IPL101`, `IPL1`, `modified-after-save`, `ALL`) to codes of rules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from inplace_lint.config.schema import did_you_mean
from inplace_lint.config.settings import Settings, where_in
from inplace_lint.core.errors import ConfigError

EXACT = 100


class RuleInfo(NamedTuple):
    """
    What selection needs of a rule: code, name, whether it is on by default, and whether it reports opinions.

    A rule that gives `advice` runs all code; it is selected by its own code, name or group only.
    """

    code: str
    name: str
    default: bool = True
    opinion: bool = False
    advice: bool = False

    @property
    def prefix(self) -> str:
        """The letters that the codes of one origin begin with."""
        return self.code.rstrip("0123456789")


def codes_of(selector: str, known: Sequence[RuleInfo], where: str) -> frozenset[str]:
    """
    Return the codes that a selector names: by code, by a prefix of codes, by name, or `ALL`.

    Raises: `ConfigError` with the place, the selector and the nearest valid one.
    """
    hit = _hits(selector, known)
    if not hit:
        names = [word for rule in known for word in (rule.code, rule.name)]
        msg = f"{where}: unknown rule {selector!r}{did_you_mean(selector.strip(), names)}"
        raise ConfigError(msg)
    return hit


def names_rules(selector: str, known: Sequence[RuleInfo]) -> bool:
    """Return whether a selector names any of these rules."""
    return bool(_hits(selector, known))


def _hits(selector: str, known: Sequence[RuleInfo]) -> frozenset[str]:
    name, upper = selector.strip().lower(), selector.strip().upper()
    return frozenset(
        rule.code
        for rule in known
        if upper == "ALL" or rule.name == name or (upper.startswith(rule.prefix) and rule.code.startswith(upper))
    )


def validated(settings: Settings, known: Sequence[RuleInfo]) -> Settings:
    """
    Return the settings of a file unchanged if every selector in them names a rule.

    Raises: `ConfigError` with the file, the key, the selector and the nearest valid one.
    """
    lists = {"select": settings.select, "extend-select": settings.extend_select, "ignore": settings.ignore}
    lists["severity"] = tuple(settings.severity)
    for key, selectors in (
        *lists.items(),
        *(("per-file-ignores", some) for some in settings.per_file_ignores.values()),
    ):
        for selector in selectors:
            codes_of(selector, known, f"{_place(settings, key, selector)}: '{key}'")
    return settings


def _place(settings: Settings, key: str, selector: str) -> str:
    """Return the file and line of a key, and of an entry where it is a table in the file of the settings itself."""
    where = settings.origins.get(key.replace("-", "_"), str(settings.source))
    if key != "severity" or settings.source is None or where.rpartition(":")[0] != str(settings.source):
        return where
    return where_in(settings.source, key, selector)


def enabled_codes(settings: Settings, known: Sequence[RuleInfo]) -> frozenset[str]:
    """
    Return the codes of the rules that apply.

    Where a selecting and an ignoring selector both name a rule, the more specific one counts: `select = ["IPL101"]`
    with `ignore = ["IPL1"]` leaves IPL101 on. Where they are equally specific, `ignore` counts.
    """
    on = {} if settings.select else {rule.code: 0 for rule in known if rule.default}
    for selector in (*settings.select, *settings.extend_select):
        for code in _selected(selector, known):
            on[code] = max(on.get(code, 0), _specificity(selector))
    off: dict[str, int] = {}
    for selector in settings.ignore:
        for code in codes_of(selector, known, "ignore"):
            off[code] = max(off.get(code, 0), _specificity(selector))
    return frozenset(code for code, weight in on.items() if off.get(code, -1) < weight)


def opinion_codes(settings: Settings, known: Sequence[RuleInfo]) -> frozenset[str]:
    """Return the codes of the opinionated rules that any selector selects."""
    named = frozenset[str]().union(
        *(_selected(selector, known) for selector in (*settings.select, *settings.extend_select))
    )
    return named & {rule.code for rule in known if rule.opinion}


def _selected(selector: str, known: Sequence[RuleInfo]) -> frozenset[str]:
    """Return the codes that a selector selects: `ALL` leaves out the rules that give advice."""
    found = codes_of(selector, known, "select")
    word = selector.strip().upper()
    return found - {rule.code for rule in known if rule.advice and word in {"ALL", rule.prefix}}


def severities(settings: Settings, known: Sequence[RuleInfo]) -> dict[str, str]:
    """Return the severity that is set for rules, by code; the most specific selector counts."""
    selectors = sorted(settings.severity, key=_specificity)
    return {code: settings.severity[one] for one in selectors for code in codes_of(one, known, "severity")}


def _specificity(selector: str) -> int:
    text = selector.strip().upper()
    if text == "ALL":
        return 0
    return EXACT if "-" in text else len(text)  # names have hyphens, and codes none
