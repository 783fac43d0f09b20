"""Files of one project: the findings of a file do not depend on which other files are checked with it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
FOLDERS = sorted(path.parent for path in FIXTURES.glob("*/main.py"))

LAYERS = """\
import torch


def bump(x):
    x += 1
    return x
"""
MODEL = """\
import torch
from torch import nn

from layers import bump


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)

    def forward(self, x):
        return bump(torch.sigmoid(self.fc(x)))
"""
SAFE = MODEL.replace("torch.sigmoid(self.fc(x))", "self.fc(x)")


def rows(folder, ran):
    return [
        (Path(row["filename"]).relative_to(folder).as_posix(), row["location"]["row"], row["code"])
        for row in json.loads(ran.out)
    ]


@pytest.fixture
def project(folder):
    (folder / "layers.py").write_text(LAYERS)
    (folder / "model.py").write_text(MODEL)
    return folder


def test_a_script_in_a_package_imports_what_lies_beside_it(lint, folder):
    (folder / "parts").mkdir()
    (folder / "parts" / "__init__.py").write_text("")
    (folder / "parts" / "layers.py").write_text(LAYERS)
    (folder / "parts" / "model.py").write_text(MODEL)
    assert rows(folder, lint("check", "parts", "--output-format", "json", "--no-cache")) == [
        ("parts/layers.py", 5, "IPL101")
    ]


@pytest.mark.parametrize("line", ["from parts import layers", "from . import layers"])
def test_a_module_in_a_folder_without_an_init_file_is_found(lint, folder, line):
    (folder / "parts").mkdir()
    (folder / "parts" / "layers.py").write_text(LAYERS)
    model = MODEL.replace("from layers import bump", line).replace("bump(", "layers.bump(")
    (folder / "parts" / "model.py").write_text(model)
    assert rows(folder, lint("check", "parts/layers.py", "--output-format", "json", "--no-cache")) == [
        ("parts/layers.py", 5, "IPL101")
    ]


@pytest.mark.parametrize("source", FOLDERS, ids=lambda path: path.name)
def test_a_file_alone_is_judged_as_among_all(lint, folder, source):
    shutil.copytree(source, folder / "src", ignore=shutil.ignore_patterns("__pycache__"))
    everything = rows(folder, lint("check", ".", "--output-format", "json", "--no-cache"))
    assert everything
    for path in sorted((folder / "src").rglob("*.py")):
        shown = path.relative_to(folder).as_posix()
        alone = rows(folder, lint("check", shown, "--output-format", "json", "--no-cache"))
        assert [row for row in alone if row[0] == shown] == [row for row in everything if row[0] == shown]


def test_a_write_is_found_from_the_file_that_calls_it(lint, project):
    for asked in (".", "layers.py", "model.py"):
        assert rows(project, lint("check", asked, "--output-format", "json", "--no-cache")) == [
            ("layers.py", 5, "IPL101")
        ]


def test_a_comment_in_the_file_of_the_write_silences_it(lint, project):
    (project / "layers.py").write_text(LAYERS.replace("x += 1", "x += 1  # noqa: IPL101"))
    assert lint("check", "model.py").status == 0


def test_the_cache_sees_that_an_imported_file_changed(lint, project):
    assert lint("check", "model.py").status == 1
    (project / "layers.py").write_text(LAYERS.replace("x += 1", "x = x + 1"))
    assert lint("check", "model.py").status == 0
    (project / "layers.py").write_text(LAYERS)
    assert lint("check", "model.py").status == 1


def test_the_cache_sees_that_a_caller_changed(lint, project):
    (project / "model.py").write_text(SAFE)
    assert lint("check", "layers.py").status == 0
    (project / "model.py").write_text(MODEL)
    assert lint("check", "layers.py").status == 1


def test_the_cache_sees_a_file_that_was_not_there(lint, project):
    (project / "layers.py").unlink()
    assert lint("check", "model.py").status == 0
    (project / "layers.py").write_text(LAYERS)
    assert lint("check", "model.py").status == 1


def test_imports_of_every_form_are_followed(lint, folder):
    package = folder / "src" / "pkg"
    (package / "inner").mkdir(parents=True)
    (package / "inner" / "deep.py").write_text(LAYERS)
    (package / "inner" / "__init__.py").write_text("from .deep import *\n")
    (package / "__init__.py").write_text("from .inner import bump as raised\nfrom . import inner\n")
    forms = (
        "from pkg import raised as bump",
        "from pkg.inner.deep import bump",
        "from pkg.inner import bump",
        "import pkg\n\nbump = pkg.inner.bump",
        "import pkg.inner.deep as deep\n\nbump = deep.bump",
        "try:\n    from pkg import raised as bump\nexcept ImportError:\n    bump = None",
        "from pkg import *\n\nbump = raised",
    )
    for form in forms:
        (folder / "model.py").write_text(MODEL.replace("from layers import bump", form))
        found = rows(folder, lint("check", ".", "--output-format", "json", "--no-cache"))
        assert found == [("src/pkg/inner/deep.py", 5, "IPL101")], form


CALLER = """\
import torch
from torch import nn
{imports}


class Model({base}nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)

    def forward(self, x):
        h = torch.sigmoid(self.fc(x))
        {call}
        return h.sum()

    def change(self, h):
        h += 1
"""
BUMP = "def bump(h):\n    h.mul_(2)\n"
REGISTRY = """\
ALL = {}


def register(function):
    ALL[function.__name__] = function
    return function


@register
def bump(h):
    h.mul_(2)
"""
BASE = """\
class Base:
    def run(self, h):
        self.change(h)

    def change(self, h):
        raise NotImplementedError
"""
WAYS = {
    "a helper in a file without a framework": ("from pkg.ops import bump", "bump(h)", BUMP, ""),
    "an import of the module by its whole name": ("import pkg.ops", "pkg.ops.bump(h)", BUMP, ""),
    "what is compiled or made up for": (
        "try:\n    from .compiled import bump\nexcept ImportError:\n    from .ops import bump",
        "bump(h)",
        BUMP,
        "",
    ),
    "an import inside of the function": ("", "from .ops import bump; bump(h)", BUMP, ""),
    "a registry": ("from .ops import ALL", "ALL['bump'](h)", REGISTRY, ""),
    "a base that calls what is overridden": ("from .ops import Base", "self.run(h)", BASE, "Base, "),
}


@pytest.mark.parametrize(("imports", "call", "ops", "base"), WAYS.values(), ids=list(WAYS))
def test_a_write_is_found_on_each_way_to_it(lint, folder, imports, call, ops, base):
    (folder / "pkg").mkdir()
    (folder / "pkg" / "__init__.py").write_text("")
    (folder / "pkg" / "ops.py").write_text(ops)
    (folder / "pkg" / "model.py").write_text(CALLER.format(imports=imports, call=call, base=base))
    found = rows(folder, lint("check", "pkg", "--output-format", "json", "--no-cache"))
    assert [code for _, _, code in found] == ["IPL101"]


@pytest.mark.parametrize(
    "other",
    [
        "from model import Model\n",
        "import torch\nfrom . import nothing\n",
        "def broken(:\n",
        "import layers\nfrom layers import bump\n",
    ],
    ids=["cycle", "missing", "syntax", "itself"],
)
def test_imports_that_lead_nowhere_are_unknown_and_no_error(lint, folder, other):
    (folder / "layers.py").write_text(other)
    (folder / "model.py").write_text(MODEL)
    ran = lint("check", "model.py", "--no-cache")
    assert (ran.status, ran.err) == (0, "")


def test_of_many_callers_those_count_that_use_what_writes(folder, lint):
    (folder / "shared.py").write_text(
        "from torch import nn\n\nLIMIT = 3\n\n\ndef plain(x):\n    return x\n\n\n"
        "class Add(nn.Module):\n    def forward(self, x):\n        x += 1\n        return x\n"
    )
    for number in range(20):
        (folder / f"a{number:02}.py").write_text(
            "import torch\nfrom shared import plain\n\nprint(plain(torch.ones(2)))\n"
        )
    (folder / "z.py").write_text(
        "import torch\nfrom shared import Add\n\n"
        "w = torch.ones(2, requires_grad=True)\ny = w.exp()\nAdd()(y).sum().backward()\n"
    )
    ran = lint("--output-format", "concise", "shared.py")
    assert "shared.py:12:9: error[IPL101]" in ran.out


def test_a_file_of_constants_may_have_many_callers(folder, lint):
    (folder / "shared.py").write_text("import torch\n\nLIMIT = 3\n")
    for number in range(20):
        (folder / f"a{number:02}.py").write_text("import torch\nfrom shared import LIMIT\n\nprint(torch.ones(LIMIT))\n")
    assert lint(".") == (0, "All checks passed!\n", "")


def test_findings_do_not_depend_on_how_a_process_hashes_strings(lint, folder):
    """Other runs of these tests share one seed: they are forked from one process."""
    for path in FIXTURES.glob("*.py"):
        shutil.copy(path, folder)
    words = ("--no-cache", "--output-format", "json", "-j", "1", ".")
    one, other = (lint(*words, PYTHONHASHSEED=seed) for seed in ("1", "2"))
    assert one == other
    assert one.out.count('"code"') > 10


NEURONS = """\
import torch
from torch import nn


class Neuron(nn.Module):
    def __init__(self, threshold=1.0, learn_threshold=False):
        super().__init__()
        if learn_threshold:
            self.threshold = nn.Parameter(torch.as_tensor(threshold))
        else:
            self.register_buffer("threshold", torch.as_tensor(threshold))


class Fire(Neuron):
    def __init__(self, beta=0.9, threshold=1.0, learn_beta=False, learn_threshold=False):
        super().__init__(threshold, learn_threshold)
        self._keep(torch.as_tensor(beta), learn_beta)

    def _keep(self, beta, learn_beta):
        if learn_beta:
            self.beta = nn.Parameter(beta)
        else:
            self.register_buffer("beta", beta)
"""
INITS = {
    "the options are passed on": """
    def __init__(self, beta=0.9, threshold=1.0, learn_beta=False, learn_threshold=False):
        super().__init__(beta, threshold, learn_beta, learn_threshold)
""",
    "whatever else is passed": """
    def __init__(self, beta, **kwargs):
        super().__init__(beta, **kwargs)
""",
    "those of the base": "",
}


@pytest.mark.parametrize("init", INITS.values(), ids=list(INITS))
@pytest.mark.parametrize("base", ["from neurons import Fire", "import neurons"])
@pytest.mark.parametrize("name", ["beta", "threshold"])
def test_options_of_constructors_in_other_files_are_searched(lint, folder, init, base, name):
    (folder / "neurons.py").write_text(NEURONS)
    derived = "neurons.Fire" if base.startswith("import") else "Fire"
    (folder / "leaky.py").write_text(
        f"import torch\n{base}\n\n\nclass Leaky({derived}):{init}\n"
        f"    def forward(self, x):\n        return x * self.{name}.clamp_(0, 1)\n"
    )
    ran = lint("check", "leaky.py", "--output-format", "json", "--no-cache")
    assert [code for _, _, code in rows(folder, ran)] == ["IPL201"]
    assert f"with `learn_{name}=True`" in ran.out


def test_each_class_takes_its_own_sides_of_conditions_in_a_base(lint, folder):
    (folder / "base.py").write_text("""\
from torch import nn


class Base(nn.Module):
    def __init__(self, act="none"):
        super().__init__()
        self.act = nn.Sigmoid() if act == "sigmoid" else nn.Identity()
""")
    model = """\
import torch
from base import Base


class Plain(Base):
    def forward(self, x):
        y = self.act(x + 1)
        y += 1
        return y


class Set(Base):
    def __init__(self):
        super().__init__("sigmoid")

    def forward(self, x):
        y = self.act(x + 1)
        y *= 2
        return y
"""
    (folder / "model.py").write_text(model)
    found = rows(folder, lint("check", "model.py", "--output-format", "json", "--no-cache"))
    assert found == [("model.py", 8, "IPL101"), ("model.py", 18, "IPL101")]


def test_a_leaf_is_written_in_a_file_that_names_no_framework(lint, folder):
    (folder / "utils.py").write_text("def decay(model):\n    for p in model.parameters():\n        p.mul_(0.9)\n")
    (folder / "train.py").write_text(
        "from torch import nn\n\nfrom utils import decay\n\nmodel = nn.Linear(2, 2)\ndecay(model)\n"
    )
    assert rows(folder, lint("check", ".", "--output-format", "json", "--no-cache")) == [("utils.py", 3, "IPL201")]


def test_a_package_has_a_name_that_one_of_its_modules_imports_from_it(lint, folder):
    layers = folder / "layers"
    layers.mkdir()
    (layers / "__init__.py").write_text("from .basic import *\nfrom .pool import *\n")
    (layers / "basic.py").write_text(
        "from torch import nn\n\n\nclass Gate(nn.Module):\n    def forward(self, x):\n        return x.sigmoid()\n"
    )
    (layers / "pool.py").write_text("from layers import Gate\n\n\nclass Pool(Gate):\n    pass\n")
    (folder / "net.py").write_text(
        """\
from torch import nn

import layers


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc, self.gate = nn.Linear(4, 4), layers.Gate()

    def forward(self, x):
        y = self.gate(self.fc(x))
        y += 1
        return y
"""
    )
    assert rows(folder, lint("check", ".", "--output-format", "json", "--no-cache")) == [("net.py", 13, "IPL101")]


def test_an_option_says_in_another_file_what_is_trained(lint, folder):
    (folder / "spectra.py").write_text(
        """\
import torch
from torch import nn


class Spectrum(nn.Module):
    def __init__(self, size, trainable):
        super().__init__()
        window = torch.ones(size)
        if trainable:
            self.window = nn.Parameter(window)
        else:
            self.register_buffer("window", window)

    def forward(self, x):
        return torch.sqrt(x * self.window)
"""
    )
    (folder / "layer.py").write_text(
        """\
from torch import nn

from spectra import Spectrum


class Layer(nn.Module):
    def __init__(self, size, trainable_window=False):
        super().__init__()
        self.spectrum = Spectrum(size, trainable=trainable_window)

    def forward(self, x):
        return self.spectrum(x).pow_(2)
"""
    )
    found = _found(lint, "layer.py")
    assert [(row["severity"], row["location"]["row"]) for row in found] == [("error", 12)]
    assert "with `trainable_window=True`" in found[0]["message"]


def test_an_option_says_in_another_file_which_layer_is_made(lint, folder):
    (folder / "attentions.py").write_text(
        """\
import torch
from torch import nn


class Gate(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.gate = nn.Linear(1, size)

    def forward(self, x):
        return x.mul_(self.gate(x.mean(1, keepdim=True)))


class Attention(nn.Module):
    def __init__(self, kind, **params):
        super().__init__()
        if kind is None:
            self.attention = nn.Identity()
        elif kind == "gate":
            self.attention = Gate(**params)
        else:
            raise ValueError(kind)

    def forward(self, x):
        return self.attention(x)
"""
    )
    (folder / "decoder.py").write_text(
        """\
from torch import nn

import attentions


class Block(nn.Module):
    def __init__(self, size, attention=None):
        super().__init__()
        self.fc = nn.Sequential(nn.Linear(size, size), nn.ReLU())
        self.attention = attentions.Attention(attention, size=size)

    def forward(self, x):
        return self.attention(self.fc(x))
"""
    )
    found = _found(lint, "attentions.py")
    assert [(row["severity"], row["location"]["row"]) for row in found] == [("error", 11)]
    assert "with `attention=" in found[0]["message"]


def test_an_inherited_method_of_another_file_has_options(lint, folder):
    (folder / "base.py").write_text(
        """\
import torch
from torch import nn


class Decoder(nn.Module):
    def fuse(self, x, y, form="cat"):
        if form == "cat":
            return torch.cat([x, y], dim=1)
        if form == "sum":
            return x + y
        if form == "difference":
            y -= x
            return y
        raise ValueError(form)
"""
    )
    (folder / "net.py").write_text(
        """\
import torch
from torch import nn

from base import Decoder


class Net(Decoder):
    def __init__(self, form="cat"):
        super().__init__()
        self.first, self.second, self.form = nn.Linear(4, 4), nn.Linear(4, 4), form

    def forward(self, x):
        return self.fuse(torch.relu(self.first(x)), torch.relu(self.second(x)), self.form)
"""
    )
    assert [(row["severity"], row["location"]["row"]) for row in _found(lint, "base.py")] == [("error", 12)]


@pytest.mark.parametrize(
    ("found", "called"), [("import segments", "segments.softmax"), ("from segments import softmax", "softmax")]
)
def test_an_option_leads_to_a_function_of_another_file_that_writes(lint, folder, found, called):
    (folder / "segments.py").write_text(
        """\
import torch


def softmax(data, ids):
    return divide(torch.exp(data), ids)


def divide(data, ids):
    return data.div_(data[ids] + 1)
"""
    )
    (folder / "net.py").write_text(
        f"""\
import torch
from torch import nn

{found}


class Gate(nn.Module):
    def __init__(self, size, form="sigmoid"):
        super().__init__()
        self.fc, self.form = nn.Linear(size, size), form

    def forward(self, x, ids):
        if self.form == "softmax":
            return x * {called}(self.fc(x), ids)
        return x * torch.sigmoid(self.fc(x))
"""
    )
    row, *_ = _found(lint, "segments.py")
    assert (row["severity"], row["location"]["row"]) == ("error", 9)
    assert "with `form='softmax'`" in row["message"]


def test_an_option_of_a_large_class_leads_to_a_class_of_another_file_that_writes(lint, folder):
    (folder / "rotary.py").write_text(
        """\
import torch
from torch import nn


class Rotary(nn.Module):
    def forward(self, q, angle):
        left, right = q.chunk(2, dim=-1)
        return torch.cat([left * angle.cos(), right.mul_(angle)], dim=-1)
"""
    )
    (folder / "net.py").write_text(
        """\
from torch import nn

from rotary import Rotary


class Net(nn.Module):
    def __init__(self, size, positions="sin"):
        super().__init__()
        self.heads = nn.ModuleList([nn.Linear(size, size) for _ in range(50)])
        self.tails = nn.ModuleList([nn.Linear(size, size) for _ in range(50)])
        self.fc = nn.Linear(size, size)
        self.rotary = None
        if positions in {"rotary", "both"}:
            self.rotary = Rotary()

    def forward(self, x, angle):
        for head, tail in zip(self.heads, self.tails):
            x = head(x) + tail(x)
        x = self.fc(x)
        if self.rotary is not None:
            x = self.rotary(x, angle)
        return x
"""
    )
    row, *_ = _found(lint, "rotary.py")
    assert (row["severity"], row["location"]["row"]) == ("error", 8)
    assert "with `positions='rotary'`" in row["message"]


def test_a_class_of_another_file_refuses_the_defaults(lint, folder):
    (folder / "conv.py").write_text(
        """\
from torch import nn


class Conv(nn.Module):
    def __init__(self, size, causal=False, pad="zero"):
        super().__init__()
        assert pad in ("constant", "replicate")
        if not causal:
            raise ValueError("causal only")
        self.conv = nn.Conv1d(size, size, 3)

    def forward(self, x):
        return self.conv(x)
"""
    )
    (folder / "net.py").write_text(
        """\
from torch import nn

from conv import Conv


class Block(nn.Module):
    def __init__(self, size, causal=False, pad="reflect"):
        super().__init__()
        self.block = nn.Sequential(nn.ELU(), Conv(size, causal, pad))
        self.shortcut = nn.Identity()

    def forward(self, x):
        u, v = self.shortcut(x * 2), self.block(x)
        w = v.exp()
        w += u
        return w
"""
    )
    (row,) = _found(lint, "net.py")
    assert (row["severity"], row["location"]["row"]) == ("error", 15)
    assert "with `pad='constant', causal=True`" in row["message"]


def _found(lint, path):
    """Return what a check of one file finds, as the report in JSON has it."""
    return json.loads(lint("check", path, "--output-format", "json", "--no-cache").out)


WRITTEN = {
    "a text": 'rope: "Rope"',
    "beside None": 'rope: "Rope | None" = None',
    "in Optional": 'rope: Optional["Rope"] = None',
    "in all": 'rope: "Optional[Rope]" = None',
}


@pytest.mark.parametrize("param", WRITTEN.values(), ids=WRITTEN)
def test_an_annotation_that_is_a_text_leads_to_its_class(lint, folder, param):
    (folder / "rope.py").write_text(
        """\
import torch
from torch import nn


class Rope(nn.Module):
    def forward(self, q):
        even, odd = q.unbind(-1)
        return torch.stack([even.mul_(2) - odd, odd], -1)
"""
    )
    (folder / "attention.py").write_text(
        f"""\
from typing import Optional

from torch import nn

from rope import Rope


class Attention(nn.Module):
    def __init__(self, {param}):
        super().__init__()
        self.query = nn.Linear(4, 4)
        self.rope = rope

    def forward(self, x):
        q = self.query(x)
        return q if self.rope is None else self.rope(q)
"""
    )
    found = _found(lint, "rope.py")
    assert [(row["code"], row["severity"], row["location"]["row"]) for row in found] == [("IPL203", "error", 8)]


@pytest.mark.parametrize(
    ("used", "codes"),
    [("x", ["IPL101"]), ("torch.relu(x)", []), ("torch.ones(1)", [])],
    ids=["kept", "computed", "other"],
)
def test_an_option_says_in_another_file_what_keeps_a_tensor_that_is_written_here(lint, folder, used, codes):
    (folder / "layers.py").write_text(
        f"""\
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, width, gate=False):
        super().__init__()
        self.gate = gate
        self.linear = nn.Linear(width, width)

    def forward(self, x):
        h = torch.relu(x)
        if self.gate:
            h = h * {used}
        return self.linear(h)
"""
    )
    (folder / "net.py").write_text(
        """\
from torch import nn

from layers import Block


class Net(nn.Module):
    def __init__(self, width, gate=False):
        super().__init__()
        self.first = nn.Linear(width, width)
        self.blocks = nn.ModuleList([Block(width, gate) for _ in range(2)])

    def forward(self, x):
        x = self.first(x)
        for block in self.blocks:
            x[...] = block(x)
        return x
"""
    )
    found = _found(lint, "net.py")
    assert [(row["code"], row["severity"]) for row in found] == [(code, "error") for code in codes]
    assert all("with `gate=True`" in row["message"] for row in found)


@pytest.mark.parametrize(("cell", "found"), [("nn.LSTM", ["IPL102"]), ("nn.Linear", [])])
def test_a_class_without_methods_that_binds_what_its_base_needs_is_run(lint, folder, cell, found):
    (folder / "recurrent.py").write_text(
        f"""\
from torch import nn


class Recurrent(nn.Module):
    def __init__(self, size, rate=0.8):
        super().__init__()
        self.rnn = self.cell(size, size)
        self.drop = nn.Dropout(rate, inplace=True) if rate else nn.Identity()

    def forward(self, x):
        output = self.rnn(x)[0]
        return self.drop(output[:, -1])


class LongShortTerm(Recurrent):
    cell = {cell}
"""
    )
    assert [row["code"] for row in _found(lint, "recurrent.py")] == found


@pytest.mark.parametrize(("used", "codes"), [("sigmoid", ["IPL101"]), ("neg", [])])
def test_a_chosen_option_leads_to_another_file_that_needs_what_is_none_by_default(lint, folder, used, codes):
    (folder / "bounds.py").write_text(
        """\
from torch import nn


class Bounds(nn.Module):
    def __init__(self, width, low, high):
        super().__init__()
        self.low, self.high = low, high
        self.linear = nn.Linear(width, width)

    def forward(self, x):
        return self.linear((x - self.low) / (self.high - self.low))
"""
    )
    (folder / "net.py").write_text(
        f"""\
import torch
from torch import nn

from bounds import Bounds


class Net(nn.Module):
    def __init__(self, width, bounded=False, low=None, high=None):
        super().__init__()
        self.linear, self.bounded = nn.Linear(width, width), bounded
        if bounded:
            self.bounds = Bounds(width, low, high)

    def forward(self, x):
        x = self.linear(x)
        if self.bounded:
            y = torch.{used}(x)
            y.mul_(2)
            x = x + self.bounds(y)
        return x
"""
    )
    found = _found(lint, "net.py")
    assert [(row["code"], row["severity"]) for row in found] == [(code, "error") for code in codes]
    assert all("with `bounded=True, low=..., high=...`" in row["message"] for row in found)


TRIED = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, dim, residual=False):
        super().__init__()
        self.fc, self.residual = nn.Linear(dim, dim), residual

    def forward(self, x):
        y = torch.sigmoid(self.fc(x))
        if self.residual:
            y += x
        return y


if __name__ == "__main__":
    Net(8)(torch.rand(2, 8)).sum().backward()
"""


@pytest.mark.parametrize(("in_package", "found"), [(True, [("parts/net.py", 13, "IPL101")]), (False, [])])
def test_a_trial_at_the_end_of_a_module_of_a_package_leaves_options_open(lint, folder, in_package, found):
    (folder / "parts").mkdir()
    if in_package:
        (folder / "parts" / "__init__.py").write_text("")
    (folder / "parts" / "net.py").write_text(TRIED)
    assert rows(folder, lint("check", "parts", "--output-format", "json", "--no-cache")) == found


CONVERTED = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x):
        h = self.fc(x).sigmoid()
        return h.add_(1)


if __name__ == "__main__":
    net = Net()
    net.load_state_dict(torch.load("weights.pt"))
    net.eval()
    with torch.no_grad():
        y = net(torch.rand(2, 4))
    print(y.sum())
"""


@pytest.mark.parametrize(("in_package", "severity"), [(True, "error"), (False, "warning")])
def test_a_script_in_a_module_of_a_package_that_infers_says_nothing_of_who_imports_it(
    lint, folder, in_package, severity
):
    (folder / "parts").mkdir()
    if in_package:
        (folder / "parts" / "__init__.py").write_text("from .net import Net\n")
    (folder / "parts" / "net.py").write_text(CONVERTED)
    found = _found(lint, "parts")
    assert [(row["code"], row["severity"]) for row in found] == [("IPL101", severity)]


def test_what_a_script_kept_is_not_dropped_by_an_entry_point_that_runs_later(lint, folder):
    (folder / "net.py").write_text(CONVERTED)
    assert "discard" not in " ".join(_found(lint, "net.py")[0]["assumptions"])
