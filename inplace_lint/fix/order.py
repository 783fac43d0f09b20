"""
Advice where a parameter changes between the forward that saved it and the backward that needs it.

    loss_g = -D(fake).mean()         # line 9
    opt_d.step()                     # line 12: run the forward of line 9 again after line 12
    loss_g.backward()                # line 14

About steps it is text and no edit: which weights a backward is meant for, only the author can decide.
"""

from __future__ import annotations

import itertools
import keyword
import re
from collections.abc import Iterator
from typing import NamedTuple

import libcst as cst

from inplace_lint.core.event import Site, Stale, Touch, Untracked
from inplace_lint.core.finding import Applicability, Edit, Fix
from inplace_lint.core.source_lines import split_lines
from inplace_lint.core.span import Place, Span
from inplace_lint.fix.context import Case
from inplace_lint.fix.syntax import Syntax, dotted, node_at
from inplace_lint.rules.draft import is_step
from inplace_lint.workspace.notebook import SUFFIX

_LONGEST = 4  # lines: a longer statement does more than update parameters
_WORD = re.compile(r"[^\W\d]\w*")


class _Step(NamedTuple):
    """A statement on the way to a place, and the block that it is part of: a node, or the path of a module."""

    block: cst.CSTNode | str
    node: cst.CSTNode
    span: Span
    syntax: Syntax


def proposed(case: Case) -> Fix | None:
    """Return a fix without edits that says what to do; None where write and backward are not in one file."""
    event = case.event
    if not isinstance(event, Stale | Untracked) or event.backward is None or case.span.path.endswith(SUFFIX):
        return None
    shared = _shared(list(_ways(case, event.write.site)), list(_ways(case, event.backward)))
    if shared is None:
        return None
    update, run = shared
    saves = (
        next((step for step in _ways(case, _ran(save)) if step.block == update.block), None) for save in case.saves
    )
    forward = min((step for step in saves if step is not None), key=lambda step: step.span, default=None)
    if update.span.end_line >= run.span.line:
        return _of_turns(case, _ran(event.save), update, run, forward)
    as_step = is_step(event.write) or _reads_gradient(case, event.write.site, update)
    return (_of_step if as_step else _of_write)(case, update, run, forward)


def _ran(save: Touch) -> Site | None:
    """Return where the operation ran that saved; of a part of a container, that is where the container was called."""
    return save.site.caller if save.built else save.site


def _reads_gradient(case: Case, site: Site, update: _Step) -> bool:
    """Check whether the statements that write read a gradient, which the backward after them would change."""
    inner = itertools.takewhile(lambda step: step.block != update.block, _ways(case, site))
    return any(
        isinstance(node, cst.Attribute) and node.attr.value == "grad"
        for step in (*inner, update)
        for node in step.syntax.within(step.node)
    )


def _of_turns(case: Case, save: Site | None, update: _Step, run: _Step, forward: _Step | None) -> Fix | None:
    """Say what to do where an iteration runs the backward of what was computed before it began."""
    if forward is None:
        text = "run the forward again in each iteration, before its backward"
        if names := _read_after(case, update):
            text = (
                f"`detach()` {names} before the loop, "
                f"if the backward in line {_backward_line(case, run)} is not to train what computed this; or {text}"
            )
        return Fix(Applicability.DISPLAY, text, ())
    inner = (_carried(step) for step in _ways(case, save))
    carried = _carried(forward) or next((name for name in inner if "." in name), "")
    text = (
        f"`detach()` each tensor of `{carried}` before the next iteration: "
        f"its graph needs the weights before line {update.span.line}"
    )
    return Fix(Applicability.DISPLAY, text, ()) if carried else None


def _of_step(case: Case, update: _Step, run: _Step, forward: _Step | None) -> Fix:
    """Say how to compute with the new weights, and with the old ones where each loss has parameters of its own."""
    step, below = update.span.end_line, _backward_line(case, run)
    if forward is None:
        text = f"run the forward again after line {step}, for the backward in line {below}"
        return Fix(Applicability.DISPLAY, text, ())
    first = forward.span.line
    # What the loss is computed from in further lines has the old values, too.
    has_more = _words(case, run.span.line, run.span.end_line).isdisjoint(_bound(forward.syntax, forward.node))
    if has_more:
        again = (
            f"run the forward of line {first} and what is computed from it again after line {step}, "
            f"for the backward in line {below}"
        )
    else:
        again = f"run the forward of line {first} again after line {step}, for the backward in line {below}"
    if _is_plain(case, update, run):
        again = f"{again}; or move line {step} below line {below}, and pass each `backward` its parameters as `inputs`"
    if names := _read_after(case, update):
        again = (
            f"`detach()` {names} below line {step}, "
            f"if the backward in line {below} is not to train what computed this; or {again}"
        )
    return Fix(Applicability.DISPLAY, again, ())


def _backward_line(case: Case, run: _Step) -> int:
    """Return the line of the backward, or of the call that leads to it, in a statement: `if late: loss.backward()`."""
    site = case.event.backward if isinstance(case.event, Stale | Untracked) else None
    lines = (step.span.line for step in _ways(case, site))
    return next((line for line in lines if run.span.line <= line <= run.span.end_line), run.span.line)


def _read_after(case: Case, update: _Step) -> str:
    """Return the variables through which a later loss needs what the step overwrote; empty if one has no name."""
    reading, found = case.event.read if isinstance(case.event, Stale | Untracked) else None, dict[str, None]()
    if reading is None:
        return ""
    for site in reading.sites:
        step = next((one for one in _ways(case, site) if one.block == update.block), None)
        reads = [] if step is None else [name for name in _reads(step) if name.rpartition(".")[2] in reading.names]
        if not reads:
            return ""
        found.update(dict.fromkeys(reads))
    return ", ".join(f"`{name}`" for name in found)


def _reads(step: _Step) -> list[str]:
    """Return the variables and chains of attributes that a statement reads, as long as they are spelled."""
    nodes = [node for node in step.syntax.within(step.node) if not _is_target(step.syntax, node)]
    return [dotted(node) for node in nodes if getattr(step.syntax.parents[node], "attr", None) is not node]


def _is_plain(case: Case, update: _Step, run: _Step) -> bool:
    """Check whether step and backward stand in these very lines, and no line between is about the same optimizer."""
    event = case.event
    if not isinstance(event, Stale) or event.backward is None or update.span.line != update.span.end_line:
        return False
    places = (event.write.site.place.slice.path, event.backward.place.slice.path)
    between = _words(case, update.span.end_line + 1, run.span.line - 1)
    lines = (_span(case, event.write.site).line, _span(case, event.backward).line)
    return (
        places == (case.span.path, case.span.path)
        and lines == (update.span.line, run.span.line)
        and bool(event.write.symbol)
        and event.write.symbol.rpartition(".")[2] not in between
        and case.is_optional(f"{case.facts.framework.tensor}.backward", "inputs")
    )


def _of_write(case: Case, update: _Step, run: _Step, forward: _Step | None) -> Fix | None:
    """Name the lines to move: those of the write alone, if what is between it and the backward is about others."""
    first, last, below = update.span.line, update.span.end_line, run.span.end_line
    if forward is not None and forward.span == update.span:  # the forward itself writes
        text = f"write after the backward in line {_backward_line(case, run)}, not within the forward in line {first}"
        return Fix(Applicability.DISPLAY, text, ())
    if last - first >= _LONGEST - 1 or _words(case, first, last) & _words(case, last + 1, run.span.line - 1):
        if forward is None:
            return None
        before, after = forward.span.line, run.span.line
        text = f"write before the forward in line {before}; or write after the backward in line {after}"
        return Fix(Applicability.DISPLAY, text, ())
    if first == last:
        text = f"move line {first} below line {below}: the backward there still needs the old values"
    else:
        text = f"move lines {first} to {last} below line {below}: the backward there still needs the old values"
    if not all(_is_whole(step.node) for step in (update, run)):
        return Fix(Applicability.DISPLAY, text, ())
    return Fix(Applicability.UNSAFE, text, _moved(update, run))


def _moved(update: _Step, run: _Step) -> tuple[Edit, Edit]:
    """Return the edits that move the whole lines of a statement below another one."""
    first, last = (update.syntax.start(update.node)[0], 0), (update.syntax.end(update.node)[0] + 1, 0)
    text, below = update.syntax.between(first, last), (run.syntax.end(run.node)[0] + 1, 0)
    if not run.syntax.located.lines[run.span.end_line - 1].endswith(("\n", "\r")):  # the last line of the file
        line = text.rstrip("\r\n")
        text = text[len(line) :] + line
    return update.syntax.erase(first, last), run.syntax.insert(below, text)


def _is_whole(node: cst.CSTNode) -> bool:
    """Check whether a statement has its lines to itself."""
    return not isinstance(node, cst.SimpleStatementLine) or len(node.body) == 1


def _words(case: Case, first: int, last: int) -> set[str]:
    """Return the names that some lines of the file contain, without those that were imported."""
    module = case.context.module(case.span.path)
    text = "".join(split_lines(module.source)[first - 1 : last])
    return {word for word in _WORD.findall(text) if not keyword.iskeyword(word)} - set(module.imported())


def _carried(step: _Step) -> str:
    """Return the variable or attribute that a statement reads and binds anew, and its block does not bind before it."""
    block = step.syntax.parents.get(step.node)
    before = (
        itertools.takewhile(lambda one: one is not step.node, block.body)
        if isinstance(block, cst.IndentedBlock)
        else ()
    )
    fresh = {name for one in before for name in _bound(step.syntax, one)}
    reads = {dotted(node) for node in step.syntax.within(step.node) if not _is_target(step.syntax, node)}
    return next((name for name in _bound(step.syntax, step.node) if name in reads and name not in fresh), "")


def _bound(syntax: Syntax, step: cst.CSTNode) -> list[str]:
    """Return the variables and attributes that a statement binds, in it and below it."""
    return [name for node in syntax.within(step) if _is_target(syntax, node) and (name := dotted(node))]


def _is_target(syntax: Syntax, node: cst.CSTNode) -> bool:
    """Check whether a node is what an assignment binds, alone or among others."""
    around = syntax.parents.get(node)
    while isinstance(around, cst.Element | cst.Tuple | cst.List | cst.StarredElement):
        around = syntax.parents.get(around)
    return isinstance(around, cst.AssignTarget)


def _shared(mine: list[_Step], other: list[_Step]) -> tuple[_Step, _Step] | None:
    """Return the statements of the innermost block that both ways lead through."""
    for there in other:
        here = next((step for step in mine if step.block == there.block), None)
        if here is not None:
            return here, there
    return None


def _ways(case: Case, site: Site | None) -> Iterator[_Step]:
    """Yield the statements of this file around a place and around each call that leads to it, from the inside out."""
    for place in _places(site):
        if place.slice.path != case.span.path:
            continue
        syntax, inner = node_at(case, place)
        for around in syntax.above(inner):
            if isinstance(around, cst.Module):
                yield _Step(place.slice.path, inner, syntax.span(inner), syntax)
            elif isinstance(around, cst.IndentedBlock):
                yield _Step(around, inner, syntax.span(inner), syntax)
            if isinstance(around, cst.FunctionDef):
                break
            inner = around


def _places(site: Site | None) -> Iterator[Place]:
    while site is not None:
        yield site.place
        site = site.caller


def _span(case: Case, site: Site) -> Span:
    syntax, node = node_at(case, site.place)
    return syntax.span(node)
