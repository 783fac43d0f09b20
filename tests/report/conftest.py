"""Findings to render, written by hand: what a reporter prints must not depend on what the analyzer finds."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from inplace_lint.core.finding import Certainty, Finding, Related, Role, Severity
from inplace_lint.core.span import Span
from inplace_lint.report.model import Report

RESNET = """\
import torch.nn.functional as F


class Net(nn.Module):
    def forward(self, x, feat):
        x = F.relu(self.conv1(x))
        # a comment
        # another one
        x += feat
        return x
"""

Place = Callable[..., Span]


@pytest.fixture
def place() -> Place:
    """Give the span of the text `needle` in a line of a source."""

    def find(source: str, line: int, needle: str, path: str = "model.py") -> Span:
        column = source.split("\n")[line - 1].index(needle)
        return Span(path, line, column, line, column + len(needle))

    return find


@pytest.fixture
def resnet(place: Place) -> Finding:
    return Finding(
        code="IPL101",
        name="modified-after-save",
        severity=Severity.ERROR,
        certainty=Certainty.ALWAYS,
        message="`x` is overwritten, but backward of `relu` needs its old value",
        span=place(RESNET, 9, "x += feat"),
        label="written here",
        related=(
            Related(
                Role.SAVE,
                place(RESNET, 6, "F.relu(self.conv1(x))"),
                "saved here: relu keeps its output for backward",
            ),
        ),
        framework="torch",
        help="use `x = x + feat`",
        says=(
            "one of the variables needed for gradient computation has been modified by an inplace operation: [...] is "
            "output 0 of Relu, is at version 1; expected version 0"
        ),
    )


@pytest.fixture
def bare() -> Callable[..., Finding]:
    """Give a finding with nothing but a place, a severity and marks."""

    def make(span: Span, *related: Related, severity: Severity = Severity.ERROR, **more: object) -> Finding:
        values = {"code": "IPL101", "name": "modified-after-save", "message": "`x` is overwritten", "label": "written"}
        return Finding(severity=severity, certainty=Certainty.ALWAYS, span=span, related=related, **{**values, **more})

    return make


@pytest.fixture
def report() -> Callable[..., Report]:
    """Give a report over one text that stands in every file."""

    def make(source: str, *findings: Finding, **options: object) -> Report:
        return Report(findings, lambda _path: source.split("\n"), **options)

    return make


@pytest.fixture
def resnet_source() -> str:
    return RESNET
