"""When a fix is safe: what the tape knows of who else holds the written tensor."""

from __future__ import annotations

import pytest

from inplace_lint.core.finding import Applicability

HEAD = """\
import torch
import torch.nn.functional as F
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.last = None

    def forward(self, x, log=None):
"""


def applicability(done) -> list[str]:
    return [
        finding.fix.applicability.value if finding.fix else "none" for finding in done.found if finding.code == "IPL101"
    ]


SHARED = {
    "another variable": "h = self.fc(x).sigmoid()\nk = h\nh += 1\nreturn h * k",
    "another variable, in one of two branches": "h = self.fc(x).sigmoid()\nk = x\n"
    "if log:\n    k = h\nh += 1\nreturn h * k",
    "an attribute": "h = self.fc(x).sigmoid()\nself.last = h\nh += 1\nreturn h",
    "a list": "h = self.fc(x).sigmoid()\nseen = [h]\nh += 1\nreturn h + seen[0]",
    "a dict in an attribute": "h = self.fc(x).sigmoid()\nself.last = {'h': h}\nh += 1\nreturn h",
    "a list of the caller": "h = self.fc(x).sigmoid()\nlog.append(h)\nh += 1\nreturn h",
    "a tuple": "h = self.fc(x).sigmoid()\npair = (h, x)\nh += 1\nreturn h + pair[0]",
    "a view": "h = self.fc(x).sigmoid()\nrow = h[0]\nh += 1\nreturn h + row",
    "a detached alias": "h = self.fc(x).sigmoid()\nd = h.detach()\nh += 1\nreturn h + d",
    "an unknown call": "h = self.fc(x).sigmoid()\nremember(h)\nh += 1\nreturn h",
    "a nested function": "h = self.fc(x).sigmoid()\nk = h\ndef late():\n    return k\nh += 1\nreturn h + late()",
    "an attribute of the tensor": "h = self.fc(x).sigmoid()\nh.tag = 1\nh += 1\nreturn h",
}


def program(body: str) -> str:
    return HEAD + "".join(f"        {line}\n" for line in body.split("\n"))


@pytest.mark.parametrize("body", [pytest.param(body, id=name) for name, body in SHARED.items()])
def test_a_tensor_that_somebody_else_holds_is_not_safely_replaced(fix, body):
    done = fix(program(body), unsafe=False)
    assert "safe" not in applicability(done)
    assert "h = h + 1" not in done.text


ALONE = {
    "nobody": "h = self.fc(x).sigmoid()\nh += 1\nreturn h",
    "a variable that is bound to something else by then": "h = self.fc(x)\nk = h\n"
    "h = h.sigmoid()\nh += 1\nreturn h + k",
    "a variable that is not read any more": "h = self.fc(x).sigmoid()\nk = h\nh += 1\nreturn h",
    "a copy": "h = self.fc(x).sigmoid()\nk = h.clone()\nh += 1\nreturn h + k",
    "a list that is gone": "a = self.fc(x)\nh = torch.cat([a, a]).sigmoid()\nh += 1\nreturn h",
    "another one of several parts": "a, b = self.fc(x).chunk(2, -1)\nh = a.sigmoid()\nh += b\nreturn h + b",
}


@pytest.mark.parametrize("body", [pytest.param(body, id=name) for name, body in ALONE.items()])
def test_a_tensor_that_nobody_else_holds_is_safely_replaced(fix, body):
    done = fix(program(body), unsafe=False)
    assert applicability(done) == ["safe"]
    assert done.remaining == ()


def test_what_a_caller_passed_is_not_safely_replaced(fix):
    source = (
        "import torch\n\n\ndef scale(h):\n    k = h.exp()\n    h *= 2\n    return k * h\n\n\n"
        "w = torch.ones(2, requires_grad=True)\nscale(w * 1).sum().backward()\n"
    )
    assert "h = h * 2" not in fix(source, unsafe=False).text


def test_a_write_for_others_lets_backward_keep_a_copy(fix):
    source = (
        "import torch\n\n\ndef shift_(h):\n    h += 1\n\n\nw = torch.ones(2, requires_grad=True)\n"
        "s = torch.sigmoid(w)\nshift_(s)\n(s * 2).sum().backward()\n"
    )
    done = fix(source, unsafe=False)
    assert done.text == source.replace("torch.sigmoid(w)", "torch.sigmoid(w).clone()")


def test_a_write_through_a_part_of_a_tensor_that_is_read_lets_backward_keep_a_copy(fix):
    source = (
        "import torch\n\nw = torch.ones(2, requires_grad=True)\ns = torch.sigmoid(w)\nfirst = s[0]\nfirst += 1\n"
        "(s * 2).sum().backward()\n"
    )
    assert fix(source, unsafe=False).text == source.replace("torch.sigmoid(w)", "torch.sigmoid(w).clone()")


def test_the_result_of_a_write_is_no_new_tensor(fix):
    source = (
        "import torch\nimport torch.nn.functional as F\n\n\ndef shift_(h):\n    h += 1\n\n\n"
        "w = torch.ones(2, requires_grad=True)\nh = w * 1\nk = h\nh = F.relu_(h)\nshift_(h)\n(h + k).sum().backward()\n"
    )
    assert "clone" not in fix(source, unsafe=False).text


def test_each_value_that_is_kept_is_copied(fix):
    source = (
        "import torch\n\n\ndef shift_(h):\n    h += 1\n\n\nw = torch.ones(2, requires_grad=True)\nh = w * 1\n"
        "a = h * h\nb = torch.exp(a) * h\nshift_(h)\n(a + b).sum().backward()\n"
    )
    done = fix(source, unsafe=False)
    assert "a = h.clone() * h.clone()" in done.text
    assert "b = torch.exp(a) * h.clone()" in done.text
    assert done.remaining == ()


def test_what_is_written_with_gradients_off_keeps_its_history(fix):
    source = (
        "import torch\n\nw = torch.ones(2, requires_grad=True)\ns = torch.sigmoid(w)\nwith torch.no_grad():\n"
        "    s += 1\ns.sum().backward()\n"
    )
    assert "s = s + 1" not in fix(source).text


def test_a_variable_of_another_function_is_not_bound_anew(fix):
    source = (
        "import torch\n\nw = torch.ones(2, requires_grad=True)\ns = torch.sigmoid(w)\n\n\n"
        "def shift():\n    s.add_(1)\n\n\n"
        "shift()\ns.sum().backward()\n"
    )
    assert "s = s.add(1)" not in fix(source).text


@pytest.mark.parametrize(
    ("head", "holder", "target"),
    [
        ("", "(y, 1)", "kept[0]"),
        ("class Kept:\n    def __getitem__(self, key):\n        return y\n\n\n", "Kept()", "kept[0]"),
        ("@dataclass(frozen=True)\nclass Kept:\n    h: torch.Tensor\n\n\n", "Kept(y)", "kept.h"),
    ],
)
def test_what_takes_no_item_or_attribute_is_not_set_to_a_new_tensor(fix, head, holder, target):
    source = (
        "from dataclasses import dataclass\n\nimport torch\n\n\n"
        f"{head}y = torch.ones(2, requires_grad=True).exp()\nkept = {holder}\n{target}.add_(1)\ny.sum().backward()\n"
    )
    done = fix(source)
    assert [one.code for one in done.found] == ["IPL101"]
    assert f"{target} = " not in done.text


def test_the_running_statistics_of_a_layer_are_not_bound_anew(fix):
    source = (
        "import torch\nfrom torch import nn\n\nbn = nn.BatchNorm1d(3).eval()\ny = bn(torch.rand(2, 3))\n"
        "bn.running_var.mul_(2)\ny.sum().backward()\n"
    )
    assert "bn.running_var = " not in fix(source).text


def test_whole_numbers_would_change_their_type(fix):
    source = "import torch\n\nn = torch.arange(3)\nn /= 2\n"
    done = fix(source, unsafe=False)
    assert done.text == source
    assert done.found[0].fix.applicability is Applicability.UNSAFE
    assert fix(source).text == source.replace("n /= 2", "n = n / 2")


WIDENED = {
    "a half tensor": "h = torch.sigmoid(w.half())\nh += torch.ones(3)",
    "a half tensor, by a method": "h = torch.sigmoid(w.half())\nh.add_(torch.ones(3))",
    "a tensor of another lower precision": "h = w.to(torch.bfloat16).sigmoid()\nh *= torch.full((3,), 2.0)",
    "an operand of higher precision": "h = torch.sigmoid(w)\nh.add_(torch.ones(3, dtype=torch.float64))",
}


@pytest.mark.parametrize("lines", [pytest.param(lines, id=name) for name, lines in WIDENED.items()])
def test_a_new_tensor_would_have_the_dtype_of_the_operand(fix, lines):
    source = f"import torch\n\nw = torch.ones(3, requires_grad=True)\n{lines}\n"
    done = fix(f"{source}h.sum().backward()\n", unsafe=False)
    assert applicability(done) == ["safe"]
    assert ".clone()\n" in done.text
    assert lines.rpartition("\n")[2] in done.text


SAME = {
    "half": "h = torch.sigmoid(w.half())\nh += torch.ones(3, dtype=torch.float16)",
    "double": "h = torch.sigmoid(w.double())\nh += torch.ones(3, dtype=torch.float64)",
    "a narrower one": "h = torch.sigmoid(w)\nh += torch.ones(3, dtype=torch.float16)",
    "the usual one": "h = torch.sigmoid(w)\nh += torch.ones(3)",
}


@pytest.mark.parametrize("lines", [pytest.param(lines, id=name) for name, lines in SAME.items()])
def test_an_operand_that_is_no_wider_leaves_the_dtype(fix, lines):
    source = f"import torch\n\nw = torch.ones(3, requires_grad=True)\n{lines}\nh.sum().backward()\n"
    assert "h = h + torch.ones" in fix(source, unsafe=False).text


def test_all_turns_of_a_loop_count(fix):
    turns = "    h = h.sigmoid()\n    x = x + k\n    h += 1\n    k = h\n"
    body = f"h = self.fc(x)\nk = h\nfor _ in range(3):\n{turns}return h + k"
    assert applicability(fix(program(body), unsafe=False)) == ["safe"]
    body = "h = self.fc(x).sigmoid()\nk = x\nfor _ in range(3):\n    h += 1\n    k = h\nreturn h + k"
    assert "safe" not in applicability(fix(program(body), unsafe=False))


RESHAPED = """\
import torch
from torch import nn


def snake(h):
    {line}
    h += torch.sin(h)
    return h.view(2, 4)


fc = nn.Linear(4, 4)
snake({given}).sum().backward()
"""


@pytest.mark.parametrize(
    ("line", "given"),
    [("h = h.reshape(2, -1)", "fc(torch.rand(2, 4))"), ("h = h * 1", "fc(torch.rand(8, 4))[:2]")],
    ids=["all of the tensor in another shape", "a part that the caller took"],
)
def test_what_is_read_on_is_not_written_for_the_larger_tensor(fix, line, given):
    """Whoever wrote `h += …` and returns `h` means the sum, and not what the caller's tensor becomes of it."""
    source = RESHAPED.format(line=line, given=given)
    assert fix(source).text == source.replace("h += torch", "h = h + torch")


def test_a_part_that_the_function_takes_is_written_for_the_whole(fix):
    source = RESHAPED.format(line="row, h = h[0], h", given="fc(torch.rand(2, 4))").replace("h +=", "row +=")
    source = source.replace("sin(h)", "sin(row)")
    assert fix(source).text == source.replace("sin(row)", "sin(row.clone())")


HIDDEN = {
    "gradients are off": "with torch.no_grad():\n    h.mul_(2)\nh.sum().backward()\n",
    "an operator of its own": "scale(h)\nh.sum().backward()\n",
    "through detach": "h.detach().mul_(2)\nh.sum().backward()\n",
}
OPERATOR = """\
import torch


@torch.library.custom_op("mine::scale", mutates_args=("x",))
def scale(x: torch.Tensor) -> None:
    x.mul_(2)


w = torch.ones(4, requires_grad=True)
h = w.exp()
"""


@pytest.mark.parametrize("body", [pytest.param(body, id=name) for name, body in HIDDEN.items()])
def test_a_copy_for_backward_is_not_offered_where_the_gradient_would_be_wrong_then(fix, body):
    done = fix(OPERATOR + body)
    assert (applicability(done), done.refused) == (["none"], ())


def test_a_copy_for_backward_is_offered_where_the_unrecorded_write_is_right(fix):
    body = "loss = h.sum()\nwith torch.no_grad():\n    h.mul_(2)\nprint(h)\nloss.backward()\n"
    done = fix(OPERATOR + body, unsafe=False)
    assert (applicability(done), done.remaining) == (["safe"], ())


INSIDE = {
    "a module that saves its input": "h[...] = self.norm(h)\nreturn h * 2",
    "a module that saves its result": "h[:] = nn.ReLU(inplace=True)(h)\nreturn h * 2",
    "a function of its own": "def double(t):\n    return t * t\nh[0] = double(h)[1]\nreturn h * 2",
}


@pytest.mark.parametrize("body", [pytest.param(body, id=name) for name, body in INSIDE.items()])
def test_a_copy_before_a_statement_that_saves_it_is_not_offered(fix, body):
    setup = "        self.norm = eval('nn.LayerNorm')(4)\n\n    def forward"
    source = program(f"h = self.fc(x)\n{body}").replace("\n    def forward", setup)
    done = fix(f"{source}\n\nNet()(torch.rand(2, 4)).sum().backward()\n")
    assert "IPL101" in {finding.code for finding in done.found}
    assert not done.refused


KEPT = {
    "an attribute": """\
import torch


class Average:
    def __init__(self):
        self.mean = torch.ones(1).expand(3)

    def step(self):
        mean = self.mean
        mean.mul_(0.5)
        return mean.sum()


Average().step()
""",
    "a dict": """\
import torch

state = {}
for step in range(3):
    if "mean" not in state:
        state["mean"] = torch.ones(1).expand(3)
    mean = state["mean"]
    mean.mul_(0.5)
""",
}


@pytest.mark.parametrize("program", [pytest.param(text, id=name) for name, text in KEPT.items()])
def test_a_refused_write_is_not_taken_from_what_keeps_the_tensor(fix, program):
    assert fix(program, unsafe=True).text == program


def test_a_row_that_a_function_only_writes_is_still_written_for_its_caller(fix):
    done = fix(
        """\
import torch


def scale(row):
    row.clamp_(0, 1)
    row.sub_(0.5).div_(2)


def scaled(x):
    x = x.clone()
    for row in x:
        scale(row)
    return x.sum()


scaled(torch.rand(2, 3, requires_grad=True)).backward()
""",
        unsafe=True,
    )
    assert "row.clamp_(0, 1)\n    row.sub_(0.5).div_(2)" in done.text
    assert "for row in [x[i] for i in range(len(x))]:" in done.text
