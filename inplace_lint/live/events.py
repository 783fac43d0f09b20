"""From the records of a run to events, and on to findings: the rules are those of the static analysis."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct, field

from inplace_lint.core.event import Accepted, Event, Failure, Recomputed, Refused, Site, Stale, Touch, Untracked
from inplace_lint.core.finding import Finding, Fix
from inplace_lint.core.span import Place, Slice, Span
from inplace_lint.driver.select import Chosen, chosen, findings_of, say
from inplace_lint.frontend.from_ast.operators import OPERATORS
from inplace_lint.knowledge import facts
from inplace_lint.knowledge.framework import Framework
from inplace_lint.live import source as text
from inplace_lint.live.record import Access, Position, Record
from inplace_lint.policy import suppress
from inplace_lint.rules import RULE_OF
from inplace_lint.rules.draft import Draft

_NODE = re.compile(r"^(?:.*\.)?(?:native_|cudnn_|mkldnn_|_)*(\w+)$")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


class Found(Struct, frozen=True):
    """The findings of a run, and the lines on which a comment would have suppressed each."""

    findings: tuple[Finding, ...]
    statements: dict[Span, tuple[int, int]]


def findings_in(records: Sequence[Record]) -> Found:
    """Return the findings of a run, without those that a comment at their place suppresses."""
    findings: list[Finding] = []
    statements: dict[Span, tuple[int, int]] = {}
    for name in sorted({record.framework for record in records if record.write is not None}):
        reader = Reader(facts.framework(name))
        own = [record for record in records if record.framework == name]
        events = [event for record in own for event in reader.events(record)]
        words = [word for event in events for word in say(event, always=True, rules=RULE_OF.values())]
        found, lines = findings_of(chosen(words), reader, reader.framework)
        statements |= lines
        for path in dict.fromkeys(finding.span.path for finding in found):
            here = [finding for finding in found if finding.span.path == path]
            findings.extend(suppress.unsuppressed(here, reader.source(path), lines))
    return Found(tuple(sorted(findings, key=lambda finding: (finding.span, finding.code))), statements)


_KINDS: Mapping[str, type[Stale | Untracked | Recomputed]] = {
    "stale": Stale,
    "untracked": Untracked,
    "recomputed": Recomputed,
}


class Reader(Struct):
    """Turns records into events, and remembers where their places are: it is the `Spans` of a run."""

    framework: Framework
    _sources: dict[str, text.Source] = field(default_factory=dict)
    _shown: dict[str, text.Source] = field(default_factory=dict)
    _spans: list[tuple[Span, str]] = field(default_factory=list)
    _places: dict[Span, Place] = field(default_factory=dict)

    def span(self, place: Place) -> Span:
        """Return the position of a place."""
        return self._spans[place.at][0]

    def statement(self, place: Place) -> tuple[int, int]:
        """Return the lines of the statement around a place."""
        span = self.span(place)
        return text.statement_of(self._shown[span.path], span)

    def owner(self, place: Place) -> str:
        """Name the function that ran at a place; empty for a statement of a module."""
        name = self._spans[place.at][1]
        return "" if name == "<module>" else name.replace(".<locals>", "")

    def help(self, draft: Draft, _span: Span) -> str:
        """Return the cure that the rule knows; a run does not show which rewriting of its text is right."""
        return draft.help

    def fix(self, _entry: Chosen, _span: Span) -> Fix | None:
        """Return no fix: a run does not show who else holds a tensor."""
        return None

    def source(self, path: str) -> str:
        """Return the text of a file."""
        return self._shown[path].text

    def events(self, record: Record) -> Iterable[Event]:
        """Return the events of a record; none where the program's own code had no part in it."""
        write = self._write(record.write) if record.write is not None else None
        if write is None:
            return
        if record.kind == "refused":
            yield Refused(self.framework.name, Failure(record.check), write, None, frozenset())
        if record.kind in {"accepted", "overlapped"}:
            compiled = record.kind == "accepted"
            yield Accepted(self.framework.name, Failure(record.check), write, None, frozenset(), compiled=compiled)
        save = self._save(record.save) if record.save is not None else None
        if save is not None:
            backward = Site(self._place(record.backward, None)) if record.backward is not None else None
            yield _KINDS[record.kind](self.framework.name, save, write, backward, frozenset())

    def _write(self, access: Access) -> Touch | None:
        if access.at is None:
            return None
        node = self._node(access.at, _base(access.op), writes=True)
        where = self._source(access.at)
        flag = self._flag(access, node)
        return Touch(
            op=self._writer(access, node),
            site=self._site(access, node),
            symbol="" if self._is_hidden(access, node) else text.symbol_of(where, node),
            spelled=text.spelling_of(node),
            flag=flag,
            module=access.flag is not None,
            param=access.parameter,
            built=access.built is not None,
        )

    @staticmethod
    def _is_hidden(access: Access, node: text.Expression | None) -> bool:
        """Check whether the line of the program does not name what writes: a container or a trainer does."""
        return access.built is not None or (bool(access.step) and text.called(node) != "step")

    def _save(self, access: Access) -> Touch | None:
        if access.at is None:
            return None
        node = self._node(access.at, _snake(access.op.rpartition("Backward")[0]), writes=False)
        part = access.part
        if part.startswith("result"):
            part = f"out{part[len('result') :] or '0'}"
        elif part != "attribute" and not part.startswith("self."):
            part = ""
        site = self._site(access, node)
        return Touch(op=self._saver(access, node), site=site, part=part, built=access.built is not None)

    def _site(self, access: Access, node: text.Expression | None) -> Site:
        assert access.at is not None
        site = Site(self._place(access.at, node))
        if access.built is None:
            return site
        return Site(self._place(access.built, self._node(access.built, access.layer, writes=False)), site)

    def _flag(self, access: Access, node: text.Expression | None) -> Place | None:
        if access.flag is not None:
            return self._place(access.flag, text.flag_in(self._node(access.flag, access.layer, writes=False)))
        if access.at is not None and isinstance(node, ast.Call) and not access.layer:
            flag = text.flag_in(node)
            return self._place(access.at, flag) if isinstance(flag, ast.keyword) else None
        return None

    def _writer(self, access: Access, node: text.Expression | None) -> str:
        tensor = self.framework.tensor
        if access.step:
            return f"{self.framework.name}.optim.{access.step}.step"
        if access.flag is not None:
            return f"{self.framework.module.rpartition('.')[0]}.{access.layer}"
        if isinstance(node, ast.AugAssign):
            return f"{tensor}.{self.framework.augmented.get(OPERATORS[type(node.op)], '__setitem__')}"
        if isinstance(node, ast.Subscript):
            return f"{tensor}.__setitem__"
        return f"{tensor}.{_base(access.op) or text.called(node)}"

    def _saver(self, access: Access, node: text.Expression | None) -> str:
        if access.layer:
            return f"{self.framework.module.rpartition('.')[0]}.{access.layer}"
        if isinstance(node, ast.BinOp):
            return f"{self.framework.tensor}.{self.framework.binary[OPERATORS[type(node.op)]]}"
        name, found, number = access.op.rpartition("Backward")
        if found and not number:
            return name.rpartition(".")[2]  # a custom function has a name of its own
        return f"{self.framework.name}.{_snake(name if found else access.op) or text.called(node) or 'op'}"

    def _node(self, position: Position, name: str, *, writes: bool) -> text.Expression | None:
        return text.expression_at(self._source(position), position, writes=writes, name=name)

    def _source(self, position: Position) -> text.Source:
        known = self._sources.get(position.path)
        if known is None:
            known = self._sources[position.path] = text.load(position.path)
            self._shown[known.path] = known
        return known

    def _place(self, position: Position, node: text.Expression | None) -> Place:
        span = text.span_of(self._source(position), position, node)
        known = self._places.get(span)
        if known is None:
            known = self._places[span] = Place(Slice(span.path, 0, 0, "run"), len(self._spans))
            self._spans.append((span, position.function))
        return known


def _base(op: str) -> str:
    """Return the name of a call without its namespace and overload: `mul_` of `aten.mul_.Tensor`."""
    return op.split(".")[1] if "." in op else op


def _snake(node: str) -> str:
    """Spell the name of a node as that of its op: `batch_norm` of `NativeBatchNorm`."""
    match = _NODE.match(_HUMP.sub("_", node).lower().rpartition("::")[2])
    return match.group(1) if match is not None else ""
