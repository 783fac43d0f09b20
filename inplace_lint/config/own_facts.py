"""
Facts of a project about operators that only its owners know: in the configuration, in files, and from packages.

    [tool.inplace-lint]
    facts = ["ops/*.jsonl"]                # the format of the op tables, one entry a line
    fact-packs = ["fast-norms"]            # entry points of installed packages, in the group `inplace_lint.facts`

    [tool.inplace-lint.ops]
    "my_ext.fused_add_" = { args = ["x", "other"], writes = ["x"], saves = ["result"] }

In the table, a name in place of an object stands for what is usual: a write is counted and refused as that of
`Tensor.add_` is, and what a call writes it also returns.
"""

from __future__ import annotations

import glob
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.metadata import distributions
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from inplace_lint.config.installed import installed_only, search_path
from inplace_lint.config.schema import did_you_mean
from inplace_lint.core.errors import ConfigError, FactError
from inplace_lint.knowledge.op import ENTRY, check
from inplace_lint.knowledge.own import OwnFact
from inplace_lint.knowledge.words import Check

GROUP = "inplace_lint.facts"
_CHECKS = (Check.LEAF, Check.LEAF_VIEW, Check.MULTI_VIEW, Check.NO_GRAD_VIEW, Check.INFERENCE)
_VIEW = "view of "
Where = Callable[[str], str]


def read(key: str, value: Any, folder: Path, where: Where) -> tuple[OwnFact, ...]:  # noqa: ANN401 - as the parser of the key returns it
    """
    Return the facts that a key of a configuration in a folder gives; `where` returns the file and line of a key in it.

    Raises: `ConfigError` naming the file, the line, and the word at fault.
    """
    if key == "ops":
        return tuple(_of_table(value, where))
    return tuple(_of_files(value, folder, where) if key == "facts" else _of_packs(value, folder, where))


def _of_table(table: Mapping[str, object], where: Where) -> Iterator[OwnFact]:
    for op, entry in table.items():
        place = where(op)
        try:
            yield OwnFact(_long(op, entry), place)
        except FactError as error:
            msg = f"{place}: 'ops' for {op!r}: {error}"
            raise ConfigError(msg) from error


def _of_files(patterns: Sequence[str], folder: Path, where: Where) -> Iterator[OwnFact]:
    for pattern in patterns:
        found = glob.glob(str(folder / pattern), recursive=True)  # noqa: PTH207 - a path may be absolute
        paths = sorted(path for path in found if not Path(path).is_dir())
        if not paths:
            msg = f"{where('facts')}: 'facts' names {pattern!r}, which is not a file"
            raise ConfigError(msg)
        for path in paths:
            yield from _of_file(Path(path), os.path.relpath(path, folder) if folder in Path(path).parents else path)


def _of_packs(names: Sequence[str], folder: Path, where: Where) -> Iterator[OwnFact]:
    known = _packs(folder) if names else {}
    for name in names:
        if name not in known:
            hint = did_you_mean(name, known)
            msg = f"{where('fact-packs')}: 'fact-packs' names {name!r}, which no installed package has{hint}"
            raise ConfigError(msg)
        top, _, rest = known[name].partition(".")
        with installed_only(folder):
            spec = find_spec(top)  # of the outermost package: to find one inside would run it
        folders = () if spec is None else spec.submodule_search_locations or ()
        paths = sorted(path for place in folders for path in Path(place, *rest.split(".")).glob("*.jsonl"))
        if not paths:
            msg = f"{where('fact-packs')}: the package of {name!r} has no file {known[name].replace('.', '/')}/*.jsonl"
            raise ConfigError(msg)
        for path in paths:
            yield from _of_file(path, f"{name}: {path.name}")


def _packs(folder: Path) -> Mapping[str, str]:
    """Return the packages with facts by the names of their entry points; the first on the path of modules counts."""
    found: dict[str, str] = {}
    for entry in (one for pack in distributions(path=search_path(folder)) for one in pack.entry_points):
        if entry.group == GROUP:
            found.setdefault(entry.name, entry.value)
    return found


def _of_file(path: Path, name: str) -> Iterator[OwnFact]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        msg = f"{name}: {getattr(error, 'strerror', '') or 'no text in UTF-8'}"
        raise ConfigError(msg) from error
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                yield OwnFact(_checked(json.loads(line)), f"{name}:{number}")
            except json.JSONDecodeError as error:
                msg = f"{name}:{number}: not JSON: {error.msg} at column {error.colno}"
                raise ConfigError(msg) from error
            except FactError as error:
                msg = f"{name}:{number}: {error}"
                raise ConfigError(msg) from error


def _long(op: str, table: object) -> str:
    """Return the entry that a table of the configuration stands for."""
    if not isinstance(table, dict):
        msg = f"{json.dumps(table, default=str)} is not a table of keys"
        raise FactError(msg)
    if "." not in op:
        msg = f'"{op}" is not a call of a package: write "package.function", in quotes'
        raise FactError(msg)
    row = {**table, "op": op}
    for key, form in (("writes", _write), ("saves", _save), ("returns", _result)):
        if isinstance(row.get(key), list):
            row[key] = [form(one) if isinstance(one, str) else one for one in row[key]]
    if row.get("writes") and "returns" not in row:
        row["returns"] = [{"is": one["to"]} for one in row["writes"][:1] if isinstance(one, dict) and "to" in one]
    return _checked(row)


def _checked(row: object) -> str:
    check(row)
    assert isinstance(row, dict)
    ENTRY.read(row)
    return json.dumps(row)


def _write(name: str) -> Mapping[str, Any]:
    return {"to": name, "counted": True, "checks": [one.value for one in _CHECKS]}


def _save(name: str) -> Mapping[str, Any]:
    return {"of": "out0" if name == "result" else name}


def _result(name: str) -> Mapping[str, Any]:
    return {"is": "view", "of": name.removeprefix(_VIEW)} if name.startswith(_VIEW) else {"is": name}
