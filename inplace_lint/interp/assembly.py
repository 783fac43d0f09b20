"""Assembles the parts of the interpreter into one object, which they call each other through."""

from __future__ import annotations

from inplace_lint.interp.announcements import Listeners, to_all
from inplace_lint.interp.call import calls, instances
from inplace_lint.interp.checkers import (
    accumulated,
    alias_query,
    clobbered,
    escaped,
    kept_aliases,
    kept_states,
    kept_values,
    lost_slope,
    lost_update,
    overlapped,
    passed_twice,
    unknown_steps,
)
from inplace_lint.interp.checkers.alias_query import AliasQuery
from inplace_lint.interp.checkers.kept import models, together
from inplace_lint.interp.checkers.opportunities import Opportunities
from inplace_lint.interp.context import Context
from inplace_lint.interp.control import iteration, statements, truth_values
from inplace_lint.interp.expr import assignment, attribute_targets, attributes, expressions, subscripts
from inplace_lint.interp.fuel import Fuel
from inplace_lint.interp.transfer import apply


class TapeInterpreter:
    """
    The implementation of `Interpreter`: each method is a function of one of the parts, with no call in between.

    With `opinions`, writes that are no fault are reported as well. `query` listens to all writes, and
    `opportunities` to all calls that write nothing.
    """

    __slots__ = ("context", "fuel", "listeners")

    def __init__(
        self,
        context: Context,
        *,
        opinions: bool = False,
        query: AliasQuery | None = None,
        opportunities: Opportunities | None = None,
    ) -> None:
        self.context = context
        self.fuel: Fuel = context.fuel
        self.fuel.thorough = opportunities is not None
        self.listeners = subscribe(query, opportunities, opinions=opinions)

    evaluate = expressions.evaluate
    condition = truth_values.condition
    truth_of = truth_values.truth_of
    evaluate_all = expressions.evaluate_all
    execute = statements.execute
    run_in_place = statements.run_in_place
    call = calls.call
    construct = instances.construct
    construct_pending = instances.construct_pending
    apply_op = apply.call_op
    get_attribute = attributes.get
    set_attribute = attribute_targets.set_
    lookup = attributes.lookup
    special_method = attributes.special
    get_item = subscripts.get
    items_of = iteration.items_of
    turns = iteration.collected
    assign = assignment.assign
    make_function = statements.make_function
    make_class = statements.make_class
    class_body = statements.class_body


_WRITES = (
    kept_values.write,
    kept_states.write,
    overlapped.write,
    lost_slope.write,
    lost_update.write,
    passed_twice.write,
)


def subscribe(query: AliasQuery | None, spared: Opportunities | None, *, opinions: bool) -> Listeners:
    """Return who listens to what: those of one announcement are called in the order in which they stand here."""
    return Listeners(
        bind=kept_values.bind,
        spread=clobbered.spread,
        turn=clobbered.turn,
        leave=models.leave,
        augment=to_all(lost_update.augment, accumulated.augment),
        combine=accumulated.combine,
        store=kept_values.store,
        collect=kept_values.collect,
        put_again=together.put_again,
        gather=together.gather,
        yielded=kept_values.yielded,
        repeat=kept_values.repeat,
        set_attribute=to_all(kept_values.set_attribute, models.set_attribute),
        hand_over=to_all(*(one.hand_over for one in (query, spared) if one is not None)),
        called=unknown_steps.called,
        read=to_all(kept_values.read, kept_aliases.read, clobbered.read),
        compare=to_all(kept_values.compare, kept_aliases.compare),
        record=kept_values.record,
        result=spared.result if spared is not None else to_all(),
        attempt=alias_query.attempt if query is None else query.attempt,
        write=to_all(*_WRITES, *([escaped.write] if opinions else [])),
        replace=lost_slope.replace,
        give_back=kept_values.give_back,
        finish=spared.finish if spared is not None else to_all(),
        read_state=kept_states.read_state,
        load_state=kept_states.load_state,
        differentiate=lost_slope.differentiate,
        accumulate=unknown_steps.accumulate,
        step=unknown_steps.step,
        change_gradients=kept_states.change_gradients,
    )
