"""
Names of a library that a program completes with a number it was given: `getattr(nn, f"Conv{dim}d")`.

What a text is known to be beside its unknown parts follows from how the text was made. The names that fit it differ in
a number alone, and stand for layers that differ in the number of their axes.
"""

from __future__ import annotations

import re
from collections.abc import Hashable
from string import Formatter

from inplace_lint.domain import origins
from inplace_lint.domain.state import State
from inplace_lint.domain.values import Const, Sym, Value
from inplace_lint.knowledge.facts import Facts

_NUMBER = r"\d+"
_PRINTED = re.compile(r"%[-#0 +]*\d*(?:\.\d+)?[a-zA-Z]")
_MOST = 4


def complete(facts: Facts, owner: str, form: str) -> str | None:
    """
    Return the name of a library below `owner` that fits the form of a text; None if none does, or too many.

    IMPRECISE: it is the middle one, with the axes that most programs have.
    """
    fits = re.compile(re.escape(f"{owner}.") + form).fullmatch
    found = sorted(known for known in facts.rows if fits(known))
    return found[len(found) // 2].rpartition(".")[2] if 0 < len(found) <= _MOST else None


def form_of(state: State, value: Value) -> str | None:
    """Return a pattern of what a text is, with numbers for its unknown parts; None if it is not known to start so."""
    form = _form(state, value)
    return None if form is None or form.startswith(_NUMBER) else form


def _form(state: State, value: Value) -> str | None:
    """Return a pattern of what a text may be, with numbers for what is not known of it; None if nothing is known."""
    match value:
        case Const(str() as text):
            return re.escape(text)
        case Sym():
            return _of_key(state, state.symbols.key(value))
        case _:
            return None


def _of_key(state: State, key: Hashable) -> str | None:
    match key:
        case (origins.FORMAT, _, str() as template, *_) if template:
            return _of_template(template)
        case (origins.METHOD, "format", str() as template, *_):
            return _of_template(template)
        case (origins.BINARY, "%", Const(str() as template), _):
            return _NUMBER.join(map(re.escape, _PRINTED.split(template)))
        case (origins.BINARY, "+", Const() | Sym() as left, Const() | Sym() as right):
            parts = [_form(state, part) for part in (left, right)]
            return "".join(part or _NUMBER for part in parts) if any(parts) else None
        case _:
            return None


def _of_template(template: str) -> str | None:
    try:
        parts = list(Formatter().parse(template))
    except ValueError:
        return None
    return "".join(re.escape(text) + ("" if field is None else _NUMBER) for text, field, _, _ in parts)
