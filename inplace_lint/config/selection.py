"""Which rules apply: selectors (`IPL101`, `IPL1`, `modified-after-save`, `ALL`) against the rules that there are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from inplace_lint.config.schema import nearest
from inplace_lint.config.settings import Settings
from inplace_lint.core.errors import ConfigError

EXACT = 100


class Known(NamedTuple):
    """What selection needs to know of a rule: its code and name, whether it applies unasked, and may tell opinions."""

    code: str
    name: str
    default: bool = True
    opinion: bool = False


def codes_of(selector: str, known: Sequence[Known], where: str) -> frozenset[str]:
    """
    Give the codes that a selector names: by code, by a prefix of codes, by name, or `ALL`.

    Raises: `ConfigError` that names the place, the selector and the nearest right one.
    """
    text = selector.strip()
    upper = text.upper()
    if upper == "ALL":
        return frozenset(rule.code for rule in known)
    hit = frozenset(
        rule.code
        for rule in known
        if rule.name == text.lower() or (upper.startswith("IPL") and rule.code.startswith(upper))
    )
    if not hit:
        names = [word for rule in known for word in (rule.code, rule.name)]
        msg = f"{where}: unknown rule {selector!r}{nearest(text, names)}"
        raise ConfigError(msg)
    return hit


def validated(settings: Settings, known: Sequence[Known]) -> Settings:
    """
    Give the settings of a file back when every selector in them names a rule.

    Raises: `ConfigError` that names the file, the key, the selector and the nearest right one.
    """
    lists = {"select": settings.select, "extend-select": settings.extend_select, "ignore": settings.ignore}
    for key, selectors in (
        *lists.items(),
        *(("per-file-ignores", some) for some in settings.per_file_ignores.values()),
    ):
        where = settings.origins.get(key.replace("-", "_"), settings.source)
        for selector in selectors:
            codes_of(selector, known, f"{where}: '{key}'")
    return settings


def selected(settings: Settings, known: Sequence[Known]) -> frozenset[str]:
    """
    Give the codes of the rules that apply.

    Of a selecting and an ignoring selector that both name a rule the more specific one counts: `select = ["IPL101"]`
    with `ignore = ["IPL1"]` leaves IPL101 on. Equally specific, `ignore` counts.
    """
    on = {} if settings.select else {rule.code: 0 for rule in known if rule.default}
    for selector in (*settings.select, *settings.extend_select):
        for code in codes_of(selector, known, "select"):
            on[code] = max(on.get(code, 0), _specificity(selector))
    off: dict[str, int] = {}
    for selector in settings.ignore:
        for code in codes_of(selector, known, "ignore"):
            off[code] = max(off.get(code, 0), _specificity(selector))
    return frozenset(code for code, weight in on.items() if off.get(code, -1) < weight)


def asked_for(settings: Settings, known: Sequence[Known]) -> frozenset[str]:
    """Give the codes of the rules that tell opinions and were selected, by whatever selector."""
    named = frozenset[str]().union(
        *(codes_of(selector, known, "select") for selector in (*settings.select, *settings.extend_select))
    )
    return named & {rule.code for rule in known if rule.opinion}


def _specificity(selector: str) -> int:
    text = selector.strip().upper()
    if text == "ALL":
        return 0
    return len(text) if text.startswith("IPL") else EXACT
