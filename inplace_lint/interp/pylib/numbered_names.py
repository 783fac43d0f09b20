"""
Names that a program completes with what it was given: `getattr(nn, f"Conv{dim}d")`, `eval("Encoder" + city)`.

What a text is known to be beside its unknown parts follows from how the text was made. The names that fit it differ in
a number alone, and stand for layers that differ in the number of their axes. Of the names of a module of the project
each that fits is a choice.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator
from keyword import iskeyword
from string import Formatter

from inplace_lint.domain import origins
from inplace_lint.domain.heap import DictObject, Instance
from inplace_lint.domain.state import State
from inplace_lint.domain.values import NONE, Builtin, ClassValue, Closure, Const, Dotted, ModuleValue, Sym, Tuple, Value
from inplace_lint.interp.control import path_condition
from inplace_lint.interp.expr import environment, own_names
from inplace_lint.interp.frame import Arguments, Frame
from inplace_lint.interp.interpreter import Interpreter
from inplace_lint.interp.outcome import Results
from inplace_lint.interp.pylib import mappings
from inplace_lint.interp.pylib.request import Request
from inplace_lint.ir import nodes as ir
from inplace_lint.knowledge.facts import Facts

_NUMBER = r"\d+"
_CALLED = r"\(\)"
_PRINTED = re.compile(r"%[-#0 +]*\d*(?:\.\d+)?[a-zA-Z]")
_ANY = r"\w+"
_MODULES = Dotted("sys.modules")
_MOST = 4
_MOST_CHOICES = 12
_LEAST = 3  # characters of a name that are known


def complete(facts: Facts, owner: str, form: str) -> str | None:
    """
    Return the name of a library below `owner` that fits the form of a text; None if none does, or too many.

    IMPRECISE: it is the middle one, with the axes that most programs have.
    """
    fits = re.compile(re.escape(f"{owner}.") + form).fullmatch
    found = sorted(known for known in facts.rows if fits(known))
    return found[len(found) // 2].rpartition(".")[2] if 0 < len(found) <= _MOST else None


def completed(request: Request, value: Value, form: str | None) -> str | None:
    """Return the name in a library that a text of this form is, where only a number in it is unknown."""
    facts = request.interp.context.facts_of(value.name) if isinstance(value, Dotted) else None
    return complete(facts, value.name, form) if facts and form and isinstance(value, Dotted) else None


def listed(request: Request, owner: Dotted, name: Sym) -> Const | None:
    """
    Return the name in a library that a condition of the path lists, the first of those that it may be; None if none.

    assert kind in ("LSTM", "GRU")
    self.rnn = getattr(nn, kind)(size, size)        # from here on, `kind` is "LSTM"
    """
    state, known = request.state, path_condition.known(request.state, name)
    facts = request.interp.context.facts_of(owner.name)
    if isinstance(known, Const) or facts is None:
        return known if isinstance(known, Const) else None
    for item in _choices(state, name):
        is_it = state.symbols.sym((origins.COMPARE, "==", name, item))
        if f"{owner.name}.{item.value}" in facts.rows and path_condition.truth(state, is_it) is not False:
            path_condition.learn(state, is_it, True)
            return item
    return None


def _choices(state: State, name: Sym) -> Iterator[Const]:
    """Yield the constants one of which a value is, as conditions of the path say."""
    for key, side in path_condition.learned_on(state):
        match key:
            case (origins.CONTAINS, Sym() as asked, Tuple(items, True)) if side and asked == name:
                yield from (item for item in items if isinstance(item, Const))
            case _:
                pass


def item(interp: Interpreter, frame: Frame, state: State, value: Value, index: Value, at: int) -> Value | None:
    """
    Return what a text is bound to in the names of a module or object; None if it is not known, or no name.

    Of `sys.modules` the module that runs is known: `getattr(sys.modules[__name__], kind)`.
    """
    if value == _MODULES:
        here = frame.slice.path
        own = environment.module_variable(interp, state, here, "__name__")
        return ModuleValue(here) if own == index else None
    if not own_names.is_mapping(value) or not isinstance(value, Builtin):
        return None
    found = own_names.item(interp, state, value, index)
    if found is not None or not isinstance(value.receiver, ModuleValue):
        return found
    return choose_from(interp, frame, state, value.receiver, index, at)


def choose_from(
    interp: Interpreter, frame: Frame, state: State, module: ModuleValue, text: Value, at: int
) -> Value | None:
    """
    Return a class or function of a module whose name a text may be, as an item of a dict of them; None if none fits.

    self.encoder = globals()["Encoder" + kind]()     # each class of the module whose name begins so
    """
    form = _form(state, text) if type(text) is Sym else None
    return None if form is None else _chosen(interp, frame, state, module.path, form, text, at)


def _chosen(
    interp: Interpreter, frame: Frame, state: State, path: str, form: str, text: Value, at: int, ends: str = ""
) -> Value | None:
    """Return one of the classes of a module that a name of this form may be, or of its functions if it is none."""
    pattern = form.replace(_NUMBER, _ANY)
    if pattern == form or len(form.replace(_NUMBER, "")) < _LEAST:
        return None
    names = sorted(filter(re.compile(pattern).fullmatch, interp.context.project.names(path) or ()))
    if len(names) > _MOST_CHOICES:
        return None
    own = frame.closure.owner if frame.closure is not None else None
    bound = {name + ends: environment.find(interp, state, path, name) for name in names}
    classes: dict[object, Value] = {
        name: value for name, value in bound.items() if isinstance(value, ClassValue) and value != own
    }
    functions: dict[object, Value] = {name: value for name, value in bound.items() if isinstance(value, Closure)}
    if not (classes or functions):
        return None
    mapping = DictObject(classes or functions)
    interp.context.coverage.entry(frame, state, at, mapping, text)
    known = path_condition.known(state, text)
    named = mapping.items.get(known.value) if type(known) is Const else None
    return named or mappings.alternative(state, mapping, text)


def evaluate(request: Request) -> Results:
    """Evaluate a text that is a name, such as `eval("nn.ReLU")`, or calls it without arguments; others are unknown."""
    text = request.argument(0)
    form = _form(request.state, text) if text is not None else None
    path, called, rest = (form or "").partition(_CALLED)
    first, *names = path.split(r"\.")
    if text is None or rest or len(request.arguments.positional) > 1 or not all(map(_is_name, names[:-1])):
        return request.unknown()
    if _is_name(first):
        found = request.interp.evaluate(request.frame, request.state, ir.Name(request.at, first))
    else:
        here, ends = request.frame.slice.path, "()" if called else ""
        chosen = _chosen(request.interp, request.frame, request.state, here, first, text, request.at, ends)
        found = [] if chosen is None or names else [(request.state, chosen)]
    for form in names:
        found = [
            got
            for state, owner in found
            if (name := form if _is_name(form) else completed(request, owner, form)) is not None
            for got in request.interp.get_attribute(request.frame, state, owner, name, request.at)
        ]
    if called:
        plain, frame, at = Arguments(()), request.frame, request.at
        found = [made for state, function in found for made in request.interp.call(frame, state, function, plain, at)]
    return found or request.unknown()


def _is_name(text: str) -> bool:
    return text.isidentifier() and not iskeyword(text)


def choose(request: Request, instance: Instance, name: str) -> None:
    """
    Record that an option completes the name of one of the methods of an object, and no other.

    self.interact = getattr(self, f"_{mode}")       # with `mode="bi"`, it is the method `_bi`
    """
    expr = request.arguments.exprs.get(1)
    if type(expr) is not ir.Format or len(expr.parts) != 1 or not isinstance(expr.parts[0], ir.Name | ir.Attr):
        return
    fits = re.compile(_of_template(expr.template, "(.+)") or "").fullmatch
    found = fits(name)
    for state, option in request.interp.evaluate(request.frame, request.state, expr.parts[0]) if found else ():
        if type(option) is Const and option.source is not None and found is not None and option.value == found[1]:
            classes = (cls for cls in request.interp.context.mro(instance.cls) if isinstance(cls, ClassValue))
            names = (name for cls in classes for name in cls.methods if not name.startswith("__"))
            words = {fit[1] for name in names if (fit := fits(name))}
            methods = {
                word: request.interp.lookup(state, instance.cls, expr.template.format(word)) or NONE for word in words
            }
            request.interp.context.coverage.entry(request.frame, state, request.at, DictObject(methods), option)


def form_of(state: State, value: Value) -> str | None:
    """Return a pattern of what a text is, with numbers for its unknown parts; None if it is not known to start so."""
    form = _form(state, value)
    return None if form is None or form.startswith(_NUMBER) else form


def _form(state: State, value: Value) -> str | None:
    """Return a pattern of what a text may be, with numbers for what is not known of it; None if nothing is known."""
    match value:
        case Const(str() as text):
            return re.escape(text)
        case Sym():
            return _of_key(state, state.symbols.key(value))
        case _:
            return None


def _of_key(state: State, key: Hashable) -> str | None:
    match key:
        case (origins.FORMAT, _, str() as template, *_) if template:
            return _of_template(template)
        case (origins.METHOD, "format", str() as template, *_):
            return _of_template(template)
        case (origins.BINARY, "%", Const(str() as template), _):
            return _NUMBER.join(map(re.escape, _PRINTED.split(template)))
        case (origins.BINARY, "+", Const() | Sym() as left, Const() | Sym() as right):
            parts = [_form(state, part) for part in (left, right)]
            return "".join(part or _NUMBER for part in parts) if any(parts) else None
        case _:
            return None


def _of_template(template: str, unknown: str = _NUMBER) -> str | None:
    try:
        parts = list(Formatter().parse(template))
    except ValueError:
        return None
    return "".join(re.escape(text) + ("" if field is None else unknown) for text, field, _, _ in parts)
