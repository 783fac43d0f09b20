"""Operators that C++ sources of the project register with a schema."""

from __future__ import annotations

import pytest

SOURCE = r"""
#include <torch/library.h>
// TORCH_LIBRARY(no, m) { m.def("not_this_(Tensor(a!) x) -> ()"); }
#define LIBRARY(NAME, M) TORCH_LIBRARY(NAME, M)
TORCH_LIBRARY(my_ext, m) {
  m.def("fused_add_(Tensor(a!) x, Tensor other) -> Tensor(a!)");
  m.def("relu", &relu);
  if (true) { m.def(TORCH_SELECTIVE_SCHEMA("my_ext::nms(Tensor dets) -> Tensor")); }
  other.def("no_(Tensor(a!) x) -> ()");
}
TORCH_LIBRARY_IMPL(my_ext, CPU, m) { m.impl("fused_add_", fused_add); }
TORCH_LIBRARY_FRAGMENT(beside, lib) {
  lib.def(
      "norm_(Tensor! out, "  // in two parts
      "str mode=\"a, (b\") -> ()");
  lib.def(R"x(gather.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!))x");
}
"""
PROGRAM = """\
import torch

w = torch.ones(3, requires_grad=True)
h = w.exp()
{call}
h.sum().backward()
"""


@pytest.fixture
def project(folder):
    (folder / "csrc").mkdir()
    (folder / "csrc" / "ops.cpp").write_text(SOURCE)
    (folder / "inplace-lint.toml").write_text('facts = ["csrc/*.cpp"]\n')
    return folder


def checked(lint, folder, call):
    (folder / "a.py").write_text(PROGRAM.format(call=call))
    return lint("--output-format=full", "a.py").out


@pytest.mark.parametrize(
    "call",
    [
        "torch.ops.my_ext.fused_add_(h, w)",
        "torch.ops.my_ext.fused_add_.default(h, w)",
        "torch.ops.beside.norm_(h)",
        "torch.ops.beside.gather(w, out=h)",
    ],
)
def test_a_schema_says_which_argument_is_written(lint, project, call):
    out = checked(lint, project, call)
    assert "warning[IPL101]" in out
    assert "assuming: the operator counts what it writes" in out
    (project / "inplace-lint.toml").unlink()
    assert "IPL101" not in checked(lint, project, call)


@pytest.mark.parametrize(
    "call",
    [
        "torch.ops.my_ext.fused_add_(w.sin(), h)",
        "torch.ops.my_ext.nms(h)",
        "torch.ops.my_ext.relu(h)",
        "torch.ops.my_ext.no_(h)",
        "torch.ops.no.not_this_(h)",
    ],
)
def test_nothing_else_is_written(lint, project, call):
    assert "All checks passed" in checked(lint, project, call)


def test_a_changed_source_counts_at_once(lint, project):
    call = "torch.ops.my_ext.fused_add_(h, w)"
    assert "IPL101" in checked(lint, project, call)
    (project / "csrc" / "ops.cpp").write_text(
        SOURCE.replace("(Tensor(a!) x, Tensor other)", "(Tensor x, Tensor other)")
    )
    assert "IPL101" not in checked(lint, project, call)


def test_a_function_that_calls_such_an_operator_may_write(lint, project):
    (project / "a.py").write_text(
        "import torch\n\n\ndef step(p):\n    h = p.exp()\n    torch.ops.my_ext.fused_add_(h, p)\n"
        "    h.sum().backward()\n\n\nstep(torch.ones(3, requires_grad=True))\n"
    )
    assert "a.py:6:5: warning[IPL101]" in lint("--output-format=concise", "a.py").out


def test_what_is_known_of_it_is_shown_with_its_place(lint, project):
    ran = lint("facts", "torch.ops.beside.norm_")
    assert ran.out.splitlines() == [
        "torch.ops.beside.norm_(out, mode=None)",
        '  schema  norm_(Tensor! out, str mode="a, (b") -> ()',
        "  from    csrc/ops.cpp:14",
    ]
    ran = lint("facts", "torch.ops.my_ext.fused_ad_")
    assert (ran.status, "did you mean 'torch.ops.my_ext.fused_add_'" in ran.err) == (2, True)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (
            'TORCH_LIBRARY(a, m) {\n  m.def("f(Tensor(a!) x -> ()");\n}',
            'csrc/ops.cpp:2: "schema" does not parse: expected `)`, not `->`',
        ),
        (
            'TORCH_LIBRARY(TORCH_EXTENSION_NAME, m) {\n  m.def("f(Tensor(a!) x) -> ()");\n}',
            "csrc/ops.cpp:2: `TORCH_EXTENSION_NAME` has a value only while the extension is built",
        ),
        ("int main() {}", "inplace-lint.toml:1: 'facts' names 'csrc/*.cpp', which registers no operator with a schema"),
    ],
)
def test_a_source_that_cannot_be_used_is_one_line(lint, project, source, message):
    (project / "csrc" / "ops.cpp").write_text(source)
    (project / "a.py").write_text("import torch\n")
    ran = lint("a.py")
    assert (ran.status, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert message in ran.err
