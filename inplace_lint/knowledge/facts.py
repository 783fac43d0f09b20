"""
The op tables of one framework, looked up by canonical name.

An entry is checked and parsed when its op is first looked up: a run meets a few hundred of the thousands there are.

    load("torch").forms("torch.Tensor.add_")[0].writes   # (WriteFact(to="self", counted=True, ...),)
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from pathlib import Path

from msgspec import Struct, field

from inplace_lint.core.errors import FactError
from inplace_lint.knowledge import operator_schema, rows
from inplace_lint.knowledge.framework import Framework, schema_at
from inplace_lint.knowledge.locate import rules_dir
from inplace_lint.knowledge.op import Op
from inplace_lint.knowledge.operator_schema import OperatorSchema
from inplace_lint.knowledge.own import SCHEMA, OwnFact
from inplace_lint.knowledge.packs import Pack, packs, packs_of
from inplace_lint.knowledge.rows import Rows
from inplace_lint.knowledge.versions import admits
from inplace_lint.knowledge.words import OPERATOR

_QUOTED = re.compile(r'"[^"]+"')


class Facts(Struct, dict=True):
    """
    The tables of one framework at one version, read when an op is first looked up.

    What a project says of an op itself, in `own`, replaces what the tables say.
    """

    framework: Framework
    version: str | None
    own: tuple[OwnFact, ...] = ()
    parsed: dict[str, tuple[Op, ...]] = field(default_factory=dict)
    opened: dict[str, Mapping[str, Rows]] = field(default_factory=dict)

    @cached_property
    def rows(self) -> Mapping[str, Rows]:
        """
        The entries by each spelling of their op, in the order in which they are tried; without those of packs.

        Raises: `FactError` naming the file and line of what is no entry of an op.
        """
        return {**rows.by_spelling(row for path in self._paths for row in rows.read(path)), **self.declared}

    def check(self) -> None:
        """
        Check all entries, those of packs included.

        Raises: `FactError` naming the file and line of an entry that does not follow the format.
        """
        for path in self._files():
            for _ in rows.checked(path):
                pass

    @property
    def _paths(self) -> Sequence[Path]:
        # Hand-written entries for what the interpreter itself does come before anything that was generated.
        return sorted((_ops() / self.framework.name).glob("*.jsonl"), key=lambda one: (one.stem != "acts", one.name))

    def rows_of(self, name: str) -> Rows:
        """
        Return the entries of a spelling of an op; the first one of a package reads its pack.

        Raises: `FactError` as for `rows`.
        """
        found = self.rows.get(name)
        if found is None:
            pack = self.packs.get(name.partition(".")[0])
            return () if pack is None else self.rows_in(pack).get(name, ())
        return found

    def rows_in(self, pack: Pack) -> Mapping[str, Rows]:
        """Return the entries of a pack by each spelling of their op."""
        if pack.name not in self.opened:
            self.opened[pack.name] = rows.by_spelling(rows.read(pack.path))
        return self.opened[pack.name]

    @cached_property
    def declared(self) -> Mapping[str, Rows]:
        """The entries that are the project's own, by each spelling; those of another framework's packages left out."""
        if not self.own:
            return {}
        names = (name for name in frameworks() if name != self.framework.name)
        others = {package for name in names for package in framework(name).packages}
        found = rows.by_spelling(one.row for one in self.own if SCHEMA not in one.row)
        return {spelling: forms for spelling, forms in found.items() if spelling.partition(".")[0] not in others}

    @cached_property
    def schemas(self) -> Mapping[str, OperatorSchema]:
        """What C++ sources of the project register that writes, by the names under which Python calls it."""
        own = [one.row for one in self.own if SCHEMA in one.row]
        read = {row["op"]: operator_schema.read(row[SCHEMA]) for row in reversed(own)}  # of two the first counts
        return {name: schema for name, schema in read.items() if any(one.writes for one in schema.parameters)}

    @cached_property
    def packs(self) -> Mapping[str, Pack]:
        """The packs of libraries on the framework, by the packages that they are about."""
        return packs_of(self.framework.name)

    @cached_property
    def libraries(self) -> frozenset[str]:
        """The packages built on the framework that there are entries for."""
        spelled = (*self.framework.kin, *self.declared)
        return frozenset(spelling.partition(".")[0] for spelling in spelled).union(self.packs)

    @cached_property
    def members(self) -> frozenset[str]:
        """The names of what the classes of the framework have."""
        found = (name.rpartition(".")[2] for name in self.rows if is_member(name))
        return frozenset(found).union(self.framework.attributes)

    @cached_property
    def registering(self) -> frozenset[str]:
        """The last words of the calls with which a program registers operators."""
        return self.last_words(lambda act: act.startswith(OPERATOR))

    def last_words(self, wanted: Callable[[str], bool]) -> frozenset[str]:
        """Return the last words of the ops whose act is wanted."""
        acts = ((name, str(forms[0].get("act"))) for name, forms in self._with_act.items())
        return frozenset(name.rpartition(".")[2] for name, act in acts if wanted(act))

    @cached_property
    def _with_act(self) -> Mapping[str, Rows]:
        """The entries with an act by each spelling: a small part of a table, which no other code may need."""
        found = (row for path in self._paths for row in rows.read(path, having='"act": '))
        return {**rows.by_spelling(found), **self.declared}

    def forms(self, name: str) -> tuple[Op, ...]:
        """
        Return the forms of an op in the order in which they are tried; none without a fact for this version.

        Raises: `FactError` naming the file and line of an entry of the op that does not follow the format.
        """
        known = self.parsed.get(name)
        if known is None:
            forms = ((row.get("versions", ""), rows.op_of(row, name, self._files)) for row in self.rows_of(name))
            known = self.parsed[name] = tuple(form for versions, form in forms if admits(versions, self.version))
        return known

    def _files(self) -> Iterator[Path]:
        """Yield the files with the tables of the framework, and with those of packs."""
        yield from self._paths
        yield from (pack.path for pack in self.packs.values())

    def canonical(self, name: str) -> str:
        """Return the public name of a framework object: `torch.nn.modules.conv.Conv2d` is `torch.nn.Conv2d`."""
        if self.rows_of(name):
            return name
        kin = self.framework.kin.get(name)
        if kin is not None:
            return kin
        pack = self.packs.get(name.partition(".")[0])
        tail = name.rpartition(".")[2]
        for prefix, homes in (self.framework if pack is None else pack).canonical.items():
            for known in (f"{prefix}{tail}", *(f"{home}.{tail}" for home in homes)) if name.startswith(prefix) else ():
                if self.rows_of(known):
                    return known
        return name


def is_member(name: str) -> bool:
    """Check whether a full name is that of an attribute of a class, whose name begins with a capital letter."""
    return name.rpartition(".")[0].rpartition(".")[2][:1].isupper()


def _ops() -> Path:
    return rules_dir() / "ops"


@cache
def frameworks() -> tuple[str, ...]:
    """Return the names of the frameworks that there are tables for, in alphabetical order."""
    return tuple(sorted(path.parent.name for path in _ops().glob("*/framework.json")))


def load(name: str, version: str | None = None, own: tuple[OwnFact, ...] = ()) -> Facts:
    """Return the tables of a framework at a version, None for the newest, with what a project says itself."""
    return Facts(framework(name, version), version, own)


def tables(name: str, version: str | None = None, own: tuple[OwnFact, ...] = ()) -> Facts:
    """Return what `load` returns, which is read once in a process for all that ask."""
    return _tables(name, version, own)  # the cache tells an argument that is passed from one that is left out


_tables = cache(load)


def framework(name: str, version: str | None = None) -> Framework:
    """
    Return what is particular to a framework at a version; a flag may be the range of versions in which it is set.

    Raises: `FactError` naming the file and line of what does not follow the format.
    """
    return _read_framework(_ops() / name / "framework.json", version)


@cache
def _read_framework(path: Path, version: str | None) -> Framework:
    source = path.read_text(encoding="utf-8")
    try:
        return Framework(**schema_at(version).read(json.loads(source)))
    except json.JSONDecodeError as error:
        raise rows.at(path, error.lineno, rows.no_json(error)) from error
    except (FactError, TypeError) as error:
        word = _QUOTED.search(str(error))
        before = source.partition(word[0])[0] if word is not None and word[0] in source else ""
        raise rows.at(path, before.count("\n") + 1, str(error)) from error


@cache
def called_back() -> Mapping[str, frozenset[str]]:
    """
    Return for each method of a library that calls what a derived class defines the names of these methods.

    Raises: `FactError` naming the file and line of what does not follow the format.
    """
    found = (row for pack in packs().values() for row in rows.checked(pack.path, having='"act": "template"'))
    return {row["op"].rpartition(".")[2]: frozenset(step["to"] for step in row["calls"]) for row in found}
