"""The files of a project that were read so far, with the outline and the lowered code of each."""

from __future__ import annotations

import contextlib
import posixpath
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Protocol

from msgspec import Struct, field

from inplace_lint.core.span import Slice
from inplace_lint.effects.may_write import Summaries, Target
from inplace_lint.effects.next_outline import LastOutline
from inplace_lint.effects.outline_form import outline_in, outline_out
from inplace_lint.effects.summary import Definition, Outline, outline
from inplace_lint.effects.swaps import hooks_in
from inplace_lint.ir.nodes import ImportFrom
from inplace_lint.knowledge.locate import MODELS, model_text
from inplace_lint.workspace.answers import of_definitions
from inplace_lint.workspace.claims import ALL_RUN, COARSE, Asked, Claim, Question, Text, digest
from inplace_lint.workspace.import_resolver import Lookup
from inplace_lint.workspace.module import Module, Stopwatch, Tally
from inplace_lint.workspace.top_level import Bound, Headers, Unparsed, bound

_NOWHERE = Slice("", 0, 0)
Followed = tuple[tuple[Target, ...], tuple[str, ...]]  # the definitions and the modules that a name means


class Earlier(Protocol):
    """What earlier runs kept of single files."""

    def outline(self, digest: str) -> str | None:
        """Return the form of the outline of a file with this digest; None where there is none."""

    def answers(self, path: str, digest: str) -> Mapping[tuple[str, str], str]:
        """Return the digests of answers by question and detail, as they are while the file has this digest."""

    def headers(self) -> Mapping[str, bytes]:
        """Return the headers of files by the digests of their bytes."""


class Project(Struct):
    """
    The files in reach of the file under analysis, kept for all files that one process analyzes.

    `read` returns the text of a path, or None where there is no such file or it is no text. `summaries` and `followed`
    are the results of `workspace.call_graph` so far, `filled` those of `workspace.registries`. What is asked of the
    files is recorded in `asked`. `earlier` is
    what an earlier run kept of the files, `outlines` are the forms of new outlines by the digests of the files.
    Code with one of the names in `own_writers` may write, as the project says itself.
    """

    lookup: Lookup
    read: Callable[[str], Text | None]
    earlier: Earlier | None = None
    _unparsed: Unparsed | None = None
    outlines: dict[str, str] = field(default_factory=dict)
    own_writers: frozenset[str] = frozenset()
    modules: dict[str, Module | None] = field(default_factory=dict)
    summaries: Summaries = field(default_factory=dict)
    followed: dict[Target, Followed] = field(default_factory=dict)
    lowering: Stopwatch = field(default_factory=Stopwatch)
    kept: Tally = field(default_factory=Tally)
    asked: Asked = field(default_factory=Asked)
    digests: dict[str, str] = field(default_factory=dict)
    _answers: dict[Claim, str] = field(default_factory=dict)
    _before: dict[str, Mapping[tuple[str, str], str]] = field(default_factory=dict)
    _shared: dict[str, frozenset[str] | None] = field(default_factory=dict)
    _bound: dict[str, Bound | None] = field(default_factory=dict)
    _edited: dict[str, LastOutline] = field(default_factory=dict)
    registries: dict[Target, bool] = field(default_factory=dict)
    filled: dict[Hashable, Sequence[tuple[str, Definition]]] = field(default_factory=dict)

    def add(self, module: Module) -> None:
        """Add a file that was read already."""
        self._keep(module.path, module)

    def module(self, path: str) -> Module | None:
        """Return a file of the project; None for one that cannot be read or parsed."""
        self.asked.add(path, Question.READABLE)
        if path not in self.modules:
            self._keep(path, self._load(path))
        return self.modules[path]

    def resolve(self, importer: str, module: str, level: int) -> str | None:
        """Return the path of the file that an import in `importer` means; None when it is not in the project."""
        folder = posixpath.dirname(importer)
        self.asked.add(folder, Question.RESOLVE, f"{level} {module}")
        return self.lookup.resolve(importer, module, level)

    def submodule(self, package: str, name: str) -> str | None:
        """Return the path of a module inside a package, given as the path of its `__init__` file."""
        self.asked.add(package, Question.SUBMODULE, name)
        return self.lookup.submodule(package, name)

    def part(self, importer: str, module: str, name: str, level: int) -> str | None:
        """Return the path of a module that is imported from a folder without an `__init__` file."""
        return self.resolve(importer, f"{module}.{name}" if module else name, level)

    def defining(self, main: str, name: str) -> list[str]:
        """Return a file, and those that an import of it runs which may have a class with a method of a name."""
        self.asked.add(main, Question.DEFINING, name)
        return [main, *self.unparsed.defining(main, name)]

    def swaps(self, main: Module) -> dict[str, list[tuple[str, Definition]]]:
        """
        Return the attributes of frameworks that a file and those that it imports set, with the items that do.

        The functions in them that hook all modules are listed without items.
        """
        self.asked.add(main.path, Question.SWAPS)
        found: dict[str, list[tuple[str, Definition]]] = {}
        for module in (main, *self._swapping(main.path)):
            found |= {hook: [] for hook in hooks_in(module.source)}
            for item in module.outline.items:
                for name in item.swaps:
                    found.setdefault(name, []).append((module.path, item))
        return found

    def _swapping(self, path: str) -> list[Module]:
        """Return the files that a file imports which may set attributes of frameworks."""
        with self.asked.apart():
            read = map(self.module, self.unparsed.swapping(path, self.lookup.frameworks))
            return [module for module in read if module is not None]

    def follow(self, start: Target) -> Followed:
        """Return the definitions and the modules that a name means, through as many files as it takes."""
        known = self.followed.get(start)
        if known is not None:
            self.asked.reuse((start,))
            return known
        with self.asked.computing((start,)):
            found = self.followed[start] = self._follow(start)
        return found

    def _follow(self, start: Target) -> Followed:
        definitions: list[Target] = []
        modules: list[str] = []
        seen: set[Target] = set()
        waiting = [start]
        while waiting:
            target = waiting.pop()
            module = self.module(target[0])
            if target in seen or module is None:
                continue
            seen.add(target)
            items, imported = module.items(target[1]), module.imports(target[1])
            if items and (
                not imported or any(item.kind != "statement" for item in items)
            ):  # `except ImportError: def f`
                definitions.append(target)
            if imported or not items or module.imports_inside(target[1]):
                exporters, inner = self._imported(module, target[1])
                waiting.extend(exporters)
                modules.extend(inner)
        return tuple(definitions), tuple(modules)

    def _imported(self, module: Module, name: str) -> tuple[list[Target], list[str]]:
        """Return the names of other files that an imported name may stand for, and the modules."""
        names: list[Target] = []
        modules: list[str] = []
        for node, original in (*module.imports(name), *module.imports_inside(name)):
            level = node.level if isinstance(node, ImportFrom) else 0
            if not isinstance(node, ImportFrom) and node.module != original:  # `import pkg.ops` binds `pkg`
                modules.extend(filter(None, [self.resolve(module.path, node.module, 0)]))
            path = self.resolve(module.path, node.module if isinstance(node, ImportFrom) else original, level)
            inner = path
            if isinstance(node, ImportFrom):
                inner = (
                    self.part(module.path, node.module, original, level)
                    if path is None
                    else self.submodule(path, original)
                )
            if inner is not None:
                modules.append(inner)
            if isinstance(node, ImportFrom) and path is not None:
                names.append((path, original))
        for star in () if module.items(name) else module.stars:
            path = self.resolve(module.path, star.module, star.level)
            if path is not None and self.may_bind(path, name):
                names.append((path, name))
        return names, modules

    @property
    def unparsed(self) -> Unparsed:
        """What the files tell without a parser."""
        if self._unparsed is None:
            headers = Headers({} if self.earlier is None else self.earlier.headers())
            self._unparsed = Unparsed(self.lookup, self._data, self._text, self._digest, headers)
        return self._unparsed

    def new_headers(self) -> dict[str, bytes]:
        """Return the headers that were made since they were asked for last, as they can be kept."""
        return {} if self._unparsed is None else self._unparsed.headers.taken()

    def _data(self, path: str) -> bytes:
        return self._text(path).encode("utf-8", "surrogatepass")

    def _text(self, path: str) -> str:
        return self.source(path) or ""

    def _keep(self, path: str, module: Module | None) -> None:
        old = self.modules.get(path)
        self.kept.size -= 0 if old is None else old.weight()
        if module is not None:
            module.lowering, module.kept, module.asked = self.lowering, self.kept, self.asked
            self.kept.size += module.weight()
        self.modules[path] = module

    def weight(self) -> int:
        """Estimate the bytes that all that was read takes; it is asked for with each file, so it is no sum over all."""
        return self.kept.size

    def lighten(self) -> None:
        """Drop what was read. Only between two files under analysis, since an analysis relies on what it has read."""
        self.modules.clear()
        self.summaries.clear()
        self.followed.clear()
        self.asked.lighten()
        self._shared.clear()
        self.registries.clear()
        self.filled.clear()
        self._edited.clear()
        self.kept = Tally()

    def drop(self, path: str) -> None:
        """Read a file again; what was found of other files through it stays if what it defines is the same."""
        old = self.modules.get(path)
        for known in (self.digests, self._bound, self._before):
            known.pop(path, None)
        self._answers = {
            claim: answer
            for claim, answer in self._answers.items()
            if claim.path != path and claim.question not in ALL_RUN
        }
        self._shared.clear()
        self.registries.clear()
        self.filled.clear()
        if self._unparsed is not None:
            self._unparsed.drop(path)
        if path in self.modules:
            self._edited.setdefault(path, LastOutline())
            self._keep(path, self._load(path))
            new = self.modules[path]
            if old is None or new is None or not _alike(old.outline, new.outline):
                self.summaries.clear()
                self.followed.clear()
                self.asked.lighten()

    def answers(self, main: str) -> dict[Claim, str]:
        """Return what the analysis of a file asked of the other ones, with the digests of the answers."""
        claims = [claim for claim in self.asked.claims() if claim.path != main or claim.question in COARSE]
        claims += {Claim(claim.path, Question.BYTES) for claim in claims if claim.question not in COARSE}
        return {claim: self.answer(claim) for claim in sorted(claims)}

    def answer(self, claim: Claim) -> str:
        """Return the digest of the answer to a question today."""
        known = self._answers.get(claim)
        if known is None:
            known = self._answers[claim] = self._answer(claim)
        return known

    def _answer(self, claim: Claim) -> str:
        path, question, detail = claim
        match question:
            case Question.BYTES:
                return self._digest(path)
            case Question.RESOLVE | Question.SUBMODULE:
                return self.lookup.answer(claim)
            case Question.BOUND:
                return digest(repr(self._bound_by_text(path)))
            case Question.SWAPS:
                setting = [(one, [item for item in one.outline.items if item.swaps]) for one in self._swapping(path)]
                hooks = [sorted(hooks_in(one.source)) for one, _ in setting]
                return digest(repr([hooks, *(of_definitions(items, one.source) for one, items in setting)]))
            case Question.FILLED | Question.DEFINING:
                return self.unparsed.answer(claim)
            case _:
                known = self._known_before(path).get((question.value, detail))
                return self._asked_now(path, question, detail) if known is None else known

    def _known_before(self, path: str) -> Mapping[tuple[str, str], str]:
        """Return the answers to questions about a file that an earlier run found on the same text."""
        if self.earlier is None:
            return {}
        if path not in self._before:
            self._before[path] = self.earlier.answers(path, self._digest(path))
        return self._before[path]

    def _asked_now(self, path: str, question: Question, detail: str) -> str:
        module = self.module(path)
        return "" if module is None else module.answer(question, detail)

    def _digest(self, path: str) -> str:
        if path not in self.digests:
            self.source(path)
        return self.digests[path]

    def source(self, path: str) -> str | None:
        """Return the text of a file; None where it cannot be read."""
        text = _model(path) if path.startswith(MODELS) else self.read(path)
        self.digests[path] = "" if text is None else text.digest
        return None if text is None else text.source

    def may_bind(self, path: str, name: str) -> bool:
        """Return whether a module may have a variable: by a statement of its own, or through `import *`."""
        names = self.names(path)
        return names is None or name in names

    def names(self, path: str) -> frozenset[str] | None:
        """
        Return the variables that a module may have, also through `import *`; None where these are not known.

        The text decides, so that for packages that import all of hundreds of modules not each of these is parsed for a
        name.
        """
        if path not in self._shared:
            with self.asked.computing(path):
                self._shared[path] = self._bound_through_stars(path)
        else:
            self.asked.reuse(path)
        return self._shared[path]

    def _bound_through_stars(self, path: str) -> frozenset[str] | None:
        """Return what a module and all modules behind its `import *` may bind; None where these are not known."""
        names, seen = set[str](), {path}
        waiting = [path]
        while waiting:
            here = waiting.pop()
            found = self._bound_by_text(here)
            if found is None:
                continue
            targets = [self.resolve(here, *star) for star in found.stars or ()]
            if found.stars is None or None in targets:
                return None
            names.update(found.names)
            waiting += {target for target in targets if target is not None} - seen
            seen.update(waiting)
        return frozenset(names)

    def _bound_by_text(self, path: str) -> Bound | None:
        self.asked.add(path, Question.BOUND)
        if path not in self._bound:
            known = self.modules.get(path)
            source = self.source(path) if known is None else known.source
            self._bound[path] = None if source is None else bound(source)
        return self._bound[path]

    def _load(self, path: str) -> Module | None:
        source = self.source(path)
        if source is None:
            return None
        try:
            return Module(path, source, self._outline(path, source))
        except SyntaxError as error:
            if error.filename != path:
                raise  # it is about code of ours
            # IMPRECISE: what only LibCST reads, or nothing, is reported where it is checked itself; here it is unknown.
            return None

    def _outline(self, path: str, source: str) -> Outline:
        """Return the outline of a file as an earlier run kept it, or made now."""
        roots, key = sorted(self.lookup.frameworks), self.digests[path]
        kept = None if self.earlier is None else self.earlier.outline(key)
        if kept is not None:
            with contextlib.suppress(ValueError, TypeError):
                return outline_in(kept, path, source, roots)
        if path in self._edited:
            return self._edited[path].after(path, source, roots)
        made = outline(path, source, roots)
        self.outlines[key] = outline_out(made)
        return made


def _model(path: str) -> Text:
    source = model_text(path)
    return Text(source, digest(source))


def _alike(one: Outline, other: Outline) -> bool:
    """Check whether two outlines differ in nothing but lines."""
    return one[1:2] + one[4:] == other[1:2] + other[4:] and list(map(_form, one.items)) == list(map(_form, other.items))


def _form(item: Definition) -> Definition:
    return item._replace(slice=_NOWHERE, methods=tuple(_form(method) for method in item.methods))


def alone() -> Project:
    """Return a project of no files but those that are added."""
    return Project(Lookup(lambda _: False), lambda _: None)
