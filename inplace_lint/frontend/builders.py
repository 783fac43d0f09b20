"""What both front ends make in the same way once its parts are lowered."""

from __future__ import annotations

from collections.abc import Sequence

from inplace_lint.frontend.numbering import Tally
from inplace_lint.ir import nodes as ir
from inplace_lint.ir.scopes import scope_of

Test = tuple[ir.Expr | None, tuple[str, ...]]


def function(
    tally: Tally, at: int, qualname: str, params: tuple[ir.Param, ...], body: tuple[ir.Stmt, ...], *, is_async: bool
) -> ir.Function:
    """Give the function whose definition has the ordinal `at`."""
    local, yields = scope_of(body)
    return ir.Function(
        qualname=qualname,
        params=params,
        body=body,
        slice=tally.slice,
        sha=f"{tally.digest}:{at}",
        local=local | {param.name for param in params},
        is_async=is_async,
        is_generator=yields,
    )


def any_of(at: int, found: Sequence[Test]) -> Test:
    """Give the test of a pattern of alternatives, None if one of them always matches, and the names they capture."""
    binds = tuple(dict.fromkeys(name for _, names in found for name in names))
    tests = tuple(test for test, _ in found if test is not None)
    return (ir.BoolOp(at, "or", tests) if len(tests) == len(found) else None), binds
