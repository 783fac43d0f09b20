"""Whether a gradient can come to what an entry point runs, from what the file and its path tell."""

from __future__ import annotations

from msgspec.structs import replace

from inplace_lint.core.assumption import Assumption, assumption, passes_gradient, passes_trained
from inplace_lint.core.event import Carried, Event, Site, Stale
from inplace_lint.core.finding import Given
from inplace_lint.core.span import Slice
from inplace_lint.domain import origins, traits, unknown_history
from inplace_lint.domain.state import State
from inplace_lint.domain.values import ClassValue, Const, Dotted, Ref, Sym, SymId
from inplace_lint.effects.summary import Definition
from inplace_lint.interp.expr import environment
from inplace_lint.interp.interpreter import Interpreter
from inplace_lint.knowledge.words import OPERATOR
from inplace_lint.workspace import trainers
from inplace_lint.workspace.training import passed

_UNRECORDED = frozenset({"mode:grad=False", "mode:inference", OPERATOR})  # the last: the body of an operator
_DEEPEST = 2
NOBODY = -1  # the number of a value that nothing trains through


def runs_unrecorded(interp: Interpreter, name: str, depth: int = 0) -> bool:
    """
    Check whether all uses in the file of a function or method of this name run without recording gradients.

    What a constructor does with it is in no loss.
    """
    users = [pair for pair in interp.context.main.users_of(name) if pair[1].name != "__init__"]
    return bool(users) and all(
        _records_nothing(interp, item, user)
        or (depth < _DEEPEST and bool(user.name) and runs_unrecorded(interp, user.name, depth + 1))
        for item, user in users
    )


def only_sets_up(interp: Interpreter, name: str) -> bool:
    """Check whether all of the file that uses a function are constructors: what they pass to it has no history."""
    users = interp.context.main.users_of(name)
    return bool(users) and all(user.name == "__init__" for _, user in users)


def _records_nothing(interp: Interpreter, item: Definition, user: Definition) -> bool:
    """Check whether a function switches gradients off, or is a method of a custom function, which runs without them."""
    context = interp.context
    if any(context.is_function(name) for base in item.bases for name in context.names_behind(base)):
        return True
    stops = (context.forms_behind(decorator) for decorator in user.decorators)
    return any(forms and forms[0].act in _UNRECORDED for forms in stops)


def is_custom_function(interp: Interpreter, cls: ClassValue) -> bool:
    """Check whether a class is a custom function: its methods run without recording, unless a graph is asked for."""
    return any(isinstance(base, Dotted) and interp.context.is_function(base.name) for base in interp.context.mro(cls))


def is_refuted(interp: Interpreter, state: State, event: Event) -> bool:
    """
    Check whether an event assumes a gradient for what the path has shown to have none, or taken for a setting.

    Or for what a constructor has computed of no parameter, where the program runs backward later.
    """
    asked = [Sym(SymId(one.of)) for one in event.assumptions if isinstance(one, Assumption) and one.of != NOBODY]
    runs = bool(asked) and isinstance(event, Stale) and event.backward is not None
    if (runs and is_of_constructor(interp, event) and not given(interp, event)) or _fails_always(interp, event):
        return True
    return any(
        unknown_history.has_no_gradient(state, one)
        or unknown_history.is_setting(state, one)
        or _is_of_batch(interp, state, one)
        for one in asked
    )


def _fails_always(interp: Interpreter, event: Event) -> bool:
    """
    Check whether a function that trains keeps a history of what it is given: with one, its second step would fail.

        def fit(x, net, opt):
            scale[0] = x.std()          # before the loop
            for _ in range(epochs):     # runs backward through `scale` in each turn
    """
    if not isinstance(event, Carried) or event.backward is None:
        return False
    return event.write.site.place.slice == event.backward.place.slice and bool(given(interp, event))


def _is_of_batch(interp: Interpreter, state: State, value: Sym) -> bool:
    """
    Check whether a value is an item of what a function trains on: of a mapping that it passes to a network as a whole.

        def train(net, batch, opt):
            keep = batch["keep"].float()        # data, as all of the batch: only `net` is trained
            loss = (net(batch) * keep).sum()
            opt.zero_grad()
            loss.backward()

    Or a list of mappings, one for each image or text: `metas[0]["shape"]`.
    """
    batch = unknown_history.mapping_of(state, value)
    if batch is not None and unknown_history.is_row_of_argument(state, batch):
        return True
    if batch is None or not state.has_trait(traits.FED, batch.id):
        return False
    match state.symbols.keys[batch.id]:
        case (origins.PARAMETER, _, str(), Slice() as slice_):
            known = interp.context.definition_at(slice_)
            calls = () if known is None or not trainers.asks(known) else known.calls
            return any(passed.clears(call.rpartition(".")[2]) for call in calls)
        case _:
            return False


def settled(state: State, event: Event) -> Event:
    """Return an event without what it assumes and the path found: a gradient, or that something is a tensor."""
    known = {one for one in event.assumptions if _is_found(state, one)}
    return replace(event, assumptions=event.assumptions - known) if known else event


def _is_found(state: State, sentence: str) -> bool:
    if isinstance(sentence, Assumption):
        return state.trait(traits.REQUIRES_GRAD, SymId(sentence.of)) is True
    if state.has_trait(traits.WAS_ON, sentence):
        return True
    taken = state.trait(traits.TAKEN_FOR_TENSOR, sentence)
    return taken is not None and state.has_trait(traits.IS_TENSOR, taken)


def is_assumed(event: Event) -> bool:
    """Check whether an event assumes a gradient for a value from outside."""
    return any(isinstance(known, Assumption) for known in event.assumptions)


def is_passed_on(event: Event) -> bool:
    """Check whether an event assumes that what is not known passes a gradient on."""
    return any(map(passes_gradient, event.assumptions))


def has_trained(event: Event) -> bool:
    """Check whether an event assumes that something passes a gradient on which may have parameters: no new object."""
    return any(map(passes_trained, event.assumptions))


def supposed(interp: Interpreter, event: Event) -> Event:
    """
    Return an event with the assumption that a gradient is asked for what a function that only infers returns.

    A program that runs backward itself has asked.
    """
    name = _inferring(interp, event.write.site) if isinstance(event, Stale) and event.backward is None else ""
    if not name:
        return event
    asked = assumption(f"a gradient is computed for what `{name}` returns", NOBODY)
    return replace(event, assumptions=event.assumptions | {asked})


def _inferring(interp: Interpreter, site: Site | None) -> str:
    """Return the function around a site that is only called to infer, by its name; empty if none is."""
    infers = interp.context.default().framework.infers
    while site is not None:
        known = interp.context.definition_at(site.place.slice)
        if known is not None and known.name in infers:
            return known.name
        site = site.caller
    return ""


def _whole(interp: Interpreter, number: int) -> tuple[int, tuple[str, ...]]:
    """
    Return the number of the only value that a value is made of, such as `x` of `x[1:] - x[:-1]`; else its own.

    With the last keys and attributes on each way there: `start` and `goal` of `batch["start"] - batch.goal[0]`.
    """
    waiting, seen, found, keys = [(number, "")], set[tuple[int, str]](), set[int](), set[str]()
    while waiting:
        parts: list[tuple[int, str]] = []
        one, key = waiting.pop()
        match interp.context.symbols.keys[one]:
            case (origins.ITEM, Sym(outer), Const(str(name))) | (origins.ATTRIBUTE, int(outer), str(name)):
                parts = [(outer, key or name)]
            case (origins.ITEM | origins.ROW | origins.TURN, Sym(outer), *_):
                parts = [(outer, key)]
            case (origins.BINARY | origins.UNARY, _, *operands):
                parts = [(operand.id, key) for operand in operands if isinstance(operand, Sym)]
            case _:
                found.add(one)
                keys.add(key)
        waiting.extend(part for part in sorted(parts) if part not in seen)
        seen.update(parts)
    return (found.pop(), tuple(sorted(keys))) if len(found) == 1 else (number, ("",))


def given(interp: Interpreter, event: Event) -> tuple[Given, ...]:
    """Return the parameters, or the parts of such, whose gradient an event assumes."""
    numbers = sorted(known.of for known in event.assumptions if isinstance(known, Assumption) and known.of != NOBODY)
    found: list[Given] = []
    for number in numbers:
        whole, keys = _whole(interp, number)
        match interp.context.symbols.keys[whole]:
            case (origins.PARAMETER, _, str(name), Slice() as slice_):
                known = interp.context.definition_at(slice_)
                found.extend([Given(slice_.path, known.qualname, name, keys)] if known is not None else [])
            case (origins.ITEM, Ref(), Const(str())) if "" not in keys:  # of what `**` takes
                found.append(Given(interp.context.path, "", "", keys))
            case _:
                pass
    return tuple(found)


def by_nobody(event: Event) -> bool:
    """Check whether an event assumes a gradient that nobody asks for, whoever uses the entry point."""
    return any(isinstance(known, Assumption) and known.of == NOBODY for known in event.assumptions)


def is_of_constructor(interp: Interpreter, event: Event) -> bool:
    """
    Check whether a constructor both kept and overwrote what an event assumes a gradient for.

    It did so before any loss, unless it runs backward itself, and the first backward that went there would use it up.
    """
    if not isinstance(event, Stale) or (event.backward and _is_in_constructor(interp, event.backward)):
        return False
    return all(_is_in_constructor(interp, touch.site) for touch in (event.save, event.write))


def _is_in_constructor(interp: Interpreter, site: Site | None) -> bool:
    while site is not None:
        known = interp.context.definition_at(site.place.slice)
        if known is not None and known.name == "__init__":
            return True
        site = site.caller
    return False


def is_plain(interp: Interpreter, item: Definition) -> bool:
    """
    Check whether an item is a function, or a class that has nothing from a framework: a call of it need not be trained.

    A data set is such a class too: it makes what networks are trained on.
    """
    if item.kind != "class":
        return True
    context = interp.context
    state = context.base
    cls = None if state is None else environment.module_variable(interp, state.fork(), context.path, item.name)
    if not isinstance(cls, ClassValue):
        return False
    of_framework = {
        facts.canonical(base.name)
        for base in context.mro(cls)
        if isinstance(base, Dotted) and (facts := context.facts_of(base.name)) is not None
    }
    return of_framework <= context.default().framework.datasets
