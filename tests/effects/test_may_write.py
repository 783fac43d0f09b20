"""When a definition writes: while it is set up, or whenever it is run; and which writes are nobody else's business."""

from __future__ import annotations

import ast
import textwrap

import pytest

from inplace_lint.effects import may_write
from inplace_lint.effects.locality import is_own
from inplace_lint.effects.summary import Definition, outline
from inplace_lint.workspace.call_graph import file_effects
from inplace_lint.workspace.claims import reader
from inplace_lint.workspace.import_resolver import Lookup
from inplace_lint.workspace.module import Module
from inplace_lint.workspace.module_store import Project, alone


def _items(source: str) -> dict[str, Definition]:
    return {item.name: item for item in outline("p", textwrap.dedent(source), ["torch"]).items if item.name}


def _effects(source: str) -> may_write.FileEffects:
    text = "import torch\n" + textwrap.dedent(source)
    project, module = alone(), Module("p", text, outline("p", text, ["torch"]))
    project.add(module)
    return file_effects(project, module)


def _leading(file: may_write.FileEffects) -> dict[str, int]:
    """Return the functions and classes that lead to a write, with the calls between them and it."""
    found = {name: file.summary(name).calls for name in file.named}
    return {name: calls for name, calls in found.items() if calls is not None}


NETWORK = """
class Block(nn.Module):
    def forward(self, x):
        {block}

def fill(w):
    w.normal_()

class Net(nn.Module):
    def __init__(self):
        self.blocks = nn.ModuleList(Block() for _ in range(3))
        self.apply(self._fill)
        fill(self.scale)

    def _fill(self, module):
        module.weight.zero_()

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x

def make():
    return Net()
"""


def test_a_network_that_fills_parameters_when_it_is_made_does_not_write_when_it_is_run() -> None:
    source = NETWORK.format(block="return x.relu()")
    assert may_write.set_up_methods(_items(source)["Net"]) == {"__init__", "_fill"}
    file = _effects(source)
    assert set(_leading(file)) == {"fill"}
    assert file.only_sets_up("Net")


def test_a_network_whose_blocks_write_does_and_so_does_who_makes_it() -> None:
    file = _effects(NETWORK.format(block="return x.relu_()"))
    assert {"Block", "Net", "make"} <= set(_leading(file))
    assert {"Block", "Net", "make"} <= {name for name in file.named if file.summary(name).makes}


@pytest.mark.parametrize(
    "statement",
    [
        "self.act = nn.ReLU(inplace=True)",
        "self.act = nn.ReLU(True)",
        "self.act = lambda x: x.add_(1)",
        "self.act = bump",
        "self.run = self.update",
        "self.register_forward_hook(self.update)",
    ],
)
def test_what_a_constructor_keeps_writes_whenever_it_is_run(statement: str) -> None:
    file = _effects(
        f"""
        def bump(x):
            x += 1
            return x

        class Net(nn.Module):
            def __init__(self):
                {statement}

            def update(self, *given):
                given[0].mul_(2)

            def forward(self, x):
                return self.act(x)
        """
    )
    assert "Net" in _leading(file)


def test_a_method_that_a_call_does_not_run_counts_for_those_that_name_it() -> None:
    file = _effects(
        """
        class Net(nn.Module):
            def load(self, w):
                self.w.copy_(w)

            def forward(self, x):
                return x @ self.w

        def train(x):
            return Net()(x)

        def start(w):
            Net().load(w)
        """
    )
    assert {name: file.summary(name).methods for name in file.named} == {
        "Net": {"load"},
        "train": set(),
        "start": set(),
    }
    assert set(_leading(file)) == {"start"}


def test_calls_are_counted_to_the_write() -> None:
    file = _effects("def a(x): b(x)\ndef b(x): c(x)\ndef c(x): x.add_(1)\ndef d(x): return x")
    assert _leading(file) == {"a": 2, "b": 1, "c": 0}


def test_another_name_of_a_function_leads_where_the_function_does() -> None:
    file = _effects(
        "def bump(x): x.add_(1)\ndef keep(x): return x\nother = bump\ndef f(x): other(x)\ndef g(x): keep(x)"
    )
    assert set(_leading(file)) == {"bump", "f"}


def test_only_what_a_function_takes_from_a_module_counts() -> None:
    texts = {"ops.py": "import torch\ndef bump(x): x.add_(1)\ndef keep(x): return x\n"}
    project = Project(Lookup(texts.__contains__, frameworks=frozenset({"torch"})), reader(texts))
    source = "import torch, ops\ndef f(x): ops.bump(x)\ndef g(x): ops.keep(x)\n"
    main = Module("main.py", source, outline("main.py", source, ["torch"]))
    project.add(main)
    assert set(_leading(file_effects(project, main))) == {"f"}


@pytest.mark.parametrize(
    ("body", "own"),
    [
        ("m = x.new_empty(3).bernoulli_(p); m.div_(p); return x * m", True),
        ("m = torch.zeros(3); m[1:] = 1; m += 1; return m @ x", True),
        ("m = torch.zeros(3); m = x * m; m.add_(1); return m", False),
        ("m = torch.zeros(3); y = x * m; m.add_(1); return y", False),
        ("m = torch.zeros(3); n = m.add_(1); m.mul_(2); return n", False),
        ("m = torch.zeros(3); m += m * x; return m", False),
        ("m = torch.zeros(3)\nfor r in x:\n    y = r * m\n    m.add_(1)\nreturn y", False),
        ("for r in x:\n    m = torch.zeros(3)\n    m.add_(1)\n    y = r * m\nreturn y", True),
        ("if p:\n    m = torch.zeros(3)\n    m.add_(1)\n    return m\nreturn x", True),
    ],
)
def test_a_fresh_tensor_is_written_before_it_is_read(body: str, own: bool) -> None:
    source = "def f(x, p):\n" + textwrap.indent(body.replace("; ", "\n"), "    ")
    assert is_own(ast.parse(source).body[0], "m") is own
    item = _items(source)["f"]
    assert item.writes
    assert item.writes_shared is not own


def test_a_parameter_is_never_fresh() -> None:
    assert not is_own(ast.parse("def f(m):\n    m.add_(1)\n    m = torch.zeros(3)").body[0], "m")


@pytest.mark.parametrize(
    "body",
    [
        "cfg['a'] = 1",
        "kwargs = cfg.get('a'); kwargs.setdefault('b', 1)",
        "names = ('a',); names += ('b',)",
        "cfg['weight' + name] = 1",
        "found = cfg.setdefault(name, {}); found[name] = 1",
        "cfg[name] = cfg['a']",
        "has(True)",
        "cfg.get(name, True)",
    ],
)
def test_what_is_no_tensor_is_no_evidence(body: str) -> None:
    source = "def has(x): pass\ndef f(cfg: dict, name: str):\n" + textwrap.indent(body.replace("; ", "\n"), "    ")
    assert not _items(source)["f"].writes


def test_attributes_that_a_class_sets_to_containers_are_no_tensors() -> None:
    source = """
    class Cache:
        def __init__(self):
            self.seen, self.kept = {}, None
            self.held = {}
            self.lists = defaultdict(list)

        def keep(self, key, x):
            self.held[key] = x
            self.lists[key][0] = x

        def add(self, key, x):
            self.kept[key] = x
    """
    methods = {method.name: method for method in _items(source)["Cache"].methods}
    assert not methods["keep"].writes
    assert methods["add"].writes


def test_many_functions_inside_of_each_other_are_walked_once() -> None:
    depth = 60
    lines = [f"{'    ' * level}def f{level}(x):" for level in range(depth)]
    source = "\n".join([*lines, f"{'    ' * depth}x.add_(1)"])
    item = outline("p", source, ["torch"]).items[0]
    assert item.makes


def test_the_order_in_which_files_are_looked_at_makes_no_difference() -> None:
    texts = {
        "a.py": "import torch\nfrom b import middle\ndef first(x): middle(x)\ndef last(x): x.add_(1)\n",
        "b.py": "import torch\nimport a\nfrom c import *\ndef middle(x): a.last(x)\ndef other(x): fill(x)\n",
        "c.py": "import torch\nfrom b import *\nfill = middle\n",
    }
    found = []
    for order in (["a.py", "b.py", "c.py"], ["c.py", "b.py", "a.py"]):
        project = Project(Lookup(texts.__contains__, frameworks=frozenset({"torch"})), reader(texts))
        for path in order:
            module = project.module(path)
            assert module is not None
            file_effects(project, module)
        found.append({target: summary.calls for target, summary in project.summaries.items()})
    assert found[0] == found[1]
    assert found[0]["a.py", "last"] == 0
    assert found[0]["a.py", "first"] == 2
    assert found[0]["b.py", "other"] == 3
