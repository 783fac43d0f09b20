"""Node types of newer Pythons' `ast`; where the running Python lacks them, stand-ins for what LibCST reads."""

from __future__ import annotations

import ast
from typing import Any


def _type(name: str, *fields: str) -> Any:  # noqa: ANN401 - a class that type checkers know for some Pythons only
    return getattr(ast, name, None) or type(name, (ast.AST,), {"_fields": fields})


TryStar = _type("TryStar", "body", "handlers", "orelse", "finalbody")
TypeAlias = _type("TypeAlias", "name", "type_params", "value")
TemplateStr = _type("TemplateStr", "values")
