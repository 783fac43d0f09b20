"""
Which fix a finding gets, and whether it is safe.

For a write that backward refuses, the computation without the write comes first. Where others must see the write,
backward gets a copy instead: then no value of the program changes. What only the author of the program can decide, such
as the order of steps and backwards, is described in words.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from inplace_lint.core.event import Event, Refused, Spelling, Touch
from inplace_lint.core.finding import Fix
from inplace_lint.core.span import Span
from inplace_lint.fix import copies, flags, modes, operands, order, views
from inplace_lint.fix.context import Case, Fixes, Locate, Rerun, watched
from inplace_lint.fix.plan import Plan, fix_of, is_lost, is_open, is_safe
from inplace_lint.fix.rewrites import exchanged, result_of, rewritten
from inplace_lint.fix.syntax import syntax_at
from inplace_lint.interp.context import Context
from inplace_lint.rules.draft import Draft, Repair


def make_fixes(context: Context, rerun: Rerun, drafts: Sequence[Draft], locate: Locate) -> Fixes:
    """Return a function that makes the fix of a finding; `rerun` is to show what refers to the written tensors."""
    asking = [draft for draft in drafts if draft.repair not in {None, Repair.SET_FLAG}]  # where nothing is written yet
    written = watched(rerun, asking) if asking else {}

    def fix(event: Event, draft: Draft, saves: frozenset[Touch], span: Span, hides: bool) -> Fix | None:
        if draft.repair is None:
            return None
        return FIXERS[draft.repair](Case(event, draft, span, saves, written, context, locate, hides))

    return fix


def _of_stale(case: Case) -> Fix | None:
    """Compute without the write, or let backward keep a copy where others must see the write."""
    saved, plan = copies.at_saves(case), _open(case)
    fed = any(tensor.fed for tensor in case.met())  # what an unknown layer saved of the tensor gets no copy
    if plan is not None and plan.copies and _saves_itself(case, in_calls=True):
        plan = None  # what the statement saves is the copy, and it writes that
    if saved is not None and _saves_itself(case) and (plan is None or plan.exact):
        return fix_of(saved, safe=not fed)  # the statement would save and then write a copy made before it, too
    if plan is not None and is_safe(case, plan):
        return fix_of(plan, safe=True)
    widened = saved is not None and any(tensor.widened for tensor in case.met())
    if plan is None or ((widened or _is_seen(case, saved) or is_lost(case, plan)) and not fed):
        return None if saved is None else fix_of(saved, safe=not fed)
    return fix_of(plan, safe=False)


def _is_seen(case: Case, saved: Plan | None) -> bool:
    """Check whether a caller in the program refers to what is written, and may count on the write."""
    called = case.draft.write.site.caller is not None
    return saved is not None and called and any(tensor.foreign and tensor.others for tensor in case.met())


def _of_parameter(case: Case) -> Fix | None:
    """Let backward keep a copy of what a layer writes in its forward; otherwise name the lines to move."""
    site = case.draft.write.site
    beside = site.caller is not None and {save.site.place.slice for save in case.saves} == {site.place.slice}
    saved = copies.at_saves(case) if case.draft.write.module or beside else None
    return order.proposed(case) if saved is None else fix_of(saved, safe=True)


def _saves_itself(case: Case, *, in_calls: bool = False) -> bool:
    """
    Check whether the statement that writes also saves what it writes: `h[1:] = h[:-1] * k`.

    With `in_calls` what it calls may be what saves: `h[...] = self.block(h)`.
    """
    write = case.draft.write.site.place
    syntax = syntax_at(case, write.slice)
    statement = syntax.statement(syntax.node(write))
    sites = [site for save in case.saves for site in (save.site, *(copies.callers(save.site) if in_calls else ()))]
    saves = [site.place for site in sites if site.place.slice == write.slice]
    return statement is not None and any(syntax.statement(syntax.node(place)) is statement for place in saves)


def _open(case: Case) -> Plan | None:
    plan = rewritten(case)
    if plan is None or (plan.copies and case.hides):  # the write into a copy would be wrong in the other way
        return None
    return plan if is_open(case, plan) else None


def _of_leaf(case: Case) -> Fix | None:
    """Wrap the write in `no_grad`; if the leaf is to receive a gradient, compute a new tensor that something reads."""
    if case.draft.write.spelled is Spelling.AGAIN:
        return None  # the item assignment repeats a write that has a finding of its own
    met = case.met()
    shared = any(tensor.others or tensor.foreign or tensor.param for tensor in met)
    plan = (None if shared else result_of(case)) or copies.where_returned(case, case.draft.write.site)
    if plan is None:
        flows = any(tensor.gradient for tensor in met)
        plan = _open(case) if flows or any(tensor.apart for tensor in met) else None
        # What is written of a view is a part of the leaf.
        unread = not flows if plan is None or plan.copies else is_lost(case, plan)
        plan = modes.without_grad(case) if unread else plan or copies.under_a_name(case)
    return None if plan is None else fix_of(plan, safe=False)


def _of_flag(case: Case) -> Fix | None:
    plan = flags.cleared(case)
    return None if plan is None else fix_of(plan, safe=is_safe(case, plan))


def _of_views(case: Case) -> Fix | None:
    if case.draft.write.flag is not None:
        return _of_flag(case)
    plan = _open(case)
    if plan is not None and plan.copies and any(tensor.bases & plan.binds for tensor in case.met()):
        plan = None  # of a copy the same views would be made
    if plan is not None and not is_lost(case, plan):
        return fix_of(plan, safe=is_safe(case, plan))
    plan = views.one_by_one(case)
    return None if plan is None else fix_of(plan, safe=not case.event.assumptions)


def _returned(case: Case) -> Plan | None:
    origin = case.event.origin if isinstance(case.event, Refused) else None
    return None if origin is None else copies.where_returned(case, origin)


def _anew(case: Case) -> Plan | None:
    """Bind what is written to a new tensor, unless the write is refused and meant for what keeps the old one."""
    plan = _open(case)
    if plan is None or plan.copies or not isinstance(case.event, Refused):
        return plan
    return None if is_lost(case, plan) or any(tensor.kept for tensor in case.met()) else plan


def _computed(case: Case) -> Plan | None:
    """Compute without the write; a copy would be refused like the tensor itself."""
    plan = _open(case)
    return None if plan is None or plan.copies else plan


def _without_overlap(case: Case) -> Plan | None:
    """Replace a call whose result is used by one that does not write; otherwise write from a copy of the operand."""
    plan = result_of(case)
    return operands.copied(case) if plan is None or is_lost(case, plan) else plan


def _unsafe(form: Callable[[Case], Plan | None]) -> Callable[[Case], Fix | None]:
    """Return a fixer whose fixes may change what the program computes."""

    def fixer(case: Case) -> Fix | None:
        plan = flags.cleared(case) if case.draft.write.flag is not None else form(case)
        return None if plan is None else fix_of(plan, safe=False)

    return fixer


def _advised(case: Case) -> Fix | None:
    """Write in place: nothing is wrong as it stands, so that it is for the user to ask for the change."""
    plan = flags.set_on(case)
    return None if plan is None else fix_of(plan, safe=False)


FIXERS: Mapping[Repair, Callable[[Case], Fix | None]] = {
    Repair.NEW_TENSOR: _unsafe(_anew),
    Repair.RESULT: _unsafe(result_of),
    Repair.NEW_VALUE: _unsafe(_computed),
    Repair.NEW_TENSOR_OR_COPY: _of_stale,
    Repair.FLAG: _of_flag,
    Repair.PARAMETER: _of_parameter,
    Repair.ORDER: order.proposed,
    Repair.COPY_AT_SAVE: _unsafe(copies.at_saves),
    Repair.COPY_WHERE_KEPT: _unsafe(copies.where_kept),
    Repair.WITHOUT_GRAD: _of_leaf,
    Repair.UNRECORDED: _unsafe(modes.without_grad),
    Repair.MODE: _unsafe(modes.without_inference),
    Repair.RETURN_COPY: _unsafe(_returned),
    Repair.TENSOR_OPERAND: _unsafe(operands.made_tensor),
    Repair.SET_FLAG: _advised,
    Repair.LEAVE_OUT: _unsafe(flags.left_out),
    Repair.VIEW_ALONE: _of_views,
    Repair.COPY_OPERAND: _unsafe(_without_overlap),
    Repair.REBIND: _unsafe(exchanged),
    Repair.ASSIGN: _unsafe(modes.assigned),
}
