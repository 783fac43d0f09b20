"""One source file of a project: its outline, the code lowered from it, and the questions that are asked of it."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct, field

from inplace_lint.core.source_lines import split_lines
from inplace_lint.core.span import Slice
from inplace_lint.effects import may_write
from inplace_lint.effects.summary import Definition, Outline
from inplace_lint.frontend.lower import lower
from inplace_lint.ir.nodes import ClassDef, Code, FunctionDef, ImportFrom, ImportName
from inplace_lint.workspace import answers
from inplace_lint.workspace.claims import Asked, Question, digest

_HOOK, _DEEPEST = "__init_subclass__", 8
_A_LINE = 350  # bytes of a lowered line, seen in transformers


class Stopwatch(Struct):
    """The seconds spent on something so far."""

    seconds: float = 0.0


class Tally(Struct):
    """An estimate of the bytes that everything that was read so far takes."""

    size: int = 0


class Module(Struct):
    """
    One source file: its outline, and the code lowered from it so far. What is asked of it is recorded in `asked`.

    `lowering` is the time that this took, `kept` the memory; these three are shared by all files of a project. `owners`
    has the only class of the file with a method of a name; empty if there are several. `keys` name the functions,
    classes and methods that are slices, whatever lines they are on; `parts` are the first of all on their lines.
    """

    path: str
    source: str
    outline: Outline
    codes: dict[Slice, Code] = field(default_factory=dict)
    methods: dict[Slice, tuple[Slice, ...]] = field(default_factory=dict)
    lowering: Stopwatch = field(default_factory=Stopwatch)
    kept: Tally = field(default_factory=Tally)
    asked: Asked = field(default_factory=Asked)
    keys: dict[Slice, str] = field(default_factory=dict)
    parts: dict[Slice, Definition] = field(default_factory=dict)
    _by_name: dict[str, list[Definition]] = field(default_factory=dict)
    _stars: tuple[ImportFrom, ...] = ()
    _imported: dict[str, list[tuple[ImportName | ImportFrom, str]]] = field(default_factory=dict)
    _imported_inside: dict[str, list[tuple[ImportName | ImportFrom, str]]] = field(default_factory=dict)
    _owners: dict[str, str] = field(default_factory=dict)
    _fills: dict[str, list[Definition]] = field(default_factory=dict)
    _filling: tuple[Definition, ...] = ()
    _users: dict[str, list[tuple[Definition, Definition]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        count: Counter[str] = Counter()
        for item in self.outline.items:
            for name in item.binds:
                self._by_name.setdefault(name, []).append(item)
            self.methods[item.slice] = tuple(method.slice for method in item.methods)
            for method in item.methods:
                owner = self._owners.setdefault(method.name, item.name)
                self._owners[method.name] = owner if owner == item.name else ""
            for part in (item, *item.methods):
                self.parts.setdefault(part.slice, part)
                if part.kind != "statement":
                    count[part.qualname] += 1
                    self.keys.setdefault(part.slice, f"{part.qualname} {count[part.qualname]}")
                for node in part.imports:
                    for name, original in _bound(node):
                        self._imported_inside.setdefault(name, []).append((node, original))
        for node in self.outline.imports:
            for name, original in _bound(node):
                self._imported.setdefault(name, []).append((node, original))
        self._filling = tuple(
            item for item in self.outline.items if item.decorators or item.bases or item.kind == "statement"
        )
        self._stars = tuple(stars_of(self.outline))

    def weight(self) -> int:
        """Estimate the bytes that it takes: its text, four a character for the outline, and what a line becomes."""
        return sys.getsizeof(self.source) + 4 * len(self.source) + sum(map(_weight, self.codes))

    def code(self, slice_: Slice) -> Code:
        """Return the lowered form of a slice; each is parsed once."""
        key = self.keys.get(slice_)
        if key is not None:  # that of a statement is part of what binds a name
            self.asked.add(self.path, Question.CODE, key)
        return self._lowered(slice_)

    def read_defaults(self, slice_: Slice, names: Iterable[str]) -> None:
        """Record that defaults of the function that a slice is were read; what `code` asks is without them."""
        key = self.keys.get(slice_, "")
        for name in names:
            self.asked.add(self.path, Question.DEFAULT, f"{key} {name}")

    def text(self, slice_: Slice) -> str:
        """Return the lines of a slice."""
        return "".join(split_lines(self.source)[slice_.first - 1 : slice_.last])

    def _lowered(self, slice_: Slice) -> Code:
        known = self.codes.get(slice_)
        if known is None:
            start = time.perf_counter()
            known = self.codes[slice_] = lower(self.source, slice_, self.holes(slice_))
            self.lowering.seconds += time.perf_counter() - start
            self.kept.size += _weight(slice_)
        return known

    def docstring(self, slice_: Slice) -> str:
        """Return the docstring of the function that a slice is; empty where it has none."""
        self.asked.add(self.path, Question.DOCSTRING, self.keys.get(slice_, ""))
        return answers.docstring(self._lowered(slice_))

    def holes(self, slice_: Slice) -> tuple[Slice, ...]:
        """Return the methods of a class that are slices of their own."""
        return self.methods.get(slice_, ()) if slice_.kind == "class" else ()

    def class_node(self, slice_: Slice, name: str) -> ClassDef | None:
        """Return the definition node of a class slice."""
        return next((node for node in self.code(slice_).body if isinstance(node, ClassDef) and node.name == name), None)

    def function_node(self, slice_: Slice, name: str) -> FunctionDef | None:
        """Return the definition node of a function slice."""
        body = self.code(slice_).body
        return next((node for node in body if isinstance(node, FunctionDef) and node.name == name), None)

    def fills(self, name: str) -> list[Definition]:
        """Return the top-level items that put something into the object that a name is bound to, as registries do."""
        self.asked.add(self.path, Question.FILLS, name)
        known = self._fills.get(name)
        if known is None:
            known = self._fills[name] = [
                item
                for item in self._filling
                if name not in item.binds
                and (
                    self._is_registered(item, name, 0)
                    or any(self._fills_by(decorator, name) for decorator in item.decorators)
                    or (item.kind == "statement" and any(self._fills_by(call, name) for call in item.calls))
                    or (item.kind == "statement" and name in item.reads and (item.writes or _only_sets(item)))
                    or (item.kind == "statement" and name in item.reads and self._exchanges(item, name))
                )
            ]
        return known

    def users_of(self, name: str) -> list[tuple[Definition, Definition]]:
        """
        Return the functions, methods and statements that use a function or method of this name, after the item of the
        file that each is, or is a part of.
        """
        if not self._users:
            for item in self.outline.items:
                for user in item.methods or (item,):
                    for used in user.reads | user.attributes:
                        self._users.setdefault(used, []).append((item, user))
        return [pair for pair in self._users.get(name, ()) if pair[1].name != name]

    def calling(self, word: str) -> list[Definition]:
        """Return the top-level items that call a function or method of this name when the module is imported."""
        self.asked.add(self.path, Question.CALLING, word)
        return [item for item in self.outline.items if any(_ends(callee, word) for callee in _callees(item))]

    def _fills_by(self, callee: str, name: str) -> bool:
        """Return whether a call may fill what a name is bound to: a method of it, or a function that reads the name."""
        if callee.startswith(f"{name}."):
            return True
        return any(item.kind == "function" and name in item.reads for item in self._by_name.get(callee, ()))

    def _is_registered(self, item: Definition, name: str, depth: int) -> bool:
        """
        Return whether a class derives from one of the file that does something with each class that derives from it.

            class Part:
                kinds = {}
                def __init_subclass__(cls): Part.kinds[cls.__name__] = cls
        """
        bases = [base for one in item.bases for base in self._by_name.get(one, ())] if depth < _DEEPEST else []
        hooks = [(base, method) for base in bases for method in base.methods if method.name == _HOOK]
        named = any(name == base.name or name in method.reads for base, method in hooks)
        return named or any(self._is_registered(base, name, depth + 1) for base in bases)

    def _exchanges(self, item: Definition, name: str) -> bool:
        """Return whether a statement may set a method of a class: it does more with one than call it."""
        methods = {method.name for owner in self._by_name.get(name, ()) for method in owner.methods}
        return not methods.isdisjoint(item.kept_attributes)

    def items(self, name: str) -> Sequence[Definition]:
        """Return the top-level items that bind a name, in source order."""
        self.asked.add(self.path, Question.ITEMS, name)
        return self._by_name.get(name, ())

    def imports(self, name: str) -> Sequence[tuple[ImportName | ImportFrom, str]]:
        """Return the imports that bind a name, each with what is imported."""
        self.asked.add(self.path, Question.IMPORTS, name)
        return self._imported.get(name, ())

    def imports_inside(self, name: str) -> Sequence[tuple[ImportName | ImportFrom, str]]:
        """Return the imports inside of functions that bind a name, each with what is imported."""
        self.asked.add(self.path, Question.IMPORTS, name)
        return self._imported_inside.get(name, ())

    def names_in(self, item: Definition) -> tuple[list[str], list[str]]:
        """Return the names in an item that the file imports, and those of other items of the file."""
        self.asked.add(self.path, Question.NAMES_IN, _label(item))
        names = may_write.read_names(item)
        known = self._imported.keys() | self._imported_inside.keys()
        imported = [name for name in names if name in known or (self._stars and name not in self._by_name)]
        return imported, [name for name in names if name in self._by_name and name not in {*imported, item.name}]

    def imported(self) -> Mapping[str, Sequence[tuple[ImportName | ImportFrom, str]]]:
        """Return all imports by the names that they bind, for a file in which something was found."""
        return self._imported

    @property
    def names(self) -> frozenset[str]:
        """What items and imports bind at the top level."""
        self.asked.add(self.path, Question.NAMES)
        return frozenset(self._by_name.keys() | self._imported.keys())

    @property
    def stars(self) -> tuple[ImportFrom, ...]:
        """The imports of all names of another module."""
        self.asked.add(self.path, Question.STARS)
        return self._stars

    @property
    def mentions(self) -> bool:
        """Whether the file names a framework, or imports all names of another file, which may do so."""
        self.asked.add(self.path, Question.MENTIONS)
        return bool(self.outline.mentions or self._stars)

    def users_by_method(self, item: Definition) -> set[str]:
        """Return the classes that a class uses without naming them: it names methods that only these have."""
        if item.kind != "class":
            return set()
        self.asked.add(self.path, Question.OWNERS, item.name)
        return {owner for name in item.attributes if (owner := self._owners.get(name))} - {item.name}

    def having(self, name: str) -> list[str]:
        """Return the classes of the file that define a method of this name."""
        self.asked.add(self.path, Question.HAVING, name)
        items = self.outline.items
        return [item.name for item in items if any(one.name == name and not _is_property(one) for one in item.methods)]

    def is_rebound(self, name: str) -> bool:
        """Return whether a function of the module binds a name of it anew: `global name`."""
        self.asked.add(self.path, Question.REBOUND, name)
        return any(name in item.sets for item in self.outline.items if item.kind == "function")

    def answer(self, question: Question, detail: str) -> str:
        """Return the digest of the answer to a question about this file; questions that it takes are recorded."""
        match question:
            case Question.ITEMS:
                return answers.of_definitions(self.items(detail), self.source)
            case Question.FILLS:
                return answers.of_definitions(self.fills(detail), self.source)
            case Question.CALLING:
                return answers.of_definitions(self.calling(detail), self.source)
            case Question.OWNERS:
                return digest(repr([sorted(self.users_by_method(item)) for item in self.items(detail)]))
            case Question.NAMES_IN:
                items = (item for item in self.outline.items if _label(item) == detail)
                return digest(repr([[sorted(names) for names in self.names_in(item)] for item in items]))
            case Question.CODE:
                code = self._named(detail)
                return "" if code is None else answers.of_code(code)
            case Question.DOCSTRING:
                code = self._named(detail)
                return "" if code is None else digest(answers.docstring(code))
            case Question.DEFAULT:
                key, _, name = detail.rpartition(" ")
                code = self._named(key)
                return "" if code is None else digest(answers.default(code, name))
            case _:
                return digest(repr(self._plain_answer(question, detail)))

    def _named(self, wanted: str) -> Code | None:
        """Return the lowered form of the function, class or method of a key."""
        slice_ = next((slice_ for slice_, key in self.keys.items() if key == wanted), None)
        return None if slice_ is None else self._lowered(slice_)

    def _plain_answer(self, question: Question, detail: str) -> object:
        match question:
            case Question.IMPORTS:
                return self._imported.get(detail), self._imported_inside.get(detail)
            case Question.HAVING:
                return self.having(detail)
            case Question.REBOUND:
                return self.is_rebound(detail)
            case Question.NAMES:
                return sorted(self.names)
            case Question.STARS:
                return self._stars
            case Question.MENTIONS:
                return self.outline.mentions, bool(self._stars)
            case _:
                return True  # it is readable


def stars_of(outlined: Outline) -> list[ImportFrom]:
    """Return the imports of all names of another module."""
    imports = (node for node in outlined.imports if isinstance(node, ImportFrom))
    return [node for node in imports if any(name == "*" for name, _ in node.names)]


def _label(item: Definition) -> str:
    return item.name or ",".join(item.binds)


def _is_property(method: Definition) -> bool:
    return any(decorator.endswith("property") for decorator in method.decorators)


def _weight(slice_: Slice) -> int:
    return _A_LINE * (slice_.last - slice_.first + 1)


def _callees(item: Definition) -> Iterable[str]:
    return (*item.decorators, *item.calls) if item.kind == "statement" else item.decorators


def _ends(callee: str, word: str) -> bool:
    return callee.rpartition(".")[2] == word


def _only_sets(item: Definition) -> bool:
    """Return whether a statement sets something: it binds and calls nothing, or it calls `setattr`."""
    return (not item.binds and not item.calls) or "setattr" in item.calls


def _bound(node: ImportName | ImportFrom) -> Iterator[tuple[str, str]]:
    """Return the names that an import binds, each with what it means there."""
    if isinstance(node, ImportFrom):
        yield from ((alias or name, name) for name, alias in node.names if name != "*")
    else:
        top = node.module.partition(".")[0]
        yield (top, top) if node.alias is None else (node.alias, node.module)
