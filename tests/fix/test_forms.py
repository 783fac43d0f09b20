"""Each form of a fix: the lines before and after, and whether it is safe."""

from __future__ import annotations

import pytest

HEAD = """\
import torch
import torch.nn.functional as F
from torch import nn

fc = nn.Linear(4, 4)


def forward(x, y, d=None):
    h = torch.sigmoid(fc(x))
"""
PADDLE = """\
import paddle
import paddle.nn.functional as F
from paddle import nn

fc = nn.Linear(4, 4)


def forward(x, y):
    h = F.sigmoid(fc(x))
"""

AUGMENTED = {
    "h += y": "h = h + y",
    "h -= y - 1": "h = h - (y - 1)",
    "h -= y * 2": "h = h - y * 2",
    "h *= y + 1": "h = h * (y + 1)",
    "h *= -y": "h = h * -y",
    "h /= y / 2": "h = h / (y / 2)",
    "h **= 2": "h = h ** 2",
    "h **= y ** 2": "h = h ** y ** 2",
    "h **= 1 + 1": "h = h ** (1 + 1)",
    "h += y if d is None else 1": "h = h + (y if d is None else 1)",
    "h += (y\n          - 1)": "h = h + (y\n          - 1)",
    "h  +=  y  # why": "h  = h +  y  # why",
    "h+=y": "h = h + y",
    "h*=y-1": "h = h * (y-1)",
    "h += \\\n        y": "h = h + \\\n        y",
    "h *= d or 2": "h = h * (d or 2)",
    "h *= fc(y)[0]": "h = h * fc(y)[0]",
    "h += fc(h)": "h = h + fc(h)",
    "h += (z := y)": "h = h + (z := y)",
}
CALLS = {
    "h.mul_(2)": "h = h.mul(2)",
    "h.relu_().mul_(2)": "h = h.relu().mul(2)",
    "h.add_(\n        y,\n        alpha=2,\n    )": "h = h.add(\n        y,\n        alpha=2,\n    )",
    "F.relu_(h)": "h = F.relu(h)",
    "torch.relu_(h)": "h = torch.relu(h)",
    "F.relu(h, inplace=True)": "h = F.relu(h, inplace=False)",
    "h = F.relu(h, True)": "h = F.relu(h, False)",
    "h = h.mul_(2)": "h = h.mul(2)",
    "h = F.dropout(h, 0.5, inplace=True)": "h = F.dropout(h, 0.5, inplace=False)",
    "k = h.mul_(2)\n    return k": "k = h.mul(2)\n    return k",
    "k = h.mul_(2)\n    h = h + k": "h = k = h.mul(2)\n    h = h + k",
    "return h.mul_(2).sum()": "return h.mul(2).sum()",
    "return fc(h.mul_(2))": "return fc(h.mul(2))",
    "h.zero_()": "h = h.clone()\n    h.zero_()",
    "h.bernoulli_()": "h = h.clone()\n    h.bernoulli_()",  # `h.bernoulli()` takes `h` for the probabilities
    "h.fill_(1).mul_(2)": "h = h.clone()\n    h.fill_(1).mul_(2)",
    "h[0] = 1": "h = h.clone()\n    h[0] = 1",
    "h[:, 0] += 1": "h = h.clone()\n    h[:, 0] += 1",
    "h[0].mul_(2)": "h = h.clone()\n    h[0].mul_(2)",
    "h.view(-1)[0] = 1": "h = h.clone()\n    h.view(-1)[0] = 1",
    "y = 1; h += y": "y = 1; h = h + y",
    "y = 1; h[0] = y": "y = 1; h = h.clone(); h[0] = y",
    "if d: h[0] = 1": "if d: h = h.clone(); h[0] = 1",
}


@pytest.mark.parametrize(("before", "after"), {**AUGMENTED, **CALLS}.items())
def test_a_write_that_nobody_else_sees_is_safely_written_as_a_new_tensor(fix, before, after):
    tail = "" if "return" in before else "    return h\n"
    done = fix(f"{HEAD}    {before}\n{tail}", unsafe=False)
    assert done.text == f"{HEAD}    {after}\n{tail}"
    assert done.remaining == ()


def test_a_statement_that_saves_what_it_writes_saves_a_copy(fix):
    source = HEAD.replace("torch.sigmoid(fc(x))", "fc(x)") + "    h[1:] = h[:-1] * h[:-1]\n    return h\n"
    assert fix(source, unsafe=False).text == source.replace("h[:-1]", "h[:-1].clone()")


@pytest.mark.parametrize(
    ("before", "after"),
    {
        "h.add_(y)": "h = h.add(y)",
        "F.relu_(h)": "h = F.relu(h)",
        "h[0] = 1": "h = h.clone()\n    h[0] = 1",
    }.items(),
)
def test_paddle_has_the_same_forms(fix, before, after):
    done = fix(f"{PADDLE}    {before}\n    return h\n", unsafe=False)
    assert done.text == f"{PADDLE}    {after}\n    return h\n"


def test_paddle_assigns_a_parameter_instead_of_binding_it(fix):
    source = "import paddle\nfrom paddle import nn\n\nfc = nn.Linear(2, 2)\nfc.weight *= 2 + 1\n"
    assert fix(source, unsafe=False).text == source
    assert fix(source).text == source.replace("fc.weight *= 2 + 1", "fc.weight.set_value(fc.weight * (2 + 1))")


def test_paddle_returns_a_copy_of_a_leaf_from_a_custom_function(fix):
    source = (
        "import paddle\nfrom paddle.autograd import PyLayer\n\n\nclass Scale(PyLayer):\n    @staticmethod\n"
        "    def forward(ctx, x):\n        return x\n\n    @staticmethod\n"
        "    def backward(ctx, d):\n        return 2 * d\n\n\n"
        "w = paddle.ones([3])\nw.stop_gradient = False\nScale.apply(w).sum().backward()\n"
    )
    assert fix(source, unsafe=False).text == source
    assert fix(source).text == source.replace("return x", "return x.clone()")


def test_backward_keeps_a_copy_of_what_a_layer_writes_in_its_forward(fix):
    source = (
        "import torch\nfrom torch import nn\n\nemb = nn.Embedding(8, 4, max_norm=1.0)\n"
        "h = emb(torch.arange(3))\ny = h @ emb.weight.t()\nloss = y.sum() + emb(torch.arange(4)).sum()\n"
        "loss.backward()\n"
    )
    assert fix(source, unsafe=False).text == source.replace("weight.t()", "weight.t().clone()")


MODULE = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__({init}):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 4), nn.Sigmoid())
        self.act = {act}

    def forward(self, x):
        h = self.body(x)
        h = self.act(h)
        return h
"""


@pytest.mark.parametrize(
    ("act", "cleared"),
    [
        ("nn.ReLU(inplace=True)", "nn.ReLU(inplace=False)"),
        ("nn.ReLU(True)", "nn.ReLU(False)"),
        ("nn.LeakyReLU(0.1, True)", "nn.LeakyReLU(0.1, False)"),
        ("nn.ReLU(  inplace = True  )", "nn.ReLU(  inplace = False  )"),
    ],
)
def test_the_flag_of_a_layer_is_turned_off_where_it_stands(fix, act, cleared):
    source = MODULE.format(init="self", act=act)
    assert fix(source, unsafe=False).text == source.replace(act, cleared)


def test_a_default_that_others_may_build_on_is_turned_off_unsafely(fix):
    source = MODULE.format(init="self, inplace=True", act="nn.ReLU(inplace=inplace)")
    assert fix(source, unsafe=False).text == source
    assert fix(source).text in {
        source.replace("inplace=True", "inplace=False"),
        source.replace("inplace=inplace", "inplace=False"),
        source.replace("inplace=True", "inplace=False").replace("inplace=inplace", "inplace=False"),  # an option, too
    }


def test_a_flag_that_is_set_on_the_built_layer_is_turned_off(fix):
    source = (
        "import torch\nfrom torch import nn\n\nact = nn.ReLU()\nact.inplace = True\n"
        "net = nn.Sequential(nn.Linear(4, 4), nn.Sigmoid(), act)\nnet(torch.rand(2, 4)).sum().backward()\n"
    )
    assert fix(source).text == source.replace("act.inplace = True", "act.inplace = False")


def test_a_call_of_a_layer_whose_result_was_dropped_is_bound(fix):
    source = MODULE.format(init="self", act="nn.ReLU(inplace=True)").replace(
        "        h = self.act(h)", "        self.act(h)"
    )
    expected = source.replace("inplace=True", "inplace=False").replace("        self.act(h)", "        h = self.act(h)")
    assert fix(source, unsafe=False).text == expected


@pytest.mark.parametrize(
    ("imported", "mode"),
    [
        ("import torch", "torch.no_grad()"),
        ("import torch as th", "th.no_grad()"),
        ("import torch\nfrom torch import no_grad", "torch.no_grad()"),
    ],
)
def test_a_write_to_a_leaf_goes_under_no_grad(fix, imported, mode):
    name = "th" if " as th" in imported else "torch"
    source = f"{imported}\n\nw = {name}.ones(2, requires_grad=True)\nw += 1\n"
    assert fix(source, unsafe=False).text == source
    assert fix(source).text == source.replace("w += 1", f"with {mode}:\n    w += 1")


def test_a_new_tensor_that_nothing_reads_is_no_cure_of_a_write_to_a_parameter(fix):
    line = "p.sub_(p.grad.add(p.mul(decay)).mul(lr))"
    source = (
        "import torch\n\nclass SGD(torch.optim.Optimizer):\n    def step(self, lr=0.1, decay=0.01):\n"
        "        for group in self.param_groups:\n            for p in group['params']:\n"
        f"                {line}\n"
    )
    indent = " " * 16
    assert fix(source).text == source.replace(line, f"with torch.no_grad():\n{indent}    {line}")


@pytest.mark.parametrize(
    "line", ["loss = (w.mul_(2) * fc(w)).sum()", "kept.append(w.mul_(2) ** 2)", "y, z = w.mul_(2), fc(torch.ones(3))"]
)
def test_what_gradients_flow_through_does_not_go_under_no_grad(fix, line):
    head = "import torch\nfrom torch import nn\n\nw = nn.Parameter(torch.ones(3))\nfc, kept = nn.Linear(3, 3), []\n"
    source = f"{head}{line}\n"
    done = fix(source)
    assert [one.code for one in done.found] == ["IPL201"]
    assert done.text == source


@pytest.mark.parametrize("line", ["w.subtract_(w.grad * 0.1)", "w.add_(-0.1 * w.grad.clip(-1, 1))", "w.add_(w.grad)"])
def test_a_gradient_that_is_a_leaf_itself_is_nothing_that_gradients_flow_into(fix, line):
    source = f"import paddle\n\nw = paddle.ones([3])\nw.stop_gradient = False\n(w * w).sum().backward()\n{line}\n"
    assert fix(source).text == source.replace(line, f"with paddle.no_grad():\n    {line}")


BUFFER = """\
import torch
from torch import nn

fc, mean = nn.Linear(3, 3), torch.zeros(3)
for _ in range(2):
    h = fc(torch.ones(2, 3))
    {}
    (h - mean).pow(2).sum().backward()
"""


@pytest.mark.parametrize(
    "line",
    ["mean.mul_(0.9).add_(h.mean(0))", "mean[:] = h.mean(0)", "mean += h.mean(0)", "mean.lerp_(\n        h[0], 0.1)"],
)
def test_a_buffer_that_keeps_its_history_is_written_under_no_grad(fix, line):
    done = fix(BUFFER.format(line))
    assert done.text == BUFFER.format(f"with torch.no_grad():\n        {line}")
    assert (done.remaining, fix(BUFFER.format(line), unsafe=False).text) == ((), BUFFER.format(line))


@pytest.mark.parametrize(
    "line", ["mean.add_(m := h.mean(0))", "h = h - mean.add_(h.mean(0))", "h = h * 1; mean += h.mean(0)"]
)
def test_a_buffer_is_left_to_the_program_where_the_statement_computes_something_else(fix, line):
    done = fix(BUFFER.format(line))
    assert [one.code for one in done.found] == ["IPL104"]
    assert done.text == BUFFER.format(line)


INFERENCE = """\
import torch
from torch import nn

fc, head = nn.Linear(3, 3), nn.Linear(3, 1)


{}def features(x):
    return fc(x)


{}
f.mul_(2)
head(f).sum().backward()
"""


@pytest.mark.parametrize(
    ("above", "call"),
    [
        ("@torch.inference_mode()\n", "f = features(torch.ones(2, 3))"),
        ("@torch.inference_mode\n", "f = features(torch.ones(2, 3))"),
        ("", "with torch.inference_mode():\n    f = features(torch.ones(2, 3))"),
        ("", "with torch.inference_mode(), torch.autocast('cpu', enabled=False):\n    f = features(torch.ones(2, 3))"),
    ],
)
def test_inference_mode_becomes_no_grad_where_the_tensor_was_made(fix, above, call):
    source = INFERENCE.format(above, call)
    assert fix(source).text == source.replace("inference_mode", "no_grad")


@pytest.mark.parametrize(
    ("line", "fixed"),
    [
        ("x.subtract_(1.0)", "x.subtract_(paddle.full_like(x, 1.0))"),
        ("x.add_(2 ** -1)", "x.add_(paddle.full_like(x, 2 ** -1))"),
        ("n.add_(1)", "n.add_(paddle.full_like(n, 1))"),
        ("n.add_(0.5)", "n.add_(0.5)"),
        ("F.relu(x, inplace=True)", "x = F.relu(x)"),
        ("y = F.relu(x, inplace=True)", "y = F.relu(x)"),
        ("act = paddle.nn.LeakyReLU(0.1, inplace=True)", "act = paddle.nn.LeakyReLU(0.1)"),
    ],
)
def test_paddle_gets_what_it_takes(fix, line, fixed):
    source = "import paddle\nimport paddle.nn.functional as F\n\nx, n = paddle.rand([3]), paddle.arange(3)\n{}\n"
    done = fix(source.format(line))
    assert [one.code for one in done.found] == ["IPL212"]
    assert done.text == source.format(fixed)


@pytest.mark.parametrize(
    ("before", "after"),
    [("y = torch.exp_(w)", "y = torch.exp(w)"), ("y = w.exp_()", "y = w.exp()"), ("print(w.exp_())", "print(w.exp())")],
)
def test_the_result_of_a_call_that_writes_a_leaf_is_computed_without_the_write(fix, before, after):
    source = f"import torch\n\nw = torch.ones(2, requires_grad=True)\n{before}\n"
    assert fix(source, unsafe=False).text == source
    assert fix(source).text == source.replace(before, after)


PARAMETER = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.token = nn.Parameter(torch.zeros(4))

    def forward(self, x):
        h = self.fc(x)
"""


def test_a_parameter_that_a_gradient_should_flow_into_is_written_in_a_copy(fix):
    source = PARAMETER + "        self.token[0] += h.mean()\n        return self.token * self.token[0]\n"
    done = fix(source)
    assert done.text == PARAMETER + (
        "        token = self.token.clone()\n        token[0] += h.mean()\n        return token * token[0]\n"
    )
    assert done.remaining == ()
    assert fix(source, unsafe=False).text == source


@pytest.mark.parametrize(
    "body",
    [
        "self.token[0] += h.mean()\nreturn h",
        "if len(x) > 2:\n    self.token[0] += h.mean()\nreturn self.token",
        "for row in h:\n    self.token[0] += row.mean()\nreturn self.token",
        "token = 1\nself.token[0] += h.mean()\nreturn self.token * token",
        "self.token[0] += h.mean()\nreturn lambda: self.token",
    ],
    ids=["not read again", "read on another way", "written again", "the name is taken", "read at any time"],
)
def test_a_parameter_is_left_to_the_program_where_a_copy_might_not_be_what_is_read(fix, body):
    source = PARAMETER + "".join(f"        {line}\n" for line in body.split("\n"))
    done = fix(source)
    assert done.text == source
    assert [finding.code for finding in done.found].count("IPL202") > 0


VIEWS = {
    "for row in h:\n        row += 1": "for row in [h[i] for i in range(len(h))]:\n        row += 1",
    "for i, row in enumerate(h):\n        row += i": "for i, row in enumerate([h[i] for i in range(len(h))]):"
    "\n        row += i",
    "a, b = h\n    a += b": "a, b = [h[i] for i in range(len(h))]\n    a += b",
    "a, b = h.unbind()\n    a += b": "a, b = [h[i] for i in range(len(h))]\n    a += b",
    "a, b = h.unbind(1)\n    a += b": "a, b = [h[:, i] for i in range(h.shape[1])]\n    a += b",
    "a, b = torch.unbind(h, dim=-1)\n    a += b": "a, b = [h[..., i] for i in range(h.shape[-1])]\n    a += b",
    "for a in h.unbind(-2):\n        a += 1": "for a in [h[..., i, :] for i in range(h.shape[-2])]:\n        a += 1",
    "k = [h]\n    for row in k[0]:\n        row += 1": "k = [h]\n    for row in [k[0][i] for i in range(len(k[0]))]:"
    "\n        row += 1",
}
SUM = HEAD.replace("torch.sigmoid(fc(x))", "fc(x) + 1")


@pytest.mark.parametrize(("before", "after"), VIEWS.items())
def test_views_that_are_written_for_what_they_are_parts_of_are_taken_one_at_a_time(fix, before, after):
    done = fix(f"{SUM}    {before}\n    return h\n", unsafe=False)
    assert done.text == f"{SUM}    {after}\n    return h\n"
    assert done.remaining == ()


def test_views_whose_holder_is_seen_are_taken_one_at_a_time_unsafely(fix):
    """The function returns a tuple, and the comprehension is a list."""
    source = f"{SUM}    rows = h.unbind()\n    rows[0].add_(1)\n    return h\n"
    assert fix(source, unsafe=False).text == source
    assert fix(source).text == source.replace("h.unbind()", "[h[i] for i in range(len(h))]")


def test_parts_of_unknown_size_have_no_such_form(fix):
    source = f"{SUM}    a, b = h.chunk(2)\n    a += 1\n    return h\n"
    assert fix(source).text == source


def test_an_item_of_a_list_is_set_to_a_new_tensor(fix):
    body = "    levels = [torch.sigmoid(fc(x)), torch.sigmoid(fc(y))]\n    {write}\n    return levels[0] * levels[1]\n"
    for write, instead in {
        "levels[0] += levels[1]": "levels[0] = levels[0] + levels[1]",
        "levels[0].add_(1)": "levels[0] = levels[0].add(1)",
        "for i in range(1):\n        levels[i] *= 2": "for i in range(1):\n        levels[i] = levels[i] * 2",
    }.items():
        done = fix(HEAD + body.format(write=write), unsafe=False)
        assert done.text == HEAD + body.format(write=instead)


def test_a_leaf_that_a_gradient_should_flow_into_becomes_a_new_tensor(fix):
    source = (
        "import torch\nfrom torch import nn\n\nfc = nn.Linear(2, 2)\nx = torch.zeros(2, requires_grad=True)\n"
        "x += fc(torch.ones(2))\nx.sum().backward()\n"
    )
    assert fix(source).text == source.replace("x += fc", "x = x + fc")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("torch.add(a, b, out=c)", "c = torch.add(a, b)"),
        ("torch.add(a, out=c, other=b)", "c = torch.add(a, other=b)"),
        ("torch.add(out=c, input=a, other=b)", "c = torch.add(input=a, other=b)"),
        ("c = torch.add(a, b, out=c)", "c = torch.add(a, b)"),
    ],
)
def test_out_becomes_the_result(fix, before, after):
    source = f"import torch\n\na = torch.ones(2, requires_grad=True)\nb = torch.ones(2)\nc = torch.zeros(2)\n{before}\n"
    assert fix(source).text == source.replace(before, after)


def test_each_item_of_a_repeated_list_gets_its_own_tensor(fix):
    source = "import torch\n\nzero = torch.zeros(2)\nrows = [zero] * 3\nrows[0] += 1\nprint(rows[1])\n"
    assert fix(source).text == source.replace("[zero] * 3", "[zero.clone() for _ in range(3)]")


def test_what_is_kept_is_a_copy(fix):
    source = (
        "import paddle\nfrom paddle import nn\n\nnet = nn.Linear(3, 2)\n"
        "opt = paddle.optimizer.SGD(0.1, parameters=net.parameters())\nkept = []\n"
        "net(paddle.ones([4, 3])).sum().backward()\nkept.append(net.weight.grad)\nopt.step()\nopt.clear_grad()\n"
        "print(kept[0].sum())\n"
    )
    assert fix(source).text == source.replace("kept.append(net.weight.grad)", "kept.append(net.weight.grad.clone())")


@pytest.mark.parametrize(
    ("kept", "fixed"),
    [
        ("list(net.parameters())", "[item.detach().clone() for item in net.parameters()]"),
        ("tuple(net.parameters())", "tuple(item.detach().clone() for item in net.parameters())"),
        ("[p.data for p in net.parameters()]", "[p.data.clone() for p in net.parameters()]"),
    ],
)
def test_parameters_that_are_kept_together_are_copied_one_by_one(fix, kept, fixed):
    source = (
        "import torch\nfrom torch import nn\n\n\ndef main():\n    net = nn.Linear(3, 1)\n"
        f"    old = {kept}\n    net(torch.ones(2, 3)).sum().backward()\n"
        "    torch.optim.SGD(net.parameters(), lr=0.1).step()\n"
        "    print(sum((p - q).norm() for p, q in zip(net.parameters(), old)))\n\n\nmain()\n"
    )
    done = fix(source)
    assert [one.code for one in done.found] == ["IPL304"]
    assert done.text == source.replace(kept, fixed)


def test_a_gradient_that_a_variable_keeps_is_a_copy(fix):
    top = (
        "import torch\nfrom torch import nn\n\nnet, x = nn.Linear(3, 1), torch.rand(4, 3)\nnet(x).sum().backward()\n"
        "first = net.weight.grad\nnet(x).pow(2).sum().backward()\n"
        "print(torch.cosine_similarity(first, net.weight.grad, 1))\n"
    )
    assert fix(top).text == top.replace("first = net.weight.grad", "first = net.weight.grad.clone()")
    source = (
        "import torch\nfrom torch import nn\n\n\ndef main(net, x):\n    net(x).sum().backward()\n"
        "    first = net.weight.grad\n    net(x).pow(2).sum().backward()\n"
        "    return torch.cosine_similarity(first, net.weight.grad, 1)\n\n\nmain(nn.Linear(3, 1), torch.rand(4, 3))\n"
    )
    assert fix(source).text == source.replace("first = net.weight.grad", "first = net.weight.grad.clone()")


def test_an_operand_that_overlaps_is_copied(fix):
    source = "import torch\n\nx = torch.rand(3, 3)\nx += x.t()\n"
    assert fix(source).text == source.replace("x.t()", "x.t().clone()")


@pytest.mark.parametrize(
    ("line", "fixed"),
    [
        ("h.lerp_(h[0], 0.5)", "h.lerp_(h[0].clone(), 0.5)"),
        ("h.add_(other=h.t(), alpha=2)", "h.add_(other=h.t().clone(), alpha=2)"),
        ("torch.add(h.t(), 1, out=h)", "torch.add(h.t().clone(), 1, out=h)"),
        ("order[order] = torch.tensor([0, 1, 2])", "order[order.clone()] = torch.tensor([0, 1, 2])"),
    ],
)
def test_of_several_operands_the_one_that_may_overlap_is_copied(fix, line, fixed):
    source = f"import torch\n\nh, order = torch.rand(3, 3), torch.tensor([2, 0, 1])\n{line}\n"
    assert fix(source).text == source.replace(line, fixed)


@pytest.mark.parametrize("rest", ["return {}", "x = {}\n    return x"])
def test_a_call_whose_result_is_used_is_made_without_its_write_where_an_operand_overlaps(fix, rest):
    body = rest.format("x.unsqueeze(1).sub_(x.unsqueeze(2))")
    source = f"import torch\n\n\ndef f(x):\n    {body}\n\n\nf(torch.rand(2, 3))\n"
    assert fix(source).text == source.replace("sub_", "sub")


BETWEEN = """\
import torch
from torch import nn

a, c = nn.Linear(3, 3), nn.Linear(3, 1)
h = a(torch.ones(2, 3))
first, second = c(h).mean(), c(h).pow(2).mean()
first.backward(retain_graph=True)
# bounded
with torch.no_grad():
    c.weight.{}
second.backward()  # now"""


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("rest", ["", "\n", "\n\nprint(h)\n"])
def test_lines_that_write_a_parameter_are_moved_below_the_backward(fix, rest, end):
    source = (BETWEEN.format("clamp_(-0.1, 0.1)") + rest).replace("\n", end)
    lines = source.splitlines(keepends=True)
    lines[8:11] = [lines[10].rstrip("\r\n") + end, lines[8], lines[9].rstrip("\r\n") + (end if rest else "")]
    done = fix(source)
    assert (done.text, done.remaining) == ("".join(lines), ())
    assert fix(source, unsafe=False).text == source


def test_an_update_that_reads_gradients_is_not_moved_below_a_backward_that_adds_to_them(fix):
    source = BETWEEN.format("sub_(0.1 * c.weight.grad)")
    done = fix(source)
    assert done.text == source
    assert [one.help for one in done.found] == [
        "run the forward of line 6 again after line 10, for the backward in line 11"
    ]


def test_the_order_of_steps_is_never_changed(fix):
    source = (
        "import torch\nfrom torch import nn\n\na, b = nn.Linear(2, 2), nn.Linear(2, 2)\n"
        "opt = torch.optim.SGD(b.parameters(), 0.1)\nloss = b(a(torch.ones(2))).sum()\n"
        "b(torch.ones(2)).sum().backward()\n"
        "opt.step()\nloss.backward()\n"
    )
    done = fix(source)
    assert done.text == source
    (found,) = done.found
    assert (found.code, found.fix) == ("IPL103", None)
    assert found.help == (
        "run the forward of line 6 again after line 8, for the backward in line 9; "
        "or move line 8 below line 9, and pass each `backward` its parameters as `inputs`"
    )


AGENT = """\
import torch
from torch import nn


class Agent:
    def __init__(self):
        self.actor, self.critic = nn.Linear(4, 2), nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
        self.opt_a = torch.optim.SGD(self.actor.parameters(), 0.1)
        self.opt_c = torch.optim.SGD(self.critic.parameters(), 0.1)

    def loss(self, logits, weight):
        return -(torch.log_softmax(logits, -1)[:, 0] * weight).mean()

    def update(self, state, reward):
        {} = reward - self.critic(state)[:, 0]
        {}.pow(2).mean().backward(retain_graph=True)
        self.opt_c.step()
        actor_loss = {}
        actor_loss.backward()
        self.opt_a.step()


Agent().update(torch.randn(8, 4), torch.randn(8))
"""


@pytest.mark.parametrize("gain", ["gain", "self.gain"])
@pytest.mark.parametrize(
    ("loss", "detached"),
    [
        ("self.loss(self.actor(state), {})", True),
        ("self.actor(state).mean(-1).sub({}).pow(2).mean()", True),
        ("{}.mean()", False),  # nothing else is trained
        ("self.actor(state).mean() + {}.mean()", False),  # without a history, what is added would be no loss
        ("({} * self.actor(state).mean(-1)).mean() + {}.mean()", True),
    ],
)
def test_a_value_that_needs_the_old_weights_is_detached_where_the_loss_trains_others(fix, gain, loss, detached):
    done = fix(AGENT.format(gain, gain, loss.replace("{}", gain)))
    (found,) = done.found
    advice = (
        f"`detach()` `{gain}` below line 17, if the backward in line 19 is not to train what computed this; or run "
    )
    assert (found.code, found.help.startswith(advice)) == ("IPL103", detached)
    assert ("detach" in found.help) == detached


def test_a_help_names_the_line_of_a_backward_that_runs_under_a_condition(fix):
    source = (
        "import torch\nfrom torch import nn\n\na, b = nn.Linear(2, 2), nn.Linear(2, 2)\n"
        "opt = torch.optim.SGD(b.parameters(), 0.1)\nloss = b(a(torch.ones(2))).sum()\n"
        "b(torch.ones(2)).sum().backward()\n"
        "opt.step()\nif loss > 0:\n    print(loss)\n    loss.backward()\n"
    )
    (found,) = fix(source).found
    assert "for the backward in line 11" in found.help


def test_what_a_step_overwrites_is_a_parameter_and_not_the_optimizer(fix):
    source = (
        "import torch\n\nw = torch.ones(2, requires_grad=True)\nopt, kept = torch.optim.SGD([w], 0.1), []\n"
        "for _ in range(3):\n    (w * w).sum().backward()\n    opt.step()\n    kept.append(w.detach())\n"
        "print(torch.stack(kept).mean(0))\n"
    )
    (found,) = fix(source).found
    assert (found.code, found.message.partition(" is ")[0]) == ("IPL304", "a parameter")


def test_the_forward_of_a_container_is_where_it_is_called(fix):
    source = (
        "import torch\nfrom torch import nn\n\n"
        "net = nn.Sequential(nn.Linear(2, 2), nn.Tanh(), nn.Linear(2, 1))\n"
        "opt = torch.optim.SGD(net.parameters(), 0.1)\nloss = net(torch.ones(1, 2)).sum()\n"
        "loss.backward(retain_graph=True)\nopt.step()\nloss.backward()\n"
    )
    (found,) = fix(source).found
    assert found.help.startswith("run the forward of line 6 again after line 8, for the backward in line 9")


def test_the_help_names_each_place_that_saves(fix):
    source = (
        "import torch\n\nw = torch.ones(2, requires_grad=True)\ny = w.sigmoid()\nz = y * w\n"
        "with torch.no_grad():\n    y.mul_(2)\nz.sum().backward()\n"
    )
    done = fix(source)
    assert done.text == source.replace("w.sigmoid()", "w.sigmoid().clone()").replace("y * w", "y.clone() * w")
    (found,) = done.found
    assert found.help == "keep copies for backward: `.clone()` at each place where it is saved"
