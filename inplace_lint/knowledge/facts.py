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
from inplace_lint.knowledge.locate import rules_dir
from inplace_lint.knowledge.op import Op
from inplace_lint.knowledge.operator_schema import OperatorSchema
from inplace_lint.knowledge.own import SCHEMA, OwnFact
from inplace_lint.knowledge.packs import Pack, packs, packs_of
from inplace_lint.knowledge.rows import Rows
from inplace_lint.knowledge.schema import Reader, Schema, each, flag, number, table, text
from inplace_lint.knowledge.versions import admits, version_range
from inplace_lint.knowledge.words import BINARY, COMPARISONS, CURES, MESSAGES, OPERATOR, UNARY


class Framework(Struct, frozen=True):
    """
    What is particular to a framework and not to one op: the content of its `framework.json`.

    `augmented` maps a binary token to the method that `x op= y` calls, or is without it where the statement rebinds;
    `binary` and `reflected` likewise. `requires_grad` is the attribute that says it, `negated` when it says the
    opposite, `flags` are others that say it, each with whether only parameters have it. `canonical` maps module
    prefixes to the public homes of what they hold, in the order in which these are tried, `kin` classes of libraries to
    the one of the framework, or of Python, that they derive from or behave like. `calls` is the method that runs when a
    module is called. `attributes` are the tensor attributes that are not methods. `autocast` are the ops whose operands
    autocast replaces by copies; outside of it these refuse operands of different dtypes. `default_dtype` is that of new
    floating tensors.
    `rebases`: a write through a view gives its base a new node. `says` are the framework's own words for each harm,
    `heard` wordings of other releases, `heard_late` those of releases that checked in backward only. `nodes` are the
    names of nodes in errors, with those of the calls that make them where these differ. `words` are the methods of a
    tensor that cures are written with: the one that gives a `copy`, one that gives the tensor without its history
    (`cut`), and the one that is to `assign` a parameter; the function that makes a tensor like another one (`fill`),
    and the mode for inference (`infer`). `sets_up` is the method of a custom function that saves what its `forward`
    computed, `needs` the attribute of its context that says which inputs require grad. `own_gradients`: the gradient of
    a leaf is a leaf that requires grad. `optimizes_leaves`: an optimizer refuses a tensor that is no leaf.
    `checks_custom`: what a custom function keeps is compared by version, and an input that it returns is a view; else
    nothing is compared, and returning an input writes it. `checks_checkpoint` likewise for inputs of a checkpoint.
    `checkpoint_stops`: a checkpoint without reentrant backward runs its function again up to what it saved last.
    `counts_steps`: an optimizer's step counts as a write, `counts_loads`: so does loading a state. `distributions` are
    the names that it is installed by, `releases` its minor versions, the newest last. `errors` are the classes of
    errors that its checks raise, `tracers` the back ends of its compiler that run calls unchanged, `global_hooks`
    functions by which the program changes what each module returns, `interceptors` contexts in which the program
    decides what operations do. `setters` are calls that set what they write to values of their argument, besides those
    that cut the history, `zeroes` those that set it to zero; `blank` those that give memory without values, `zeroed`
    memory that is zero. `recording` are functions that say whether gradients are recorded, `inferring` whether
    inference mode is on, `enabling` what may turn gradients on. `repeats` make a tensor of copies that follow each
    other. `settles` are writes that change nothing where they are repeated with the same arguments, `masks` those of
    which that holds where a factor is 0 or 1. `keeps_parameters`: a parameter cannot be set to a tensor. `copies_gaps`:
    a write in place reads an operand on the same memory as it is, unless that has gaps; then a copy is made first.
    `synonyms` are other names of arguments, with those of the facts; `factors` the numbers that a call may also have
    before the tensors, in this order. `fields` are the names under which results of several parts hold these, with
    their positions. `datasets` are the classes whose `__getitem__` is asked for a position, `loaders` those that join
    items of these to batches, with the op that does, `losses` those that compare a prediction with a target,
    `optimizers` those that write parameters, `trained` those of modules that are trained as a whole: what their methods
    `fed` are called on comes from a data loader, and those `evaluated` record no gradients. `names` are those of a
    program's own variables and functions that mean something, each with the reason: `*_` stands for all that end in an
    underscore. `infers` are likewise names of functions that are called when nothing is trained any more. `arrays` are
    libraries that know nothing of the framework: what they return is no tensor, and carries no gradient. `axes` are
    their functions that return an array with axes, each with what has to be passed for that. `neutral` are libraries
    whose decorators and contexts run the code unchanged and leave gradients as they are, `testing` the modules that
    only tests import. `indices` are arguments of ops that take whole numbers or flags, `bitwise` are ops all of whose
    operands are such, `equality` those that compare for equality, `moves` those that move a tensor to a device, with
    what says where another tensor is, `labels` those that compare what is trained with what an argument says that it
    should be, `excludes` those that give elements which are far below the others no weight and no gradient. `alike` are
    arguments of ops that are all tensors or all numbers. `operators` maps the namespace in which operators that a
    program registers are called to the class that has the methods of such an operator, `registers` is the macro with
    which C++ sources register some. `parameters` are the attributes of a module whose class is not known that are taken
    for parameters, each with the reason. `parts` is the attribute that maps names to the modules in a module, `chains`
    are the containers that call what they hold one after the other. `dense_results`: what an operation makes is
    contiguous in whatever order its operands lie in memory.
    """

    name: str
    title: str
    packages: tuple[str, ...]
    tensor: str
    module: str
    function: str
    calls: str
    augmented: Mapping[str, str]
    binary: Mapping[str, str]
    reflected: Mapping[str, str]
    unary: Mapping[str, str]
    compare: Mapping[str, str]
    requires_grad: str
    negated: bool
    canonical: Mapping[str, tuple[str, ...]]
    kin: Mapping[str, str]
    rebases: bool
    says: Mapping[str, str]
    attributes: tuple[str, ...]
    autocast: frozenset[str]
    words: Mapping[str, str]
    default_dtype: str = ""
    sets_up: str = ""
    needs: str = ""
    own_gradients: bool = False
    optimizes_leaves: bool = False
    checks_custom: bool = True
    checks_checkpoint: bool = True
    checkpoint_stops: bool = True
    counts_steps: bool = True
    counts_loads: bool = True
    distributions: tuple[str, ...] = ()
    releases: tuple[str, ...] = ()
    errors: frozenset[str] = frozenset()
    tracers: frozenset[str] = frozenset()
    interceptors: frozenset[str] = frozenset()
    global_hooks: frozenset[str] = frozenset()
    setters: frozenset[str] = frozenset()
    zeroes: frozenset[str] = frozenset()
    blank: frozenset[str] = frozenset()
    zeroed: frozenset[str] = frozenset()
    repeats: frozenset[str] = frozenset()
    settles: frozenset[str] = frozenset()
    recording: frozenset[str] = frozenset()
    inferring: frozenset[str] = frozenset()
    enabling: frozenset[str] = frozenset()
    masks: frozenset[str] = frozenset()
    keeps_parameters: bool = False
    flags: Mapping[str, bool] = {}
    copies_gaps: bool = False
    fields: Mapping[str, int] = field(default_factory=dict)
    datasets: frozenset[str] = frozenset()
    loaders: Mapping[str, str] = field(default_factory=dict)
    optimizers: frozenset[str] = frozenset()
    trained: frozenset[str] = frozenset()
    fed: frozenset[str] = frozenset()
    evaluated: frozenset[str] = frozenset()
    losses: frozenset[str] = frozenset()
    names: Mapping[str, str] = field(default_factory=dict)
    heard: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    heard_late: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    nodes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    infers: Mapping[str, str] = field(default_factory=dict)
    arrays: frozenset[str] = frozenset()
    axes: Mapping[str, str] = field(default_factory=dict)
    neutral: frozenset[str] = frozenset()
    testing: frozenset[str] = frozenset()
    chains: frozenset[str] = frozenset()
    dense_results: bool = False
    indices: frozenset[str] = frozenset()
    bitwise: frozenset[str] = frozenset()
    equality: frozenset[str] = frozenset()
    moves: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)
    excludes: frozenset[str] = frozenset()
    alike: frozenset[str] = frozenset()
    parameters: Mapping[str, str] = field(default_factory=dict)
    synonyms: Mapping[str, str] = field(default_factory=dict)
    factors: tuple[str, ...] = ()
    parts: str = ""
    operators: Mapping[str, str] = field(default_factory=dict)
    registers: str = ""


_REQUIRED = Framework.__struct_fields__[: -len(Framework.__struct_defaults__)]
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
        """The names of what the classes of the framework have; their names begin with a capital letter."""
        owned = (name.rpartition(".") for name in self.rows)
        return frozenset(last for owner, _, last in owned if owner.rpartition(".")[2][:1].isupper()).union(
            self.framework.attributes
        )

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
        return Framework(**_framework_schema(version).read(json.loads(source)))
    except json.JSONDecodeError as error:
        raise rows.at(path, error.lineno, rows.no_json(error)) from error
    except (FactError, TypeError) as error:
        word = _QUOTED.search(str(error))
        before = source.partition(word[0])[0] if word is not None and word[0] in source else ""
        raise rows.at(path, before.count("\n") + 1, str(error)) from error


def _framework_schema(version: str | None) -> Schema:
    def flag_at(value: object) -> bool:
        return admits(version_range(value), version) if isinstance(value, str) else flag(value)

    operators = table(text, "binary operator", BINARY)
    by_type: dict[str, Reader] = {
        "str": text,
        "bool": flag_at,
        "tuple[str, ...]": each(text),
        "frozenset[str]": lambda value: frozenset(each(text)(value)),
        "Mapping[str, str]": table(text),
        "Mapping[str, int]": table(number),
        "Mapping[str, bool]": table(flag),
        "Mapping[str, tuple[str, ...]]": table(each(text), "message of a framework", MESSAGES),
    }
    readers: dict[str, Reader] = {
        **{name: by_type[kind] for name, kind in Framework.__annotations__.items()},
        **dict.fromkeys(("augmented", "binary", "reflected"), operators),
        "unary": table(text, "unary operator", UNARY),
        "compare": table(text, "comparison", COMPARISONS),
        "says": table(text, "message of a framework", MESSAGES),
        "canonical": table(each(text)),
        "nodes": table(each(text)),
        "words": table(text, "word for a cure", CURES),
        "negated": flag,
    }
    return Schema("a framework", {key: (key, reader) for key, reader in readers.items()}, _REQUIRED)


@cache
def called_back() -> Mapping[str, frozenset[str]]:
    """
    Return for each method of a library that calls what a derived class defines the names of these methods.

    Raises: `FactError` naming the file and line of what does not follow the format.
    """
    found = (row for pack in packs().values() for row in rows.checked(pack.path, having='"act": "template"'))
    return {row["op"].rpartition(".")[2]: frozenset(step["to"] for step in row["calls"]) for row in found}
