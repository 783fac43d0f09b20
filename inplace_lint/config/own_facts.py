"""
Facts of a project about operators that only its owners know: in the configuration, in files, and from packages.

    [tool.inplace-lint]
    facts = ["ops/*.jsonl", "csrc/*.cpp"]  # the format of the op tables, one entry a line; schemas in C++ sources
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
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.metadata import distributions
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from inplace_lint.config.cpp_registrations import SUFFIXES, Registration, registrations
from inplace_lint.config.installed import installed_only, search_path
from inplace_lint.config.schema import did_you_mean
from inplace_lint.core.errors import ConfigError, FactError
from inplace_lint.knowledge import operator_schema
from inplace_lint.knowledge.facts import framework, frameworks, load
from inplace_lint.knowledge.op import ENTRY, RESULTS, Op, ReturnFact, op_of
from inplace_lint.knowledge.operator_schema import OperatorSchema, Parameter, SchemaError
from inplace_lint.knowledge.own import SCHEMA, OwnFact
from inplace_lint.knowledge.schema import mistaken
from inplace_lint.knowledge.words import Check, Result

GROUP = "inplace_lint.facts"
_CHECKS = (Check.LEAF, Check.LEAF_VIEW, Check.MULTI_VIEW, Check.NO_GRAD_VIEW, Check.INFERENCE)
_VIEW = "view of "
_SET_BY_BUILD = "TORCH_EXTENSION_NAME"
_NO_TENSOR = {"is": "value", "kind": "unknown"}
_OUTPUT = re.compile(r"out\d+")
Where = Callable[[str], str]


def read(key: str, value: Any, folder: Path, where: Where) -> tuple[OwnFact, ...]:  # noqa: ANN401 - as the parser of the key returns it
    """
    Return the facts that a key of a configuration in a folder gives; `where` returns the file and line of a key in it.

    Raises: `ConfigError` naming the file, the line, and the word at fault.
    """
    if key == "ops":
        return tuple(_of_table(value, where))
    return tuple(_of_files(value, folder, where) if key == "facts" else _of_packs(value, folder, where))


def check_targets(facts: Sequence[OwnFact]) -> None:
    """
    Check that each call that one of these facts becomes is known, from the tables or from these facts.

    Raises: `ConfigError` naming the place of the fact, and the nearest call that is known.
    """
    own = {name for fact in facts for name in (fact.row["op"], *fact.row.get("same", ()))}
    for fact in facts:
        for one in fact.row.get("becomes", ()):
            op = one["op"]
            tables = [load(framework) for framework in frameworks()]
            if op not in own and not any(known.rows_of(known.canonical(op)) for known in tables):
                near = did_you_mean(op, (*own, *(name for known in tables for name in known.rows)))
                msg = f"{fact.place}: {fact.row['op']!r} becomes {op!r}, of which nothing is known{near}"
                raise ConfigError(msg)


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
        facts = [
            fact
            for path in paths
            for fact in _of_file(Path(path), os.path.relpath(path, folder) if folder in Path(path).parents else path)
        ]
        if not facts and all(Path(path).suffix in SUFFIXES for path in paths):
            msg = f"{where('facts')}: 'facts' names {pattern!r}, which registers no operator with a schema"
            raise ConfigError(msg)
        yield from facts


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
        source = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        msg = f"{name}: {getattr(error, 'strerror', '') or 'no text in UTF-8'}"
        raise ConfigError(msg) from error
    yield from _of_cpp(source, name) if path.suffix in SUFFIXES else _of_entries(source, name)


def _of_cpp(source: str, name: str) -> Iterator[OwnFact]:
    """Yield the operators that a C++ source registers, each with its schema."""
    for known in map(framework, frameworks()):
        for space in known.operators:
            for one in registrations(source, known.registers):
                place = f"{name}:{one.line}"
                try:
                    yield OwnFact(_registered(space, one), place)
                except FactError as error:
                    msg = f"{place}: {error}"
                    raise ConfigError(msg) from error


def _registered(space: str, one: Registration) -> str:
    """Return the entry of an operator that is called in a namespace of the framework."""
    if one.namespace == _SET_BY_BUILD:
        msg = f"`{_SET_BY_BUILD}` has a value only while the extension is built: use 'ops' for its operators"
        raise FactError(msg)
    schema = _read_schema(one.schema)
    called = schema.name.rpartition(":")[2].partition(".")[0]
    return json.dumps({"op": f"{space}.{one.namespace}.{called}", "args": _args(schema), SCHEMA: one.schema})


def _of_entries(source: str, name: str) -> Iterator[OwnFact]:
    for number, line in enumerate(source.splitlines(), 1):
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
    row = {**_declared(table.get(SCHEMA)), **table, "op": op}
    row.pop(SCHEMA, None)
    for key, form in (("writes", _write), ("saves", _save), ("returns", _result)):
        if isinstance(row.get(key), str):
            row[key] = [row[key]]
        if isinstance(row.get(key), list):
            _check_words(key, [one for one in row[key] if isinstance(one, str)], row)
            row[key] = [form(one) if isinstance(one, str) else one for one in row[key]]
    if isinstance(row.get("writes"), list) and row["writes"] and "returns" not in row:
        row["returns"] = [{"is": one["to"]} for one in row["writes"][:1] if isinstance(one, dict) and "to" in one]
    return _checked(row)


def _declared(schema: object) -> dict[str, Any]:
    """Return the keys for what the schema of an operator says; nothing without one."""
    if schema is None:
        return {}
    if not isinstance(schema, str):
        msg = f'"schema" is {json.dumps(schema, default=str)}, not a text'
        raise FactError(msg)
    read = _read_schema(schema)
    writes = [one.name for one in read.parameters if one.writes]
    results = [_returned(one, read.parameters) for one in read.results]
    returns = results if len(results) == 1 else [{"is": "tuple", "items": results}] if results else [_NO_TENSOR]
    return {"args": _args(read), "writes": writes, "returns": returns}


def _args(schema: OperatorSchema) -> list[str]:
    """Return the arguments as a fact has them."""
    args = [f"{one.name}=None" if one.optional else one.name for one in schema.parameters]
    plain = sum(not one.keyword for one in schema.parameters)
    return [*args[:plain], *(["*"] if args[plain:] else []), *args[plain:]]


def _read_schema(text: str) -> OperatorSchema:
    """Return what a schema says, with or without a name; raise `FactError` for one that does not parse."""
    try:
        return operator_schema.read(text, named=not text.lstrip().startswith("("))
    except SchemaError as error:
        msg = f'"schema" does not parse: {error}'
        raise FactError(msg) from error


def _returned(result: Parameter, parameters: Sequence[Parameter]) -> Mapping[str, Any]:
    """Return what a result is: memory of an argument where the schema gives both the same name."""
    shared = next((one for one in parameters if result.alias and one.alias == result.alias), None)
    if shared is not None:
        return {"is": shared.name} if result.writes else {"is": "view", "of": shared.name}
    return {"is": "fresh"} if result.type == "Tensor" else _NO_TENSOR


def _check_words(key: str, words: Sequence[str], row: Mapping[str, Any]) -> None:
    """Raise `FactError`, with the nearest right word, for one that stands for no part of the call."""
    names = [one.name for part in ("args", "init") for one in ENTRY.value(part, row.get(part, []))]
    right = {
        "writes": names,
        "saves": [*names, "result"],
        "returns": [*names, *RESULTS, *(f"{_VIEW}{name}" for name in names)],
    }[key]
    for one in words:
        if one not in right and not one.removeprefix(_VIEW).startswith("self.") and not _OUTPUT.fullmatch(one):
            raise mistaken(one, f"neither an argument nor a result of {row['op']}", right)


def _check_results(op: Op) -> None:
    """
    Check that an op has the results that it saves or writes: `out1` is the second item of a tuple.

    Raises: `FactError` naming the result that is not there.
    """
    counts = [_results_of(one) for one in op.returns] or [1]
    if None in counts:
        return
    most = max(count for count in counts if count is not None)
    used = (*(save.of for save in op.saves), *(write.to for write in op.writes))
    absent = [name for name in used if _OUTPUT.fullmatch(name) and int(name.removeprefix("out")) >= most]
    if absent:
        how = f"not a result of {op.name}, which returns {most}"
        raise mistaken(absent[0], how, [f"out{number}" for number in range(most)])


def _results_of(result: ReturnFact) -> int | None:
    """Return how many results one alternative has; None where that is not known."""
    if result.kind == Result.LIST:
        return None
    return len(result.items) if result.kind == Result.TUPLE else 1


def _checked(row: object) -> str:
    _check_results(op_of(row))
    return json.dumps(row)


def _write(name: str) -> Mapping[str, Any]:
    return {"to": name, "counted": True, "checks": [one.value for one in _CHECKS]}


def _save(name: str) -> Mapping[str, Any]:
    return {"of": "out0" if name == "result" else name}


def _result(name: str) -> Mapping[str, Any]:
    return {"is": "view", "of": name.removeprefix(_VIEW)} if name.startswith(_VIEW) else {"is": name}
