"""The cure of a finding in one line, from the source text of the write."""

from __future__ import annotations

import re

from inplace_lint.core.span import Span
from inplace_lint.frontend.slices import split_lines
from inplace_lint.rules.draft import Draft

_AUGMENTED = re.compile(r"^(?P<target>[^=]+?)\s*(?P<op>\*\*|//|>>|<<|[-+*/%@&|^])=\s*(?P<value>.+)$", re.DOTALL)
_METHOD = re.compile(r"^(?P<target>[\w.\[\]]+)\.(?P<name>\w+)_\((?P<args>.*)\)$", re.DOTALL)
_PLAIN = re.compile(r"^[\w.]+(\([^()]*\))?(\[[^\[\]]*\])?$")
_LONGEST = 70


def cure(draft: Draft, source: str, span: Span, has_partner: bool) -> str:
    """
    Say how to write it instead; empty when nothing simple is right.

    `has_partner`: there is an op that does the same and writes nothing.
    """
    if draft.help:
        return draft.help
    text = text_at(source, span)
    if len(text) > _LONGEST or "\n" in text:
        return "make a new tensor instead of writing in place"
    augmented = _AUGMENTED.match(text) if draft.write.spelled == "augmented" else None
    if augmented is not None:
        target, op, value = augmented.group("target", "op", "value")
        if "[" in target:
            return (
                f"write into a copy: `{target.partition('[')[0]} = {target.partition('[')[0]}.clone()` before this line"
            )
        right = value if _PLAIN.match(value) else f"({value})"
        return f"use `{target} = {target} {op} {right}`"
    method = _METHOD.match(text)
    if method is not None and has_partner:
        target, name, args = method.group("target", "name", "args")
        return f"use `{target} = {target}.{name}({args})`"
    if draft.write.spelled == "item" and draft.write.symbol:
        return f"write into a copy: `{draft.write.symbol} = {draft.write.symbol}.clone()` before this line"
    return "make a new tensor instead of writing in place"


def text_at(source: str, span: Span) -> str:
    """Give the source text of a span."""
    return "\n".join(line.rstrip("\r\n") for line in span.cut(split_lines(source)))
