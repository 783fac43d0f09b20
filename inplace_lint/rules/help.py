"""The cure of a finding in one line, where no fix says more: by its rule, or from the text of the write."""

from __future__ import annotations

import re

from inplace_lint.core.event import Spelling
from inplace_lint.core.source_lines import split_lines
from inplace_lint.core.span import Span
from inplace_lint.knowledge.facts import Facts
from inplace_lint.knowledge.op import Op
from inplace_lint.rules import written_role
from inplace_lint.rules.draft import NEW_TENSOR, Draft
from inplace_lint.rules.written_role import Role

_AUGMENTED = re.compile(r"^(?P<target>[^=]+?)\s*(?P<op>\*\*|//|>>|<<|[-+*/%@&|^])=\s*(?P<value>.+)$", re.DOTALL)
_METHOD = re.compile(r"^(?P<target>[\w.\[\]]+)\.(?P<name>\w+)_\((?P<args>.*)\)$", re.DOTALL)
_PLAIN = re.compile(r"^([\w.]+(\([^()]*\))?(\[[^\[\]]*\])?|[\d.]+e[-+]?\d+)$")
_LONGEST = 70


def cure(draft: Draft, source: str, span: Span, facts: Facts) -> str:
    """Return the cure of a draft in one line."""
    if draft.help:
        return draft.help
    text = text_at(source, span)
    if len(text) > _LONGEST or "\n" in text:
        return NEW_TENSOR
    role = written_role.of(source, span)
    if role is Role.LOST:
        return NEW_TENSOR
    augmented = _AUGMENTED.match(text) if draft.write.spelled is Spelling.AUGMENTED else None
    if augmented is not None and ("[" not in augmented["target"] or _is_of_container(draft)):
        target, op, value = augmented.group("target", "op", "value")
        right = value if _PLAIN.match(value) else f"({value})"
        return f"use `{target} = {target} {op} {right}`"
    method = _METHOD.match(text)
    if method is not None and "[" not in method["target"] and partner(facts, draft.write.op):
        target, name, args = method.group("target", "name", "args")
        new = f"{target}.{name}({args})"
        return f"use `{new}`" if role is Role.VALUE else f"use `{target} = {new}`"
    written = augmented["target"].partition("[")[0] if augmented is not None else draft.write.symbol
    item = augmented is not None or draft.write.spelled is Spelling.ITEM
    return f"write into a copy of `{written}`" if item and written else NEW_TENSOR


def _is_of_container(draft: Draft) -> bool:
    """Check whether a written item is one of a list or dict, as what made the tensor was no index: `ys[0] += 1`."""
    made = draft.write.producer
    return bool(made) and not made.endswith("__getitem__")


def text_at(source: str, span: Span) -> str:
    """Return the source text of a span."""
    return "\n".join(line.rstrip("\r\n") for line in span.cut(split_lines(source)))


def partner(facts: Facts, op: str) -> str:
    """Return the op that does the same and writes nothing: without the underscore, if there are facts of it."""
    owner, dot, name = op.rpartition(".")
    if not name.endswith("_") or name.endswith("__"):
        return ""
    other = f"{owner}{dot}{name[:-1]}"
    forms = facts.forms(other)
    # What can be left out here, but has a meaning of its own there, is another op without it.
    optional = {argument.name for form in facts.forms(op) for argument in form.args if argument.optional}
    required = {argument.name for form in forms for argument in form.args if not argument.optional}
    return other if any(writes_nothing(form) for form in forms) and not optional & required else ""


def writes_nothing(form: Op) -> bool:
    """Check whether a call writes nothing, unless it is passed an optional argument to write to."""
    optional = {argument.name for argument in form.args if argument.optional}
    return all(write.to in optional for write in form.writes)
