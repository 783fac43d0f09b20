"""IPL208: a result that is written into `out=` while gradients are recorded."""

from __future__ import annotations

from inplace_lint.core.event import Event, Refused
from inplace_lint.rules.draft import Draft
from inplace_lint.rules.refused import refused


def judge(event: Event) -> Draft | None:
    """Speak of a write that the framework refuses by this check."""
    if not isinstance(event, Refused) or event.check != "out_grad":
        return None
    return refused(
        event,
        "is given as `out=` of a call on tensors that require grad, which autograd does not support",
        "drop `out=` and use the result, or call it under `no_grad`",
    )
