"""What runs again, what is compiled, and what is given other memory, under watch."""

from __future__ import annotations

import textwrap

import pytest

HEAD = "import torch\nfrom torch import nn\nfrom torch.utils.checkpoint import checkpoint\n"


@pytest.fixture
def watched(torch_child, tmp_path):
    """Return the codes and lines of the findings in a program, lines counted after the imports."""

    def run(source: str) -> list[tuple[str, int]]:
        path = tmp_path / "program.py"
        path.write_text(HEAD + textwrap.dedent(source), encoding="utf-8")
        seen = torch_child.run(path)
        assert seen.error == ""
        return [(code, line - 3) for code, line in seen.codes]

    return run


REENTRANT = pytest.mark.parametrize("reentrant", [True, False])


@REENTRANT
@pytest.mark.parametrize(
    ("function", "write"),
    [
        ("lambda t: t * shift", "shift.mul_(10)"),
        ("lambda t: torch.sigmoid(t + shift)", "shift.add_(9)"),
        ("lambda t: t * shift.view(3, 1).squeeze()", "shift[1] = 0"),
        ("lambda t: (t * 2).mul_(shift)", "shift.data.mul_(2)"),
        ("lambda t: checkpoint(lambda s: s * shift, t, use_reentrant=True)", "shift.mul_(10)"),
    ],
)
def test_what_a_checkpointed_function_reads_again_is_reported(watched, reentrant, function, write):
    source = "shift = torch.ones(3)\nx = torch.ones(3, requires_grad=True)\n"
    call = f"y = checkpoint({function}, x * 1, use_reentrant={reentrant})\n"
    assert watched(f"{source}{call}{write}\ny.sum().backward()\n") == [("IPL402", 4)]


@REENTRANT
def test_a_function_that_changes_what_it_reads_is_reported(watched, reentrant):
    source = f"""\
    calls = torch.zeros(())
    def inner(t):
        calls.add_(1)
        return t * calls
    x = torch.ones(3, requires_grad=True)
    checkpoint(inner, x * 1, use_reentrant={reentrant}).sum().backward()
    """
    assert watched(source) == [("IPL402", 3)]


@REENTRANT
def test_a_step_while_a_backward_is_pending_is_reported(watched, reentrant):
    source = f"""\
    layer = nn.Linear(3, 3)
    optimizer = torch.optim.SGD(layer.parameters(), lr=1.0)
    x = torch.ones(2, 3, requires_grad=True)
    pending = checkpoint(layer, x * 1, use_reentrant={reentrant}).sum()
    layer(torch.ones(2, 3)).sum().backward()
    optimizer.step()
    pending.backward()
    """
    assert watched(source) == [("IPL402", 6)]


@REENTRANT
def test_a_usual_training_with_checkpoints_is_clean(watched, reentrant):
    source = f"""\
    block = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3), nn.ReLU(inplace=True), nn.Dropout(0.5))
    optimizer = torch.optim.Adam(block.parameters(), lr=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        h = checkpoint(block, torch.rand(4, 3, requires_grad=True), use_reentrant={reentrant})
        checkpoint(nn.Sequential(block, nn.ReLU()), h, use_reentrant={reentrant}).sum().backward()
        optimizer.step()
    """
    assert watched(source) == []


@REENTRANT
@pytest.mark.parametrize(
    "function",
    ["last.copy_(t.detach() + 1)\n    return t * last", "return t * 2 + last", "return t * last.clone().fill_(2)"],
    ids=["sets it anew", "needs no gradient of it", "overwrites its copy"],
)
def test_what_makes_no_difference_to_the_second_run_is_clean(watched, reentrant, function):
    source = f"""\
last = torch.zeros(3)
def inner(t):
    {function}
x = torch.ones(3, requires_grad=True)
y = checkpoint(inner, x * 1, use_reentrant={reentrant})
last.add_(9)
y.sum().backward()
"""
    assert watched(source) == []


COMPILED = "@torch.compile(backend='aot_eager')\ndef f(x):\n    {}\n    return x\n"


def test_what_compiled_code_alone_carries_out_is_reported(watched):
    source = COMPILED.format("x[1:] += x[:-1]\n    y = x[:1].expand(4, 4).mul_(2)\n    x[0].expand(4, 4).add_(y)")
    assert watched(source + "f(torch.ones(4, 4))\n") == [("IPL403", 3), ("IPL403", 4), ("IPL403", 5)]


def test_other_writes_in_compiled_code_are_clean(watched):
    writes = "x[1:] += x[:-1].clone(); x += x; x.mul_(2).relu_(); x[0] += x[1]; x[:, 0] = x[:, 1]"
    assert watched(COMPILED.format(writes) + "f(torch.ones(4, 4))\n") == []


def test_a_compiled_module_is_trained_as_without_watch(watched):
    source = """\
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(inplace=True), nn.Linear(8, 2))
    fast = torch.compile(net, backend="aot_eager")
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        fast(torch.randn(8, 4)).square().mean().backward()
        optimizer.step()
    """
    assert watched(source) == []


def test_a_backward_through_other_memory_names_who_gave_it(torch_child, tmp_path):
    path = tmp_path / "program.py"
    path.write_text(
        HEAD + "w = torch.ones(2, requires_grad=True)\nh = w * 2\nh.set_(torch.zeros(2))\nh.sum().backward()\n",
        encoding="utf-8",
    )
    seen = torch_child.run(path)
    assert seen.codes == [("IPL207", 6)]
    assert "derivative for set_ is not implemented" in seen.error


def test_a_saved_value_that_is_given_other_memory_is_reported(watched):
    source = "w = torch.ones(2, requires_grad=True)\nh = w.exp()\nk = h.sum()\nh.set_(torch.zeros(2))\nk.backward()\n"
    assert watched(source) == [("IPL101", 4)]


@pytest.mark.parametrize(
    "body",
    [
        "h = t.exp()\n    h /= 10\n    return h.sin()",
        "h = t.sigmoid()\n    h[0] = 0\n    return h.sin()",
        "h = t.exp()\n    h.view(-1)[1:].mul_(2)\n    return h.sin()",
        "h = t.clone().relu_()\n    h *= 0\n    return h.sin()",
        "h = t.exp()\n    h.data.mul_(2)\n    return h.sin()",
    ],
)
def test_what_a_later_run_saves_and_overwrites_is_reported(watched, body):
    # PyTorch compares no versions of what the later run saves: the gradient is silently another one.
    call = "x = torch.rand(3, requires_grad=True)\ncheckpoint(outer, x * 1, use_reentrant=False).sum().backward()\n"
    assert watched(f"def outer(t):\n    {body}\n{call}") == [("IPL302", 3)]
    nested = f"def inner(t):\n    {body}\ndef outer(t):\n    return checkpoint(inner, t, use_reentrant=False) * t\n"
    assert watched(nested + call) == [("IPL302", 3)]


@pytest.mark.parametrize(
    "body",
    [
        "h = t.exp() * 1\n    h /= 10\n    return h * 1",
        "h = t.exp()\n    g = h * 1\n    g.mul_(2)\n    return g",
        "return nn.functional.relu(t * 1, inplace=True).exp()",
        "h = t.exp()\n    h.mul_(1)\n    return h * 1",
    ],
    ids=["not saved", "another", "saves its own", "the same value"],
)
def test_what_a_later_run_may_overwrite_is_clean(watched, body):
    call = "x = torch.rand(3, requires_grad=True)\ny = checkpoint(outer, x * 1, use_reentrant=False)\n"
    assert watched(f"def outer(t):\n    {body}\n{call}y.mul_(2)\ny.sum().backward()\n") == []


def test_an_argument_that_is_written_is_one_of_the_checkpoint(torch_child, tmp_path):
    source = (
        "lin = nn.Linear(3, 3)\nh = torch.rand(2, 3, requires_grad=True) * 2\n"
        "y = checkpoint(lambda t: torch.tanh(lin(t)), h, use_reentrant=False)\nh += 1\ny.sum().backward()\n"
    )
    path = tmp_path / "program.py"
    path.write_text(HEAD + source, encoding="utf-8")
    (found,) = torch_child.run(path).findings
    assert found.message == "`h` is overwritten, but backward of `checkpoint` needs its old value"
    assert [item.message for item in found.related] == ["saved here: checkpoint keeps its input for backward"]
