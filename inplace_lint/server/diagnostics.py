"""From findings to the diagnostics of the protocol."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from lsprotocol import types

from inplace_lint.core.finding import Finding, Severity
from inplace_lint.core.span import Span
from inplace_lint.rules import RULE_OF
from inplace_lint.rules.links import rule_url
from inplace_lint.rules.text import UNUSED_SUPPRESSION
from inplace_lint.server.documents import Document, Documents
from inplace_lint.server.positions import lines_of

SOURCE = "inplace-lint"
_SEVERITY = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    Severity.INFO: types.DiagnosticSeverity.Information,
}


class Shown(NamedTuple):
    """A finding of the present text, the URI of the text it is in, and how it is shown there."""

    finding: Finding
    uri: str
    diagnostic: types.Diagnostic


def shown(documents: Documents, document: Document, *, related: bool) -> Iterator[Shown]:
    """Yield what was found in a document; `related`: the editor shows places that take part in a finding."""
    result = document.current
    for finding in result.findings if result is not None else ():
        uri = document.part_of(finding.span)
        yield Shown(finding, uri, _diagnostic(documents, document, finding, related=related))


def location(documents: Documents, document: Document, span: Span) -> types.Location:
    """Return where a span is, in this or another file."""
    uri, text = documents.text_of(span, document.folder)
    return types.Location(uri, documents.units.range(lines_of(text), span))


def _diagnostic(documents: Documents, document: Document, finding: Finding, *, related: bool) -> types.Diagnostic:
    around = [
        types.DiagnosticRelatedInformation(location(documents, document, item.span), item.message)
        for item in finding.related
    ]
    address = rule_url(finding.code)
    is_idle = RULE_OF[finding.code] is UNUSED_SUPPRESSION
    return types.Diagnostic(
        range=location(documents, document, finding.span).range,
        message=f"{finding.message}\nhelp: {finding.help}" if finding.help else finding.message,
        severity=_SEVERITY[finding.severity],
        code=finding.code,
        code_description=types.CodeDescription(address) if address else None,
        source=SOURCE,
        tags=[types.DiagnosticTag.Unnecessary] if is_idle else None,
        related_information=around or None if related else None,
    )
