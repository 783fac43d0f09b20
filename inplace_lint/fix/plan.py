"""A plan: the edits of a possible fix, and the checks whether it is possible, safe and keeps what is meant."""

from __future__ import annotations

from collections.abc import Iterable

import libcst as cst
from msgspec import Struct

from inplace_lint.core.finding import Applicability, Edit, Fix
from inplace_lint.fix.context import Case
from inplace_lint.fix.syntax import node_at
from inplace_lint.interp.checkers.alias_query import WrittenTensor


class Plan(Struct, frozen=True):
    """
    Edits, the sentence about them, and what is known of them.

    `binds` are the variables and attributes that refer to the new tensor afterwards. `exact`: the new tensor has the
    dtype of the old one, whatever is computed. `certain`: the edits affect no other code. `owns`: the program binds the
    same names anyway, or they are items of a container. `copies`: the program writes as before, into a copy.
    """

    edits: tuple[Edit, ...]
    message: str
    binds: frozenset[str] = frozenset()
    exact: bool = False
    certain: bool = True
    owns: bool = False
    copies: bool = False


def fix_of(plan: Plan, *, safe: bool) -> Fix:
    """Return the fix of a plan; it is safe only if the plan is certain."""
    safe = safe and plan.certain
    return Fix(Applicability.SAFE if safe else Applicability.UNSAFE, plan.message, _sorted(plan.edits))


def _sorted(edits: Iterable[Edit]) -> tuple[Edit, ...]:
    return tuple(sorted(set(edits), key=lambda edit: edit.span))


def is_safe(case: Case, plan: Plan) -> bool:
    """
    Check that nothing else refers to the tensor that is no longer written, and that its value stays the same.

    Nothing: no other variable that is read later, no attribute, container or caller, no larger tensor.
    """
    met = case.met()
    return bool(met) and all(_is_alone(case, plan, tensor) for tensor in met)


def _is_alone(case: Case, plan: Plan, tensor: WrittenTensor) -> bool:
    if tensor.others or tensor.foreign or tensor.base or tensor.param or _live(case, tensor, tensor.bases - plan.binds):
        return False
    if tensor.unrecorded and plan.binds:
        return False
    if not plan.exact and (tensor.cast or tensor.widened or not tensor.floating):
        return False
    return not _live(case, tensor, _names(tensor) - plan.binds)


def _names(tensor: WrittenTensor) -> frozenset[str]:
    return tensor.names | ({tensor.owner} if tensor.owner else set())


def _live(case: Case, tensor: WrittenTensor, names: Iterable[str]) -> bool:
    """Check whether any of these names is read after the call; an attribute counts as read."""
    syntax, node = node_at(case, tensor.call)
    statement = syntax.statement(node) or node
    return any("." in name or syntax.is_live(name, statement) for name in names)


def is_open(case: Case, plan: Plan) -> bool:
    """
    Check whether the written name can be bound to another tensor at all.

    A parameter cannot, nor what a library needs, nor a variable of another function, nor an item of a tuple. Where the
    write is not recorded, a new tensor would lose the history of the old one.
    """
    met = case.met()
    if plan.binds and any(tensor.fixed for tensor in met):
        return False
    fixed = [tensor for tensor in met if (tensor.param and not tensor.apart) or (tensor.bound and "." in tensor.owner)]
    if any(tensor.owner in plan.binds for tensor in fixed) or any(tensor.unrecorded for tensor in met):
        return False
    return plan.owns or not plan.binds or all(tensor.owner in plan.binds for tensor in met)


def is_lost(case: Case, plan: Plan) -> bool:
    """
    Check whether the effect that the program wants of the write would be lost.

    It is where this function writes a part of a larger tensor, which is meant to change, or where it never reads the
    tensor again: then it is written for other code.
    """
    met = case.met()
    if any((one.base and one.taken) or _live(case, one, one.bases - plan.binds) for one in met):
        return True
    if plan.owns and all(tensor.item for tensor in met):
        return False
    elsewhere = any(one.foreign or one.others or one.base or one.names - plan.binds for one in met)
    return elsewhere and not any(_looked_at(case, tensor, plan.binds or _names(tensor)) for tensor in met)


def _looked_at(case: Case, tensor: WrittenTensor, names: Iterable[str]) -> bool:
    syntax, node = node_at(case, tensor.call)
    statement = syntax.statement(node) or node
    used = not isinstance(statement, cst.Expr | cst.AugAssign) and not isinstance(node, cst.Subscript)

    def writes(method: str) -> bool:
        forms = case.facts.forms(f"{case.facts.framework.tensor}.{method}")
        return bool(forms) and all(form.writes for form in forms)

    return used or any("." in name or syntax.is_looked_at(name, statement, writes) for name in names)
