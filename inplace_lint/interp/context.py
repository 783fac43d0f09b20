"""
The context of an analysis: the file whose entry points are run, the files it imports, and what was learned of them.

All paths share it. What belongs to one path, such as the values of module variables, is in that path's state.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from enum import Enum
from typing import NamedTuple

from msgspec import Struct, field

from inplace_lint.core.event import Touch
from inplace_lint.core.span import Place, Slice
from inplace_lint.domain.state import State, Symbols
from inplace_lint.domain.values import Builtin, ClassValue, Closure, Dotted, Sym, Value
from inplace_lint.effects import swaps
from inplace_lint.effects.edited import Edited, Part, Ran
from inplace_lint.effects.may_write import FileEffects
from inplace_lint.effects.summary import Definition, Outline
from inplace_lint.interp.frame import Frame
from inplace_lint.interp.fuel import CONSTRUCTIONS, Fuel
from inplace_lint.interp.observed_calls import ObservedCalls
from inplace_lint.interp.options.coverage import Coverage
from inplace_lint.ir.described import Read
from inplace_lint.ir.nodes import Call, ClassDef, Code, Expr, For, FunctionDef, If, ImportFrom, Stmt, Try, While, With
from inplace_lint.knowledge import swapped
from inplace_lint.knowledge.facts import Facts
from inplace_lint.knowledge.framework import Framework
from inplace_lint.knowledge.op import Op
from inplace_lint.workspace import call_graph
from inplace_lint.workspace.module import Module
from inplace_lint.workspace.module_store import Project, alone


class Field(NamedTuple):
    """
    A field of a dataclass, with the expression of its default.

    `init`: the constructor takes it, by its name only if `by_name`; `passed`: it is no field, but is passed on to
    `__post_init__`.
    """

    default: Expr | None
    init: bool = True
    by_name: bool = False
    passed: bool = False


class Declared(NamedTuple):
    """What a program declares of an operator that it registers, what that assumes, and what is written in any case."""

    op: Op
    doubt: frozenset[str] = frozenset()
    written: frozenset[str] = frozenset()


class Shown(NamedTuple):
    """The classes of which an argument may be, as its uses show; `sure`: of this one, which has several names."""

    classes: tuple[ClassValue, ...]
    sure: bool


Observer = Callable[..., None]  # of the interpreter, frame, state and statement


class Context(Struct):
    """
    The file under analysis, the `project` that it may import from, and the facts that apply to it.

    `declared` are the names of the program, by file, of which the project has a fact, with its op: that counts, and not
    their code. `operators` is what calls of operators do that the program registers, besides running their bodies;
    `registers` are the top-level items that register some, with their files, once that is known.
    `running` are the names whose statements are being run, `under_way` the statements that the script runs in order,
    and `coverage` the sides of conditions that paths took. `constructed` are the arguments on which the program
    constructs each class, `orders` and `fields` its method resolution order and the fields of a dataclass,
    `resetting` whether a method of it that no call of its objects runs sets attributes, `freezing` whether code says
    what is trained, `describing` whether functions only read a parameter and return it, `exchanged` the names of
    methods that classes were given anew, `swapped` the attributes of frameworks that the file or one that it imports
    sets, by their full names, with the items that do, `replaceable` the attributes of the class that runs which other
    code may set anew, `derived` those of them that derived classes have, `making` the classes that metaclasses are
    making, and `bound` the variables of modules that the current entry point has read, `passing` the calls in
    constructors by the variables that they are given, `shown` the classes of arguments that uses show, `evaluated_keys`
    those under which only evaluation stores something. `observed` is how entry points call functions. `effects` is
    what the file may write, once that is known. `ran` is what each entry point did, `wrote` the places at which it
    wrote, and `writing` those of the one that runs; `part` are those to run, None for all, or for those that what was
    `edited` affects. The `observer` is called before each statement.
    """

    main: Module
    facts: Mapping[str, Facts]
    project: Project = field(default_factory=alone)
    fuel: Fuel = field(default_factory=Fuel)
    classes: dict[Slice, ClassValue] = field(default_factory=dict)
    running: set[tuple[str, str]] = field(default_factory=set)
    under_way: set[Slice] = field(default_factory=set)
    roots: dict[str, Facts] = field(default_factory=dict)
    declared: dict[tuple[str, str], str] = field(default_factory=dict)
    operators: dict[str, Declared] = field(default_factory=dict)
    registers: tuple[tuple[str, Definition], ...] | None = None
    symbols: Symbols = field(default_factory=Symbols)
    library_methods: dict[tuple[str, str], Value | None] = field(default_factory=dict)
    constructed: dict[int, list[tuple[Hashable, ...] | None]] = field(default_factory=dict)
    raising: dict[int, tuple[object, bool]] = field(default_factory=dict)
    base: State | None = None
    bound: list[tuple[str, str]] = field(default_factory=list)
    orders: dict[int, tuple[ClassValue, list[Value]]] = field(default_factory=dict)
    fields: dict[int, tuple[ClassValue, dict[str, Field]]] = field(default_factory=dict)
    enumerations: dict[int, tuple[ClassValue, type[Enum] | None]] = field(default_factory=dict)
    resetting: dict[int, tuple[ClassValue, bool]] = field(default_factory=dict)
    freezing: dict[int, tuple[object, bool]] = field(default_factory=dict)
    describing: dict[tuple[str, str, str, frozenset[str]], Read | None] = field(default_factory=dict)
    exchanged: set[str] = field(default_factory=set)
    swapped: dict[str, list[tuple[str, Definition]]] = field(default_factory=dict)
    replaceable: frozenset[str] = frozenset()
    derived: frozenset[str] = frozenset()
    making: list[ClassValue] = field(default_factory=list)
    observed: ObservedCalls = field(default_factory=ObservedCalls)
    coverage: Coverage = field(default_factory=Coverage)
    listing: dict[tuple[Slice, str], tuple[Expr, ...]] = field(default_factory=dict)
    passing: dict[Slice, dict[str, list[Call]]] = field(default_factory=dict)
    shown: dict[tuple[Slice, str], Shown] = field(default_factory=dict)
    evaluated_keys: frozenset[str] | None = None
    effects: FileEffects | None = None
    edited: Edited | None = None
    ran: dict[str, Ran] = field(default_factory=dict)
    wrote: dict[str, set[Place]] = field(default_factory=dict)
    writing: set[Place] = field(default_factory=set)
    part: Part | None = None
    kept_by_loops: dict[tuple[Slice, str, int], tuple[tuple[str, int], ...]] = field(default_factory=dict)
    observer: Observer | None = None

    def __post_init__(self) -> None:
        self.project.add(self.main)
        self.coverage.path = self.main.path
        self.swapped = self.project.swaps(self.main)
        for name in [name for name in self.swapped if name.endswith(".")]:
            self._spell_out(name)
        for framework in (facts.framework for facts in self.facts.values()):
            if not framework.global_hooks.isdisjoint(self.swapped):
                self.swapped[f"{framework.module}.__call__"] = []
        if self.swapped:
            self.facts = {name: swapped.without(facts, self.swapped) for name, facts in self.facts.items()}
        for facts in self.facts.values():
            for package in (*facts.framework.packages, *sorted(facts.libraries)):
                self.roots.setdefault(package, facts)
            for op in facts.declared:
                module, _, name = op.rpartition(".")
                path = self.project.resolve(self.main.path, module, 0)
                if path is not None:
                    self.declared[path, name] = op

    def _spell_out(self, whole: str) -> None:
        """Replace "any attribute", by which an item sets some, by those of the framework that it lists as texts."""
        for path, item in self.swapped.pop(whole):
            module = self.project.module(path)
            lines = [] if module is None else module.source.split("\n")[item.slice.first - 1 : item.slice.last]
            named = [f"{whole}{word}" for word in swaps.listed("\n".join(lines))]
            known = [name for name in named if any(facts.forms(name) for facts in self.facts.values())]
            for name in known or [whole]:
                self.swapped.setdefault(name, []).append((path, item))

    def file_effects(self) -> FileEffects:
        """Return what the definitions of the file may write; it is computed once."""
        if self.effects is None:
            self.effects = call_graph.file_effects(self.project, self.main)
        return self.effects

    def writes_in_methods(self, cls: ClassValue) -> bool:
        """Return whether methods of a class that the file leads to write, or call what does, whatever runs them."""
        known = self.file_effects().known.get((cls.slice.path, cls.name))
        return known is not None and bool(known.effects.methods_write or known.methods)

    @property
    def path(self) -> str:
        """The path of the file whose entry points are run."""
        return self.main.path

    def is_in_package(self) -> bool:
        """
        Check whether the file is a module of a package: whoever imports it says what it runs, and no script in it does.

            if __name__ == "__main__":
                Net(8)(torch.rand(2, 8))        # a trial; with `residual=True` others use it
        """
        return self.project.resolve(self.path, "", 1) is not None

    @property
    def outline(self) -> Outline:
        """The outline of the file whose entry points are run."""
        return self.main.outline

    def module(self, path: str) -> Module:
        """
        Return a file that was read.

        Raises: KeyError for a file that was not.
        """
        found = self.project.modules[path]
        if found is None:
            raise KeyError(path)
        return found

    def code(self, slice_: Slice) -> Code:
        """Return the lowered form of a slice."""
        return self.module(slice_.path).code(slice_)

    def body(self, frame: Frame) -> tuple[Stmt, ...]:
        """Return the statements that run in a frame: those of its function, or of its slice outside of one."""
        return self.code(frame.slice).body if frame.closure is None else frame.closure.function.body

    def defaults_of(self, closure: Closure) -> dict[str, Value]:
        """Return the defaults of a function by the names of its parameters; all of them are read."""
        self.read_defaults(closure, closure.optional)
        return dict(closure.defaults)

    def read_defaults(self, closure: Closure, names: Iterable[str]) -> None:
        """Record that the result depends on the defaults of some parameters of a function."""
        slice_ = closure.function.slice
        if slice_.path != self.main.path:
            self.module(slice_.path).read_defaults(slice_, names)

    def definition_at(self, slice_: Slice) -> Definition | None:
        """Return the summary of the function, class or method that a slice defines; None of one inside of another."""
        return self.module(slice_.path).parts.get(slice_)

    def class_node(self, slice_: Slice, name: str) -> ClassDef | None:
        """Return the definition node of a class slice."""
        return self.module(slice_.path).class_node(slice_, name)

    def definition(self, cls: ClassValue) -> ClassDef | None:
        """Return the definition node of a class, at the top level of its slice or nested."""
        return self.class_node(cls.slice, cls.name) or nested_class(self.code(cls.slice).body, cls.name)

    @property
    def registering(self) -> frozenset[str]:
        """The last words of the calls that register operators."""
        return frozenset(word for facts in self.facts.values() for word in facts.registering)

    @property
    def described(self) -> frozenset[str]:
        """The packages and modules of whose functions the project itself says what they do."""
        return frozenset(op.rpartition(".")[0] for facts in self.facts.values() for op in facts.declared)

    def facts_of(self, name: str) -> Facts | None:
        """Return the facts of the framework that a dotted name belongs to; None for other libraries."""
        return self.roots.get(name.partition(".")[0])

    def forms(self, name: str) -> tuple[Op, ...]:
        """Return the op forms of a dotted name; empty when nothing is known of it."""
        facts = self.facts_of(name)
        return () if facts is None else facts.forms(facts.canonical(name))

    def canonical(self, name: str) -> str:
        """Return the public name of what a dotted name means."""
        facts = self.facts_of(name)
        return name if facts is None else facts.canonical(name)

    def allocates(self, made: Touch | None) -> bool:
        """Check whether what made a tensor is a factory, which gives new memory and no value that was computed."""
        return made is not None and any(fact.leaf for form in self.forms(made.op) for fact in form.returns)

    def forms_behind(self, spelled: str) -> tuple[Op, ...]:
        """Return the op forms of a dotted name as the file spells it; empty for what it defines itself."""
        return next(filter(None, map(self.forms, self.names_behind(spelled))), ())

    def names_behind(self, spelled: str) -> list[str]:
        """Return what a dotted name may mean as the file spells it, in libraries; nothing if the file defines it."""
        root, _, rest = spelled.partition(".")
        if any(item.kind != "statement" for item in self.main.items(root)):
            return []
        origins = [
            f"{node.module}.{original}" if isinstance(node, ImportFrom) else original
            for node, original in self.main.imports(root)
        ] or [self.default().framework.name]
        return [f"{origin}.{rest}".strip(".") for origin in origins]

    def is_function(self, base: str) -> bool:
        """Check whether a dotted name of a library is the framework's class of custom functions."""
        facts = self.facts_of(base)
        return facts is not None and facts.canonical(base) == facts.canonical(facts.framework.function)

    def is_of_arrays(self, value: Value) -> bool:
        """Check whether a value is an array, or a part of a library that makes arrays: a call of it gives no tensor."""
        if isinstance(value, Dotted):
            return value.name.partition(".")[0] in self.default().framework.arrays
        return isinstance(value, Sym) and value.kind == "array"

    def record_construction(self, cls: ClassValue, frozen: Callable[[], tuple[Hashable, ...] | None]) -> None:
        """Record the arguments on which the program constructs a class; None stands for objects that one path owns."""
        if self.coverage.choice.makes:
            return  # the program may pass another class
        if self.coverage.root is None:
            self.coverage.by_program.add(id(cls))
        known = self.constructed.setdefault(id(cls), [])
        if len(known) < CONSTRUCTIONS:
            arguments = frozen()
            if arguments not in known:
                known.append(arguments)

    def default(self) -> Facts:
        """Return the facts of the framework that the file mentions first: unknown tensors are taken to be of it."""
        return next(iter(self.facts.values()))

    def is_module(self, cls: Value) -> Framework | None:
        """Return the framework whose module class this class derives from, if any."""
        for base in self.mro(cls):
            if isinstance(base, Dotted):
                facts = self.facts_of(base.name)
                if facts is not None and self._is_module_name(facts, base.name):
                    return facts.framework
        return None

    def _is_module_name(self, facts: Facts, name: str) -> bool:
        canonical = facts.canonical(name)
        if canonical == facts.framework.module:
            return True
        forms = facts.forms(canonical)
        return bool(forms) and (forms[0].init is not None or forms[0].act == "container")

    def mro(self, cls: Value) -> list[Value]:
        """Return the method resolution order: a class, then its bases, each after all classes that derive from it."""
        known = self.orders.get(id(cls)) if isinstance(cls, ClassValue) else None
        if known is not None:
            return known[1]
        order: list[Value] = [cls]
        if isinstance(cls, ClassValue):
            for base in cls.bases:
                order.extend(self.mro(base))
        last = {id(entry) if isinstance(entry, ClassValue) else entry: position for position, entry in enumerate(order)}
        found = [order[position] for position in sorted(last.values())]
        if isinstance(cls, ClassValue):
            module = self._module_guessed(cls, found)
            if module is not None:
                found.append(module)
            self.orders[id(cls)] = (cls, found)
        return found

    def has_all_code(self, cls: Value) -> bool:
        """Check whether a class and all that it derives from are of the program."""
        return all(isinstance(base, ClassValue) or base == Builtin("object") for base in self.mro(cls))

    def definitions(self, cls: Value) -> list[Definition]:
        """Return the definitions of a class of the program and of those that it derives from."""
        classes = [base for base in self.mro(cls) if isinstance(base, ClassValue)]
        items = ((base, item) for base in classes for item in self.module(base.slice.path).outline.items)
        return [item for base, item in items if item.slice == base.slice]

    def _module_guessed(self, cls: ClassValue, order: list[Value]) -> Dotted | None:
        """
        Return the framework's module class for a class with an unknown base that defines what a call of a module runs.

        UNSOUND: a call of an object of another kind may run another method.
        """
        framework = self.default().framework
        if framework.calls not in cls.methods or "backward" in cls.methods:
            return None
        unknown = any(
            isinstance(base, Sym) or (isinstance(base, Dotted) and not _is_plain(base) and not self.knows_base(base))
            for base in order
        )
        return Dotted(framework.module) if unknown and Dotted(framework.module) not in order else None

    def knows_base(self, base: Dotted) -> bool:
        """Check whether everything that a class inherits from this base, which is not of the program, is known."""
        facts = self.facts_of(base.name)
        package = base.name.partition(".")[0]
        return facts is not None and (package in facts.framework.packages or bool(facts.rows_of(base.name)))


def _is_plain(base: Dotted) -> bool:
    """Check whether a base is of the standard library, which has no modules of a framework."""
    return base.name.partition(".")[0] in sys.stdlib_module_names


def nested_class(body: Sequence[Stmt], name: str) -> ClassDef | None:
    """Return the definition of a class nested in other statements, if there is one."""
    for node in body:
        match node:
            case ClassDef() if node.name == name:
                return node
            case ClassDef() | If() | For() | While() | With() | Try():
                handled = [part for handler in getattr(node, "handlers", ()) for part in handler.body]
                found = nested_class((*node.body, *getattr(node, "orelse", ()), *handled), name)
            case FunctionDef():
                found = nested_class(node.function.body, name)
            case _:
                found = None
        if found is not None:
            return found
    return None
