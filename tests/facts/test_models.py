"""Models of library functions do what the functions do: both are run on the same arguments."""

import importlib
import inspect
import runpy
from pathlib import Path
from types import SimpleNamespace

import pytest

from inplace_lint.knowledge.locate import model_of, rules_dir

MODELS = rules_dir() / "models"
FILES = sorted(path for path in MODELS.rglob("*.py"))
PAIRS = [(2, "b"), (1, "a"), (1, "c")]
NESTED = {"x": [1, (2, 3)], "y": {"z": 4}}
# What an expression gives of the module `m`; each function and class of each model is in one.
CASES = {
    "asyncio": ["m.gather", "m.run", "m.create_task", "m.ensure_future", "m.wait_for", "m.to_thread"],
    "collections.abc": [
        "made(m.Mapping).get('b')",
        "made(m.Mapping).get('c', 3)",
        "[list(one) for one in (made(m.Mapping).keys(), made(m.Mapping).values(), made(m.Mapping).items())]",
        "'a' in made(m.Mapping)",
        "changed(made(m.MutableMapping), 'update', b=5)",
        "changed(made(m.MutableMapping), 'setdefault', 'c', 5)",
        "changed(made(m.MutableMapping), 'pop', 'a')",
        "made(m.MutableMapping).pop('c', 7)",
        "list(made(m.Sequence, [4, 5]))",
        "list(reversed(made(m.Sequence, [4, 5])))",
        "changed(made(m.MutableSequence, [4, 5]), 'append', 6)",
        "changed(made(m.MutableSequence, [4, 5]), 'extend', [6, 7])",
    ],
    "concurrent.futures": [
        "used(m.ThreadPoolExecutor, lambda pool: [pool.submit(pow, 2, 3).result(), *pool.map(abs, [-1, 2])])",
        "used(m.ThreadPoolExecutor, lambda pool: [one.result() for one in m.as_completed([pool.submit(abs, -3)])])",
        "used(m.ThreadPoolExecutor, lambda pool: called_back(pool.submit(abs, -3)))",
    ],
    "contextlib": ["used(m.nullcontext, None, 3)", "used(m.nullcontext, None)", "closed(m.closing)"],
    "functools": [
        "m.reduce(lambda one, two: one * 10 + two, [1, 2, 3])",
        "m.reduce(lambda one, two: one * 10 + two, [1, 2, 3], 4)",
        "sorted([3, 1, 2], key=m.cmp_to_key(lambda one, two: two - one))",
        "dispatched(m.singledispatch)",
    ],
    "heapq": [
        "[heaped(m, m.heappop), heaped(m, m.heappushpop, 0), heaped(m, m.heappushpop, 9), heaped(m, m.heapreplace, 9)]",
        "heaped(m, lambda heap: m.heapify(heap) or m.heappop(heap))",
        "[m.nlargest(2, [1, 3, 2]), m.nsmallest(2, [1, 3, 2]), m.nlargest(1, [1, -3], key=abs)]",
    ],
    "itertools": [
        "list(m.accumulate([1, 2, 3], lambda one, two: one * 10 + two))",
        "list(m.accumulate([1, 2], lambda one, two: one * 10 + two, initial=5))",
        "list(m.compress('abcd', [1, 0, 1, 0]))",
        "list(m.dropwhile(lambda n: n < 3, [1, 4, 2]))",
        "[(key, list(rows)) for key, rows in m.groupby(PAIRS, key=lambda pair: pair[0])]",
        "[(key, list(rows)) for key, rows in m.groupby('aab')]",
        "[list(one) for one in m.tee([1, 2], 3)]",
    ],
    "operator": [
        "[m.itemgetter(1)('abc'), m.itemgetter('x', 'y')(NESTED)]",
        "[m.attrgetter('a.b')(SPACE), m.attrgetter('a.b', 'c')(SPACE)]",
        "[m.methodcaller('split', ',', maxsplit=1)('a,b,c')]",
        "[m.getitem('abc', 1), m.contains('abc', 'b'), m.concat([1], [2]), put(m.setitem, 1, 5), put(m.delitem, 0)]",
    ],
    "paddle.utils": [
        "m.map_structure(lambda n: n + 1, NESTED)",
        "m.map_structure(lambda one, two: one + two, [1, 2], [3, 4])",
        "m.flatten(NESTED)",
    ],
    "threading": ["threaded(m.Thread)", "threaded(type('Own', (m.Thread,), {'run': lambda one: one._args[0](3)}))"],
    "torch.autograd.functional": [
        "derived(m.jacobian)",
        "derived(m.jacobian, of=2)",
        "derived(m.hessian)",
        "derived(m.vjp)",
    ],
    "torch.func": ["with_others(m.functional_call)", "with_others(m.functional_call, pair=True)"],
    "torch.nn.utils.stateless": ["with_others(m.functional_call)"],
    "torch.nn.modules.transformer": [
        "[type(one).__name__ for one in m._get_clones(LINEAR, 2)]",
        "m._get_clones(LINEAR, 2)[0] is LINEAR",
        "[m._get_activation_fn('relu'), m._get_activation_fn('gelu')]",
    ],
    "torch.nn.modules.utils": [
        "[m._single(3), m._pair(3), m._triple(3), m._quadruple(3), m._pair([1, 2]), m._ntuple(5)(0)]",
    ],
    "torch.utils._pytree": [
        "m.tree_map(lambda n: n + 1, NESTED)",
        "m.tree_map(lambda one, two: one + two, [1, (2,)], [3, (4,)])",
        "m.tree_map(len, [[1], [2, 3]], is_leaf=lambda node: isinstance(node, list) and isinstance(node[0], int))",
        "m.tree_leaves(NESTED)",
        "m.tree_map_only(str, str.upper, ['a', 1])",
        "m.tree_unflatten([5, 6, 7, 8], m.tree_flatten(NESTED)[1])",
        "m.tree_flatten(NESTED)[0]",
    ],
    "types": ["dict(m.MappingProxyType(NESTED))", "m.MappingProxyType({'a': 1})['a']"],
    "typing": ["m.cast(int, 'a')"],
    "typing_extensions": ["m.cast(int, 'a')"],
    "weakref": [
        "m.ref(SPACE)() is SPACE",
        "m.proxy(SPACE).c",
        "m.WeakValueDictionary({'a': SPACE})['a'] is SPACE",
        "m.WeakKeyDictionary({KEY: 1})[KEY]",
        "KEY in m.WeakSet([KEY])",
    ],
}


# What is not installed here was read in its source: what it gives of the same expressions.
READ = {
    "apex.amp": {"m.initialize(1, 2, opt_level='O2')": (1, 2), "m.initialize(1)": 1},
    "lightning_utilities.core.apply_func": {
        "m.apply_to_collection({'a': [1, 'b', (2,)]}, int, pow, 2)": {"a": [1, "b", (4,)]},
        "m.apply_to_collection(3, int, lambda one, more: one + more, more=1)": 4,
    },
    "transformers.modeling_utils": {"m.apply_chunking_to_forward(pow, 0, 1, 2, 3)": 8},
    "transformers.pytorch_utils": {"m.apply_chunking_to_forward(pow, 0, 1, 2, 3)": 8},
}


class Key:
    """An object that may be weakly referred to."""


KEY, SPACE = Key(), SimpleNamespace(a=SimpleNamespace(b=1), c=2)
SPACE = type("Space", (), {"a": SPACE.a, "c": 2})()


def made(base, items=None):
    """Return an object of a class that derives from one and defines the least that it needs."""
    kept = {"a": 1, "b": 2} if items is None else list(items)
    inner = {
        "__getitem__": lambda _, key: kept[key],
        "__setitem__": lambda _, key, value: kept.__setitem__(key, value),
        "__delitem__": lambda _, key: kept.__delitem__(key),
        "__len__": lambda _: len(kept),
        "insert": lambda _, place, value: kept.insert(place, value),
        "kept": kept,
    }
    if items is None:
        inner["__iter__"] = lambda _: iter(kept)
    return type("Derived", (base,), inner)()


def changed(thing, method, *args, **named):
    """Return what a method returns and leaves."""
    return getattr(thing, method)(*args, **named), thing.kept


def used(manager, body, *args):
    """Return what the body of a `with` gives, or what it is given."""
    with manager(*args) as given:
        return given if body is None else body(given)


def closed(closing):
    """Return what `closing` gives and whether it has closed that."""
    log = []
    with closing(SimpleNamespace(close=lambda: log.append(1), name="x")) as thing:
        log.append(thing.name)
    return log


def called_back(future):
    """Return whether a callback ran, and what it was given had."""
    log = []
    future.result()
    future.add_done_callback(lambda done: log.append(done.result()))
    return log, future.done(), future.exception()


def heaped(module, function, *args):
    """Return what a function returns for a heap of three numbers."""
    heap = []
    for number in (3, 1, 2):
        module.heappush(heap, number)
    return function(heap, *args)


def put(function, *args):
    """Return a list that a function has changed."""
    items = [1, 2]
    function(items, *args)
    return items


def threaded(thread):
    """Return what a thread leaves when it has ended."""
    log = []
    one = thread(target=lambda *args, **kwargs: log.append((args, kwargs)), args=(log.append,), kwargs={"a": 1})
    one.start()
    one.join()
    return len(log), one.is_alive()


def with_others(call, *, pair=False):
    """Return what a network gives with other weights, and those that it has after that."""
    import torch  # noqa: PLC0415 - of two models

    net = torch.nn.Sequential(torch.nn.Linear(1, 1), torch.nn.Linear(1, 1, bias=False))
    before = [p.detach().clone() for p in net.parameters()]
    others = {name: torch.ones_like(p) for name, p in net.named_parameters()}
    given = ({"1.weight": others.pop("1.weight")}, others) if pair else others
    out = call(net, given, (torch.ones(1, 1),))
    return out.item(), all(map(torch.equal, before, net.parameters()))


def derived(function, *, of=1):
    """Return derivatives of a function of numbers, of one or two of them."""
    import torch  # noqa: PLC0415 - of one model
    from torch.utils._pytree import tree_map  # noqa: PLC0415

    inputs = tuple(torch.tensor(2.0 + place) for place in range(of))
    found = function(lambda *given: sum(one**3 for one in given), inputs if of > 1 else inputs[0])
    return tree_map(torch.Tensor.item, found)


def dispatched(decorate):
    """Return what a generic function chooses for arguments of several types."""

    def usual(value):
        return "usual"

    def of_int(value: int):
        return "int"

    generic = decorate(usual)
    generic.register(of_int)
    generic.register(str)(lambda _: "str")
    generic.register(list, lambda _: "list")
    return [generic(value) for value in (1.0, 1, True, "a", [])]


def model(name):
    """Return the model of a module, as a module."""
    return SimpleNamespace(**runpy.run_path(str(MODELS / f"{name.replace('.', '/')}.py")))


def name_of(path: Path) -> str:
    """Return the name of the module that a model is of."""
    return ".".join(path.relative_to(MODELS).with_suffix("").parts)


def value_of(expression, module):
    """Evaluate an expression on a module."""
    names = {**globals(), "m": module}
    if "LINEAR" in expression:
        from torch import nn  # noqa: PLC0415 - of one model

        names["LINEAR"] = nn.Linear(1, 1)
    return eval(expression, names)


@pytest.mark.parametrize(
    ("name", "expression"), [(name, one) for name, cases in CASES.items() for one in cases if name != "asyncio"]
)
def test_a_model_gives_what_the_library_gives(name, expression):
    assert value_of(expression, model(name)) == value_of(expression, importlib.import_module(name))


@pytest.mark.parametrize(("name", "expression"), [(name, one) for name, cases in READ.items() for one in cases])
def test_a_model_gives_what_was_read(name, expression):
    assert value_of(expression, model(name)) == READ[name][expression]


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_every_part_of_a_model_is_tried(path):
    name = name_of(path)
    public = [key for key, value in vars(model(name)).items() if getattr(value, "__module__", "") == "<run_path>"]
    public = [
        key for key in public if not key.startswith("_") or name in READ or hasattr(importlib.import_module(name), key)
    ]
    cases = [*CASES.get(name, ()), *READ.get(name, ())]
    assert public
    assert [key for key in public if not any(f"m.{key}" in case for case in cases)] == ["Future"] * (
        name == "concurrent.futures"
    )


@pytest.mark.parametrize("path", [path for path in FILES if name_of(path) not in READ], ids=name_of)
def test_a_model_has_the_parameters_of_the_library(path):
    name = name_of(path)
    library = importlib.import_module(name)
    for key, value in vars(model(name)).items():
        if not inspect.isfunction(value) or not hasattr(library, key):
            continue
        try:
            theirs = list(inspect.signature(getattr(library, key)).parameters.values())
        except ValueError:
            continue  # of a function in C
        ours = list(inspect.signature(value).parameters.values())
        known = {one.name for one in theirs}
        assert {one.name for one in ours if one.kind is one.KEYWORD_ONLY} <= known, key


@pytest.mark.parametrize("library", ["", ".heapq", "..heapq", "heapq.", "heapq/../heapq", "no.such"])
def test_only_a_module_of_this_name_has_a_model(library):
    assert model_of(library) is None
    assert model_of("heapq") == "<models>/heapq.py"


def test_coroutines_run_where_they_are_awaited():
    """A model of `asyncio` is run without a loop: what is awaited is the result itself."""
    module = model("asyncio")
    assert module.run(module.gather(1, 2)) == [1, 2]
    assert [module.create_task(3), module.ensure_future(4), module.wait_for(5, 1)] == [3, 4, 5]
    assert module.to_thread(pow, 2, 3) == 8
