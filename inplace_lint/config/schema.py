"""
The keys of a configuration, with the parser of each value and the error messages.

A parser raises `ValueError` whose text completes "KEY …": `jobs = 0`: "'jobs' must be a positive whole number, not 0".
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, TypeVar

from inplace_lint.config.globs import is_pattern

FORMATS = (
    "full",
    "concise",
    "grouped",
    "json",
    "json-lines",
    "sarif",
    "github",
    "gitlab",
    "junit",
    "azure",
    "rdjson",
    "pylint",
)
COLORS = ("auto", "always", "never")
LANGS = ("en", "zh")
ASSUMPTIONS = ("grad", "no-grad", "unknown")
SEVERITIES = ("error", "warning", "info")
Value = TypeVar("Value")
_CLOSE = 0.65  # `jsn` is json; `lint` is not lang, nor `de` en


class WrongEntryError(ValueError):
    """A wrong value of one `entry` of a table."""

    def __init__(self, entry: str, message: str) -> None:
        super().__init__(message)
        self.entry = entry


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return `, did you mean 'x'?` for the known word closest to a wrong one, or an empty string when none is close."""
    by_lower = {name.lower(): name for name in known}
    close = difflib.get_close_matches(word.lower(), by_lower, n=5, cutoff=_CLOSE)
    if not close:
        return ""
    # Of several that are as close, the one that begins alike: `IPL1O1` is IPL101, and not IPL211.
    best = max(close, key=lambda name: (_likeness(word.lower(), name), _common(word.lower(), name)))
    return f", did you mean {by_lower[best]!r}?"


def _common(one: str, other: str) -> int:
    """Return the length of the common prefix."""
    return next((at for at, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]), len(one))


def _likeness(one: str, other: str) -> float:
    return difflib.SequenceMatcher(a=other, b=one).ratio()


def _of(kind: type[Value], words: str) -> Callable[[object], Value]:
    def parse(value: object) -> Value:
        if isinstance(value, kind):
            return value
        msg = f"{words} {_kind(value)}"
        raise ValueError(msg)

    return parse


_text, _boolean, _table = (
    _of(str, "must be a string, not"),
    _of(bool, "must be true or false, not"),
    _of(dict, "must be a table of calls, not"),
)


def _texts(value: object) -> tuple[str, ...]:
    items = _of(list, "must be a list of strings, not")(value)
    for item in items:
        if not isinstance(item, str):
            msg = f"must be a list of strings, but contains {_kind(item)}"
            raise ValueError(msg)  # noqa: TRY004 - one kind of error for every wrong value
    return tuple(items)


def patterns(values: Iterable[str]) -> tuple[str, ...]:
    """
    Validate patterns with the syntax of `.gitignore`.

    Raises: `ValueError` whose text completes "KEY …", for a lone `!` or backslash.
    """
    for value in (found := tuple(values)):
        if not is_pattern(value):
            raise WrongEntryError(value, f"has {value!r}, which is not a valid file pattern")
    return found


def _excludes(value: object) -> tuple[str, ...]:
    return patterns(_texts(value))


def _path(value: object) -> str:
    text = _text(value)
    if not text.strip():
        msg = "must name an interpreter or a virtual environment, not an empty string"
        raise ValueError(msg)
    return text


def count_of(value: object) -> int:
    """
    Validate a whole number from 1.

    Raises: `ValueError` whose text completes "KEY …".
    """
    if isinstance(value, int) and not isinstance(value, bool) and value >= 1:
        return value
    msg = f"must be a positive whole number, not {value!r}"
    raise ValueError(msg)


def choice_of(value: object, allowed: tuple[str, ...]) -> str:
    """
    Validate a word that is one of those allowed.

    Raises: `ValueError` whose text completes "KEY …", with the nearest allowed word.
    """
    text = _text(value)
    if text not in allowed:
        msg = f"must be one of {', '.join(allowed)}, not {text!r}{did_you_mean(text, allowed)}"
        raise ValueError(msg)
    return text


def assume_of(value: object) -> tuple[str, ...]:
    """
    Validate what is assumed of an input that nobody in sight decides: one word, in a list.

    Raises: `ValueError` whose text completes "KEY …".
    """
    words = tuple(choice_of(word, ASSUMPTIONS) for word in _texts(value))
    if len(set(words)) > 1:
        msg = f"must hold one of {', '.join(ASSUMPTIONS)}, but holds {', '.join(words)}"
        raise ValueError(msg)
    return words


def sentences(value: object) -> tuple[str, ...]:
    """
    Validate parts of the sentences that name assumptions.

    Raises: `ValueError` whose text completes "KEY …".
    """
    found = _texts(value)
    if not all(text.strip() for text in found):
        msg = "must have words of an assumption, such as 'requires grad', and holds an empty string"
        raise ValueError(msg)
    return found


def _names(value: object) -> tuple[str, ...]:
    found = tuple(dict.fromkeys(_texts(value)))
    if not all(text.strip() for text in found):
        msg = "must have names of entry points, and holds an empty string"
        raise ValueError(msg)
    return found


def _severities(value: object) -> Mapping[str, str]:
    table = _of(dict, "must be a table of rules, not")(value)
    for selector, word in table.items():
        try:
            choice_of(word, SEVERITIES)
        except ValueError as error:
            raise WrongEntryError(selector, f"for {selector!r} {error}") from error
    return table


def version(value: object) -> str:
    """
    Validate a framework version such as `2.13.0` or `2.13.0+cpu`.

    Raises: `ValueError` whose text completes "KEY …".
    """
    text = _text(value)
    if re.fullmatch(r"\d+(\.\d+)*([-+.\w]*)", text) is None:
        msg = f"must be a version such as '2.13.0', not {text!r}"
        raise ValueError(msg)
    return text


def _ignores(value: object) -> Mapping[str, tuple[str, ...]]:
    table = _of(dict, "must be a table of patterns, not")(value)
    return {pattern: _rules_of(pattern, table[pattern]) for pattern in patterns(table)}


def _rules_of(pattern: str, value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise WrongEntryError(pattern, f"must have a list of rules for {pattern!r}, not {_kind(value)}")
    return tuple(value)


def _probes(value: object) -> Mapping[str, str]:
    table = _of(dict, "must be a table of files, not")(value)
    for path, probe in table.items():
        if not isinstance(probe, str) or re.fullmatch(r"[\w.]+:[\w.]+", probe) is None:
            raise WrongEntryError(
                path, f"must name a function as `package.module:function` for {path!r}, not {probe!r}"
            )
    return table


def _kind(value: object) -> str:
    names = {bool: "a boolean", int: "a number", float: "a number", str: "a string", list: "a list", dict: "a table"}
    return names.get(type(value), f"a {type(value).__name__}")


ADDITIVE = frozenset({"extend_select"})
KEYS: Mapping[str, Callable[[object], Any]] = {
    "extend": _text,
    "select": _texts,
    "extend-select": _texts,
    "ignore": _texts,
    "severity": _severities,
    "assume": assume_of,
    "only-assuming": sentences,
    "hide-assuming": sentences,
    "rule-plugins": _names,
    "per-file-ignores": _ignores,
    "exclude": _excludes,
    "force-exclude": _boolean,
    "output-format": partial(choice_of, allowed=FORMATS),
    "lang": partial(choice_of, allowed=LANGS),
    "color": partial(choice_of, allowed=COLORS),
    "jobs": count_of,
    "cache": _boolean,
    "cache-dir": _text,
    "baseline": _text,
    "exit-zero": _boolean,
    "fail-on": partial(choice_of, allowed=SEVERITIES),
    "statistics": _boolean,
    "fix": _boolean,
    "fix-only": _boolean,
    "unsafe-fixes": _boolean,
    "show-fixes": _boolean,
    "torch-version": version,
    "paddle-version": version,
    "python": _path,
    "probes": _probes,
    "facts": _texts,
    "fact-packs": _texts,
    "ops": _table,
}
