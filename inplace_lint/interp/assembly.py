"""Assembles the parts of the interpreter into one object, which they call each other through."""

from __future__ import annotations

from inplace_lint.interp.call import calls, instances
from inplace_lint.interp.context import Context
from inplace_lint.interp.control import iteration, statements
from inplace_lint.interp.expr import assignment, attributes, expressions, subscripts
from inplace_lint.interp.fuel import Fuel
from inplace_lint.interp.transfer import apply


class TapeInterpreter:
    """The implementation of `Interpreter`: each method is a function of one of the parts, with no call in between."""

    __slots__ = ("context", "fuel")

    def __init__(self, context: Context) -> None:
        self.context = context
        self.fuel: Fuel = context.fuel

    evaluate = expressions.evaluate
    evaluate_all = expressions.evaluate_all
    execute = statements.execute
    run_in_place = statements.run_in_place
    call = calls.call
    construct = instances.construct
    construct_pending = instances.construct_pending
    apply_op = apply.call_op
    get_attribute = attributes.get
    set_attribute = attributes.set_
    lookup = attributes.lookup
    special_method = attributes.special
    get_item = subscripts.get
    items_of = iteration.items_of
    turns = iteration.turns
    assign = assignment.assign
    make_function = statements.make_function
    make_class = statements.make_class
    class_body = statements.class_body
