"""IPL211: a write that a transform of the function around it cannot do."""

from __future__ import annotations

from inplace_lint.rules.draft import Repair
from inplace_lint.rules.refused import Refusal, refused

RULE = refused(
    "IPL211",
    "vmap-write",
    Refusal(
        "batched",
        "has no batch dimension, and what is written to it has one",
        "create it from an argument: `x.new_zeros(...)`; or compute a new tensor",
        Repair.NEW_VALUE,
        says=None,  # what it prints depends on the shapes
    ),
    Refusal(
        "captured",
        "was created outside the function that is differentiated, and must not be written inside it",
        "pass it in as an argument and return the new value",
    ),
    traced_as="IPL207",  # a write that is too small for a batch is refused in the words of any other
)
