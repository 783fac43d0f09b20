"""`inplace-lint facts NAME`: what is known of a call, from where, and for which versions."""

from __future__ import annotations

import json

import pytest

MUL = """\
torch.Tensor.mul_(self, other)
  also       torch.Tensor.__imul__
  writes     self (counted, checks leaf leaf_view multi_view no_grad_view inference overlap"""


def first_lines(ran):
    return [block.split("\n")[0] for block in ran.out.split("\n\n")]


def test_a_call_is_shown_with_its_place(lint):
    ran = lint("facts", "torch.Tensor.mul_", COLUMNS="80")
    assert ran.status == 0
    assert ran.out.startswith(MUL)
    assert "\n  from       rules/ops/torch/tensor.jsonl:" in ran.out


@pytest.mark.parametrize(
    ("name", "calls"),
    [
        ("torch.add_", ["torch.Tensor.add_(self, other, *, alpha=1)"]),
        ("torch.nn.modules.activation.ReLU", ["torch.nn.ReLU(input)"]),
        ("nn.functional.relu_", ["paddle.nn.functional.relu_(x, name=None)", "torch.relu_(input)"]),
        ("einops.rearrange", ["einops.rearrange(tensor, pattern, **axes_lengths)"] * 2),  # one for each framework
    ],
)
def test_a_call_is_found_by_other_names(lint, name, calls):
    assert first_lines(lint("facts", name)) == calls


def test_forms_and_versions_are_told_apart(lint):
    ran = lint("facts", "torch.nn.Module.zero_grad")
    assert [line.split()[1:] for line in ran.out.splitlines() if line.startswith("  for ")] == [
        ["torch", "<2.0"],
        ["torch", ">=2.0"],
    ]


def test_what_the_project_says_is_shown_in_place_of_the_tables(lint, folder):
    (folder / "inplace-lint.toml").write_text('[ops]\n"torch.Tensor.mul_" = { args = ["self"], writes = ["self"] }\n')
    ran = lint("facts", "torch.Tensor.mul_")
    assert first_lines(ran) == ["torch.Tensor.mul_(self)"]
    assert ran.out.endswith(f"from     {folder}/inplace-lint.toml:2\n")
    assert lint("facts", "--isolated", "torch.Tensor.mul_").out.startswith(MUL)


def test_json_has_the_entry_as_it_stands(lint):
    (row,) = json.loads(lint("facts", "torch.Tensor.mul_", "--output-format", "json").out)
    assert (row["framework"], row["fact"]["op"]) == ("torch", "torch.Tensor.mul_")
    assert row["from"].startswith("rules/ops/torch/tensor.jsonl:")


@pytest.mark.parametrize(
    ("name", "near"),
    [("torch.Tensor.mull_", ", did you mean 'torch.Tensor.mul_'?"), ("relux", ", did you mean 'relu'?"), ("zzzzz", "")],
)
def test_an_unknown_call_is_one_line(lint, name, near):
    ran = lint("facts", name)
    assert (ran.status, ran.out, ran.err) == (2, "", f"error: nothing is known of a call {name!r}{near}\n")


def test_an_operator_that_a_program_registers_is_read_from_its_code(lint):
    ran = lint("facts", "torch.ops.mine.scale_")
    why = "operators that a program registers in Python are read from its code"
    assert (ran.status, ran.err) == (2, f"error: nothing is known of a call 'torch.ops.mine.scale_'; {why}\n")
    assert lint("facts", "torch.ops.aten.add_").status == 0


def test_the_calls_of_a_package_are_listed(lint):
    calls = ("deepspeed.DeepSpeedEngine.backward", "deepspeed.DeepSpeedEngine.step", "deepspeed.initialize")
    told = lint("facts", "deepspeed").err
    assert told.startswith("error: nothing is known of a call 'deepspeed'; calls in it: deepspeed.")
    assert all(call in told for call in calls)
    assert "did you mean" not in told
    assert lint("facts", "torch").err.rstrip().endswith(" more")


def test_the_labels_are_told_in_chinese(lint):
    assert "\n  写入      self (counted" in lint("facts", "torch.Tensor.mul_", "--lang", "zh").out
    assert lint("--lang", "zh", "facts").status == 2


def test_without_a_name_the_commands_are_listed(lint):
    ran = lint("facts")
    assert (ran.status, ran.out) == (2, "")
    assert "Usage: inplace-lint facts" in ran.err
    assert lint("facts", "--help").status == 0
