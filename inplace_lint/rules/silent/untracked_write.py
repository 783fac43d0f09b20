"""IPL302: a write that changes what backward needs, and that autograd does not notice."""

from __future__ import annotations

from inplace_lint.core.event import Event, Untracked
from inplace_lint.core.finding import Role
from inplace_lint.rules.draft import WRITE_PARAMETER, Draft, Mark, Repair, kept, named, ran, short, write_label
from inplace_lint.rules.rule import Harm, Rule, Variant


def judge(event: Event) -> Draft | None:
    """Report a changed save for which nothing raises; parameters have a rule of their own."""
    if not isinstance(event, Untracked) or (event.write.param and event.write.flag is None):
        return None
    write, save, op = event.write, event.save, short(event.save.op)
    is_attribute = save.part == "attribute"
    what = "kept as an attribute of the context, which is never checked" if is_attribute else kept(save)
    cure = "write into a `clone()`; or write after backward"
    if save.param:
        cure = WRITE_PARAMETER
    return Draft(
        message=f"{named(write.symbol)} is overwritten unnoticed, and backward of `{op}` uses the new value",
        write=write,
        label=write_label(write, save),
        related=(Mark(Role.SAVE, save.site.place, f"saved here: {what}"), *ran(write)),
        help="" if event.array and not save.param else cure,  # the array is copied: whoever reads the tensor sees it
        assumptions=event.assumptions,
        repair=None if save.param or event.array else Repair.COPY_AT_SAVE,
    )


RULE = Rule("IPL302", "untracked-write", Harm.SILENT, judge, variants=(Variant.UNDONE, Variant.WRITE))
