"""
Advice on which lines to move where a parameter changes before the backward that needs it.

    first.step()                     # line 11: move line 11 below line 12
    value_loss.backward()            # line 12

It is text and no edit: only the author can decide whether another order means the same.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from inplace_lint.core.event import Site, Stale, Untracked
from inplace_lint.core.finding import Applicability, Fix
from inplace_lint.core.span import Span
from inplace_lint.fix.context import Case
from inplace_lint.fix.syntax import node_at, syntax_at
from inplace_lint.workspace.notebook import SUFFIX

_LONGEST = 4  # lines: a longer statement does more than update parameters


def proposed(case: Case) -> Fix | None:
    """Return a fix without edits that names the lines; None where write and backward are not in one file."""
    event = case.event
    if not isinstance(event, Stale | Untracked) or event.backward is None or case.span.path.endswith(SUFFIX):
        return None
    write, backward = event.write.site, event.backward
    if backward.place.slice.path != case.span.path:
        return None
    both = _side_by_side(case, write, backward)
    if both is not None and both[0].end_line >= both[1].line:
        return None  # an iteration runs the backward of what the iteration before it saved
    update, run = both if both is not None else (_span(case, write), _span(case, backward))
    if both is None or update.end_line - update.line >= _LONGEST:
        message = f"run the backward in line {run.line} before line {_span(case, write).line}"
    elif update.line == update.end_line:
        message = f"move line {update.line} below line {run.end_line}: the backward there still needs the old values"
    else:
        first, last, below = update.line, update.end_line, run.end_line
        message = f"move lines {first} to {last} below line {below}: the backward there still needs the old values"
    return Fix(Applicability.DISPLAY, message, ())


def _side_by_side(case: Case, write: Site, backward: Site) -> tuple[Span, Span] | None:
    """Return the statements of one block that contain the write and the backward, or a call that leads to it."""
    mine = _ways(case, write)
    for site in _callers(backward):
        ways = dict(_ways(case, site))
        shared = next(((span, ways[block]) for block, span in mine if block in ways), None)
        if shared is not None:
            return shared
    return None


def _ways(case: Case, site: Site) -> list[tuple[cst.CSTNode | str, Span]]:
    """Return each block around a place, up to its function, with the statement of the block that contains the place."""
    syntax, node = node_at(case, site.place)
    found: list[tuple[cst.CSTNode | str, Span]] = []
    inner = node
    for around in syntax.above(node):
        if isinstance(around, cst.Module):
            found.append((site.place.slice.path, syntax.span(inner)))
        elif isinstance(around, cst.IndentedBlock):
            found.append((around, syntax.span(inner)))
        if isinstance(around, cst.FunctionDef):
            break
        inner = around
    return found


def _span(case: Case, site: Site) -> Span:
    syntax = syntax_at(case, site.place.slice)
    return syntax.span(syntax.node(site.place))


def _callers(site: Site | None) -> Iterator[Site]:
    while site is not None:
        yield site
        site = site.caller
