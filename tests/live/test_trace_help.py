"""The help of a finding of `trace` is right in its place: it is the one that `check` gives there, or none."""

from __future__ import annotations

OF_A_VIEW = """\
    import torch

    w = torch.ones(2, 2, requires_grad=True)
    z = torch.sigmoid(w)
    first = z[0]
    first *= 2
    s = torch.exp(w)
    s += 1e-6
    (z.sum() + s.sum()).backward()
    """
OF_A_RESULT = """\
    import os

    import torch


    def step(x):
        e = x.exp()
        return e.add_(1).mul_(2)


    def other(x, write):
        e = x.tanh()
        getattr(e, write)(1)
        return e


    x = torch.rand(3, requires_grad=True)
    (step(x) + other(x, os.environ.get("WRITE", "add_"))).sum().backward()
    """


def test_a_view_is_not_bound_to_a_new_tensor(tracer):
    helps = [one["fix"]["message"] for one in tracer.run(OF_A_VIEW).findings]
    assert helps == ["keep a copy for backward: `.clone()` where it is saved", "use `s = s + 1e-6`"]


def test_a_call_in_an_expression_is_not_made_a_statement(tracer):
    helps = {one["location"]["row"]: one["fix"] for one in tracer.run(OF_A_RESULT).findings}
    assert helps.pop(8)["message"] == "use `e.add(1).mul(2)`"
    assert helps == {13: None}
