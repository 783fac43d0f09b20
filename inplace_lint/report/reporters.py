"""The output formats by name: a new one is a module in `formats`, imported when it is used, and a line here."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from types import MappingProxyType

from inplace_lint.report.model import Report

_FORMATS = f"{__package__}.formats"


def _made_by(module: str, function: str = "render") -> Callable[[Report], str]:
    """Return a function that calls one of a module in `formats`."""

    def render(report: Report) -> str:
        text: str = getattr(importlib.import_module(f"{_FORMATS}.{module}"), function)(report)
        return text

    return render


REPORTERS: Mapping[str, Callable[[Report], str]] = MappingProxyType(
    {
        "full": _made_by("full"),
        "concise": _made_by("concise"),
        "json": _made_by("json_list"),
        "github": _made_by("github"),
        "grouped": _made_by("plain", "grouped"),
        "json-lines": _made_by("json_list", "lines"),
        "sarif": _made_by("sarif"),
        "gitlab": _made_by("gitlab"),
        "junit": _made_by("junit"),
        "azure": _made_by("plain", "azure"),
        "rdjson": _made_by("rdjson"),
        "pylint": _made_by("plain", "pylint"),
    }
)
