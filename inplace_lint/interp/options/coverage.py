"""
Coverage: which sides of conditions entry points took, and under which condition the others would be taken.

    if self.residual:       # `residual=False` by default: the side True is missed, under the condition `residual`
        x += y

`search` runs an entry point again on what the condition of a missed side asks for.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import partial

from msgspec import Struct, field
from msgspec.structs import replace

from inplace_lint.core.span import Place, Slice
from inplace_lint.domain import origins
from inplace_lint.domain.heap import DictObject, ListObject
from inplace_lint.domain.state import State
from inplace_lint.domain.values import (
    Bound,
    ClassValue,
    Closure,
    Const,
    Dotted,
    Partial,
    Sym,
    SymId,
    Three,
    Tuple,
    Value,
    is_key,
    key_of,
    of_key,
)
from inplace_lint.interp.frame import Arguments, Frame
from inplace_lint.interp.options.may_save import Key, MaySave, Unused
from inplace_lint.interp.options.sides import (
    Conditional,
    compares_numbers,
    makes_parameters,
    makes_writer,
    refuses,
    writing_side,
)
from inplace_lint.ir import nodes as ir
from inplace_lint.ir.walk import walk


class Option(Struct, frozen=True):
    """
    A parameter of an entry point: its name, what it is first run on and the kind that the annotation promises.

    `optional`: it may be passed or not, and is None by default. `cls` is the class of the program that an annotation
    promises for what is None by default, `base` the one from which the argument derives where that is a class itself,
    `shown` those of which it may be, as uses of it show.
    """

    name: str
    value: Value
    kind: str
    optional: bool = False
    cls: ClassValue | None = None
    base: ClassValue | None = None
    shown: tuple[ClassValue, ...] = ()


class Choice(Struct, frozen=True):
    """
    What an entry point is run on instead of its defaults.

    `options` are the arguments by the symbols of their parameters, `makes` is assumed of them; `sides` are those that
    conditions on unknown values take. It is for a `method`, or a function; `instances` are the classes of arguments.
    """

    method: str = ""
    options: tuple[tuple[SymId, Value], ...] = ()
    sides: tuple[tuple[Hashable, bool], ...] = ()
    instances: tuple[tuple[SymId, ClassValue], ...] = ()
    makes: tuple[str, ...] = ()

    @property
    def is_default(self) -> bool:
        """Whether nothing was chosen."""
        return not (self.options or self.sides or self.instances)


class Missed(Struct, frozen=True):
    """
    A side of the condition `test` that no path took: of which function, and in which run of an entry point.

    `test` is None for a call that writes nothing at a rate, the side of which is False, and for an entry of a dict that
    was not looked up. `condition` is None where it depends on no option. `sides` are those that the path took before.
    """

    test: ir.Expr | None
    side: bool
    function: ir.Function
    condition: SymId | None
    choice: Choice
    root: Slice
    method: str
    sides: tuple[tuple[Hashable, bool], ...]


def _nothing_writes(_path: str, _name: str) -> bool:
    return False


class Coverage(Struct):
    """
    The sides of conditions that paths took, of the functions of the file `path`, and those that they missed.

    `by_program` are the ids of the classes that statements of the file construct. `now` are the sides that the entry
    point which runs has taken.

    `choice` is what the entry point `root` runs on, of a class in its constructor or in `method`. `options` are the
    parameters of entry points, by their symbols, `owned` those of each function, in order; `under_choice` are the sides
    that runs on a choice missed; `worth` says what the sides in a function may lead to. `inherited` are methods of
    other files that set what those of `root` write. `outer` are sides that entry points further out missed before,
    `outside` the one of them that the choice leads to. `assuming` are the entry points of which a finding assumes that
    a value from outside requires grad, `making` the last words of the calls that make parameters, `elsewhere` the sides
    in other files that make parameters, or an object of a class that `writes`. `uncalled` are the classes of other
    files that do, which no entry point called. `refusing`: a constructor that completed on no path runs once more, to
    find what refuses; `refused` are the sides in other files that would not. `beyond` are the classes whose call
    completes on no path while what is None by default is None. `held` are the sides that use a tensor which may be
    written, `saving` those of which one was written. `needed` are the places at which paths end since an option is
    None. `offers`: an object is constructed for an argument, whose parts have options, too. `called` are calls of
    arguments.
    """

    path: str = ""
    by_program: set[int] = field(default_factory=set)
    taken: set[Key] = field(default_factory=set)
    now: set[Key] = field(default_factory=set)
    missed: dict[Key, Missed] = field(default_factory=dict)
    under_choice: dict[Key, Missed] = field(default_factory=dict)
    outer: dict[Key, Missed] = field(default_factory=dict)
    outside: Missed | None = None
    outer_runs: set[tuple[str, tuple[tuple[SymId, Value], ...]]] = field(default_factory=set)
    assuming: set[Slice] = field(default_factory=set)
    making: frozenset[str] = frozenset()
    writes: Callable[[str, str], bool] = _nothing_writes
    elsewhere: set[Key] = field(default_factory=set)
    uncalled: frozenset[str] = frozenset()
    refusing: bool = False
    refused: set[Key] = field(default_factory=set)
    beyond: set[Slice] = field(default_factory=set)
    held: MaySave = field(default_factory=MaySave)
    saving: set[Key] = field(default_factory=set)
    needed: set[Key] = field(default_factory=set)
    offers: bool = False
    called: dict[tuple[Slice | None, SymId], Arguments] = field(default_factory=dict)
    options: dict[SymId, Option] = field(default_factory=dict)
    owned: dict[Slice, list[tuple[int, SymId]]] = field(default_factory=dict)
    root: Slice | None = None
    inherited: frozenset[Slice] = frozenset()
    method: str = ""
    choice: Choice = field(default_factory=Choice)
    writing: dict[int, Three] = field(default_factory=dict)
    worth: dict[tuple[Slice, int], tuple[tuple[Key, int, frozenset[str]], ...]] = field(default_factory=dict)

    def start(self, root: Slice, inherited: frozenset[Slice] = frozenset()) -> None:
        """Start the run of an entry point."""
        self.root, self.method, self.inherited = root, "", inherited
        self.now.clear()
        self.held.start()

    def reopen(self, functions: Sequence[ir.Function]) -> None:
        """Forget which sides of the conditions in functions were taken, so that the next run says what it misses."""
        asked = {id(part) for one in functions for part in walk(one.body) if isinstance(part, Conditional)}
        self.taken = {key for key in self.taken if key[0] not in asked}

    def option(self, number: SymId, option: Option, owner: Slice | None = None) -> Value:
        """Return the argument for an option of an entry point, a parameter of `owner`; it knows what it is of."""
        if self.options.setdefault(number, option) is option and owner is not None:
            self.owned.setdefault(owner, []).append((len(self.options), number))
        value = option.value
        return self.chosen(Const(value.value, value.origin, number) if type(value) is Const else value)

    def chosen(self, value: Value) -> Value:
        """Return what was chosen for the option that an argument is of; the argument itself where nothing was."""
        for option, chosen in self.choice.options:
            if option == _condition(value):
                return Const(chosen.value, chosen.origin, option) if type(chosen) is Const else chosen
        return value

    def applied(self, given: Arguments) -> Arguments:
        """Return arguments that the program passes, with what was chosen for the options among them."""
        keywords = tuple((name, self.chosen(value)) for name, value in given.keywords)
        return replace(given, positional=tuple(map(self.chosen, given.positional)), keywords=keywords)

    def words(self) -> tuple[str, ...]:
        """Return the options that the entry point runs on, as they are passed."""
        options, choice = self.options, self.choice
        given = (f"{options[number].name}={_spelled(value)}" for number, value in choice.options)
        passed = (f"{options[number].name}=..." for number, cls in choice.instances if cls == options[number].cls)
        return *given, *passed

    def one(self, frame: Frame, state: State, node: Conditional, test: Value, side: bool) -> None:
        """Record that a path took one side of a condition, and did not look at the other one."""
        is_refused = self.refusing and refuses(node, side)
        if type(node) is ir.If and self.root is not None:
            self._hold(frame, state, node, test, not side)
        if not self._is_searched(frame) and not is_refused and not self._leads(frame, node, test, not side):
            return
        number = self._number(frame, node)
        if is_refused:
            self.refused.add((number, not side))
        self.taken.add((number, side))
        self.now.add((id(node), side))
        if self._asks((number, not side)):
            asked = node if isinstance(node, ir.BoolOp) else node.test
            self._miss((number, not side), frame, state, asked, test)

    def _hold(self, frame: Frame, state: State, node: ir.If, test: Value, side: bool) -> None:
        """Remember a side that may save what is written later: in another file one that an option decides about."""
        block = node.body if side else node.orelse
        is_decided = type(test) is Const and test.source is not None
        if not block or frame.closure is None or not (is_decided or self._is_searched(frame)):
            return
        key = (self._number(frame, node), side)
        if key not in self.taken and key not in self.saving and self.held.asks(key):
            self.held.hold(frame, state, block, Unused(key, node.test, test, frame.closure.function, state.learned))

    def written(self, state: State, storage: int) -> None:
        """Record that a tensor is written, which sides that were missed before use."""
        for one in self.held.written(state, storage):
            self.saving.add(one.key)
            if one.key not in self.taken and self.root is not None:
                run = (self.choice, self.root, self.method, _sides(state, one.learned))
                self.missed.setdefault(one.key, Missed(one.test, one.key[1], one.function, _condition(one.value), *run))

    def split(self, frame: Frame, node: Conditional, test: Value, sides: Sequence[tuple[State, bool]]) -> None:
        """Record the sides of a condition that a path takes, each with the state in which it does."""
        if len(sides) == 1:
            self.one(frame, sides[0][0], node, test, sides[0][1])
        elif self._is_searched(frame):
            number = self._number(frame, node)
            self.taken.update(((number, True), (number, False)))
            self.now.update(((id(node), True), (id(node), False)))

    def _number(self, frame: Frame, node: Conditional) -> int | Place:
        return id(node) if self.root is None else number(self.root, frame.slice.path, id(node))

    def wanted(self, node: Conditional) -> Three:
        """
        Return the side for a path that can take one only: the one that the run has not taken yet, or that writes.

        Where a size or the like is asked for, more is seen behind `if len(x) <= 1: return self.nothing(x)` than in it,
        and with a mask than after `if not mask.any(): mask = None`.
        """
        taken = [side for side in (True, False) if (id(node), side) in self.now]
        if len(taken) == 1:
            return not taken[0]
        if taken or not isinstance(node, ir.If):
            return None
        if id(node) not in self.writing:
            writes = writing_side(node)
            leaves = len(node.body) == 1 and type(node.body[0]) is ir.Return and not node.orelse
            usual = False if (leaves and compares_numbers(node.test)) or _forgets(node) else None
            self.writing[id(node)] = usual if writes is None else writes
        return self.writing[id(node)]

    def _leads(self, frame: Frame, node: Conditional, test: Value, side: bool) -> bool:
        """
        Check whether an option decides about a condition in another file, a side of which leads to a finding.

        It makes parameters, or an object of a class that writes when it is called.
        """
        if type(test) is not Const or test.source is None or type(node) is not ir.If:
            return False
        body = node.body if side else node.orelse
        return makes_parameters(body, self.making) or makes_writer(body, partial(self.writes, frame.slice.path))

    def rate(self, frame: Frame, state: State, at: int, condition: Sym) -> None:
        """Record that a call writes nothing since a rate is what it is, which is the condition."""
        if self._is_searched(frame):
            self._miss((Place(frame.slice, at), False), frame, state, None, condition)

    def flag(self, frame: Frame, state: State, at: int, value: Value) -> None:
        """Record that an option says whether something is trained."""
        if type(value) is Const and value.source is not None:
            asked = Sym(value.source) if value.value else state.symbols.sym((origins.NOT, value.source))
            self._miss((Place(frame.slice, at), False), frame, state, None, asked)

    def refuse_none(self, frame: Frame, state: State, at: int, value: Value) -> None:
        """
        Record that a path ends since a value is None; where it is an option, whoever calls passes something.

        What chosen options lead to in another file may ask for more of them.
        """
        option = _condition(value)
        is_asked = not self.choice.is_default or self._is_searched(frame)
        if option is not None and option in self.options and is_asked:
            key = Place(frame.slice, at), False
            self.needed.add(key)
            self._miss(key, frame, state, None, state.symbols.sym((origins.IS_NONE, option)))

    def entry(self, frame: Frame, state: State, at: int, mapping: DictObject, key: Value) -> None:
        """Record that an option, or an unknown key, chose one of the functions and classes in a dict, no other."""
        option = _condition(key)
        is_option = isinstance(key, Sym) or option in self.options
        if option is None or not mapping.exact or not is_option or not self._is_searched(frame):
            return
        if not all(is_alternative(state, item) for item in mapping.items.values()):
            return
        place = Place(frame.slice, at)
        for other in mapping.items:
            if is_key(key) and key_of(key) == other:
                self.taken.add(((place, other), True))
            elif self._asks(((place, other), True)):
                asked = state.symbols.sym((origins.COMPARE, "==", Sym(option), of_key(other)))
                self._miss(((place, other), True), frame, state, None, asked)

    def _is_searched(self, frame: Frame) -> bool:
        """Return whether the sides of conditions in a function are recorded."""
        return frame.slice.path == self.path or (self.root is not None and frame.slice in self.inherited)

    def _asks(self, key: Key) -> bool:
        """Return whether it matters that a side is missed: none took it yet, or it may be taken on top of a choice."""
        return key not in self.taken or bool(self.choice.options)

    def _miss(self, key: Key, frame: Frame, state: State, test: ir.Expr | None, value: Value) -> None:
        if self.root is None or frame.closure is None:
            return
        condition = _condition(value)
        known, goes_on = self.missed.get(key), condition is not None and bool(self.choice.options)
        is_new = key not in self.taken and (known is None or self._is_better(known, condition))
        if not (is_new or goes_on):
            return
        run = (self.choice, self.root, self.method, _sides(state, state.learned))
        side = Missed(test, key[1], frame.closure.function, condition, *run)
        if goes_on:
            self.under_choice[key] = side
        if is_new:
            if known is not None and known.condition is not None and known.root != self.root:
                self.outer.setdefault(key, known)
            self.missed[key] = side
            if not self._is_searched(frame) and key not in self.needed:
                self.elsewhere.add(key)

    def _is_better(self, known: Missed, condition: SymId | None) -> bool:
        """Return whether what runs now is to be run again for a side, and not the entry point that missed it before."""
        if None in {condition, known.condition} and condition != known.condition:
            return condition is not None
        if self.choice.is_default:
            return self.root != known.root  # inner entry points come later, and cost less
        return self.root == known.root and self.method != known.method  # now from further outside


def _spelled(value: Value) -> str:
    """Return an argument as it is passed."""
    match value:
        case Const():
            return repr(value.value)
        case ClassValue():
            return value.name
        case _:
            return "..."


def number(root: Slice, path: str, node: int) -> int | Place:
    """Return what identifies a condition: one in another file is another for each class that inherits it."""
    return node if path == root.path else Place(root, node)


def _forgets(node: ir.If) -> bool:
    """Check whether an `if` does nothing but replace a value by None."""
    return not node.orelse and all(type(one) is ir.Assign and one.value == ir.Const(None) for one in node.body)


def is_alternative(state: State, item: Value, depth: int = 1) -> bool:
    """Return whether an item is to be called: a class, function, method or module, or a row, list or dict of such."""
    if isinstance(item, Tuple) and item.items:
        return is_alternative(state, item.items[0], depth)
    if isinstance(item, Bound):
        return isinstance(item.function, Closure)
    if depth and isinstance(inner := state.object(item), DictObject | ListObject) and inner.items:
        parts = inner.items.values() if isinstance(inner, DictObject) else inner.items
        return all(is_alternative(state, part, depth - 1) for part in parts)
    return isinstance(item, Dotted | ClassValue | Closure | Partial) or state.instance(item) is not None


def _condition(value: Value) -> SymId | None:
    """Return the option that decides about a condition; None if none does."""
    return value.id if isinstance(value, Sym) else value.source if isinstance(value, Const) else None


def _sides(state: State, learned: object) -> tuple[tuple[Hashable, bool], ...]:
    """Return the sides that conditions on unknown values have taken on a path, up to the last that was learned."""
    found: dict[Hashable, bool] = {}
    while isinstance(learned, tuple):
        known = state.truth(learned[0])
        if known is not None:
            found.setdefault(learned[0], known)
        learned = learned[1]
    return tuple(found.items())
