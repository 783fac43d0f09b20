"""The output formats by name: a new one is a module in `formats` and a line here."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from inplace_lint.report.formats import concise, full, github, gitlab, json_list, junit, plain, rdjson, sarif
from inplace_lint.report.model import Report

REPORTERS: Mapping[str, Callable[[Report], str]] = {
    "full": full.render,
    "concise": concise.render,
    "json": json_list.render,
    "github": github.render,
    "grouped": plain.grouped,
    "json-lines": json_list.lines,
    "sarif": sarif.render,
    "gitlab": gitlab.render,
    "junit": junit.render,
    "azure": plain.azure,
    "rdjson": rdjson.render,
    "pylint": plain.pylint,
}
