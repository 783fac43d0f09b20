"""
What a rule is: all that the rest of the tool has to know about it, as data.

A rule is one module with its `RULE`: a function `judge`, or a table of checks where the framework refuses the write.
Nothing outside this package compares a code or a name with a string: what other code must know of a rule is a field.

    RULE = Rule("IPL402", "checkpoint-write", Harm.SILENT, judge, variants=(Variant.DIRECT,))
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from pathlib import Path

from msgspec import Struct

from inplace_lint.core.event import Event, Failure
from inplace_lint.core.finding import Severity
from inplace_lint.rules.draft import Draft

Judge = Callable[[Event], "Draft | None"]


class Harm(Enum):
    """What happens to a program that has the fault; it bounds the severity of the findings."""

    BACKWARD = "backward"  # backward raises
    AT_WRITE = "at_write"  # the write itself raises
    SILENT = "silent"  # nothing raises, and numbers are wrong
    STYLE = "style"  # nothing is wrong
    IMPORT = "import"  # the file cannot be imported

    @property
    def severity(self) -> Severity:
        """The highest severity: what raises is an error, what does not is never above a warning, style is info."""
        if self is Harm.SILENT:
            return Severity.WARNING
        return Severity.INFO if self is Harm.STYLE else Severity.ERROR


class Variant(Enum):
    """
    A variant of a program that does not have the fault: `--confirm` compares its numbers with those of the program.

    `live.child.variants` makes them, in a process that cannot import this module: the values are what it is told.
    """

    WRITE = "write"  # the written tensor is copied first
    RECORDED = "recorded"  # the same, and gradients flow through the write
    REBOUND = "rebound"  # the new value is bound to the name, and nothing is written
    APART = "apart"  # a call whose value is used writes into a copy
    ALIAS = "alias"  # the second name, or what is kept, gets a copy
    BOUND = "bound"  # the same, where the name that is read there is bound
    STORED = "stored"  # what is written to the copy that an index made is stored back
    OPERAND = "operand"  # the operands of the write are copied first
    ALLOWED = "allowed"  # the same, and what is refused all the same runs unrecorded, or not at all
    DETACHED = "detached"  # what is written has no history
    RESTARTED = "restarted"  # the written tensor has no history before the write
    UPDATE = "update"  # an augmented assignment writes into the parameter
    UNDONE = "undone"  # backward gets the values from before the write
    DIRECT = "direct"  # checkpointed functions run once
    UNCOMPILED = "uncompiled"  # nothing is compiled
    INPLACE = "inplace"  # the call writes in place


class Rule(Struct, frozen=True):
    """
    A rule; code and name are fixed for ever.

    `judge` makes a draft of a finding from an event that the rule is about, and returns None for any other.
    `default` is false for a rule that applies only if it is selected. `opinion`: it may report what is no fault.
    `checks` are those of the framework that fail. `provable`: `--confirm` can run code to confirm or refute a finding.
    `variants` are the variants of the program in which the fault is not there, the likeliest first. `traced_as` is
    another code under which a trace of a run may report the same fault, where a trace cannot tell the two apart.
    `supersedes` is the code of the rule about the same write in code that is not compiled: its finding is dropped where
    this rule has one, and `--confirm` expects it from the program when nothing is compiled.
    `yields_to_errors`: a finding is dropped where another rule has an error at the same place, and `yields_to` where
    the rule with this code has a finding there. `unanimous`: it gives advice, which holds only if all that reach its
    place agree; one finding with an assumption, and there is none.
    `page` is the file of its documentation, and `url` the address of that; for a rule of ours, both follow from its
    name.
    """

    code: str
    name: str
    harm: Harm
    judge: Judge
    default: bool = True
    opinion: bool = False
    checks: tuple[Failure, ...] = ()
    provable: bool = True
    variants: tuple[Variant, ...] = ()
    traced_as: str = ""
    supersedes: str = ""
    yields_to_errors: bool = False
    yields_to: str = ""
    unanimous: bool = False
    page: Path | None = None
    url: str = ""
