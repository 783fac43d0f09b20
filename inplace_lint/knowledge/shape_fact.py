"""
The shape of a result, as a fact writes it: a rule and the arguments that it reads.

    "shape": "reduce(input, dim, keepdim)"
"""

from __future__ import annotations

import ast
from functools import cache

from msgspec import Struct

from inplace_lint.core.errors import FactError
from inplace_lint.knowledge.schema import mistyped, unknown
from inplace_lint.knowledge.words import ShapeRule


class ShapeFact(Struct, frozen=True):
    """A rule with the names of arguments, or numbers, in the order in which the rule takes them."""

    rule: ShapeRule
    args: tuple[str | int, ...]

    @property
    def counts(self) -> tuple[str | int, ...]:
        """The arguments that are sizes, axes or flags: numbers, and no tensors."""
        if self.rule is ShapeRule.SIZES:
            return self.args
        return () if self.rule in _OF_TENSORS else self.args[1:]


_OF_TENSORS = frozenset({
    ShapeRule.BROADCAST, ShapeRule.EINSUM, ShapeRule.GRID, ShapeRule.INDEX, ShapeRule.MATMUL, ShapeRule.REARRANGE,
})  # fmt: skip


@cache
def parse_shape(text: str) -> ShapeFact:
    """
    Parse a shape.

    Raises: `FactError` for an unknown rule, or what is no rule with arguments.
    """
    if not isinstance(text, str):
        raise mistyped(text, "a shape")
    try:
        call = ast.parse(text, mode="eval").body
    except SyntaxError:
        call = None  # as anything that is no call
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.keywords:
        msg = f'"{text}" is not a shape: write a rule and its arguments, as "like(input)"'
        raise FactError(msg)
    if call.func.id not in {*ShapeRule}:
        raise unknown(call.func.id, "rule of a shape", ShapeRule)
    return ShapeFact(ShapeRule(call.func.id), tuple(_argument(arg) for arg in call.args))


def _argument(arg: ast.expr) -> str | int:
    value = ast.literal_eval(arg) if not isinstance(arg, ast.Name | ast.Attribute) else ast.unparse(arg)
    if not isinstance(value, str | int):
        msg = f'"{ast.unparse(arg)}" is not an argument of a shape: write a name or a number'
        raise FactError(msg)
    return value
