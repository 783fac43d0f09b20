"""
Who trains through a function: the code of a project that uses it, and asks for a gradient of what comes out.

    class Net(nn.Module):
        def forward(self, x):
            return normalise(x)           # a module is trained: so is `normalise`

    def step(net, x):
        score(net(x)).backward()          # asks for a gradient: so `score` is trained

Names decide what is used, as in `effects.schedule`: that more is taken for trained than is only shows more. Nobody
trains through what runs in evaluation only.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any

from inplace_lint.core.finding import Asks, Given
from inplace_lint.core.remembered import remembered
from inplace_lint.effects.summary import Definition, Outline
from inplace_lint.knowledge.facts import framework, frameworks, tables
from inplace_lint.workspace.evaluation import Evaluation, Trees, trained
from inplace_lint.workspace.import_graph import Graph
from inplace_lint.workspace.training.fields import ROWS, data_sets
from inplace_lint.workspace.training.functions import Function, functions_in
from inplace_lint.workspace.training.given import Parameters
from inplace_lint.workspace.training.leads import Lead, Leads, Part
from inplace_lint.workspace.training.names import is_layer, layers, layers_with_parameters, trained_layers
from inplace_lint.workspace.training.recorded import Recorded

Target = tuple[str, str]  # the path of a file, and a name that it binds at its top level
_MOST = 64  # definitions that are looked at for one function
_ASKING = frozenset({"backward", "autograd.grad"})
_OF_PARAMETERS = frozenset({"parameter", "layer_parameter", "optimizer"})
_TRAINING = frozenset({Lead.RETURNED, Lead.TRAINING})
_SEEN = _TRAINING | {Lead.UNSEEN}
_WHOLE = frozenset({"", "*"})


class Trainers:
    """The trained functions of the files that a graph knows, found on demand."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self._trees = trees = Trees(graph)
        self._evaluation = Evaluation(graph, trees)
        self._parameters = Parameters(graph, trees, self._evaluation)
        self._leads = Leads(graph, trees, self._evaluation, self._trains_class, self._parameters.tells)
        self._recorded = Recorded(graph, self._evaluation, self._leads)

    def ask(self, asks: Asks) -> bool:
        """Check whether something in the project may ask for a gradient; for none of what calls pass data for."""
        if any(any(one(given) for one in (self._is_data, self._is_unrecorded, self._is_kept)) for given in asks.given):
            return False
        if asks.own and not asks.given:
            return True
        owner, _, name = (asks.name or "").rpartition(".")
        method = (asks.path, owner, name) if owner else (asks.path, asks.owner, asks.method)
        if asks.computes:
            return not self._evaluation.runs(asks.path, name or asks.method, member=bool(owner or asks.owner))
        if asks.again:
            return any(self._parameters.is_trained((one.path, one.function, one.param)) for one in asks.given)
        if asks.buffers:
            return not any(self._is_fed_other(asks, given) for given in asks.given)
        is_plain = not (asks.given or asks.number)
        if is_plain and self._parameters.trains_alone(asks.path, ".".join(filter(None, method[1:]))):
            return self._leads.of(*method) in _TRAINING
        if asks.ran:
            return self._leads.of(*method) in _TRAINING or not self._is_used(method)
        if method[2] and not self._through(method, number=asks.number, plain=asks.name is not None):
            return False
        if asks.number and method[2] and self._leads.of(*method) is Lead.UNSEEN:
            return True  # the loss of a class that derives from another library's: `Trainer.compute_loss`
        return asks.name is None or bool(owner) or self._train((asks.path, asks.name), asks.number)

    def is_certain(self, asks: Asks) -> bool:
        """
        Check whether somebody certainly trains through what was run alone.

        That is a network that returns what a method or function returns, or that has a part of the class. What a
        gradient is assumed for, a layer with parameters computes in some call.
        """
        given = [(one.path, one.function, one.param) for one in asks.given if one.keys == ("",)]
        if asks.ran or asks.records or len(given) < len(asks.given):
            return False
        owner, _, name = (asks.name or "").rpartition(".")
        if asks.name is None and given:
            name = given[0][1].rpartition(".")[0]
        if not owner and self._is_class((asks.path, name)):
            is_led = bool(given) and self._uses_class((asks.path, name))
        else:
            is_led = bool(owner or given) and self._leads.of(asks.path, owner, name) is Lead.RETURNED
        return is_led and all(map(self._parameters.is_computed, given))

    def _is_data(self, given: Given) -> bool:
        """Check whether no gradient comes to a parameter, or to what it holds under each of some keys."""
        if given.function and "." not in given.function and self._evaluation.is_searched(given.path):
            return False  # a function that is looked up by its name: not all its calls are seen
        part = given.path, given.function, given.param
        if self._parameters.is_left_out(part) or self._parameters.trains_itself(part):
            return True
        return self._parameters.is_data(part) or all(self._parameters.is_data(part, key) for key in given.keys)

    def _is_unrecorded(self, given: Given) -> bool:
        """Check whether a parameter is one of the call of a class's objects, which the project never records."""
        owner, _, name = given.function.rpartition(".")
        return name in trained() and self._recorded.never(given.path, owner)

    def _is_kept(self, given: Given) -> bool:
        """
        Check whether a parameter is one of a constructor, and no call passes something that is trained for it.

        What a constructor computes of it is older than any loss, and what is kept of it would be used up by the first.
        """
        is_built = given.function.rpartition(".")[2] == "__init__"
        return is_built and self._parameters.is_trained((given.path, given.function, given.param)) is not True

    def _is_fed_other(self, asks: Asks, given: Given) -> bool:
        """Check whether calls of the objects of a class are seen, and none passes what something trained returns."""
        owner = given.function.rpartition(".")[0]
        return owner == asks.name and self._parameters.is_trained((given.path, given.function, given.param)) is False

    def _through(self, method: tuple[str, str, str], *, number: bool, plain: bool) -> bool:
        """
        Check whether somebody may train through a method: a file, a class and a name.

        Unless it belongs to something of a framework, or returns one number, somebody has to be seen: it is `plain`.
        """
        path, owner, name = method
        if self._evaluation.runs(path, name, member=True):
            return False
        lead = self._leads.of(path, owner, name)
        return lead in _SEEN or (lead is Lead.OPEN and (number or not plain or self._is_handed_out((path, owner))))

    @remembered
    def _is_handed_out(self, start: Target) -> bool:
        """Check whether the call of a module returns an object of a class, whose methods are for who trains it."""
        return any(
            is_called(item) and self._parameters.hands_out(path, f"{item.name}.{user.name}", start[1])
            for path, item, user in self._users(*start)
            if user.name in trained()
        )

    def _is_used(self, method: tuple[str, str, str]) -> bool:
        """Check whether the project certainly has all uses of a function or method, and there are some."""
        path, owner, name = method
        return bool(self._evaluation.all_uses(path, name, member=bool(owner)))

    def record(self, asks: Asks, options: Iterable[str] = ()) -> bool | None:
        """
        Check whether somebody may call what was run alone where gradients are recorded; None if it is handed on.

        An option of it that the project only passes where they are not says so, too.
        """
        owner, _, name = (asks.name or "").rpartition(".")
        return self._recorded.of(Part(asks.path, owner, name)) if self.passes(asks, options) else False

    def passes(self, asks: Asks, options: Iterable[str]) -> bool:
        """Check whether each option of what was run alone may be passed where gradients are recorded."""
        tree = self._trees.of(asks.path) or ast.Module([], [])
        params = {arg.arg for known, node in functions_in(tree) if known == asks.name for arg in _arguments(node)}
        given = (option for option in options if option.partition("=")[0] in params)
        return all(self._recorded.passed(asks.path, option) for option in given)

    @remembered
    def _train(self, start: Target, number: bool = False) -> bool:  # noqa: FBT002 - remembered by position
        """
        Check whether something in the project trains through a class, or is seen to do so through a function.

        Nobody does without a name, or through what a data set prepares. What a file that asks for a gradient has
        besides is meant for it. A function that returns one `number` is a loss to somebody, unless its uses are known
        to lead nowhere.
        """
        if not start[1] or self._evaluation.runs(*start, member=False):
            return False
        if any(map(asks, self._items(*start))):
            return True
        if any(map(is_data_set, self._items(*start))):
            return False
        if self._is_class(start):
            questions = (self._uses_class, self._is_beside_layers)
            return self._asks(start[0]) or any(one(start) for one in questions) or self._stands_alone(*start)
        lead = self._leads.of(start[0], "", start[1])
        return lead in _TRAINING or (lead is not Lead.NOWHERE and (number or self._is_meant(*start)))

    def _is_meant(self, path: str, name: str) -> bool:
        """
        Check whether the file of a function asks for a gradient, and calls it or passes it on.

        Others may use what is used by nobody there; of what is only put into a table nobody knows what it is called on.
        """
        uses = self._evaluation.all_uses(path, name, member=False) if self._asks(path) else []
        if not uses:
            return self._asks(path) and (uses is None or not self.graph.users(path))
        return any(use.called or use.passed for _, use in uses)

    def _uses_class(self, start: Target) -> bool:
        """Check whether a module uses a class, or code that asks for a gradient; both directly or through others."""
        seen, waiting, makers = {start}, [start], set[Target]()
        while waiting and len(seen) < _MOST:
            path, name = waiting.pop()
            is_class = (path, name) in makers or any(item.kind == "class" for item in self._items(path, name))
            for user_path, item, user in self._users(path, name):
                if self._evaluation.uses(start[0], user_path, user.name, name):
                    continue
                if (user_path, item.name) == start or is_data_set(item):
                    continue
                if asks(user) or (is_called(item) and (is_class or user.name != "__init__")):
                    return True
                more = {(user_path, bound) for bound in ((item.name,) if item.name else item.binds)} - seen
                makers |= more if is_class and self._parameters.is_maker(user_path, item.name, name) else set()
                waiting.extend(more)
                seen |= more
        return False

    def _is_beside_layers(self, start: Target) -> bool:
        """
        Check whether a class of modules is one of layers, as what stands beside it or what it does in training shows.

            LAYERS = {"relu": nn.ReLU, "scale": Scale}      # a table, a function that makes either, or a decorator
        """
        modules = [item for item in self._items(*start) if is_module(item)]
        if any("training" in method.gets for item in modules for method in item.methods):
            return True
        if any(self._is_of_layers(start[0], one) for item in modules for one in item.decorators):
            return True
        beside = (one for one in self._users(*start) if not trained_layers().isdisjoint(_words(one[2])))
        return bool(modules) and any(
            user.kind == "statement" or self._parameters.is_maker(path, item.name, start[1])
            for path, item, user in beside
        )

    @remembered
    def _is_of_layers(self, path: str, decorator: str) -> bool:
        """Check whether a decorator is also one of a class of modules that has a layer with parameters."""
        outlines = filter(None, map(self._outline, self.graph.mentioning(path, f"@{decorator}")))
        others = (
            item for known in outlines for item in known.items if decorator in item.decorators and is_module(item)
        )
        parts = (part for item in others for part in item.methods)
        return any(not layers_with_parameters().isdisjoint(_words(part)) for part in parts)

    def _stands_alone(self, path: str, name: str) -> bool:
        """
        Check whether a name is that of a module, in a file from which nothing in the project imports.

        Nobody trains it in a project of several files that has no layer, no parameter and no gradient.
        """
        is_alone = any(map(is_module, self._items(path, name))) and not self.graph.users(path)
        return is_alone and self._is_of_training(path)

    @remembered
    def _is_of_training(self, path: str) -> bool:
        """Check whether a file is the only one of its project, or one of these has a word that only training has."""
        known = self.graph.mentioning(path, "")
        return len(known) == 1 or any(map(_training().search, map(self.graph.text, known)))

    def _is_class(self, target: Target) -> bool:
        return any(item.kind == "class" for item in self._items(*target))

    def _trains_class(self, path: str, name: str) -> bool | None:
        """Check whether a class is trained: a module, or what something trains through; None for what is no class."""
        if any(map(is_module, self._items(path, name))):
            return True
        return self._train((path, name)) if self._is_class((path, name)) else None

    @remembered
    def _asks(self, path: str) -> bool:
        """Check whether a file asks for a gradient."""
        here = self._outline(path)
        return here is not None and any(map(_asks_anywhere, here.items))

    def _users(self, path: str, name: str) -> Iterator[tuple[str, Definition, Definition]]:
        word = name.encode("utf-8", "surrogatepass")
        for user_path in self._importers(path, name):
            known = self.graph.project().module(user_path) if word in self.graph.text(user_path) else None
            if known is not None:
                yield from ((user_path, item, user) for item, user in known.users_of(name))

    def _importers(self, path: str, name: str) -> dict[str, None]:
        """Return the files that may use a name of a file: itself, and those that import the name, or what has it."""
        found = dict.fromkeys([path])
        for user, imported in self.graph.users(path).items():
            if name in imported or not _WHOLE.isdisjoint(imported):
                others = self.graph.users(user).items()
                found |= dict.fromkeys([user, *(other for other, names in others if not _WHOLE.isdisjoint(names))])
        return found

    def _items(self, path: str, name: str) -> list[Definition]:
        known = self._outline(path)
        return [] if known is None else [item for item in known.items if name in item.binds]

    def _outline(self, path: str) -> Outline | None:
        module = self.graph.project().module(path)
        return None if module is None else module.outline


@cache
def _training() -> re.Pattern[bytes]:
    """Return the words of networks and of programs that train: of gradients, parameters, optimizers and layers."""
    words = {word.rpartition(".")[2] for word in _ASKING}
    for name in frameworks():
        known = framework(name)
        words.update((known.requires_grad, *(one.rpartition(".")[2] for one in known.trained)))
        rows = tables(name).rows.items()
        words.update(op.rpartition(".")[2] for op, forms in rows if any(map(_is_of_networks, forms)))
    return re.compile(rb"\b(?:" + b"|".join(word.encode() for word in sorted(words)) + rb")\b")


def _is_of_networks(form: Mapping[str, Any]) -> bool:
    """Check whether a row is that of a parameter, an optimizer, or a layer that has parameters or keeps the shape."""
    return is_layer(form) or form.get("act") in _OF_PARAMETERS


def _asks_anywhere(item: Definition) -> bool:
    return any(asks(part) for part in (item, *item.methods))


def asks(item: Definition) -> bool:
    """Check whether a piece of code asks for a gradient."""
    return any(call.partition(".")[2] in _ASKING or call.rpartition(".")[2] in _ASKING for call in item.calls)


def is_module(item: Definition) -> bool:
    """Check whether a class defines what a call of a module runs, and is no custom function."""
    members = {method.name for method in item.methods}
    return "backward" not in members and any(framework(name).calls in members for name in frameworks())


def is_called(item: Definition) -> bool:
    """Check whether a class is one of modules, or derives from a framework's layer and inherits the call of that."""
    return is_module(item) or not layers().isdisjoint(base.rpartition(".")[2] for base in item.bases)


def _words(item: Definition) -> frozenset[str]:
    """Return the names in a piece of code, and those of attributes."""
    return item.reads | item.attributes


def is_data_set(item: Definition) -> bool:
    """Check whether a class derives from a framework's data sets, or has rows and is no module."""
    rows = any(method.name == ROWS for method in item.methods) and not is_module(item)
    return rows or not data_sets().isdisjoint(base.rpartition(".")[2] for base in item.bases)


def _arguments(function: Function) -> list[ast.arg]:
    """Return the parameters of a function that a call may pass by their names."""
    return [*function.args.args, *function.args.kwonlyargs]
