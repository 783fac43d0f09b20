"""IPL209: a write to an input or output of a module with a full backward hook."""

from __future__ import annotations

from dataclasses import replace

from inplace_lint.core.event import Event
from inplace_lint.rules.draft import Draft, Repair, flag_cure
from inplace_lint.rules.refused import Refusal, refused
from inplace_lint.rules.rule import Harm, Rule

_refused = refused(
    {
        "hooked_view": Refusal(
            "passes through a full backward hook, which makes it a view, and in-place writes to it are refused",
            repair=Repair.VIEW_ALONE,
        )
    }
)


def judge(event: Event) -> Draft | None:
    """Report a write that the framework refuses because of a hook."""
    draft = _refused(event)
    return None if draft is None else replace(draft, help=flag_cure(draft.write))


RULE = Rule("IPL209", "hooked-inplace", Harm.AT_WRITE, judge)
